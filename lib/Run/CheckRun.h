//===- CheckRun.h - Judging a kernel by the harness rules -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of docs/Numerics.md, "Judging numbers", around the oracle: poisoned
// outputs and gaps, guard bands, everything written, every case twice and on
// two grid sizes with equal bits. Plain C++.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_CHECKRUN_H
#define ATTN_TOOLS_RUN_CHECKRUN_H

#include "Execution.h"

#include <optional>
#include <string>
#include <vector>

namespace attn::run {

/// A closed form that the result must have, besides the oracle's.
struct Expectation {
  std::optional<FillSpec> o;   ///< element (i, d) in every head
  std::optional<FillSpec> lse; ///< row i in every head
  /// Relative to the value; unset: the bound for the spec's dtype.
  std::optional<double> tolerance;
};

struct CheckOptions {
  RowChoice rows;
  std::optional<int64_t> grid;
  Expectation expect;
  int64_t guardBytes = 4096;
};

/// Inputs to run and judge, and what to call them.
struct DataSet {
  std::string name;
  const Inputs &inputs;
};

/// One data set judged.
struct DataSetResult {
  std::string name;
  CheckReport report;
};

struct CheckResult {
  std::string kernel;             ///< which, and why
  std::optional<PlanReport> plan; ///< of the first run
  std::vector<DataSetResult> dataSets;
  std::vector<std::string> failures; ///< of the harness rules, one line each
  std::vector<int64_t> grids;        ///< grid sizes that were run
  OutputImage outputs;               ///< of the first run

  bool passed() const;
  std::string text() const;
  std::string json() const; ///< one object
};

/// Runs and judges every data set; the first also against the closed forms. A
/// device fault while a kernel runs is a failure of the check; DeviceError is
/// thrown for what comes before (memory, loading).
CheckResult checkRun(Device &device, LoadedPackage &package,
                     const std::vector<DataSet> &dataSets,
                     const CheckOptions &options);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_CHECKRUN_H
