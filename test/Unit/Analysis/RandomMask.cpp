//===- RandomMask.cpp - Masks to try analyses on --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomMask.h"

using namespace attn;
using namespace attn::test;

static ExprPtr make(ExprKind kind, ExprType type, std::vector<ExprPtr> operands,
                    int64_t value = 0) {
  auto expr = std::make_shared<Expr>();
  expr->kind = kind;
  expr->type = type;
  expr->operands = std::move(operands);
  expr->intValue = value;
  return expr;
}

ExprPtr test::intConst(int64_t value) {
  return make(ExprKind::IntConst, ExprType::Int, {}, value);
}
ExprPtr test::boolConst(bool value) {
  return make(ExprKind::BoolConst, ExprType::Bool, {}, value);
}
ExprPtr test::index(IndexVar variable) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::Index;
  expr->type = ExprType::Int;
  expr->index = variable;
  return expr;
}
ExprPtr test::param(const std::string &name, ExprType type) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::Param;
  expr->type = type;
  expr->name = name;
  return expr;
}
ExprPtr test::read(const std::string &name, std::vector<ExprPtr> indices) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::Read;
  expr->type = ExprType::Int;
  expr->name = name;
  expr->operands = std::move(indices);
  return expr;
}
ExprPtr test::intOp(ExprKind kind, ExprPtr lhs, ExprPtr rhs) {
  return make(kind, ExprType::Int, {lhs, rhs});
}
ExprPtr test::compare(ExprKind kind, ExprPtr lhs, ExprPtr rhs) {
  return make(kind, ExprType::Bool, {lhs, rhs});
}
ExprPtr test::logic(ExprKind kind, ExprPtr lhs, ExprPtr rhs) {
  return make(kind, ExprType::Bool, {lhs, rhs});
}
ExprPtr test::negation(ExprPtr operand) {
  return make(ExprKind::Not, ExprType::Bool, {operand});
}
ExprPtr test::select(ExprPtr condition, ExprPtr lhs, ExprPtr rhs) {
  return make(ExprKind::Select, lhs->type, {condition, lhs, rhs});
}

Problem test::problemWithMask(ExprPtr mask) {
  Problem problem;
  problem.name = "random";
  problem.file = "random.attn";
  problem.heads = 4;
  problem.kvHeads = 2;
  problem.mask = std::move(mask);
  auto declare = [&](const char *name, DType type) {
    Param declared;
    declared.name = name;
    declared.type = type;
    problem.params.push_back(declared);
  };
  declare("p", DType::I32);
  declare("r", DType::I32);
  declare("w", DType::I64);
  declare("on", DType::Bool);
  problem.tensors = {{"lens", DType::I32, {{DimKind::Batch}}},
                     {"bias", DType::I8, {{DimKind::Heads}}},
                     {"doc", DType::U8, {{DimKind::Batch}, {DimKind::KLen}}},
                     {"start",
                      DType::I32,
                      {{DimKind::Batch}, {DimKind::KLen}},
                      /*monotone=*/true}};
  return problem;
}

int64_t RandomMask::value(bool is64Bit) {
  switch (below(12)) {
  case 0:
    return is64Bit ? INT64_MIN : INT32_MIN;
  case 1:
    return is64Bit ? INT64_MAX : INT32_MAX;
  case 2:
    return is64Bit ? INT64_MIN + below(3) : INT32_MIN + below(3);
  default:
    return below(41) - 20;
  }
}

ExprPtr RandomMask::invariant() {
  switch (below(9)) {
  case 0:
    return index(IndexVar::QLen);
  case 1:
    return index(IndexVar::KLen);
  case 2:
    return index(IndexVar::H);
  case 3:
    return read("lens", {index(IndexVar::B)});
  case 4:
    return read("bias", {index(IndexVar::H)});
  case 5:
    return param("w");
  case 6:
    return param("r");
  default:
    return param("p");
  }
}

/// Something that does not decrease from row to row, or from key to key.
ExprPtr RandomMask::rising() {
  ExprPtr position = index(below(2) ? IndexVar::Q : IndexVar::K);
  switch (below(4)) {
  case 0:
    return read("start", {index(IndexVar::B), index(IndexVar::Q)});
  case 1:
    return intOp(ExprKind::Div, position, param("p"));
  default:
    const int64_t divisors[] = {1, 2, 3, 4, 5};
    return intOp(ExprKind::Div, position, intConst(divisors[below(5)]));
  }
}

