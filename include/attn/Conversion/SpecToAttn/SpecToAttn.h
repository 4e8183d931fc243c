//===- SpecToAttn.h - From a checked specification to the IR ----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_SPECTOATTN_SPECTOATTN_H
#define ATTN_CONVERSION_SPECTOATTN_SPECTOATTN_H

#include "attn/Reference/Problem.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace attn {

/// A module at level `spec` that holds `problem` as one attn.kernel, for a
/// target such as "sm_80" (empty: none yet). Integer arithmetic, of 64-bit
/// meaning, becomes i32 where the result provably fits. Every op stands at its
/// place in the specification, and KernelOp::getFieldLoc finds the fields.
/// Null, with diagnostics, for a problem that no specification can give (a
/// manifest may).
mlir::OwningOpRef<mlir::ModuleOp> importProblem(mlir::MLIRContext *context,
                                                const Problem &problem,
                                                llvm::StringRef target);

} // namespace attn

#endif // ATTN_CONVERSION_SPECTOATTN_SPECTOATTN_H
