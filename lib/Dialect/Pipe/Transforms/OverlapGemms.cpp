//===- OverlapGemms.cpp - The next logits before this tile's output -------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedReads.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace attn {
#define GEN_PASS_DEF_OVERLAPGEMMS
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// One key loop, cut in two: the back is the product that ends a tile, with
/// what it takes; the front is all else.
class LoopRotation {
public:
  explicit LoopRotation(tile::ForKeysOp keys)
      : keys(keys), block(keys.getBody().front()), loc(keys.getLoc()),
        rewriter(keys.getContext()) {}

  LogicalResult run() {
    if (failed(findBack()))
      return failure();
    // Where only the log-sum-exp is asked for there is no second product.
    if (!product)
      return success();
    rewriter.setInsertionPoint(keys);
    Value last = offset(keys.getEnd(), -1);
    Value any = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge,
                                      last, keys.getBegin());
    auto choice = scf::IfOp::create(rewriter, loc, keys.getResultTypes(), any,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    rewriter.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(rewriter, loc, keys.getInits());
    rewriter.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(rewriter, loc, emitTiles(last));
    sinkLoads(choice);
    rewriter.replaceOp(keys, choice.getResults());
    return success();
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(rewriter, loc, rewriter.getI32Type(),
                                        value);
  }
  /// `place` moved by whole tiles.
  Value offset(Value place, int64_t tiles) {
    return arith::AddIOp::create(rewriter, loc, place,
                                 constant(tiles * keys.getStep()));
  }

  LogicalResult findBack() {
    auto yield = cast<tile::YieldOp>(block.getTerminator());
    for (auto [index, value] : llvm::enumerate(yield.getValues()))
      if (auto dot = value.getDefiningOp<tile::DotOp>();
          dot && dot.getInit() && dot->getBlock() == &block &&
          value.hasOneUse()) {
        product = dot;
        carriedIndex = index;
      }
    if (!product)
      return success();
    auto take = product.getRhs().getDefiningOp<pipe::TakeOp>();
    if (!take || take->getBlock() != &block)
      return product.emitError()
             << "expected its second operand from a channel";
    for (Operation *user : take.getChannel().getUsers())
      if (user->getBlock() == &block)
        back.insert(user);
    back.insert(product);
    return success();
  }

  bool isFront(Operation &op) { return !back.contains(&op); }

  /// Clones the front for the values in `mapping`.
  void cloneFront(IRMapping &mapping) {
    for (Operation &op : block.without_terminator())
      if (isFront(op))
        rewriter.clone(op, mapping);
  }

  /// Where the back finds what the front of the tile at `place` left behind.
  IRMapping mapBack(Value place, Value init, Value lhs) {
    IRMapping mapping;
    mapping.map(keys.getPlace(), place);
    mapping.map(product.getInit(), init);
    mapping.map(product.getLhs(), lhs);
    return mapping;
  }

  /// Clones the back, what of it has no clone yet; returns its product.
  Value cloneBack(IRMapping mapping) {
    for (Operation &op : block.without_terminator()) {
      // The ordinals and rows of its puts and takes follow from the place.
      bool isPosition =
          isFront(op) && isPure(&op) && op.getNumRegions() == 0 &&
          llvm::none_of(op.getResultTypes(), llvm::IsaPred<tile::ValType>) &&
          llvm::all_of(op.getOperands(), [&](Value operand) {
            return operand.getParentBlock() != &block ||
                   mapping.contains(operand);
          });
      if ((isPosition || !isFront(op)) && !mapping.contains(&op))
        rewriter.clone(op, mapping);
    }
    return mapping.lookup(product.getResult());
  }

