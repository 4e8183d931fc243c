//===- KnobRulesTest.cpp - Which knobs go together ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/KnobRules.h"

#include <gtest/gtest.h>

using namespace attn;

namespace {

/// The knob that has to change; "" where the knobs are legal.
std::string brokenKnob(const Knobs &knobs, const char *target) {
  const KnobRule *rule = findBrokenRule(knobs, *layout::findGpuTarget(target));
  return rule ? rule->knob : "";
}

Knobs knobsOf(Engine engine, bool tma, bool producer, int64_t consumers) {
  Knobs knobs;
  knobs.engine = engine;
  knobs.tma = tma;
  knobs.producer = producer;
  knobs.warps = 4 * consumers;
  knobs.tileM = 64 * consumers;
  knobs.tileN = 64;
  return knobs;
}

TEST(KnobRules, EveryEngineLoaderAndRoleGoTogether) {
  for (Engine engine : {Engine::MmaSync, Engine::Wgmma})
    for (bool tma : {false, true})
      for (bool producer : {false, true})
        for (int64_t consumers : {1, 2, 3}) {
          Knobs knobs = knobsOf(engine, tma, producer, consumers);
          EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "");
          knobs.overlap = 1;
          EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "");
          knobs.turns = true;
          EXPECT_EQ(brokenKnob(knobs, "sm_90a"), consumers > 1 ? "" : "turns");
          knobs.overlap = 2;
          EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "overlap");
        }
}

TEST(KnobRules, InstructionsOfATarget) {
  Knobs knobs = knobsOf(Engine::MmaSync, /*tma=*/false, /*producer=*/true, 2);
  EXPECT_EQ(brokenKnob(knobs, "sm_80"), "");
  knobs.tma = true;
  EXPECT_EQ(brokenKnob(knobs, "sm_80"), "loader");
  EXPECT_EQ(brokenKnob(knobs, "sm_90"), "loader");
  knobs.engine = Engine::Wgmma;
  EXPECT_EQ(brokenKnob(knobs, "sm_90"), "mma");
}

TEST(KnobRules, ABoxOfATensorMapHas256Rows) {
  Knobs knobs = knobsOf(Engine::MmaSync, /*tma=*/true, /*producer=*/true, 2);
  knobs.tileN = 256;
  EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "");
  knobs.tileN = 272;
  EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "loader");
}

TEST(KnobRules, TheOutputLeavesByAnyRole) {
  for (Engine engine : {Engine::MmaSync, Engine::Wgmma})
    for (bool tma : {false, true})
      for (bool producer : {false, true})
        for (int64_t consumers : {1, 2, 3}) {
          Knobs knobs = knobsOf(engine, tma, producer, consumers);
          knobs.tmaStore = true;
          EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "");
        }
  Knobs knobs = knobsOf(Engine::MmaSync, /*tma=*/false, /*producer=*/false, 1);
  knobs.tmaStore = true;
  EXPECT_EQ(brokenKnob(knobs, "sm_90"), "store");
  // A box for each of the four warps.
  knobs.tileM = 4 * 256;
  EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "");
  knobs.tileM += 64;
  EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "store");
  knobs.tileM = 64;
  knobs.hasOutput = false;
  EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "store");
}

TEST(KnobRules, ItemsAreClaimedByAProducer) {
  Knobs knobs = knobsOf(Engine::Wgmma, /*tma=*/true, /*producer=*/false, 2);
  knobs.persistent = true;
  EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "persistent");
  knobs.producer = true;
  EXPECT_EQ(brokenKnob(knobs, "sm_90a"), "");
}

TEST(RegisterShares, TheSumStaysInsideTheLaunch) {
  for (int64_t computing : {4, 8, 12}) {
    RegisterShares shares = shareRegisters(4, computing, /*canShare=*/true);
    EXPECT_LE(4 * shares.loader + computing * shares.computer,
              (4 + computing) * shares.launched);
  }
  EXPECT_EQ(shareRegisters(4, 8, true).computer, 232);
  EXPECT_EQ(shareRegisters(4, 8, true).loader, 40);
  EXPECT_EQ(shareRegisters(4, 12, true).computer, 160);
  // Without setmaxnreg, or with one role, all have the same.
  EXPECT_EQ(shareRegisters(4, 12, false).computer, 128);
  EXPECT_EQ(shareRegisters(0, 4, true).computer, 255);
  EXPECT_EQ(shareRegisters(0, 12, true).computer, 168);
}

} // namespace
