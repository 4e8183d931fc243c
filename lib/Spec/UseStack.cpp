//===- UseStack.cpp - The uses of defs around an expression ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UseStack.h"

#include "llvm/ADT/STLExtras.h"

using namespace attn::spec;
using llvm::Twine;

bool UseStack::isInMain(llvm::SMLoc loc) const {
  return diagnostics.sourceMgr().FindBufferContainingLoc(loc) == mainBuffer;
}

const ast::Node *UseStack::useInMain() const {
  for (const ast::Node *use : llvm::reverse(uses))
    if (isInMain(use->caret))
      return use;
  return nullptr;
}

void UseStack::error(llvm::SMLoc caret, llvm::SMRange range,
                     const Twine &message) {
  const ast::Node *use = isInMain(caret) ? nullptr : useInMain();
  if (use) {
    // An imported def is as its author meant it: the mistake is in its use.
    diagnostics.error(use->range, "'" + use->name + "': " + message);
    diagnostics.note(range, "it comes up here");
  } else {
    diagnostics.errorAt(caret, range, message);
  }
  constexpr size_t longestChain = 8;
  size_t shown = 0;
  for (const ast::Node *outer : llvm::reverse(uses)) {
    if (outer == use)
      use = nullptr;
    else if (!use && ++shown <= longestChain)
      diagnostics.note(outer->range, "in this use of '" + outer->name + "'");
  }
}

std::pair<unsigned, unsigned> UseStack::locate(const ast::Node &node) const {
  llvm::SMLoc loc = node.caret;
  if (!isInMain(loc)) {
    const ast::Node *use = useInMain();
    if (!use)
      return {0, 0};
    loc = use->caret;
  }
  return diagnostics.sourceMgr().getLineAndColumn(loc, mainBuffer);
}
