//===- Ptx.h - PTX text from a lowered module -------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last step of the compiler, in process: a `gpu.module` of llvm and nvvm
// operations becomes LLVM IR, is optimised and printed as PTX. The text depends
// on the module and the target only, not on the names of values.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_PTX_H
#define ATTN_TARGET_PTX_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <optional>
#include <string>
#include <vector>

namespace attn {

/// What to generate code for.
struct TargetOptions {
  /// `sm_80`, `sm_90a`, ...: one of `targetChips()`. The PTX version is the
  /// first that knows the chip.
  std::string chip = "sm_80";
};

/// The chips that code can be generated for, oldest first.
std::vector<std::string> targetChips();

/// Makes the translations to LLVM IR known that `emitPtx` and `emitLlvmIr`
/// need.
void registerTargetTranslations(mlir::DialectRegistry &registry);

/// The PTX of `module`. On failure, reports at the module and returns nothing.
std::optional<std::string> emitPtx(mlir::gpu::GPUModuleOp module,
                                   const TargetOptions &options);

/// The optimised LLVM IR from which `emitPtx` makes its text.
std::optional<std::string> emitLlvmIr(mlir::gpu::GPUModuleOp module,
                                      const TargetOptions &options);

} // namespace attn

#endif // ATTN_TARGET_PTX_H
