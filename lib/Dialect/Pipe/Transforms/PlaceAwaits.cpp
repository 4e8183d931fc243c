//===- PlaceAwaits.cpp - Where asynchronous products are waited for -------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_PLACEAWAITS
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// The first operation of the dot's block that uses its result.
Operation *firstUse(tile::DotOp dot) {
  Block *block = dot->getBlock();
  Operation *first = block->getTerminator();
  // The slot that it reads may be filled again.
  for (Value operand : {dot.getLhs(), dot.getRhs()})
    if (auto take = operand.getDefiningOp<pipe::TakeOp>())
      for (Operation *user : take.getChannel().getUsers())
        if (isa<pipe::PutOp>(user) && user->getBlock() == block &&
            dot->isBeforeInBlock(user) &&
            (!first || user->isBeforeInBlock(first)))
          first = user;
  for (Operation *user : dot.getResult().getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor && (!first || ancestor->isBeforeInBlock(first)))
      first = ancestor;
  }
  return first;
}

/// Products started between two operations of a block.
int64_t countStarted(Operation *from, Operation *to) {
  int64_t started = 0;
  for (Operation *op = from->getNextNode(); op != to; op = op->getNextNode())
    started += isa<tile::DotOp>(op);
  return started;
}

/// Where the left operand lies in registers that the loop refills for its next
/// iteration: what they are refilled from. It must not be ready before the
/// product is done, or the registers would be written while they are read.
Value refilledFrom(tile::DotOp dot) {
  auto argument = dyn_cast<BlockArgument>(dot.getLhs());
  if (!argument || argument.getOwner() != dot->getBlock())
    return {};
  auto keys = dyn_cast<tile::ForKeysOp>(dot->getParentOp());
  if (!keys)
    return {};
  Operation *yield = dot->getBlock()->getTerminator();
  auto cast = yield->getOperand(argument.getArgNumber() - 1)
                  .getDefiningOp<tile::CastOp>();
  return cast && cast->getBlock() == dot->getBlock() ? cast.getInput()
                                                     : Value();
}

/// Where one arm of a choice uses the product and the other does nothing but
/// pass it on: the choice.
scf::IfOp choiceThatPasses(Operation *use, Value product) {
  auto choice = dyn_cast<scf::IfOp>(use);
  if (!choice || choice.getNumResults() != 1 ||
      !llvm::hasSingleElement(*choice.elseBlock()) ||
      choice.elseYield().getOperand(0) != product)
    return {};
  return choice;
}

/// An arm that passes the product on need not wait for it: the other one waits
/// for itself, and what is behind the choice for both. So nothing that is in
/// front of the choice waits. Returns what is behind it to be awaited.
Value awaitInArm(tile::DotOp dot, scf::IfOp choice) {
  OpBuilder builder = OpBuilder::atBlockBegin(choice.thenBlock());
  Value product = dot.getResult();
  auto await = pipe::AwaitOp::create(builder, dot.getLoc(), product.getType(),
                                     product, countStarted(dot, choice));
  product.replaceUsesWithIf(await.getResult(0), [&](OpOperand &operand) {
    Operation *user = operand.getOwner();
    return user != await &&
           choice.getThenRegion().isAncestor(user->getParentRegion());
  });
  return choice.getResult(0);
}

/// Puts the await of `dot`, and moves behind it what frees its operands.
void awaitDot(tile::DotOp dot) {
  Operation *use = firstUse(dot);
  Value awaited = dot.getResult();
  if (scf::IfOp choice = choiceThatPasses(use, awaited)) {
    awaited = awaitInArm(dot, choice);
    use = choice->getNextNode();
  }
  OpBuilder builder(use);
  SmallVector<Value> values = {awaited};
  Value refill = refilledFrom(dot);
  if (refill && refill.getDefiningOp() &&
      refill.getDefiningOp()->getBlock() == dot->getBlock() &&
      refill.getDefiningOp()->isBeforeInBlock(use))
    values.push_back(refill);
  auto await = pipe::AwaitOp::create(builder, dot.getLoc(),
                                     ValueRange(values).getTypes(), values,
                                     countStarted(dot, use));
  for (auto [value, result] : llvm::zip(values, await.getResults()))
    value.replaceUsesWithIf(result, [&](OpOperand &operand) {
      Operation *user =
          dot->getBlock()->findAncestorOpInBlock(*operand.getOwner());
      return user && await->isBeforeInBlock(user);
    });
  SmallVector<Operation *> releases;
  for (Operation *op = dot->getNextNode(); op != await; op = op->getNextNode())
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (auto take = operand.getDefiningOp<pipe::TakeOp>())
        if (auto release = dyn_cast<pipe::ReleaseOp>(op);
            release && release.getChannel() == take.getChannel())
          releases.push_back(op);
  for (Operation *release : llvm::reverse(releases))
    release->moveAfter(await);
}

struct PlaceAwaits : attn::impl::PlaceAwaitsBase<PlaceAwaits> {
  void runOnOperation() override {
    SmallVector<tile::DotOp> dots;
    getOperation()->walk([&](gpu::GPUFuncOp func) {
      auto schedule = func->getAttrOfType<ir::ScheduleAttr>("attn.schedule");
      if (schedule && schedule.usesWgmma())
        func.walk([&](tile::DotOp dot) { dots.push_back(dot); });
    });
    for (tile::DotOp dot : dots) {
      dot.setAsync(true);
      awaitDot(dot);
    }
  }
};

} // namespace
