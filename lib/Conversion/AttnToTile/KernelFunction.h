//===- KernelFunction.h - A kernel and its launch arguments -----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOTILE_KERNELFUNCTION_H
#define ATTN_LIB_CONVERSION_ATTNTOTILE_KERNELFUNCTION_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace attn {

/// A kernel that is being built, and its arguments by the names that a launch
/// gives them (docs/Runtime.md).
class KernelFunction {
public:
  void declare(llvm::StringRef name, mlir::Type type) {
    declared.push_back({name.str(), type});
  }
  void declareParam(ir::ParamOp param);
  void declareTensor(ir::TensorOp tensor);

  /// Creates the kernel with what was declared; the builder, which stands in a
  /// gpu.module, moves into it.
  mlir::gpu::GPUFuncOp create(mlir::OpBuilder &builder, mlir::Location loc,
                              llvm::StringRef name, int64_t threads);

  llvm::StringMap<mlir::Value> arguments, params, tensors;

private:
  llvm::SmallVector<std::pair<std::string, mlir::Type>> declared;
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOTILE_KERNELFUNCTION_H
