//===- OverlapLoads.cpp - Rotation of the key loop ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedReads.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_OVERLAPLOADS
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

pipe::AtAttr getAt(Operation *op) {
  return op->getAttrOfType<pipe::AtAttr>("pipe.at");
}

class Rotation {
public:
  explicit Rotation(tile::ForKeysOp keys)
      : keys(keys), block(keys.getBody().front()), builder(keys) {}

  LogicalResult run() {
    for (Operation &op : block.without_terminator()) {
      if (!getAt(&op))
        return op.emitError()
               << "expected #pipe.at on every operation of a key loop "
                  "(attn-assign-stages)";
      ops.push_back(&op);
    }
    llvm::sort(ops, [](Operation *a, Operation *b) {
      return getAt(a).getOrder() < getAt(b).getOrder();
    });
    for (Operation *op : ops)
      op->moveBefore(block.getTerminator());
    SmallVector<pipe::PutOp> early;
    for (Operation *op : ops)
      if (auto put = dyn_cast<pipe::PutOp>(op);
          put && getAt(put).getAhead() > 0)
        early.push_back(put);
    emitPrologue(early);
    sinkTakes();
    for (pipe::PutOp put : early)
      moveAhead(put);
    for (Operation &op : block)
      op.removeAttr("pipe.at");
    return success();
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, keys.getLoc(),
                                        builder.getI32Type(), value);
  }

  /// Clones `put` and what it computes from the place, for the tile at another
  /// place; nothing is fetched left of the loop's first place.
  void clonePut(pipe::PutOp put, Value place, int64_t ahead, bool whole) {
    Location loc = put.getLoc();
    IRMapping mapping;
    mapping.map(keys.getPlace(), place);
    for (Operation *op : ops) {
      if (op == put)
        break;
      if (isPure(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
            return operand.getParentBlock() != &block ||
                   mapping.contains(operand);
          }))
        builder.clone(*op, mapping)->removeAttr("pipe.at");
    }
    Value more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                       place, keys.getBegin());
    pipe::PutOp::create(builder, loc, put.getChannel(),
                        mapping.lookupOrDefault(put.getOrdinal()),
                        put.getView(), mapping.lookupOrDefault(put.getRow()),
                        more, ahead, whole);
  }

  Value placeAt(Value from, int64_t tiles) {
    return arith::SubIOp::create(builder, keys.getLoc(), from,
                                 constant(tiles * keys.getStep()));
  }

  void emitPrologue(ArrayRef<pipe::PutOp> early) {
    builder.setInsertionPoint(keys);
    int64_t most = 0;
    for (pipe::PutOp put : early)
      most = std::max(most, getAt(put).getAhead());
    for (int64_t tile = 0; tile < most; ++tile)
      for (pipe::PutOp put : early)
        if (tile < getAt(put).getAhead())
          clonePut(put, placeAt(keys.getEnd(), tile + 1), tile,
                   /*whole=*/false);
  }

  /// What was put before the loop is waited for only after the loop's own first
  /// tiles are on their way.
  void sinkTakes() {
    SmallVector<pipe::TakeOp> takes(keys->getBlock()->getOps<pipe::TakeOp>());
    for (pipe::TakeOp take : takes)
      if (take->isBeforeInBlock(keys))
        take->moveBefore(keys);
  }

  void moveAhead(pipe::PutOp put) {
    builder.setInsertionPoint(put);
    int64_t ahead = getAt(put).getAhead();
    // A tile that follows one that is visited lies before its keys, or every
    // row sees it: before the end of the view in either case.
    clonePut(put, placeAt(keys.getPlace(), ahead), ahead, /*whole=*/true);
    llvm::erase(ops, put.getOperation());
    put.erase();
  }

  tile::ForKeysOp keys;
  Block &block;
  OpBuilder builder;
  SmallVector<Operation *> ops;
};

struct OverlapLoads : attn::impl::OverlapLoadsBase<OverlapLoads> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](tile::ForKeysOp keys) {
      if (pipe::takesFromOtherRole(keys))
        return WalkResult::advance();
      return failed(Rotation(keys).run()) ? WalkResult::interrupt()
                                          : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
