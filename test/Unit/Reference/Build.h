//===- Build.h - Expression trees for tests ---------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_REFERENCE_BUILD_H
#define ATTN_TEST_UNIT_REFERENCE_BUILD_H

#include "attn/Reference/Expr.h"

namespace attn::build {

inline ExprPtr node(ExprKind kind, ExprType type,
                    std::vector<ExprPtr> operands = {}) {
  auto expr = std::make_shared<Expr>();
  expr->kind = kind;
  expr->type = type;
  expr->operands = std::move(operands);
  return expr;
}

inline ExprPtr index(IndexVar variable) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::Index;
  expr->type = variable == IndexVar::S ? ExprType::Float : ExprType::Int;
  expr->index = variable;
  return expr;
}
inline ExprPtr b() { return index(IndexVar::B); }
inline ExprPtr h() { return index(IndexVar::H); }
inline ExprPtr i() { return index(IndexVar::I); }
inline ExprPtr q() { return index(IndexVar::Q); }
inline ExprPtr k() { return index(IndexVar::K); }
inline ExprPtr s() { return index(IndexVar::S); }

inline ExprPtr constant(int64_t value) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::IntConst;
  expr->type = ExprType::Int;
  expr->intValue = value;
  return expr;
}
inline ExprPtr constant(int value) { return constant(int64_t(value)); }
inline ExprPtr constant(double value) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::FloatConst;
  expr->type = ExprType::Float;
  expr->floatValue = value;
  return expr;
}
inline ExprPtr constant(bool value) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::BoolConst;
  expr->type = ExprType::Bool;
  expr->intValue = value;
  return expr;
}

inline ExprPtr param(const std::string &name, ExprType type) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::Param;
  expr->type = type;
  expr->name = name;
  return expr;
}
inline ExprPtr read(const std::string &name, ExprType type,
                    std::vector<ExprPtr> indices) {
  auto expr = std::make_shared<Expr>();
  expr->kind = ExprKind::Read;
  expr->type = type;
  expr->name = name;
  expr->operands = std::move(indices);
  expr->line = 7;
  expr->column = 3;
  return expr;
}

inline ExprPtr arithmetic(ExprKind kind, ExprPtr x, ExprPtr y) {
  ExprType type = x->type;
  return node(kind, type, {std::move(x), std::move(y)});
}
inline ExprPtr add(ExprPtr x, ExprPtr y) {
  return arithmetic(ExprKind::Add, std::move(x), std::move(y));
}
inline ExprPtr sub(ExprPtr x, ExprPtr y) {
  return arithmetic(ExprKind::Sub, std::move(x), std::move(y));
}
inline ExprPtr mul(ExprPtr x, ExprPtr y) {
  return arithmetic(ExprKind::Mul, std::move(x), std::move(y));
}
inline ExprPtr div(ExprPtr x, ExprPtr y) {
  return arithmetic(ExprKind::Div, std::move(x), std::move(y));
}
inline ExprPtr mod(ExprPtr x, ExprPtr y) {
  return arithmetic(ExprKind::Mod, std::move(x), std::move(y));
}
inline ExprPtr toFloat(ExprPtr x) {
  return node(ExprKind::ToFloat, ExprType::Float, {std::move(x)});
}
inline ExprPtr unary(ExprKind kind, ExprPtr x) {
  ExprType type = x->type;
  return node(kind, type, {std::move(x)});
}

inline ExprPtr logic(ExprKind kind, ExprPtr x, ExprPtr y) {
  return node(kind, ExprType::Bool, {std::move(x), std::move(y)});
}
inline ExprPtr le(ExprPtr x, ExprPtr y) {
  return logic(ExprKind::Le, std::move(x), std::move(y));
}
inline ExprPtr lt(ExprPtr x, ExprPtr y) {
  return logic(ExprKind::Lt, std::move(x), std::move(y));
}
inline ExprPtr ge(ExprPtr x, ExprPtr y) {
  return logic(ExprKind::Ge, std::move(x), std::move(y));
}
inline ExprPtr eq(ExprPtr x, ExprPtr y) {
  return logic(ExprKind::Eq, std::move(x), std::move(y));
}
inline ExprPtr ne(ExprPtr x, ExprPtr y) {
  return logic(ExprKind::Ne, std::move(x), std::move(y));
}
inline ExprPtr both(ExprPtr x, ExprPtr y) {
  return logic(ExprKind::And, std::move(x), std::move(y));
}
inline ExprPtr either(ExprPtr x, ExprPtr y) {
  return logic(ExprKind::Or, std::move(x), std::move(y));
}
inline ExprPtr select(ExprPtr condition, ExprPtr x, ExprPtr y) {
  ExprType type = x->type;
  return node(ExprKind::Select, type,
              {std::move(condition), std::move(x), std::move(y)});
}

inline ExprPtr causal() { return le(k(), q()); }
/// Shows `left` keys before the query and the query itself.
inline ExprPtr window(int left) {
  return both(causal(), le(sub(q(), k()), constant(left)));
}
inline ExprPtr softcap(ExprPtr logit, double cap) {
  return mul(constant(cap),
             unary(ExprKind::Tanh, div(std::move(logit), constant(cap))));
}

} // namespace attn::build

#endif // ATTN_TEST_UNIT_REFERENCE_BUILD_H