/// A sum of positions, invariants and constants with small coefficients.
ExprPtr RandomMask::affine(unsigned terms) {
  ExprPtr sum;
  for (unsigned term = 0; term < terms; ++term) {
    const IndexVar positions[] = {IndexVar::Q, IndexVar::K, IndexVar::I};
    ExprPtr next;
    switch (below(6)) {
    case 0:
      next = intConst(below(21) - 10);
      break;
    case 1:
    case 2:
      next = invariant();
      break;
    case 3:
      next = below(3) ? index(positions[below(3)]) : rising();
      break;
    default:
      next = index(positions[below(3)]);
    }
    if (below(6) == 0)
      next = intOp(ExprKind::Mul, next, intConst(below(5) - 2));
    if (!sum)
      sum = next;
    else
      sum = intOp(below(2) ? ExprKind::Add : ExprKind::Sub, sum, next);
  }
  return sum;
}

/// Any integer expression.
ExprPtr RandomMask::number(unsigned depth) {
  if (depth == 0)
    return below(3) ? affine(1) : intConst(value(below(4) == 0));
  const ExprKind kinds[] = {ExprKind::Add, ExprKind::Sub, ExprKind::Mul,
                            ExprKind::Div, ExprKind::Mod, ExprKind::Min,
                            ExprKind::Max};
  switch (below(10)) {
  case 0:
    return make(ExprKind::Abs, ExprType::Int, {number(depth - 1)});
  case 1:
    return make(ExprKind::Neg, ExprType::Int, {number(depth - 1)});
  case 2: {
    ExprPtr position = index(below(2) ? IndexVar::K : IndexVar::Q);
    return read("doc", {index(IndexVar::B), position});
  }
  case 3: {
    // Divisors that are constants, of either sign.
    ExprKind kind = below(2) ? ExprKind::Div : ExprKind::Mod;
    const int64_t divisors[] = {-8, -3, -1, 1, 2, 3, 7, 16};
    return intOp(kind, number(depth - 1), intConst(divisors[below(8)]));
  }
  default:
    return intOp(kinds[below(7)], number(depth - 1), number(depth - 1));
  }
}

ExprPtr RandomMask::condition() {
  const ExprKind kinds[] = {ExprKind::Lt, ExprKind::Le, ExprKind::Gt,
                            ExprKind::Ge, ExprKind::Eq, ExprKind::Ne};
  ExprKind kind = kinds[below(6)];
  switch (below(10)) {
  case 0:
    return boolConst(below(2));
  case 1:
    return param("on", ExprType::Bool);
  case 2:
    return compare(kind, number(2), number(1));
  case 3:
    return compare(kind, invariant(), affine(1));
  default:
    return compare(kind, affine(1 + below(3)), affine(1 + below(2)));
  }
}

ExprPtr RandomMask::mask(unsigned depth) {
  if (depth == 0)
    return condition();
  switch (below(8)) {
  case 0:
    return condition();
  case 1:
    return negation(mask(depth - 1));
  case 2:
    return select(mask(depth - 1), mask(depth - 1), mask(depth - 1));
  case 3:
    return compare(below(2) ? ExprKind::Eq : ExprKind::Ne, mask(depth - 1),
                   mask(depth - 1));
  case 4:
  case 5:
    return logic(ExprKind::Or, mask(depth - 1), mask(depth - 1));
  default:
    return logic(ExprKind::And, mask(depth - 1), mask(depth - 1));
  }
}

ExprPtr RandomMask::differences(unsigned comparisons) {
  if (comparisons > 1) {
    unsigned left = 1 + below(comparisons - 1);
    ExprPtr lhs = differences(left), rhs = differences(comparisons - left);
    return logic(below(2) ? ExprKind::Or : ExprKind::And, lhs, rhs);
  }
  ExprPtr row = index(below(3) ? IndexVar::Q : IndexVar::I);
  ExprPtr key = index(IndexVar::K);
  ExprPtr bound = below(3) ? invariant() : intConst(below(21) - 10);
  const ExprKind kinds[] = {ExprKind::Lt, ExprKind::Le, ExprKind::Gt,
                            ExprKind::Ge};
  ExprKind kind = kinds[below(4)];
  switch (below(10)) {
  case 0:
    return negation(differences(1));
  case 1:
    return param("on", ExprType::Bool);
  case 2:
    return compare(kind, row, bound);
  case 3:
  case 4:
    return compare(kind, key, bound);
  case 5:
    return compare(below(2) ? ExprKind::Eq : ExprKind::Ne,
                   intOp(ExprKind::Sub, key, row), bound);
  case 6:
    return compare(
        kind,
        make(ExprKind::Abs, ExprType::Int, {intOp(ExprKind::Sub, key, row)}),
        bound);
  default:
    return compare(kind, intOp(ExprKind::Sub, key, row), bound);
  }
}
