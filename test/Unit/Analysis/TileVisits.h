//===- TileVisits.h - The key tiles that code visits ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_ANALYSIS_TILEVISITS_H
#define ATTN_TEST_UNIT_ANALYSIS_TILEVISITS_H

#include "RuleInterpreter.h"

namespace attn::test {

/// What is true of each key: whether some row sees it, whether some misses it.
struct KeyClasses {
  std::vector<uint8_t> visible, hidden;
};

/// A tile that is visited.
struct TileVisit {
  int64_t firstKey;
  bool isFull;

  bool operator==(const TileVisit &other) const {
    return firstKey == other.firstKey && isFull == other.isFull;
  }
};
using TileVisits = std::vector<TileVisit>;
void PrintTo(const TileVisit &visit, std::ostream *os);

/// Bounds with the code that places key tiles, in a region that runs.
class PlacedTiles {
public:
  /// Appends that code to `bounds`, whose yield is changed.
  PlacedTiles(ir::BoundsOp bounds, int64_t tileKeys);

  /// In the order in which they are visited.
  TileVisits run(const std::vector<int64_t> &arguments,
                 const RuleInputs &inputs);
  size_t getRangeCount() const { return ranges; }

private:
  ir::BoundsOp bounds;
  int64_t tileKeys;
  size_t ranges;
};

/// The least that has to be visited: partial tiles from right to left, then
/// full ones. A tile is full if all of its keys exist and no row misses one.
TileVisits leastVisits(const KeyClasses &keys, int64_t tileKeys);

} // namespace attn::test

#endif // ATTN_TEST_UNIT_ANALYSIS_TILEVISITS_H
