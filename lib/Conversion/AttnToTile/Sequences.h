//===- Sequences.h - Lengths of the entries of a batch ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a dense batch all entries have the lengths of the launch. In others each
// has its own, which lie in device memory and are read by the kernel; the
// launch then says only how long the longest may be (docs/Runtime.md).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOTILE_SEQUENCES_H
#define ATTN_LIB_CONVERSION_ATTNTOTILE_SEQUENCES_H

#include "KernelFunction.h"

namespace attn {

/// Lengths of one batch entry, and the first of its rows among those of the
/// tensors, all i32.
struct Sequence {
  mlir::Value qLen, kLen;
  /// Of packed rows; null where an entry begins with its stride.
  mlir::Value qStart, kStart;
};

/// Whether entries have lengths of their own.
bool isRagged(ir::KernelOp kernel);

/// Declares what readSequence reads, beside q_len and k_len.
void declareSequences(KernelFunction &function, ir::KernelOp kernel,
                      mlir::MLIRContext *context);

/// The lengths of batch entry `b`.
Sequence readSequence(mlir::OpBuilder &builder, ir::KernelOp kernel,
                      KernelFunction &function, mlir::Value b);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOTILE_SEQUENCES_H
