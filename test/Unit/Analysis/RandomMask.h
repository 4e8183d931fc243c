//===- RandomMask.h - Masks to try analyses on ------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_ANALYSIS_RANDOMMASK_H
#define ATTN_TEST_UNIT_ANALYSIS_RANDOMMASK_H

#include "attn/Reference/Problem.h"

#include <random>

namespace attn::test {

/// Short names for building trees by hand.
ExprPtr intConst(int64_t value);
ExprPtr boolConst(bool value);
ExprPtr index(IndexVar variable);
ExprPtr param(const std::string &name, ExprType type = ExprType::Int);
ExprPtr read(const std::string &name, std::vector<ExprPtr> indices);
ExprPtr intOp(ExprKind kind, ExprPtr lhs, ExprPtr rhs);
ExprPtr compare(ExprKind kind, ExprPtr lhs, ExprPtr rhs);
ExprPtr logic(ExprKind kind, ExprPtr lhs, ExprPtr rhs);
ExprPtr negation(ExprPtr operand);
ExprPtr select(ExprPtr condition, ExprPtr lhs, ExprPtr rhs);

/// A problem with 4 / 2 heads and this mask, params `p` and `r` (i32), `w`
/// (i64) and `on` (bool), and tensors `lens` (i32[batch]), `bias` (i8[heads]),
/// `doc` (u8[batch, k_len]), `start` (i32[batch, k_len], monotone).
Problem problemWithMask(ExprPtr mask);

/// Draws masks over those: mostly affine conditions, some opaque ones.
class RandomMask {
public:
  explicit RandomMask(uint64_t seed) : random(seed) {}

  ExprPtr mask(unsigned depth);
  /// Of so many comparisons of q, k and their difference with invariants.
  ExprPtr differences(unsigned comparisons);
  int64_t below(int64_t count) {
    return std::uniform_int_distribution<int64_t>(0, count - 1)(random);
  }
  /// A small number mostly, an extreme of the type sometimes.
  int64_t value(bool is64Bit);

private:
  ExprPtr condition();
  ExprPtr affine(unsigned terms);
  ExprPtr number(unsigned depth);
  ExprPtr invariant();
  ExprPtr rising();

  std::mt19937_64 random;
};

} // namespace attn::test

#endif // ATTN_TEST_UNIT_ANALYSIS_RANDOMMASK_H
