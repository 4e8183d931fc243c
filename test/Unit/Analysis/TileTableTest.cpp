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

/// The row for launches of any length; null where there is none.
const TileChoice *chooseTile(const layout::GpuTarget &target, Engine engine,
                             int64_t headDimQK, int64_t headDimV, Rules rules,
                             int64_t elementBytes) {
  std::vector<const TileChoice *> rows =
      chooseTiles(target, engine, headDimQK, headDimV, rules, elementBytes);
  return rows.empty() ? nullptr : rows.back();
}

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
            std::vector<const TileChoice *> rows =
                chooseTiles(target, engine, qk, v, rules, elementBytes);
            ASSERT_FALSE(rows.empty())
                << qk << " / " << v << " " << target.name;
            EXPECT_EQ(rows.back()->minQLen, 0);
            for (const TileChoice *choice : rows) {
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
}

/// Rows in front of the last are for long launches only, the longest first.
/// They add up the same keys in the same order, relative to the same maxima.
TEST(TileTable, RowsForLongLaunches) {
  const layout::GpuTarget &target = *layout::findGpuTarget("sm_90a");
  std::vector<const TileChoice *> causal =
      chooseTiles(target, Engine::Wgmma, 64, 64, Rules::Light, elementBytes);
  ASSERT_EQ(causal.size(), 2u);
  EXPECT_EQ(causal[0]->tileM, 192);
  EXPECT_EQ(causal[0]->minQLen, 4096);
  EXPECT_EQ(causal[1]->tileM, 128);
  for (const layout::GpuTarget &each : layout::gpuTargets())
    for (Engine engine : {Engine::MmaSync, Engine::Wgmma})
      for (int64_t d = headDimStep; d <= maxHeadDim; d += headDimStep)
        for (Rules rules :
             {Rules::None, Rules::Light, Rules::Medium, Rules::Heavy}) {
          if (engine == Engine::Wgmma && !each.hasWgmma)
            continue;
          std::vector<const TileChoice *> rows =
              chooseTiles(each, engine, d, d, rules, elementBytes);
          for (size_t i = 0; i + 1 < rows.size(); ++i) {
            EXPECT_GT(rows[i]->minQLen, rows[i + 1]->minQLen) << d;
            EXPECT_EQ(rows[i]->tileN, rows[i + 1]->tileN) << d;
            EXPECT_EQ(rows[i]->max, rows[i + 1]->max) << d;
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
/// same order, relative to the same maxima.
TEST(TileTable, LightRulesKeepTheKeyTile) {
  for (const layout::GpuTarget &target : layout::gpuTargets())
    for (Engine engine : {Engine::MmaSync, Engine::Wgmma})
      for (int64_t d = headDimStep; d <= maxHeadDim; d += headDimStep) {
        if (engine == Engine::Wgmma && !target.hasWgmma)
          continue;
        auto row = [&](Rules rules) {
          return chooseTile(target, engine, d, d, rules, elementBytes);
        };
        EXPECT_EQ(row(Rules::None)->tileN, row(Rules::Light)->tileN) << d;
        EXPECT_EQ(row(Rules::None)->max, row(Rules::Light)->max) << d;
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
  EXPECT_TRUE(chooseTiles(*layout::findGpuTarget("sm_90a"), Engine::Wgmma, 64,
                          maxHeadDim + headDimStep, Rules::None, elementBytes)
                  .empty());
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
