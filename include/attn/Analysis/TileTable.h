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

/// How many registers the mask and the score of a kernel take, and which
/// kernels a row is for: those that need no more. Light: a few sums and
/// comparisons. Heavy: tens of operations for a pair. Medium: in between, or
/// elements of tensors, and their addresses, are held over the key loop.
enum class Rules { None, Light, Medium, Heavy };

/// Which instruction multiplies tiles: it decides what fits.
enum class Engine { MmaSync, Wgmma };

/// What weights are relative to: the maximum of all keys so far, or a former
/// one until a weight would be too large.
enum class RowMax { Exact, Lazy };

/// A row: the tile of problems whose head dimensions are at most `maxQK` and
/// `maxV`, with or without rules, on targets with shared memory for `blocks` of
/// it. The first that matches counts; where that is for long launches only, so
/// does the next one, for the others. Every row fits the shared memory of every
/// target of its engine, and the registers of a thread (no spills in the
/// shipped specifications).
struct TileChoice {
  Engine engine;
  int64_t maxQK, maxV;
  Rules rules;
  int64_t tileM, tileN; ///< query rows, keys
  int64_t warps;        ///< that compute, of 32 threads
  int64_t stages;       ///< slots of the ring of K and of that of V
  int64_t blocks;       ///< that an SM must hold: each hides the other's waits
  int64_t overlap;      ///< tiles by which QK runs ahead of PV
  bool turns;           ///< warpgroups issue their products one by one
  RowMax max;           ///< in this tile; Exact in any other
  int64_t minQLen;      ///< for launches of so many query positions; 0: any
  const char *source;   ///< where the choice comes from
};

const std::vector<TileChoice> &tileTable();
/// The rows that count: the last is for launches of any length, those in front
/// of it for long ones. Empty where no row matches.
std::vector<const TileChoice *> chooseTiles(const layout::GpuTarget &target,
                                            Engine engine, int64_t headDimQK,
                                            int64_t headDimV, Rules rules,
                                            int64_t elementBytes);

/// Shared memory of a block: Q once, K and V once per stage, rows padded to the
/// depth of an mma (`wholePanels`: to the width of a swizzled panel, which
/// wgmma and tensor copies need). O lies in Q's memory, or beside it where that
/// fits (`apart`) or it leaves by tensor copies while the next Q comes.
struct SharedUse {
  int64_t q, k, v, o; ///< bytes of one tile
  int64_t stages;
  int64_t total() const { return (q > o ? q : o) + stages * (k + v); }
  int64_t apart() const { return q + o + stages * (k + v); }
};
SharedUse sharedUse(bool wholePanels, int64_t headDimQK, int64_t headDimV,
                    int64_t elementBytes, int64_t tileM, int64_t tileN,
                    int64_t stages);

} // namespace attn

#endif // ATTN_ANALYSIS_TILETABLE_H
