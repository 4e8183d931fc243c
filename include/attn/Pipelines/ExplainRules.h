//===- ExplainRules.h - What became of mask and score -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_EXPLAINRULES_H
#define ATTN_PIPELINES_EXPLAINRULES_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// Remarks about the rules of a kernel at level attn: alignment, the mask in
/// normal form, the ranges of keys that follow, and conditions from which no
/// range follows.
void explainRules(ir::KernelOp kernel);

/// Remarks about what mask and score cost: operations for each element in full
/// and in partial tiles of a module at level pipe, which `kernel` became.
void explainCosts(ir::KernelOp kernel, mlir::ModuleOp lowered);

} // namespace attn

#endif // ATTN_PIPELINES_EXPLAINRULES_H
