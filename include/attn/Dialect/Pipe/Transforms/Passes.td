//===- Passes.td - Passes over the pipe dialect -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_PIPE_TRANSFORMS_PASSES
#define ATTN_DIALECT_PIPE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

#endif // ATTN_DIALECT_PIPE_TRANSFORMS_PASSES
