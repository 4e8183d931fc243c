//===- KnobRules.cpp - Which knobs of a schedule go together --------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/KnobRules.h"

#include <algorithm>

using namespace attn;
using layout::GpuTarget;

static constexpr int64_t warpsPerGroup = 4, lanes = 32;

int64_t Knobs::consumers() const {
  return warps % warpsPerGroup == 0 ? warps / warpsPerGroup : 0;
}

// setmaxnreg counts by warpgroups.
int64_t Knobs::producerWarps() const { return producer ? warpsPerGroup : 0; }

const std::vector<KnobRule> &attn::knobRules() {
  // CUDA Driver API, cuTensorMapEncodeTiled: most rows of a box.
  constexpr int64_t maxBoxRows = 256;
  // Each turn has a named barrier, of which a block has 16; three warpgroups
  // are the most that attn-verify-warp knows an order of.
  constexpr int64_t minTurns = 2, maxTurns = 3;
  static const std::vector<KnobRule> rules = {
      {"mma",
       [](const Knobs &knobs, const GpuTarget &target) {
         return knobs.engine == Engine::Wgmma && !target.hasWgmma;
       },
       "= wgmma, the default of schedule fa3, needs an instruction of sm_90a; "
       "choose mma = sync, or schedule fa2"},
      {"loader",
       [](const Knobs &knobs, const GpuTarget &target) {
         return knobs.tma && !target.hasWgmma;
       },
       "= tma needs the tensor copies of sm_90a; choose loader = cp_async"},
      {"loader",
       [](const Knobs &knobs, const GpuTarget &) {
         return knobs.tma && std::max(knobs.tileM, knobs.tileN) > maxBoxRows;
       },
       "= tma copies boxes of at most 256 rows; choose a smaller tile, or "
       "loader = cp_async"},
      {"store",
       [](const Knobs &knobs, const GpuTarget &target) {
         return knobs.tmaStore && !target.hasWgmma;
       },
       "= tma needs the tensor copies of sm_90a; choose store = direct"},
      {"store",
       [](const Knobs &knobs, const GpuTarget &) {
         return knobs.tmaStore && knobs.tileM > maxBoxRows * knobs.warps;
       },
       "= tma copies a box of at most 256 rows for each warp; choose a smaller "
       "tile, or store = direct"},
      {"store",
       [](const Knobs &knobs, const GpuTarget &) {
         return knobs.tmaStore && !knobs.hasOutput;
       },
       "= tma says how o leaves, and there is none; choose store = direct, or "
       "outputs with o"},
      {"overlap",
       [](const Knobs &knobs, const GpuTarget &) { return knobs.overlap > 1; },
       "is at most 1: one tile of weights is in flight"},
      {"turns",
       [](const Knobs &knobs, const GpuTarget &) {
         return knobs.turns &&
                (knobs.consumers() < minTurns || knobs.consumers() > maxTurns);
       },
       "needs two or three consumers that wait for each other; choose "
       "consumers = 2, or turns = false"},
      {"persistent",
       [](const Knobs &knobs, const GpuTarget &) {
         return knobs.persistent && !knobs.producer;
       },
       "needs a role that claims work items for the others; choose producer = "
       "true, or persistent = false"},
  };
  return rules;
}

const KnobRule *attn::findBrokenRule(const Knobs &knobs,
                                     const GpuTarget &target) {
  for (const KnobRule &rule : knobRules())
    if (rule.isBroken(knobs, target))
      return &rule;
  return nullptr;
}

RegisterShares attn::shareRegisters(int64_t loadingWarps,
                                    int64_t computingWarps, bool canShare) {
  // CUDA C++ Programming Guide, table of technical specifications: registers of
  // a multiprocessor, and at most 255 in a thread. setmaxnreg counts by 8.
  constexpr int64_t registerFile = 65536, mostOfThread = 255, unit = 8;
  // What setmaxnreg leaves to one that loads, and gives to one that computes.
  constexpr int64_t leastOfLoader = 32, mostOfLoader = 56;
  constexpr int64_t mostOfComputer = 240;
  auto whole = [&](int64_t count) { return count / unit * unit; };
  int64_t loaders = loadingWarps * lanes, computers = computingWarps * lanes;
  int64_t launched = whole(registerFile / (loaders + computers));
  if (!canShare || loaders == 0) {
    launched = std::min(launched, mostOfThread);
    return {launched, launched, launched};
  }
  int64_t pool = launched * (loaders + computers);
  int64_t computer = std::min(
      mostOfComputer, whole((pool - leastOfLoader * loaders) / computers));
  int64_t loader =
      std::min(mostOfLoader, whole((pool - computer * computers) / loaders));
  return {launched, loader, computer};
}
