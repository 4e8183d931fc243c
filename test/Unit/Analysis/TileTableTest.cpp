//===- TileTableTest.cpp - Tiles for head dimensions ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileTable.h"

#include <gtest/gtest.h>

using namespace attn;

namespace {

constexpr int64_t maxHeadDim = 256, headDimStep = 8, elementBytes = 2;

/// Every head dimension up to 256 has a tile on every target, for each engine
/// that the target has, and it fits.
TEST(TileTable, EveryHeadDimFitsEveryTarget) {
  for (const layout::GpuTarget &target : layout::gpuTargets())
    for (Engine engine : {Engine::MmaSync, Engine::Wgmma})
      for (int64_t qk = headDimStep; qk <= maxHeadDim; qk += headDimStep)
        for (int64_t v = headDimStep; v <= maxHeadDim; v += headDimStep)
          for (Rules rules :
               {Rules::None, Rules::Light, Rules::Medium, Rules::Heavy}) {
            if (engine == Engine::Wgmma && !target.hasWgmma)
              continue;
            const TileChoice *choice =
                chooseTile(target, engine, qk, v, rules, elementBytes);
            ASSERT_NE(choice, nullptr)
                << qk << " / " << v << " " << target.name;
            SharedUse use =
                sharedUse(engine == Engine::Wgmma, qk, v, elementBytes,
                          choice->tileM, choice->tileN, choice->stages);
            EXPECT_LE(use.total(), target.sharedBytesPerBlock)
                << qk << " / " << v << " " << target.name;
            EXPECT_EQ(choice->tileM % (16 * choice->warps), 0);
            EXPECT_EQ(choice->tileN % 16, 0);
            if (engine == Engine::Wgmma) {
              EXPECT_EQ(choice->tileM, 16 * choice->warps);
            }
          }
}

/// The first row that matches counts: heavy rules must not get the tile
/// of light ones, and the other way round.
TEST(TileTable, RulesChooseTheRow) {
  const layout::GpuTarget &target = *layout::findGpuTarget("sm_80");
  auto choose = [&](Rules rules) {
    return chooseTile(target, Engine::MmaSync, 64, 64, rules, elementBytes);
  };
  const TileChoice *some = choose(Rules::Light);
  const TileChoice *many = choose(Rules::Medium);
  EXPECT_EQ(some->rules, Rules::Light);
  EXPECT_GT(some->tileN, many->tileN);
}

/// A window that hides nothing has the bits of no mask: sums are taken in the
/// same order.
TEST(TileTable, LightRulesKeepTheKeyTile) {
  for (const layout::GpuTarget &target : layout::gpuTargets())
    for (Engine engine : {Engine::MmaSync, Engine::Wgmma})
      for (int64_t d = headDimStep; d <= maxHeadDim; d += headDimStep) {
        if (engine == Engine::Wgmma && !target.hasWgmma)
          continue;
        auto keys = [&](Rules rules) {
          return chooseTile(target, engine, d, d, rules, elementBytes)->tileN;
        };
        EXPECT_EQ(keys(Rules::None), keys(Rules::Light)) << d;
      }
}

/// One stage counts on a second block, for which sm_89 has no shared memory.
TEST(TileTable, BlocksNeedSharedMemory) {
  auto stages = [&](const char *target) {
    return chooseTile(*layout::findGpuTarget(target), Engine::MmaSync, 128, 128,
                      Rules::None, elementBytes)
        ->stages;
  };
  EXPECT_EQ(stages("sm_80"), 1);
  EXPECT_EQ(stages("sm_90"), 1);
  EXPECT_EQ(stages("sm_89"), 2);
  EXPECT_EQ(stages("sm_120"), 2);
}

TEST(TileTable, NoTilePastTheTable) {
  EXPECT_EQ(chooseTile(*layout::findGpuTarget("sm_80"), Engine::MmaSync,
                       maxHeadDim + headDimStep, 64, Rules::Heavy,
                       elementBytes),
            nullptr);
}

TEST(TileTable, RowsArePaddedToTheDepthOfAnMma) {
  SharedUse use =
      sharedUse(/*wholePanels=*/false, 72, 128, elementBytes, 128, 64, 2);
  EXPECT_EQ(use.q, 128 * 80 * 2);
  EXPECT_EQ(use.k, 64 * 80 * 2);
  EXPECT_EQ(use.v, 64 * 128 * 2);
  EXPECT_EQ(use.o, 128 * 128 * 2);
  EXPECT_EQ(use.total(), use.o + 2 * (use.k + use.v));
  EXPECT_EQ(use.apart(), use.q + use.o + 2 * (use.k + use.v));
}

TEST(TileTable, RowsArePaddedToWholePanels) {
  SharedUse use =
      sharedUse(/*wholePanels=*/true, 72, 96, elementBytes, 128, 64, 2);
  EXPECT_EQ(use.q, 128 * 128 * 2);
  EXPECT_EQ(use.k, 64 * 128 * 2);
  EXPECT_EQ(use.v, 64 * 128 * 2);
}

} // namespace
