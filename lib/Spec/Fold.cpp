//===- Fold.cpp - Values of constant expressions --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only what the checks need (a zero divisor, overflow): the tree itself keeps
// what the user wrote.
//
//===----------------------------------------------------------------------===//

#include "ExprBuilder.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace attn;
using namespace attn::spec;

static int64_t floorDiv(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static std::optional<int64_t> foldInt(ExprKind kind, int64_t a, int64_t b,
                                      bool &overflow) {
  int64_t result = 0;
  switch (kind) {
  case ExprKind::Neg:
    overflow = llvm::SubOverflow<int64_t>(0, a, result);
    return result;
  case ExprKind::Abs:
    overflow = a < 0 && llvm::SubOverflow<int64_t>(0, a, result);
    return a < 0 ? result : a;
  case ExprKind::Add:
    overflow = llvm::AddOverflow(a, b, result);
    return result;
  case ExprKind::Sub:
    overflow = llvm::SubOverflow(a, b, result);
    return result;
  case ExprKind::Mul:
    overflow = llvm::MulOverflow(a, b, result);
    return result;
  case ExprKind::Div:
  case ExprKind::Mod:
    if (b == 0)
      return std::nullopt;
    overflow = a == std::numeric_limits<int64_t>::min() && b == -1;
    if (overflow)
      return 0;
    return kind == ExprKind::Div ? floorDiv(a, b) : a - floorDiv(a, b) * b;
  case ExprKind::Min:
    return std::min(a, b);
  case ExprKind::Max:
    return std::max(a, b);
  default:
    return std::nullopt;
  }
}

/// In f32, as the kernel computes.
static std::optional<float> foldFloat(ExprKind kind, float a, float b) {
  switch (kind) {
  case ExprKind::Neg:
    return -a;
  case ExprKind::Abs:
    return a < 0 ? -a : a;
  case ExprKind::Add:
    return a + b;
  case ExprKind::Sub:
    return a - b;
  case ExprKind::Mul:
    return a * b;
  case ExprKind::Div:
    return a / b;
  case ExprKind::Min:
    return std::min(a, b);
  case ExprKind::Max:
    return std::max(a, b);
  default:
    return std::nullopt;
  }
}

std::optional<Constant> attn::spec::fold(ExprKind kind,
                                         llvm::ArrayRef<Constant> operands,
                                         bool &overflow) {
  overflow = false;
  const Constant &a = operands.front(), &b = operands.back();
  Constant result;
  if (kind == ExprKind::ToFloat) {
    result.type = ExprType::Float;
    result.floatValue = static_cast<float>(a.intValue);
    return result;
  }
  result.type = a.type;
  if (a.type == ExprType::Int) {
    auto value = foldInt(kind, a.intValue, b.intValue, overflow);
    result.intValue = value.value_or(0);
    return value ? std::optional(result) : std::nullopt;
  }
  auto value = foldFloat(kind, a.floatValue, b.floatValue);
  result.floatValue = value.value_or(0);
  return value ? std::optional(result) : std::nullopt;
}
