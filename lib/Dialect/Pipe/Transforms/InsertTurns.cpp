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

/// Whether the warpgroups of the role meet at an operation, or may once
/// attn-place-waits has seen it: nobody can come there while one has its turn.
bool isMeeting(Operation &op) {
  if (isa<pipe::SyncOp, pipe::DrainOp>(op))
    return true;
  return isa<pipe::TakeOp, pipe::PutOp>(op) && !pipe::isFed(op.getOperand(0));
}

/// A turn is from the first product of a tile to the last before the first wait
/// for one: before what a product gave is used, or the warpgroups meet.
void insertTurn(tile::ForKeysOp keys) {
  Operation *first = nullptr, *last = nullptr;
  for (Operation &op : keys.getBody().front()) {
    bool usesProduct = llvm::any_of(op.getOperands(), [&](Value operand) {
      return operand.getDefiningOp<tile::DotOp>() &&
             operand.getParentBlock() == op.getBlock();
    });
    if (first && (usesProduct || isMeeting(op)))
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
