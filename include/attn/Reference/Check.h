//===- Check.h - Judging a kernel's output against the oracle ----*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which rows are compared, the bounds of docs/Numerics.md, and the report. In
// three steps so that one reference judges many runs of the same launch:
// selectRows, computeReference (Oracle.h), compare.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_CHECK_H
#define ATTN_REFERENCE_CHECK_H

#include "attn/Reference/Oracle.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn {

/// `--rows`: Auto is all rows of a small problem and a selection of a large
/// one.
struct RowChoice {
  enum Mode { Auto, All, Count };
  Mode mode = Auto;
  int64_t count = 0; ///< Count: random rows per head and batch entry, besides
                     ///< the first, last and tile-edge ones
  /// Query rows per tile of the kernels that may run; edges of each are picked.
  std::vector<int64_t> tileRows = {64, 128};
  uint64_t seed = 0;
};

/// Parses "all", "auto" or a count; throws std::runtime_error otherwise.
RowChoice parseRowChoice(const std::string &text);

struct RowSelection {
  std::vector<RowId> rows;
  int64_t total = 0;       ///< rows of the whole launch
  std::string description; ///< "all 96 rows", "2048 of 262144 rows: first, ..."
};
RowSelection selectRows(const Launch &launch, const RowChoice &choice);

/// One compared number, the worst of its kind: |got - expected| / bound
/// largest.
struct Difference {
  double error = 0, bound = 0;
  double got = 0, expected = 0;
  int64_t b = 0, h = 0, i = 0, q = 0; ///< i: row of the launch; q: position
  int64_t d = -1;                     ///< -1: the row's lse
};

/// A tensor declared `monotone` that decreases.
struct MonotoneFailure {
  std::string tensor;
  std::vector<int64_t> index; ///< of the element smaller than its predecessor
  double before = 0, after = 0;
};

/// The outputs of a run, in host memory. `o.data` / `lse` may be null when the
/// problem does not have that output. lse is f32 with element strides.
struct Outputs {
  RowView o;
  const float *lse = nullptr;
  int64_t lseStrideB = 0, lseStrideH = 0, lseStrideS = 0;
};

struct CheckReport {
  bool passed = false;
  RowSelection selection;
  int64_t elements = 0; ///< numbers of o compared
  int64_t failures = 0; ///< numbers of o out of bound, NaN included
  int64_t lseFailures = 0;
  int64_t nanGot = 0, nanExpected = 0; ///< NaN on either side is a failure
  int64_t emptyRows = 0;
  std::optional<Difference> worst, worstLse; ///< largest error over bound
  std::optional<Difference> first;           ///< first failure in row order
  double maxError = 0;                       ///< largest |error| of o ...
  double plainError = 0; ///< ... of the plain twin on the same rows, ...
  double plainLimit = 0; ///< ... and the second rule: 2 x that + one ulp + f32
  bool plainRuleFailed = false;
  double maxAbsLogit = 0; ///< C13 warning when x log2(e) >= 2^29
  std::vector<std::string> warnings;
  std::optional<Fault> outOfRange, divisionByZero;
  std::vector<MonotoneFailure> monotone; ///< first of each tensor

  std::string text() const; ///< one paragraph, no trailing newline
  std::string json() const; ///< one object
};

/// Share of max |V| that rounding P to the spec's dtype may cost
/// (docs/Numerics.md).
double weightTolerance(DType dtype);
/// Bound on the error of an lse: absolute where it is small, relative above.
double lseBound(double expected);

/// Promises `monotone` of the bound tensors that do not hold.
std::vector<MonotoneFailure> checkMonotone(const Launch &launch);

/// Judges `outputs` on the rows of `reference`. A broken `monotone` promise and
/// a read out of range fail the check: the spec's results are undefined then.
CheckReport compare(const Launch &launch, const RowSelection &selection,
                    const Reference &reference, const Outputs &outputs);

} // namespace attn

#endif // ATTN_REFERENCE_CHECK_H
