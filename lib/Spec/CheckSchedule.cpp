//===- CheckSchedule.cpp - The schedule field -----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckFields.h"

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::ast;
using llvm::StringRef;
using llvm::Twine;

// S32: bounds wide enough for every schedule; which of them fit a target's
// shared memory and registers is the compiler's to say.
static constexpr int64_t tileStep = 8, maxTile = 1024;
static constexpr int64_t maxStages = 16, maxConsumers = 8, maxOverlap = 4;

void FieldChecker::checkSchedule(const Field &field) {
  if (!checkShape(field, {false, false, true}, "schedule NAME (knobs)"))
    return;
  if (auto kind = word<ScheduleKind>(field.first, "schedule",
                                     {{"auto", ScheduleKind::Auto},
                                      {"fa2", ScheduleKind::Fa2},
                                      {"fa3", ScheduleKind::Fa3},
                                      {"decode", ScheduleKind::Decode},
                                      {"fa1", ScheduleKind::Fa1},
                                      {"standard", ScheduleKind::Standard}}))
    problem.schedule.kind = *kind;
  if (!field.options ||
      !checkOptionNames(field, {"tile", "stages", "consumers", "overlap",
                                "turns", "max", "persistent", "mma", "loader",
                                "producer", "store"}))
    return;
  for (const Option &option : *field.options)
    checkKnob(option);
}

void FieldChecker::checkKnob(const Option &option) {
  Schedule &schedule = problem.schedule;
  StringRef name = option.name.name;
  if (name == "tile")
    return checkTile(option);
  if (name == "stages")
    schedule.stages = optionInteger(option, {1, maxStages});
  else if (name == "consumers")
    schedule.consumers = optionInteger(option, {1, maxConsumers});
  else if (name == "overlap")
    schedule.overlap = optionInteger(option, {0, maxOverlap});
  else if (name == "turns")
    schedule.turns = optionBool(option);
  else if (name == "persistent")
    schedule.persistent = optionBool(option);
  else if (name == "producer")
    schedule.producer = optionBool(option);
  else
    checkWordKnob(option);
}

void FieldChecker::checkWordKnob(const Option &option) {
  Schedule &schedule = problem.schedule;
  StringRef name = option.name.name;
  bool isWord = option.value && !option.second;
  auto expected = [&](StringRef words) {
    diagnostics.error(option.name.range(), "expected '" + name + " = " + words);
  };
  if (name == "mma") {
    if (!isWord)
      return expected("sync' or 'wgmma'");
    schedule.mma =
        word<MmaKind>(*option.value, "mma",
                      {{"sync", MmaKind::Sync}, {"wgmma", MmaKind::Wgmma}});
  } else if (name == "loader") {
    if (!isWord)
      return expected("cp_async' or 'tma'");
    schedule.loader = word<LoaderKind>(
        *option.value, "loader",
        {{"cp_async", LoaderKind::CpAsync}, {"tma", LoaderKind::Tma}});
  } else if (name == "store") {
    if (!isWord)
      return expected("direct' or 'tma'");
    schedule.store = word<StoreKind>(
        *option.value, "store",
        {{"direct", StoreKind::Direct}, {"tma", StoreKind::Tma}});
  } else {
    if (!isWord)
      return expected("exact', 'lazy' or 'stale'");
    schedule.max = word<MaxMode>(*option.value, "max",
                                 {{"exact", MaxMode::Exact},
                                  {"lazy", MaxMode::Lazy},
                                  {"stale", MaxMode::Stale}});
  }
}

void FieldChecker::checkTile(const Option &option) {
  if (!option.value || !option.second) {
    diagnostics.error(option.name.range(),
                      "expected 'tile = M x N': rows of queries by keys");
    return;
  }
  auto checkSide = [&](const Atom &atom) {
    auto side = integer(atom, "a side of the tile", {tileStep, maxTile});
    if (side && *side % tileStep != 0)
      diagnostics.error(atom.range,
                        "a side of the tile must be a multiple of " +
                            Twine(tileStep) + ", found " + Twine(*side));
    return side;
  };
  problem.schedule.tileM = checkSide(*option.value);
  problem.schedule.tileN = checkSide(*option.second);
}
