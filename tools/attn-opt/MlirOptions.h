//===- MlirOptions.h - MLIR's options in attn-opt ------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_OPT_MLIROPTIONS_H
#define ATTN_TOOLS_OPT_MLIROPTIONS_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"

namespace attn {

/// Under which --help shows them.
llvm::cl::OptionCategory &mlirCategory();

/// Registers MLIR's options, with the dialects of `registry` in their help.
/// Returns those that only MlirOptMain looks at; the others work in both ways
/// to run.
llvm::SmallVector<llvm::StringRef>
registerMlirOptions(mlir::DialectRegistry &registry);

} // namespace attn

#endif // ATTN_TOOLS_OPT_MLIROPTIONS_H
