//===- Passes.h - Passes over the pipe dialect ------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_PIPE_TRANSFORMS_PASSES_H
#define ATTN_DIALECT_PIPE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace attn {
#define GEN_PASS_DECL
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

#endif // ATTN_DIALECT_PIPE_TRANSFORMS_PASSES_H
