//===- VerifyAsync.h - Checks of what runs beside the program ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_WARP_TRANSFORMS_VERIFYASYNC_H
#define ATTN_LIB_DIALECT_WARP_TRANSFORMS_VERIFYASYNC_H

#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attn::warp {

/// W5: an mbarrier is made once, and shown to all, before any use.
llvm::LogicalResult verifyBarriers(mlir::gpu::GPUFuncOp kernel);

/// W6: the registers that the roles ask for are those of the launch.
llvm::LogicalResult verifyRegisters(mlir::gpu::GPUFuncOp kernel);

/// W7: a named barrier serves one purpose.
llvm::LogicalResult verifyNamedBarriers(mlir::gpu::GPUFuncOp kernel);

/// W8: what a product under way reads and writes in registers passes through a
/// wait that covers it before anything else touches it.
llvm::LogicalResult verifyProducts(mlir::gpu::GPUFuncOp kernel);

/// Bytes of shared memory.
struct ByteRange {
  int64_t begin, end;
  bool overlaps(const ByteRange &other) const {
    return begin < other.end && other.begin < end;
  }
};

/// The bytes of a ring; all, when it is not known which one it is.
ByteRange rangeOf(mlir::Value buffer);

/// W9: what a thread stores where products read or tensor copies read or write
/// is fenced, and the threads meet.
llvm::LogicalResult verifyFences(mlir::gpu::GPUFuncOp kernel);

/// W10: a phase of an mbarrier waits for as many arrivals and bytes as come.
llvm::LogicalResult verifyPhases(mlir::gpu::GPUFuncOp kernel);

/// W11: what tensor copies take to memory is not overwritten before they have
/// read it, nor does the kernel end.
llvm::LogicalResult verifyTensorStores(mlir::gpu::GPUFuncOp kernel);

} // namespace attn::warp

#endif // ATTN_LIB_DIALECT_WARP_TRANSFORMS_VERIFYASYNC_H
