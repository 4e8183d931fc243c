//===- SharedTileTest.cpp - Tests of the shared-memory layout -------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Layout/SharedTile.h"

#include "gtest/gtest.h"

#include <set>
#include <string>

using attn::layout::chunkBytes;
using attn::layout::Panel;
using attn::layout::SharedTile;
using attn::layout::tileAlignment;

namespace {

/// Bytes that the banks of shared memory deliver at once.
constexpr int64_t bankBytes = 128;

std::string describe(const SharedTile &tile) {
  std::string text;
  for (const Panel &panel : tile.panels())
    text += std::to_string(panel.column) + "+" + std::to_string(panel.columns) +
            "@" + std::to_string(panel.offset) + " ";
  return text;
}

TEST(SharedTile, PanelsAreWidestFirst) {
  EXPECT_EQ(describe({64, 128, 2}), "0+64@0 64+64@8192 ");
  EXPECT_EQ(describe({64, 72, 2}), "0+64@0 64+8@8192 ");
  EXPECT_EQ(describe({64, 96, 2}), "0+64@0 64+32@8192 ");
  EXPECT_EQ(describe({16, 120, 2}), "0+64@0 64+32@2048 96+16@3072 112+8@3584 ");
  EXPECT_EQ(describe({8, 40, 4}), "0+32@0 32+8@1024 ");
}

TEST(SharedTile, PanelOfFindsTheColumn) {
  SharedTile tile{64, 112, 2};
  EXPECT_EQ(tile.panelOf(0).column, 0);
  EXPECT_EQ(tile.panelOf(63).column, 0);
  EXPECT_EQ(tile.panelOf(64).column, 64);
  EXPECT_EQ(tile.panelOf(96).columns, 16);
}

// By hand from the swizzling modes of the PTX ISA: chunk c of row r.
TEST(SharedTile, SwizzlesAsThePtxIsa) {
  SharedTile wide{16, 64, 2}, half{16, 32, 2}, quarter{16, 16, 2},
      one{16, 8, 2};
  EXPECT_EQ(wide.offset(0, 8), 16);
  EXPECT_EQ(wide.offset(1, 0), 128 + 16);
  EXPECT_EQ(wide.offset(7, 61), 7 * 128 + (7 ^ 7) * 16 + 5 * 2);
  EXPECT_EQ(wide.offset(9, 24), 9 * 128 + (3 ^ 1) * 16);
  EXPECT_EQ(half.offset(1, 0), 64);
  EXPECT_EQ(half.offset(2, 0), 2 * 64 + 16);
  EXPECT_EQ(half.offset(7, 8), 7 * 64 + (1 ^ 3) * 16);
  EXPECT_EQ(quarter.offset(3, 0), 3 * 32);
  EXPECT_EQ(quarter.offset(4, 0), 4 * 32 + 16);
  EXPECT_EQ(one.offset(5, 3), 5 * 16 + 3 * 2);
}

class EveryWidth : public testing::TestWithParam<int64_t> {};

TEST_P(EveryWidth, EveryElementHasItsOwnPlace) {
  SharedTile tile{24, GetParam(), 2};
  std::set<int64_t> offsets;
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t column = 0; column < tile.columns; ++column) {
      int64_t offset = tile.offset(row, column);
      EXPECT_GE(offset, 0);
      EXPECT_LT(offset, tile.rows * tile.columns * tile.elementBytes);
      EXPECT_TRUE(offsets.insert(offset).second) << row << ", " << column;
    }
}

// Eight rows of one chunk, what ldmatrix reads at once, lie in eight different
// sixteenths of the banks.
TEST_P(EveryWidth, EightRowsOfAChunkHaveNoBankConflict) {
  SharedTile tile{32, GetParam(), 2};
  for (int64_t firstRow = 0; firstRow < tile.rows; firstRow += 8)
    for (int64_t column = 0; column < tile.columns; column += 8) {
      std::set<int64_t> banks;
      for (int64_t row = firstRow; row < firstRow + 8; ++row)
        banks.insert(tile.offset(row, column) % bankBytes / chunkBytes);
      EXPECT_EQ(banks.size(), 8u) << firstRow << ", " << column;
    }
}

// What the lowering relies on: groups of 8 rows are constants, another chunk of
// the same row is an XOR.
TEST_P(EveryWidth, AddressesAreASumAndAnXor) {
  SharedTile tile{32, GetParam(), 2};
  for (const Panel &panel : tile.panels())
    for (int64_t row = 0; row < 8; ++row) {
      int64_t base = tile.offset(row, panel.column) - panel.offset;
      for (int64_t chunk = 0; chunk < panel.chunks(); ++chunk)
        for (int64_t group = 0; group < tile.rows; group += 8)
          EXPECT_EQ(tile.offset(row + group, panel.column + chunk * 8),
                    (base ^ (chunk * chunkBytes)) + panel.offset +
                        group * panel.bytes);
    }
}

INSTANTIATE_TEST_SUITE_P(SharedTile, EveryWidth,
                         testing::Values(8, 16, 24, 32, 40, 56, 64, 72, 80, 96,
                                         104, 112, 120, 128, 192, 256));

TEST(SharedTile, SizeIsAMultipleOfTheAlignment) {
  EXPECT_EQ((SharedTile{64, 128, 2}).bytes(), 16384);
  EXPECT_EQ((SharedTile{8, 8, 2}).bytes(), tileAlignment);
  EXPECT_EQ((SharedTile{24, 72, 2}).bytes(), 4 * tileAlignment);
}

} // namespace
