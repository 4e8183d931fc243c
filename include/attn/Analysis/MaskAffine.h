//===- MaskAffine.h - Affine comparisons of a mask --------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Which conditions of a mask are affine in the positions q and k, everything
// else being an invariant of the row tile (params, lengths, reads by batch
// entry and head) or something that rises or falls from row to row (q / 128,
// reads of a monotone tensor by row).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_MASKAFFINE_H
#define ATTN_ANALYSIS_MASKAFFINE_H

#include "attn/Analysis/RowDirection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace attn {

/// q * Q + k * K + sum of coefficient * value + constant, an exact integer: no
/// step of the code it was read from wraps. The values are free of k and have a
/// direction from row to row.
struct AffineForm {
  using Term = std::pair<mlir::Value, int64_t>;

  int64_t q = 0, k = 0, constant = 0;
  llvm::SmallVector<Term> terms; ///< coefficients not 0, in program order

  bool operator==(const AffineForm &other) const {
    return q == other.q && k == other.k && constant == other.constant &&
           terms == other.terms;
  }
};

/// sum += factor * addend; false when a coefficient leaves 64 bits, and then
/// the sum is of no use.
bool addScaled(AffineForm &sum, const AffineForm &addend, int64_t factor);

/// `form predicate 0`, the predicate one of eq, ne, sle and sge.
struct AffineComparison {
  AffineForm form;
  mlir::arith::CmpIPredicate predicate;
};

/// The opposite; nothing when the constant would leave 64 bits.
std::optional<AffineComparison> negated(AffineComparison comparison);

/// Divides by the coefficients' greatest common divisor; the constant is
/// rounded to what the same integers satisfy: 2 k - 2 q - 1 <= 0 is k - q <= 0.
AffineComparison withoutCommonFactor(AffineComparison comparison);

/// `k predicate bound`, the bound free of k.
struct KeyComparison {
  mlir::arith::CmpIPredicate predicate;
  AffineForm bound;
};
/// The comparison solved for k, whose coefficient must be 1 or -1.
std::optional<KeyComparison> solveForKey(const AffineComparison &comparison);

/// `floor(k / divisor) predicate bound`, the bound free of k.
struct QuotientComparison {
  FloorDivision division;
  mlir::arith::CmpIPredicate predicate;
  AffineForm bound;
};
std::optional<QuotientComparison> negated(QuotientComparison comparison);

class MaskAffine {
public:
  MaskAffine(ir::KernelOp kernel, ir::MaskOp mask);

  /// True when the value is the same for all pairs of a head.
  bool isInvariant(mlir::Value value) { return directions.isInvariant(value); }
  /// Nothing when the comparison is not affine, or its form does not fit.
  std::optional<AffineComparison> get(mlir::arith::CmpIOp compare);
  /// Nothing when the comparison is not affine in q, one quotient of k and
  /// values that are free of k, whether these have a direction or not.
  std::optional<QuotientComparison> getQuotient(mlir::arith::CmpIOp compare);

  RuleRanges &getRanges() { return ranges; }
  RowDirection &getDirections() { return directions; }

private:
  std::optional<AffineComparison> getComparison(mlir::arith::CmpIOp compare);
  std::optional<AffineForm> getForm(mlir::Value value);
  std::optional<AffineForm> getSum(mlir::Value value);
  std::optional<AffineForm> getAtom(mlir::Value value);

  bool isBottomRight;
  ir::MaskOp mask;
  RuleRanges ranges;
  RowDirection directions;
  /// While a comparison of a quotient of k is read: that one.
  bool allowsQuotient = false;
  mlir::Value quotient;
};

/// What `form` (k = 0) can be for rows of range `query`; nothing when that
/// leaves 64 bits.
std::optional<Interval> rangeOfForm(const AffineForm &form, Interval query,
                                    RuleRanges &ranges);

/// A form without k on its way to code: how it can be computed.
struct LinearPlan {
  Interval range;
  bool fitsI32 = false;
  /// An i64 value that is first clamped to +-wideLimit, so that the sum
  /// cannot wrap; it decides the comparison with a position either way.
  mlir::Value wide;
};
constexpr int64_t wideLimit = int64_t(1) << 62;

/// How `form` (k = 0) is computed without wrapping, for rows of range `query`;
/// nothing when it cannot.
std::optional<LinearPlan> planLinear(const AffineForm &form, Interval query,
                                     RuleRanges &ranges);

/// Emits `form` (k = 0) with `query` for q and `map` applied to the terms: i32
/// if the plan says that it fits, else i64.
mlir::Value emitLinear(mlir::OpBuilder &builder, mlir::Location loc,
                       const AffineForm &form, const LinearPlan &plan,
                       mlir::Value query,
                       llvm::function_ref<mlir::Value(AffineForm::Term)> map);

/// The value behind the clamp of an i64 to i32 that normalisation emits; the
/// value itself if it is none.
mlir::Value stripSaturation(mlir::Value value);
/// That clamp.
mlir::Value emitSaturation(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value value);

} // namespace attn

#endif // ATTN_ANALYSIS_MASKAFFINE_H
