//===- TileMap.cpp - Which key tiles a kernel visits, as a picture --------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileMap.h"

#include <algorithm>
#include <cstdio>

using namespace attn;

TileCell::Shade TileCell::shade() const {
  if (kernel == TileClass::Skipped)
    return Skipped;
  if (kernel == TileClass::Full)
    return Full;
  switch (least) {
  case TileClass::Skipped:
    return Needless;
  case TileClass::Full:
    return Masked;
  case TileClass::Partial:
    break;
  }
  return Partial;
}

TileCounts attn::countTiles(const TileMap &map) {
  TileCounts counts;
  counts.all = int64_t(map.cells.size());
  for (const TileCell &cell : map.cells) {
    ++counts.shades[cell.shade()];
    counts.visited += cell.kernel != TileClass::Skipped;
    counts.least += cell.least != TileClass::Skipped;
  }
  counts.computedPairs = counts.visited * map.tileRows * map.tileKeys;
  return counts;
}

TilePicture attn::makePicture(const TileMap &map, int64_t mostCells) {
  auto pieces = [](int64_t whole, int64_t size) {
    return (whole + size - 1) / size;
  };
  TilePicture picture;
  picture.stepRows = std::max<int64_t>(1, pieces(map.rows(), mostCells));
  picture.stepColumns = std::max<int64_t>(1, pieces(map.columns(), mostCells));
  picture.rows = pieces(map.rows(), picture.stepRows);
  picture.columns = pieces(map.columns(), picture.stepColumns);
  picture.shades.resize(size_t(picture.rows * picture.columns));
  std::vector<bool> isSet(picture.shades.size());
  for (int64_t row = 0; row < map.rows(); ++row)
    for (int64_t column = 0; column < map.columns(); ++column) {
      auto cell = size_t(row / picture.stepRows * picture.columns +
                         column / picture.stepColumns);
      TileCell::Shade shade = map.at(row, column).shade();
      if (!isSet[cell])
        picture.shades[cell] = shade;
      else if (picture.shades[cell] != shade)
        picture.shades[cell] = TileCell::Partial;
      isSet[cell] = true;
    }
  return picture;
}

const char *attn::describe(TileCell::Shade shade) {
  switch (shade) {
  case TileCell::Skipped:
    return "skipped";
  case TileCell::Partial:
    return "partial, the mask is evaluated";
  case TileCell::Full:
    return "full, no mask";
  case TileCell::Masked:
    return "full, but the mask is evaluated";
  case TileCell::Needless:
    return "empty, but visited";
  }
  return "";
}

static std::string percent(double part) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * part);
  return text;
}

std::vector<std::string> attn::summarize(const TileMap &map) {
  TileCounts counts = countTiles(map);
  auto number = [](int64_t value) { return std::to_string(value); };
  std::vector<std::string> lines = {
      "FLOPs saved: " + percent(counts.saved()) + " of those of all " +
          number(counts.all) + " tiles",
      "tiles visited: " + number(counts.visited) + ", at least " +
          number(counts.least) + " (those with a visible pair)"};
  if (counts.visited)
    lines.push_back(
        "pairs computed: " + number(counts.computedPairs) + ", visible " +
        number(map.visiblePairs) + " (" +
        percent(double(map.visiblePairs) / double(counts.computedPairs)) + ")");
  if (map.isByList)
    lines.push_back("classes: by block list");
  return lines;
}
