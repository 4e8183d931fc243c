//===- MaskAffine.h - Affine comparisons of a mask --------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Which conditions of a mask are affine in the positions q and k, everything
// else (params, lengths, reads by batch entry and head) being an invariant of
// the row tile.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_MASKAFFINE_H
#define ATTN_ANALYSIS_MASKAFFINE_H

#include "attn/Analysis/RuleRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <optional>

namespace attn {

/// q * Q + k * K + sum of coefficient * invariant + constant, an exact integer:
/// no step of the code it was read from wraps.
struct AffineForm {
  using Term = std::pair<mlir::Value, int64_t>;

  int64_t q = 0, k = 0, constant = 0;
  llvm::SmallVector<Term> terms; ///< coefficients not 0, in program order
};

/// `form predicate 0`, the predicate one of eq, ne, sle and sge.
struct AffineComparison {
  AffineForm form;
  mlir::arith::CmpIPredicate predicate;
};

/// The opposite; nothing when the constant would leave 64 bits.
std::optional<AffineComparison> negated(AffineComparison comparison);

/// `k predicate bound`, the bound free of k.
struct KeyComparison {
  mlir::arith::CmpIPredicate predicate;
  AffineForm bound;
};
/// The comparison solved for k, whose coefficient must be 1 or -1.
std::optional<KeyComparison> solveForKey(const AffineComparison &comparison);

class MaskAffine {
public:
  MaskAffine(ir::KernelOp kernel, ir::MaskOp mask);

  /// True when the value is the same for all pairs of a head.
  bool isInvariant(mlir::Value value);
  /// True when the value is the same for all keys of a row.
  bool isKeyFree(mlir::Value value);
  /// Nothing when the comparison is not affine, or its form does not fit.
  std::optional<AffineComparison> get(mlir::arith::CmpIOp compare);

  RuleRanges &getRanges() { return ranges; }

private:
  struct Dependence {
    bool onQuery = false, onKey = false;
  };
  Dependence dependenceOf(mlir::Value value);
  std::optional<AffineForm> getForm(mlir::Value value);
  std::optional<AffineForm> getSum(mlir::Value value);

  bool isBottomRight;
  ir::MaskOp mask;
  RuleRanges ranges;
  llvm::DenseMap<mlir::Value, Dependence> dependences;
};

/// A form without k on its way to code: how it can be computed.
struct LinearPlan {
  Interval range;
  bool fitsI32 = false;
  /// An i64 invariant that is first clamped to +-wideLimit, so that the sum
  /// cannot wrap; it decides the comparison with a position either way.
  mlir::Value wide;
};
constexpr int64_t wideLimit = int64_t(1) << 62;

/// How `form` (k = 0) is computed without wrapping, for rows of range `query`;
/// nothing when it cannot.
std::optional<LinearPlan> planLinear(const AffineForm &form, Interval query,
                                     RuleRanges &ranges);

/// Emits `form` (k = 0) with `query` for q and `map` applied to the invariants:
/// i32 if the plan says that it fits, else i64.
mlir::Value emitLinear(mlir::OpBuilder &builder, mlir::Location loc,
                       const AffineForm &form, const LinearPlan &plan,
                       mlir::Value query,
                       llvm::function_ref<mlir::Value(mlir::Value)> map);

/// The value behind the clamp of an i64 to i32 that normalisation emits; the
/// value itself if it is none.
mlir::Value stripSaturation(mlir::Value value);
/// That clamp.
mlir::Value emitSaturation(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value value);

} // namespace attn

#endif // ATTN_ANALYSIS_MASKAFFINE_H
