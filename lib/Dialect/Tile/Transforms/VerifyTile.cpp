//===- VerifyTile.cpp - Closes the tile level -----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Tile/IR/Tile.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYTILE
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn::tile;

namespace {

LogicalResult verifyNoHigherLevel(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (op->getName().getDialectNamespace() != "attn")
      return WalkResult::advance();
    op->emitError() << "expected no operation of the problem level at the tile "
                       "level, found '"
                    << op->getName() << "'";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult verifyKernel(gpu::GPUFuncOp func) {
  int works = 0;
  WalkResult result = func.walk([&](Operation *op) {
    works += isa<ForWorkOp>(op);
    auto keys = dyn_cast<ForKeysOp>(op);
    if (!keys || (keys.getKind() == RangeKind::Mixed &&
                  keys->getParentOfType<ForWorkOp>()))
      return WalkResult::advance();
    op->emitError() << "expected a mixed key loop inside a work loop";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  // A kernel that lists blocks is scalar code.
  int expected = func->hasAttr(attn::ir::blockListAttrName) ? 0 : 1;
  if (works != expected)
    return func.emitError()
           << "expected " << (expected ? "one work loop" : "no work loop")
           << " in kernel '" << func.getName() << "', found " << works;
  return success();
}

struct VerifyTile : attn::impl::VerifyTileBase<VerifyTile> {
  void runOnOperation() override {
    if (failed(verifyNoHigherLevel(getOperation())))
      return signalPassFailure();
    WalkResult result = getOperation()->walk([](gpu::GPUFuncOp func) {
      return failed(verifyKernel(func)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
