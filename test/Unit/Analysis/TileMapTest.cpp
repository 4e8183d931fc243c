//===- TileMapTest.cpp - Tile maps as text, picture and data --------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileMap.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace attn;

namespace {

constexpr auto skipped = TileClass::Skipped, partial = TileClass::Partial,
               full = TileClass::Full;

/// Tiles of 2 queries x 4 keys: the last row and column are cut off.
TileMap makeMap() {
  TileMap map;
  map.name = "a < b & \"c\"";
  map.schedule = "fa2";
  map.qLen = 5;
  map.kLen = 10;
  map.tileRows = 2;
  map.tileKeys = 4;
  map.visiblePairs = 21;
  map.cells = {{partial, partial}, {skipped, skipped}, {skipped, skipped},
               {full, full},       {partial, full},    {partial, skipped},
               {full, full},       {full, full},       {partial, partial}};
  return map;
}

TEST(TileMapTest, EveryTileIsCounted) {
  TileMap map = makeMap();
  EXPECT_EQ(map.rows(), 3);
  EXPECT_EQ(map.columns(), 3);
  TileCounts counts = countTiles(map);
  EXPECT_EQ(counts.all, 9);
  EXPECT_EQ(counts.visited, 7);
  EXPECT_EQ(counts.least, 6);
  EXPECT_EQ(counts.computedPairs, 7 * 8);
  EXPECT_DOUBLE_EQ(counts.saved(), 2.0 / 9);
  const int64_t expected[] = {2, 2, 3, 1, 1};
  for (int shade = 0; shade < shadeCount; ++shade)
    EXPECT_EQ(counts.shades[shade], expected[shade]) << shade;
}

TEST(TileMapTest, WithoutTilesNothingIsSaved) {
  EXPECT_EQ(countTiles(TileMap()).saved(), 0);
}

TEST(TileMapTest, LettersAndWhatTheyMean) {
  EXPECT_EQ(toText(makeMap()),
            "a < b & \"c\": q_len 5, k_len 10, tiles of 2 queries x 4 keys "
            "(fa2)\n"
            "\n"
            "0  P..\n"
            "2  Ffe\n"
            "4  FFP\n"
            "\n"
            "F  full, no mask: 3\n"
            "P  partial, the mask is evaluated: 2\n"
            ".  skipped: 2\n"
            "f  full, but the mask is evaluated: 1\n"
            "e  empty, but visited: 1\n"
            "FLOPs saved: 22.2 % of those of all 9 tiles\n"
            "tiles visited: 7, at least 6 (those with a visible pair)\n"
            "pairs computed: 56, visible 21 (37.5 %)\n");
}

TEST(TileMapTest, CellsStandForSeveralTiles) {
  TilePicture picture = makePicture(makeMap(), 2);
  EXPECT_EQ(picture.rows, 2);
  EXPECT_EQ(picture.columns, 2);
  EXPECT_EQ(picture.stepRows, 2);
  EXPECT_EQ(picture.stepColumns, 2);
  EXPECT_EQ(picture.at(0, 0), TileCell::Partial); // P . / F f
  EXPECT_EQ(picture.at(0, 1), TileCell::Partial); // . / e
  EXPECT_EQ(picture.at(1, 0), TileCell::Full);    // F F
  EXPECT_EQ(picture.at(1, 1), TileCell::Partial); // P
  EXPECT_EQ(makePicture(makeMap(), 3).stepRows, 1);
}

TEST(TileMapTest, LongMapsSayWhatALetterStandsFor) {
  TileMap map;
  map.qLen = 1;
  map.kLen = 512;
  map.cells.assign(512, {full, full});
  std::string text = toText(map);
  EXPECT_NE(text.find("0  " + std::string(256, 'F') + "\n"), std::string::npos);
  EXPECT_NE(text.find("each letter stands for 1 x 2 tiles"), std::string::npos);
  EXPECT_NE(text.find("F  full, no mask: 512\n"), std::string::npos);
}

TEST(TileMapTest, DataIsComplete) {
  TileMap map = makeMap();
  map.settings = {"left = 3"};
  map.isByList = true;
  nlohmann::json json = nlohmann::json::parse(toJson(map));
  EXPECT_EQ(json["name"], map.name);
  EXPECT_EQ(json["settings"], nlohmann::json({"left = 3"}));
  EXPECT_EQ(json["tile"], nlohmann::json({2, 4}));
  EXPECT_EQ(json["kernel"], nlohmann::json({"P..", "FPP", "FFP"}));
  EXPECT_EQ(json["least"], nlohmann::json({"P..", "FF.", "FFP"}));
  EXPECT_EQ(json["tiles"]["visited"], 7);
  EXPECT_EQ(json["by_block_list"], true);
}

TEST(TileMapTest, PicturesMergeNeighboursAndEscapeNames) {
  std::string svg = toSvg(makeMap());
  EXPECT_NE(svg.find("a &lt; b &amp; &quot;c&quot;</text>"), std::string::npos);
  // Two skipped tiles, one rectangle.
  EXPECT_NE(svg.find("queries 0 .. 1, keys 4 .. 9: skipped"),
            std::string::npos);
  EXPECT_NE(svg.find("queries 4 .. 4, keys 0 .. 7: full, no mask"),
            std::string::npos);
  EXPECT_NE(svg.find("FLOPs saved: 22.2 %"), std::string::npos);
}

} // namespace
