//===- TileMapText.cpp - A tile map as letters ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileMap.h"

#include <algorithm>

using namespace attn;

/// Of letters in a line, and of lines.
static constexpr int64_t mostCells = 256;

static char letterOf(TileCell::Shade shade) {
  static constexpr char letters[] = {'.', 'P', 'F', 'f', 'e'};
  static_assert(sizeof letters == shadeCount);
  return letters[shade];
}

static std::string header(const TileMap &map) {
  std::string text = map.name + ": q_len " + std::to_string(map.qLen) +
                     ", k_len " + std::to_string(map.kLen) + ", tiles of " +
                     std::to_string(map.tileRows) + " queries x " +
                     std::to_string(map.tileKeys) + " keys (" + map.schedule +
                     ")\n";
  for (size_t i = 0; i < map.settings.size(); ++i)
    text += (i == 0 ? "with " : ", ") + map.settings[i];
  return map.settings.empty() ? text : text + "\n";
}

static std::string legend(const TileMap &map) {
  TileCounts counts = countTiles(map);
  std::string text;
  for (TileCell::Shade shade :
       {TileCell::Full, TileCell::Partial, TileCell::Skipped, TileCell::Masked,
        TileCell::Needless}) {
    // What a kernel should not do is worth a line only where it does.
    bool isUsual = shade <= TileCell::Full;
    if (isUsual || counts.shades[shade])
      text += std::string(1, letterOf(shade)) + "  " + describe(shade) + ": " +
              std::to_string(counts.shades[shade]) + "\n";
  }
  return text;
}

std::string attn::toText(const TileMap &map) {
  TilePicture picture = makePicture(map, mostCells);
  std::string text = header(map) + "\n";
  auto width = std::to_string(std::max<int64_t>(map.qLen - 1, 0)).size();
  for (int64_t row = 0; row < picture.rows; ++row) {
    std::string first = std::to_string(row * picture.stepRows * map.tileRows);
    text += std::string(width - first.size(), ' ') + first + "  ";
    for (int64_t column = 0; column < picture.columns; ++column)
      text += letterOf(picture.at(row, column));
    text += "\n";
  }
  text += "\n";
  if (picture.stepRows > 1 || picture.stepColumns > 1)
    text += "each letter stands for " + std::to_string(picture.stepRows) +
            " x " + std::to_string(picture.stepColumns) +
            " tiles, P where they differ\n";
  text += legend(map);
  for (const std::string &line : summarize(map))
    text += line + "\n";
  return text;
}
