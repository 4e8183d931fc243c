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

/// Every head dimension up to 256 has a tile on every target, and it fits.
TEST(TileTable, EveryHeadDimFitsEveryTarget) {
  for (const layout::GpuTarget &target : layout::gpuTargets())
    for (int64_t qk = headDimStep; qk <= maxHeadDim; qk += headDimStep)
      for (int64_t v = headDimStep; v <= maxHeadDim; v += headDimStep) {
        for (bool hasRules : {false, true}) {
          const TileChoice *choice = chooseTile(qk, v, hasRules);
          ASSERT_NE(choice, nullptr) << qk << " / " << v << " " << target.name;
          SharedUse use = sharedUse(qk, v, elementBytes, choice->tileM,
                                    choice->tileN, choice->stages);
          EXPECT_LE(use.total(), target.sharedBytesPerBlock)
              << qk << " / " << v << " " << target.name;
          EXPECT_EQ(choice->tileM % (16 * choice->warps), 0);
          EXPECT_EQ(choice->tileN % 16, 0);
        }
      }
}

TEST(TileTable, NoTilePastTheTable) {
  EXPECT_EQ(chooseTile(maxHeadDim + headDimStep, 64, true), nullptr);
}

TEST(TileTable, RowsArePaddedToTheDepthOfAnMma) {
  SharedUse use = sharedUse(72, 128, elementBytes, 128, 64, 2);
  EXPECT_EQ(use.q, 128 * 80 * 2);
  EXPECT_EQ(use.k, 64 * 80 * 2);
  EXPECT_EQ(use.v, 64 * 128 * 2);
  EXPECT_EQ(use.total(), use.q + 2 * (use.k + use.v));
}

} // namespace
