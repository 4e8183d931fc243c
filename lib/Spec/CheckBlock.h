//===- CheckBlock.h - From an attention block to a Problem ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_CHECKBLOCK_H
#define ATTN_SPEC_CHECKBLOCK_H

#include "Imports.h"
#include "Inliner.h"

namespace attn::spec {

/// Checks one block whose names are resolved and fills in a Problem. Errors are
/// reported; the result is of use only if there were none.
class BlockChecker {
public:
  BlockChecker(const ast::File &file, const ast::Block &block,
               Diagnostics &diagnostics);

  Problem check();

private:
  void checkParam(const ast::ParamDecl &decl);
  bool checkDefault(const ast::ParamDecl &decl, Param &param);
  void checkTensor(const ast::TensorDecl &decl);
  bool checkDims(const ast::TensorDecl &decl, Tensor &tensor);
  void checkRules();
  void warnUnused();
  void addLocations();
  std::pair<unsigned, unsigned> locate(llvm::SMRange range) const;

  const ast::File &file;
  const ast::Block &block;
  Diagnostics &diagnostics;
  unsigned buffer; ///< of the main file
  Problem problem;
  Inliner inliner;
};

} // namespace attn::spec

#endif // ATTN_SPEC_CHECKBLOCK_H
