//===- TileMapJson.cpp - A tile map as data -------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileMap.h"

#include <nlohmann/json.hpp>

using namespace attn;

std::string attn::toJson(const TileMap &map) {
  TileCounts counts = countTiles(map);
  static constexpr char letters[] = {'.', 'P', 'F'};
  auto rows = [&](TileClass TileCell::*side) {
    std::vector<std::string> lines;
    for (int64_t row = 0; row < map.rows(); ++row) {
      std::string line;
      for (int64_t column = 0; column < map.columns(); ++column)
        line += letters[size_t(map.at(row, column).*side)];
      lines.push_back(line);
    }
    return lines;
  };
  nlohmann::ordered_json json = {
      {"name", map.name},
      {"schedule", map.schedule},
      {"settings", map.settings},
      {"q_len", map.qLen},
      {"k_len", map.kLen},
      {"tile", {map.tileRows, map.tileKeys}},
      {"by_block_list", map.isByList},
      {"tiles",
       {{"all", counts.all},
        {"visited", counts.visited},
        {"least", counts.least},
        {"full", counts.shades[TileCell::Full]}}},
      {"flops_saved", counts.saved()},
      {"pairs",
       {{"computed", counts.computedPairs}, {"visible", map.visiblePairs}}},
      {"kernel", rows(&TileCell::kernel)},
      {"least", rows(&TileCell::least)}};
  constexpr int indent = 1;
  return json.dump(indent) + "\n";
}
