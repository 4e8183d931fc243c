//===- SkipMasked.cpp - No work where a warp's rows see nothing -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

namespace attn {
#define GEN_PASS_DEF_SKIPMASKED
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Whether an operation, with all in it, knows no tile: then it counts or
/// addresses, whatever the tile holds.
bool isScalar(Operation *op) {
  auto isTile = llvm::IsaPred<tile::ValType>;
  return !op->walk([&](Operation *inner) {
              return llvm::any_of(inner->getOperandTypes(), isTile) ||
                             llvm::any_of(inner->getResultTypes(), isTile)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

/// The operations after `start` that only compute, for the next tile's carried
/// values alone; empty when there is something else between them, which the
/// whole role must take part in. Scalars are not among them.
SmallVector<Operation *> computationAfter(Operation *start) {
  SmallVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 16> known;
  Block *body = start->getBlock();
  known.insert(body->getTerminator());
  for (Operation *op = start->getNextNode(); op != body->getTerminator();
       op = op->getNextNode()) {
    if (isa<pipe::ReleaseOp>(op))
      continue;
    if (isa<pipe::TakeOp, pipe::PutOp, pipe::SyncOp, pipe::DrainOp,
            pipe::AwaitOp, pipe::TurnWaitOp, pipe::TurnPassOp, tile::StoreOp>(
            op))
      return {};
    if (isScalar(op))
      continue;
    ops.push_back(op);
    known.insert(op);
  }
  for (Operation *op : ops)
    for (Operation *user : op->getUsers())
      if (!known.contains(body->findAncestorOpInBlock(*user)))
        return {};
  return ops;
}

/// The row maxima of the masked logits: the softmax step starts with them.
tile::ReduceOp findRowMax(tile::MaskOp mask) {
  for (Operation *user : mask->getUsers())
    if (auto reduce = dyn_cast<tile::ReduceOp>(user);
        reduce && reduce.getCombine() == tile::Combine::Max &&
        reduce->getBlock() == mask->getBlock())
      return reduce;
  return nullptr;
}

/// Whether the computation alone uses what a tile before has left: otherwise
/// something was done with it already (the product of the tile before, which
/// attn-overlap-gemms puts in front), and a hidden tile does not leave it as it
/// was.
bool startsFrom(ArrayRef<Operation *> computation, tile::ForKeysOp keys) {
  Block &body = keys.getBody().front();
  for (Value value : keys.getIterArgs())
    if (isa<tile::ValType>(value.getType()))
      for (Operation *user : value.getUsers())
        if (!llvm::is_contained(computation, body.findAncestorOpInBlock(*user)))
          return false;
  return true;
}

void guard(tile::ForKeysOp keys, tile::MaskOp mask) {
  tile::ReduceOp rowMax = findRowMax(mask);
  if (!rowMax)
    return;
  SmallVector<Operation *> computation = computationAfter(rowMax);
  if (computation.empty() || !startsFrom(computation, keys))
    return;
  Location loc = mask.getLoc();
  Operation *first = computation.front();
  for (Operation *op = first; !isa<tile::YieldOp>(op);) {
    Operation *next = op->getNextNode();
    if (isPure(op) && isScalar(op))
      op->moveBefore(first);
    op = next;
  }
  OpBuilder builder(first);
  auto yield = cast<tile::YieldOp>(keys.getBody().front().getTerminator());
  // What the tile changes; counters go on in any case.
  SmallVector<unsigned> changed;
  SmallVector<Value> values, kept;
  for (auto [index, value] : llvm::enumerate(yield.getValues()))
    if (isa<tile::ValType>(value.getType())) {
      changed.push_back(index);
      values.push_back(value);
      kept.push_back(keys.getIterArgs()[index]);
    }
  Value any = tile::AnyOp::create(
      builder, loc, rowMax.getResult(),
      builder.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
  auto choice =
      scf::IfOp::create(builder, loc, ValueRange(values).getTypes(), any,
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  builder.setInsertionPointToStart(choice.thenBlock());
  auto result = scf::YieldOp::create(builder, loc, values);
  for (Operation *op : computation)
    op->moveBefore(result);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, kept);
  for (auto [index, value] : llvm::zip(changed, choice.getResults()))
    yield->setOperand(index, value);
}

struct SkipMasked : attn::impl::SkipMaskedBase<SkipMasked> {
  void runOnOperation() override {
    getOperation()->walk([](tile::ForKeysOp keys) {
      if (keys.getKind() != tile::RangeKind::Partial)
        return;
      for (auto mask : keys.getBody().getOps<tile::MaskOp>()) {
        guard(keys, mask);
        return;
      }
    });
  }
};

} // namespace