  /// Clones a put or take of the back, and before it what it is computed from.
  void cloneTransfer(IRMapping &mapping, Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp();
          source && source->getBlock() == &block && !mapping.contains(operand))
        cloneTransfer(mapping, source);
    rewriter.clone(*op, mapping);
  }

  /// Whether a channel operation fills or empties slots that the role fills
  /// itself.
  static bool isOwnTransfer(Operation &op) {
    return isa<pipe::PutOp, pipe::TakeOp>(op) && !pipe::isFed(op.getOperand(0));
  }

  /// What the front yields, with the operands of the back in place of its
  /// result.
  SmallVector<Value> frontValues(IRMapping &mapping) {
    SmallVector<Value> values;
    for (Value value : block.getTerminator()->getOperands())
      values.push_back(mapping.lookupOrDefault(
          value == product.getResult() ? product.getInit() : value));
    values.push_back(mapping.lookupOrDefault(product.getLhs()));
    return values;
  }

  /// First front; loop of backs and fronts; last back.
  SmallVector<Value> emitTiles(Value last) {
    IRMapping first;
    first.map(keys.getPlace(), last);
    first.map(keys.getIterArgs(), keys.getInits());
    cloneFront(first);
    SmallVector<Value> values = emitLoop(last, frontValues(first));
    Value lhs = values.pop_back_val();
    values[carriedIndex] =
        cloneBack(mapBack(keys.getBegin(), values[carriedIndex], lhs));
    return values;
  }

  SmallVector<Value> emitLoop(Value end, ArrayRef<Value> inits) {
    // There is a tile at `end`, so the places begin no later.
    Value fullEnd = keys.getFullEnd();
    if (fullEnd != keys.getBegin())
      fullEnd = arith::MinSIOp::create(rewriter, loc, fullEnd, end);
    SmallVector<Type> types =
        llvm::map_to_vector(inits, [](Value value) { return value.getType(); });
    auto loop = tile::ForKeysOp::create(rewriter, loc, types,
                                        tile::RangeKind::Mixed, keys.getBegin(),
                                        end, fullEnd, keys.getStep(), inits);
    OpBuilder::InsertionGuard guard(rewriter);
    SmallVector<Type> arguments = {rewriter.getI32Type()};
    llvm::append_range(arguments, types);
    rewriter.createBlock(&loop.getBody(), {}, arguments,
                         SmallVector<Location>(arguments.size(), loc));
    auto carried = loop.getIterArgs();
    IRMapping mapping;
    mapping.map(keys.getPlace(), loop.getPlace());
    mapping.map(keys.getIterArgs(), carried.drop_back());
    std::optional<IRMapping> backMapping;
    auto back = [&]() -> IRMapping & {
      if (!backMapping)
        backMapping = mapBack(offset(loop.getPlace(), 1), carried[carriedIndex],
                              carried.back());
      return *backMapping;
    };
    // The new logits are started first; what the front does with the old
    // accumulator comes after the back. A role that feeds itself meets to take
    // and put: at one place for both, before the products.
    bool started = false;
    for (Operation &op : block.without_terminator()) {
      if (!isFront(op)) {
        if (!started && isOwnTransfer(op))
          cloneTransfer(back(), &op);
        continue;
      }
      Operation *clone = rewriter.clone(op, mapping);
      if (started || !isa<tile::DotOp>(clone))
        continue;
      started = true;
      mapping.map(keys.getIterArgs()[carriedIndex], cloneBack(back()));
    }
    tile::YieldOp::create(rewriter, loc, frontValues(mapping));
    return llvm::to_vector_of<Value>(loop.getResults());
  }

  /// Tiles that only this loop reads (Q) are loaded behind its first tile,
  /// whose slot is free earlier, and not at all for a work item without keys.
  void sinkLoads(scf::IfOp choice) {
    Block *outer = choice->getBlock();
    Operation *firstDot = nullptr, *lastDot = nullptr;
    for (Operation &op : *choice.thenBlock()) {
      if (isa<tile::DotOp>(op) && !firstDot)
        firstDot = &op;
      if (isa<tile::ForKeysOp>(op))
        lastDot = &op;
    }
    for (auto take : llvm::to_vector(outer->getOps<pipe::TakeOp>())) {
      SmallVector<Operation *> puts, releases;
      for (Operation *user : take.getChannel().getUsers()) {
        if (isa<pipe::PutOp>(user))
          puts.push_back(user);
        if (isa<pipe::ReleaseOp>(user))
          releases.push_back(user);
      }
      if (!pipe::isFed(take.getChannel()))
        continue;
      for (Operation *put : puts)
        put->moveBefore(firstDot);
      take->moveBefore(firstDot);
      for (Operation *release : releases)
        release->moveAfter(lastDot);
    }
  }

  tile::ForKeysOp keys;
  Block &block;
  Location loc;
  IRRewriter rewriter;
  tile::DotOp product;
  size_t carriedIndex = 0;
  llvm::SmallSetVector<Operation *, 8> back;
};

struct OverlapGemms : attn::impl::OverlapGemmsBase<OverlapGemms> {
  void runOnOperation() override {
    SmallVector<tile::ForKeysOp> loops;
    getOperation()->walk([&](gpu::GPUFuncOp func) {
      auto schedule = func->getAttrOfType<ir::ScheduleAttr>("attn.schedule");
      if (!schedule || schedule.getOverlap().value_or(0) == 0)
        return;
      func.walk([&](tile::ForKeysOp keys) { loops.push_back(keys); });
    });
    for (tile::ForKeysOp keys : loops)
      if (failed(LoopRotation(keys).run()))
        return signalPassFailure();
  }
};

} // namespace
