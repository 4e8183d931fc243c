//===- Bench.h - Timing a launch --------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conventions: FLOP = 2 * (qk_dim + v_dim) for each visible (query, key) pair
// of every query head, which is 4 * S^2 * d * H * B for a full square; bytes =
// Q, K, V, tensors read once and O, lse written once. Plain C++.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_BENCH_H
#define ATTN_TOOLS_RUN_BENCH_H

#include "Execution.h"

#include <optional>
#include <string>

namespace attn::run {

/// Visible pairs over all batch entries and query heads.
struct PairCount {
  double pairs = 0;
  bool exact = true; ///< false: from evenly spaced rows
};

/// Evaluates the mask on every row, or, past `maxEvaluations` pairs, on the
/// middle rows of equal stretches.
PairCount countVisiblePairs(const Launch &launch,
                            int64_t maxEvaluations = int64_t(1) << 27);

struct BenchResult {
  std::string kernel, device;
  int repeats = 0, launchesPerRepeat = 0;
  int occupancy = 0; ///< blocks per multiprocessor
  double milliseconds = 0, fastest = 0, slowest = 0; ///< median, extremes
  std::optional<PlanReport> plan; ///< median time of as many builds
  PairCount pairs;
  double flops = 0, bytes = 0;              ///< of one launch
  double computeBound = 0, memoryBound = 0; ///< milliseconds; 0 = unknown

  double teraflops() const;
  double terabytesPerSecond() const;
  /// The larger bound; 0 = unknown.
  double roofline() const;
  std::string text() const;
  std::string json() const; ///< one object
};

/// Times a launch on the default stream, back to back (no cache is flushed).
/// Throws InputError when there is nothing to launch.
BenchResult benchRun(Device &device, LoadedPackage &package,
                     const Inputs &inputs, std::optional<int64_t> grid,
                     int repeats);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_BENCH_H
