//===- UseStack.h - The uses of defs around an expression -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_USESTACK_H
#define ATTN_SPEC_USESTACK_H

#include "Ast.h"

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

} // namespace attn::spec

#endif // ATTN_SPEC_USESTACK_H
