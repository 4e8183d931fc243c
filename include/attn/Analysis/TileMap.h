//===- TileMap.h - Which key tiles a kernel visits, as a picture -*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// One row per query tile, one column per key tile: what the kernel does with
// the tile, and the least that it would have to do. Plain C++: no MLIR, no
// LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_TILEMAP_H
#define ATTN_ANALYSIS_TILEMAP_H

#include <cstdint>
#include <string>
#include <vector>

namespace attn {

/// Skipped; visited, and the mask evaluated for each pair; visited without.
enum class TileClass : uint8_t { Skipped, Partial, Full };

struct TileCell {
  TileClass kernel = TileClass::Skipped; ///< what the kernel does
  TileClass least = TileClass::Skipped;  ///< what the mask asks for
  /// How a picture shows the two.
  enum Shade : uint8_t { Skipped, Partial, Full, Masked, Needless };
  Shade shade() const;
};
constexpr int shadeCount = TileCell::Needless + 1;

struct TileMap {
  std::string name;     ///< of the attention
  std::string schedule; ///< "fa3"
  std::vector<std::string>
      settings;               ///< "left = 1023": what the mask depends on
  int64_t qLen = 0, kLen = 0; ///< positions
  int64_t tileRows = 1, tileKeys = 1; ///< of a tile: queries, keys
  bool isByList = false;    ///< the kernel reads the classes from a block list
  int64_t visiblePairs = 0; ///< pairs that the mask shows
  std::vector<TileCell> cells; ///< rows() x columns(), row-major

  int64_t rows() const { return (qLen + tileRows - 1) / tileRows; }
  int64_t columns() const { return (kLen + tileKeys - 1) / tileKeys; }
  const TileCell &at(int64_t row, int64_t column) const {
    return cells[size_t(row * columns() + column)];
  }
};

struct TileCounts {
  int64_t shades[shadeCount] = {};
  int64_t all = 0;
  int64_t visited = 0;       ///< by the kernel
  int64_t least = 0;         ///< with any visible pair
  int64_t computedPairs = 0; ///< pairs of visited tiles
  /// The part of the products over all tiles that is not computed, 0 .. 1.
  double saved() const { return all ? 1 - double(visited) / double(all) : 0; }
};
TileCounts countTiles(const TileMap &map);

/// A map with as many cells as can be looked at: a cell stands for stepRows x
/// stepColumns tiles, and is partial where these differ.
struct TilePicture {
  int64_t rows = 0, columns = 0;
  int64_t stepRows = 1, stepColumns = 1; ///< in tiles
  std::vector<TileCell::Shade> shades;   ///< row-major

  TileCell::Shade at(int64_t row, int64_t column) const {
    return shades[size_t(row * columns + column)];
  }
};
TilePicture makePicture(const TileMap &map, int64_t mostCells);

/// What a shade means, in a few words.
const char *describe(TileCell::Shade shade);
/// The counts in sentences, as text and picture show them.
std::vector<std::string> summarize(const TileMap &map);

/// One line per query tile, one letter per key tile, a legend, counts.
std::string toText(const TileMap &map);
/// The same as a picture, an XML document.
std::string toSvg(const TileMap &map);
/// The same as data.
std::string toJson(const TileMap &map);

} // namespace attn

#endif // ATTN_ANALYSIS_TILEMAP_H
