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

/// A row: the tile of problems whose larger head dimension is at most
/// `maxHeadDim`, on targets with at least `minSharedBytes`. The first that
/// matches counts.
struct TileChoice {
  int64_t maxHeadDim;
  int64_t minSharedBytes;
  int64_t tileM, tileN; ///< query rows, keys
  int64_t warps;        ///< of 32 threads
  int64_t stages;       ///< slots of the ring of K and of that of V
  const char *source;   ///< where the choice comes from
};

const std::vector<TileChoice> &tileTable();
/// Null where no row matches.
const TileChoice *chooseTile(int64_t headDimQK, int64_t headDimV,
                             const layout::GpuTarget &target);

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
