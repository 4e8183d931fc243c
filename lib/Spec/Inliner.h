//===- Inliner.h - From rules as written to typed trees ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_INLINER_H
#define ATTN_SPEC_INLINER_H

#include "ExprBuilder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace attn::spec {

/// Turns a rule with resolved names into a typed tree: each use of a def is
/// replaced by its body, checked anew with the types of that use's arguments.
class Inliner {
public:
  Inliner(Diagnostics &diagnostics, unsigned mainBuffer)
      : uses(diagnostics, mainBuffer), builder(uses) {}

  /// The checked declarations. A use of one that is not added, because an error
  /// in it has been reported, gives null without a word.
  void addParam(const ast::ParamDecl &decl, const Param &param) {
    params[&decl] = &param;
  }
  void addTensor(const ast::TensorDecl &decl, const Tensor &tensor) {
    tensors[&decl] = &tensor;
  }

  /// The rule's tree, of the type its keyword asks for. Null after an error.
  ExprPtr inlineRule(const ast::Rule &rule);

  /// Whether a param or tensor is used by a rule inlined so far.
  bool isUsed(const void *decl) const { return used.contains(decl); }

private:
  Typed expand(const ast::Node &node, llvm::ArrayRef<Typed> arguments);
  Typed expandName(const ast::Node &node, llvm::ArrayRef<Typed> arguments);
  Typed expandOperation(const ast::Node &node, llvm::ArrayRef<Typed> operands);
  Typed expandDef(const ast::Node &node, const ast::Def &def,
                  llvm::ArrayRef<Typed> arguments);
  Typed expandBareDef(const ast::Node &node);
  Typed tooLarge(const ast::Node &node);

  UseStack uses;
  ExprBuilder builder;
  llvm::DenseMap<const ast::ParamDecl *, const Param *> params;
  llvm::DenseMap<const ast::TensorDecl *, const Tensor *> tensors;
  llvm::DenseSet<const void *> used;
  unsigned steps = 0, depth = 0;
};

} // namespace attn::spec

#endif // ATTN_SPEC_INLINER_H
