//===- MaskTerms.h - A mask as a union of conjunctions ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A mask, and its negation, in disjunctive normal form: terms that are each a
// conjunction of affine conditions. What is not affine is left out of the terms
// of both, so both hold wherever the predicate does, and perhaps elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_MASKTERMS_H
#define ATTN_ANALYSIS_MASKTERMS_H

#include "attn/Analysis/MaskAffine.h"

namespace attn {

/// `form <= 0`, with coefficient -1, 0 or 1 for k; or an invariant bool.
struct MaskLiteral {
  AffineForm form;
  mlir::Value condition; ///< null: the form
  bool isNegated = false;

  bool operator==(const MaskLiteral &other) const {
    return condition == other.condition && isNegated == other.isNegated &&
           form == other.form;
  }
};

/// All of its literals hold; without any it is everything.
using MaskTerm = llvm::SmallVector<MaskLiteral, 4>;
/// Some of them hold; without any it is nothing.
using MaskTerms = llvm::SmallVector<MaskTerm, 4>;

class MaskTermBuilder {
public:
  MaskTermBuilder(ir::KernelOp kernel, ir::MaskOp mask);

  /// A condition of the mask, or its negation. No term lies within another one,
  /// none is empty for reasons known here, none has a literal that follows from
  /// the others.
  MaskTerms get(mlir::Value condition, bool isNegated);

  /// Whether all that was asked for so far is met by no other pairs either.
  bool isExact() const { return exact; }

  MaskAffine &getAffine() { return affine; }

  /// Beyond these a union is widened, a conjunction loses conditions: the terms
  /// stay true to what they promise, at a bounded cost.
  static constexpr size_t maxTerms = 8, maxLiterals = 16;

private:
  MaskTerms unknown() {
    exact = false;
    return {MaskTerm()};
  }
  MaskTerms getNew(mlir::Value condition, bool isNegated);
  MaskTerms getSelect(mlir::Value condition, mlir::Value lhs, mlir::Value rhs,
                      bool isNegated);
  MaskTerms getComparison(mlir::arith::CmpIOp compare, bool isNegated);
  MaskTerms getAffineTerms(const AffineComparison &comparison);

  MaskTerms unite(MaskTerms lhs, const MaskTerms &rhs);
  MaskTerms intersect(const MaskTerms &lhs, const MaskTerms &rhs);

  /// False when the term is empty.
  bool simplify(MaskTerm &term);
  void simplify(MaskTerms &terms);
  bool mergeTouching(MaskTerms &terms);
  std::optional<Interval> rangeOfSum(const MaskLiteral &lhs,
                                     const MaskLiteral &rhs, int64_t factor);
  bool implies(const MaskLiteral &lhs, const MaskLiteral &rhs);
  bool implies(const MaskTerm &lhs, const MaskTerm &rhs);
  bool exclude(const MaskLiteral &lhs, const MaskLiteral &rhs);
  bool cover(const MaskLiteral &lhs, const MaskLiteral &rhs);

  MaskAffine affine;
  /// Literals that hold for every pair: 0 <= k < k_len and the like.
  MaskTerm facts;
  llvm::DenseMap<mlir::Value, MaskTerms> known[2]; ///< positive, negated
  /// Comparisons of literals that are left; what comes after counts as unknown.
  size_t budget = size_t(1) << 18;
  /// Conditions inside each other; what is deeper counts as unknown.
  unsigned depth = 0;
  bool exact = true;
};

} // namespace attn

#endif // ATTN_ANALYSIS_MASKTERMS_H
