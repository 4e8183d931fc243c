//===- InsertTurns.cpp - Warpgroups start products one by one -------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_INSERTTURNS
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// A turn is from the first product of a tile to the first wait for one.
void insertTurn(tile::ForKeysOp keys) {
  Operation *first = nullptr, *last = nullptr;
  for (Operation &op : keys.getBody().front()) {
    if (isa<pipe::AwaitOp>(op))
      break;
    if (!isa<tile::DotOp>(op))
      continue;
    if (!first)
      first = &op;
    last = &op;
  }
  if (!first)
    return;
  OpBuilder builder(first);
  pipe::TurnWaitOp::create(builder, first->getLoc());
  builder.setInsertionPointAfter(last);
  pipe::TurnPassOp::create(builder, last->getLoc());
}

struct InsertTurns : attn::impl::InsertTurnsBase<InsertTurns> {
  void runOnOperation() override {
    getOperation()->walk([](gpu::GPUFuncOp func) {
      auto schedule = func->getAttrOfType<ir::ScheduleAttr>("attn.schedule");
      if (schedule && schedule.getTurns().value_or(false))
        func.walk([](tile::ForKeysOp keys) { insertTurn(keys); });
    });
  }
};

} // namespace
