//===- ExprBuilder.h - Typed expressions ------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_EXPRBUILDER_H
#define ATTN_SPEC_EXPRBUILDER_H

#include "Ast.h"

#include <optional>

namespace attn::spec {

/// Reports inside defs: where in the main file an expression comes from, and
/// the chain of uses that led into it.
class UseStack {
public:
  UseStack(Diagnostics &diagnostics, unsigned mainBuffer)
      : diagnostics(diagnostics), mainBuffer(mainBuffer) {}

  void push(const ast::Node &use) { uses.push_back(&use); }
  void pop() { uses.pop_back(); }

  /// The error, then a note for each use of a def around it. An error in an
  /// imported def is reported at its use.
  void error(llvm::SMLoc caret, llvm::SMRange range,
             const llvm::Twine &message);
  /// Line and column in the main file: of the node, or of the use of the
  /// imported def in which it stands.
  std::pair<unsigned, unsigned> locate(const ast::Node &node) const;

private:
  bool isInMain(llvm::SMLoc loc) const;
  /// The innermost use that stands in the main file, or null.
  const ast::Node *useInMain() const;

  Diagnostics &diagnostics;
  unsigned mainBuffer;
  llvm::SmallVector<const ast::Node *> uses;
};

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
  Typed binary(const ast::Node &node, Typed left, Typed right);
  Typed select(const ast::Node &node, const Typed &condition, Typed ifTrue,
               Typed ifFalse);
  Typed call(const ast::Node &node, const Function &function,
             llvm::ArrayRef<Typed> arguments);
  Typed toFloat(const Typed &value);

private:
  Typed make(const ast::Node &node, Expr expr, llvm::ArrayRef<Typed> operands);
  Typed refuse(const ast::Node &node, llvm::SMRange range,
               const llvm::Twine &message);
  bool expectBool(const ast::Node &node, llvm::StringRef what,
                  const Typed &operand);
  bool expectNumber(const ast::Node &node, llvm::StringRef what,
                    const Typed &operand);
  bool checkIndex(const ast::Node &node, const Tensor &tensor, size_t dim,
                  const Typed &index);
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
