//===- TileVisits.h - The key tiles that code visits ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_TILEVISITS_H
#define ATTN_ANALYSIS_TILEVISITS_H

#include "attn/Analysis/RuleInterpreter.h"

namespace attn {

/// A tile that is visited.
struct TileVisit {
  int64_t firstKey;
  bool isFull;

  bool operator==(const TileVisit &other) const {
    return firstKey == other.firstKey && isFull == other.isFull;
  }
};
using TileVisits = std::vector<TileVisit>;

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

} // namespace attn

#endif // ATTN_ANALYSIS_TILEVISITS_H
