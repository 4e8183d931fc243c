//===- Expr.h - The typed expression tree of a rule --------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One plain-C++ tree for mask, score and sink rules: what the semantic checker
// of the language produces (names resolved, defs inlined, types checked,
// conversions explicit), what a package's manifest stores, and what the oracle
// evaluates. Code generation reads the same tree but shares no code with the
// oracle. Plain C++: no MLIR, no LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_EXPR_H
#define ATTN_REFERENCE_EXPR_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace attn {

/// Type of an expression (docs/SpecLanguage.md): Int has 64-bit meaning, Float
/// is f32.
enum class ExprType { Int, Float, Bool };

/// Index variables of a rule. `S` is the scaled logit a score rule receives.
enum class IndexVar { B, H, G, I, Q, K, QLen, KLen, S };

enum class ExprKind {
  IntConst,   ///< intValue
  FloatConst, ///< floatValue (may be +inf)
  BoolConst,  ///< intValue 0 / 1
  Index,      ///< index; S is Float, the others Int
  Param,      ///< name; type Int, Float or Bool
  Read,       ///< name[operands...]; clamped tensor read; all operands Int
  ToFloat,    ///< Int -> Float, the only implicit conversion
  Neg,        ///< Int or Float
  Not,        ///< Bool
  Add,
  Sub,
  Mul,
  Div, ///< Int: floor division, x / 0 = 0. Float: IEEE.
  Mod, ///< Int: remainder of floor division, x % 0 = 0.
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge, ///< comparisons: both Int, both Float (Eq, Ne also both Bool)
  And,
  Or,     ///< short-circuit
  Select, ///< operands[0] ? operands[1] : operands[2], short-circuit
  Min,
  Max,
  Abs, ///< Int or Float
  Exp,
  Exp2,
  Log,
  Log2,
  Tanh,
  Sigmoid,
  Sqrt ///< Float
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

/// A node; immutable once built, sub-trees may be shared.
struct Expr {
  ExprKind kind;
  ExprType type;
  int64_t intValue = 0;
  double floatValue = 0;
  IndexVar index = IndexVar::Q;
  std::string name;
  std::vector<ExprPtr> operands;
  /// Where the node was written (1-based; 0 = unknown), for messages.
  unsigned line = 0, column = 0;
};

} // namespace attn

#endif // ATTN_REFERENCE_EXPR_H
