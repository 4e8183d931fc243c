//===- ExprBuilder.h - Typed expressions ------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_EXPRBUILDER_H
#define ATTN_SPEC_EXPRBUILDER_H

#include "UseStack.h"

#include <optional>

namespace attn::spec {

/// The value of an expression without variables.
struct Constant {
  ExprType type = ExprType::Int;
  int64_t intValue = 0;
  double floatValue = 0;
};

/// A typed expression with what its uses ask about it. Null after an error.
struct Typed {
  ExprPtr expr;
  std::optional<Constant> constant;
  unsigned size = 0;  ///< nodes, counted as a tree
  unsigned depth = 0; ///< of the tree
  llvm::SMRange range;

  explicit operator bool() const { return expr != nullptr; }
  ExprType type() const { return expr->type; }
};

/// "int", "float", "bool".
llvm::StringRef typeName(ExprType type);

/// Builds the typed tree: checks operand types, makes int -> float explicit
/// (S14), and refuses division by a constant 0 (S16) and integer overflow in
/// constants (S17). Every function returns null after an error, or if an
/// operand is null.
class ExprBuilder {
public:
  /// S3: the largest and the deepest tree after inlining.
  static constexpr unsigned maxSize = 1 << 14;
  static constexpr unsigned maxDepth = 512;

  explicit ExprBuilder(UseStack &uses) : uses(uses) {}

  Typed literal(const ast::Node &node);
  Typed variable(const ast::Node &node, IndexVar index);
  Typed param(const ast::Node &node, const Param &param);
  Typed read(const ast::Node &node, const Tensor &tensor,
             llvm::ArrayRef<Typed> indices);
  Typed unary(const ast::Node &node, const Typed &operand);
  Typed binary(const ast::Node &node, const Typed &left, const Typed &right);
  Typed select(const ast::Node &node, const Typed &condition, Typed ifTrue,
               Typed ifFalse);
  Typed call(const ast::Node &node, const Function &function,
             llvm::ArrayRef<Typed> arguments);
  Typed toFloat(const Typed &value);

private:
  Typed make(const ast::Node &node, Expr expr, llvm::ArrayRef<Typed> operands);
  Typed refuse(llvm::SMRange range, const llvm::Twine &message);
  bool expectBool(llvm::StringRef what, const Typed &operand);
  bool expectNumber(llvm::StringRef what, const Typed &operand);
  bool checkIndex(const Tensor &tensor, size_t dim, const Typed &index);
  void unify(Typed &left, Typed &right);
  Typed arithmetic(const ast::Node &node, Typed left, Typed right);
  Typed comparison(const ast::Node &node, Typed left, Typed right);
  bool foldConstant(const ast::Node &node, Typed &result,
                    llvm::ArrayRef<Typed> operands);

  UseStack &uses;
};

/// The value of `kind` on constants of one type: nothing if it is not folded,
/// `overflow` set if an int result leaves 64 bits.
std::optional<Constant> fold(ExprKind kind, llvm::ArrayRef<Constant> operands,
                             bool &overflow);

} // namespace attn::spec

#endif // ATTN_SPEC_EXPRBUILDER_H
