//===- CloseAttn.cpp - Close the attn level -------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

namespace attn::ir {
#define GEN_PASS_DEF_CLOSEATTN
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn::ir;

static LogicalResult checkComplete(KernelOp kernel) {
  if (!kernel.getBounds())
    return kernel.emitOpError()
           << "has no attn.bounds; attn-bound-keys adds it";
  if (!kernel.getFactor())
    return kernel.emitOpError() << "has no attn.factor; attn-use-exp2 adds it";
  ScoreOp score = kernel.getScore();
  if (score && !score.getRaw())
    return score.emitOpError()
           << "is not 'raw', but the kernel has attn.factor";
  return success();
}

namespace {
struct CloseAttn : attn::ir::impl::CloseAttnBase<CloseAttn> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (failed(checkComplete(kernel)))
        return signalPassFailure();
    setLevel(getOperation(), Level::Attn);
  }
};
} // namespace
