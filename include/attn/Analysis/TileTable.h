//===- TileTable.h - The tiles chosen for a problem -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Data, not code: what a schedule looks like where the specification leaves it
// open. Plain C++: no MLIR, no LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_TILETABLE_H
#define ATTN_ANALYSIS_TILETABLE_H

#include "attn/Layout/GpuTarget.h"

#include <cstdint>
#include <vector>

namespace attn {

/// Which kernels a row is for: a mask or a score takes registers.
enum class Rules { None, Any };

/// A row: the tile of problems whose larger head dimension is at most
/// `maxHeadDim`, with or without rules. The first that matches counts. Every
/// row fits the shared memory of every target, and the registers of a thread
/// (no spills in the shipped specifications).
struct TileChoice {
  int64_t maxHeadDim;
  Rules rules;
  int64_t tileM, tileN; ///< query rows, keys
  int64_t warps;        ///< of 32 threads
  int64_t stages;       ///< slots of the ring of K and of that of V
  const char *source;   ///< where the choice comes from
};

const std::vector<TileChoice> &tileTable();
/// Null where no row matches. `hasRules`: there is a mask, a score or a sink.
const TileChoice *chooseTile(int64_t headDimQK, int64_t headDimV,
                             bool hasRules);

/// Shared memory of a block: Q once, K and V once per stage, rows padded to the
/// depth of an mma.
struct SharedUse {
  int64_t q, k, v; ///< bytes of one tile
  int64_t stages;
  int64_t total() const { return q + stages * (k + v); }
};
SharedUse sharedUse(int64_t headDimQK, int64_t headDimV, int64_t elementBytes,
                    int64_t tileM, int64_t tileN, int64_t stages);

} // namespace attn

#endif // ATTN_ANALYSIS_TILETABLE_H
