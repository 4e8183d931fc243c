//===- AssignStages.cpp - How far puts run ahead --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedReads.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNSTAGES
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// The order of one key loop's body.
class BodyOrder {
public:
  explicit BodyOrder(tile::ForKeysOp keys) : keys(keys) {}

  LogicalResult assign() {
    if (failed(collect()))
      return failure();
    emitScalars();
    if (takes.empty())
      placeThrough(nullptr);
    else if (depth(takes.front()) > 1)
      orderRings();
    else if (failed(orderSingleSlots()))
      return failure();
    for (auto [index, entry] : llvm::enumerate(order))
      entry.first->setAttr("pipe.at",
                           pipe::AtAttr::get(keys.getContext(), entry.second,
                                             static_cast<int64_t>(index)));
    return success();
  }

private:
  static int64_t depth(pipe::TakeOp take) {
    return take.getChannel().getType().getDepth();
  }

  /// Every tile that the body takes is put in the body.
  LogicalResult collect() {
    for (Operation &op : keys.getBody().front().without_terminator()) {
      if (auto take = dyn_cast<pipe::TakeOp>(op))
        takes.push_back(take);
      else if (auto put = dyn_cast<pipe::PutOp>(op))
        puts[put.getChannel()] = put;
    }
    for (pipe::TakeOp take : takes)
      if (!puts.count(take.getChannel()))
        return take.emitError()
               << "expected a put into the channel in the same key loop";
    return success();
  }

  void place(Operation *op, int64_t ahead = 0) {
    if (placed.insert(op))
      order.push_back({op, ahead});
  }

  /// What puts and takes compute their tile from stands first.
  void emitScalars() {
    for (Operation &op : keys.getBody().front().without_terminator())
      if (llvm::all_of(op.getResultTypes(),
                       [](Type type) { return type.isInteger(); }) &&
          op.getNumResults() > 0 && isPure(&op) &&
          llvm::none_of(op.getOperandTypes(), llvm::IsaPred<tile::ValType>))
        place(&op);
  }

  /// Everything up to and including `end`, in its present order, that is not a
  /// put or a take.
  void placeThrough(Operation *end) {
    for (Operation &op : keys.getBody().front().without_terminator()) {
      if (!isa<pipe::PutOp, pipe::TakeOp>(op))
        place(&op);
      if (&op == end)
        return;
    }
  }

  void orderRings() {
    for (pipe::TakeOp take : takes)
      place(take);
    for (pipe::TakeOp take : takes)
      place(puts[take.getChannel()], depth(take) - 1);
    placeThrough(nullptr);
  }

  LogicalResult orderSingleSlots() {
    pipe::TakeOp first = takes.front();
    Operation *release = nullptr;
    for (Operation *user : first.getChannel().getUsers())
      if (isa<pipe::ReleaseOp>(user) && user->getBlock() == first->getBlock())
        release = user;
    if (!release)
      return first.emitError()
             << "expected a release of the channel in the same key loop";
    place(first);
    for (pipe::TakeOp take : llvm::drop_begin(takes))
      place(puts[take.getChannel()]);
    placeThrough(release);
    for (pipe::TakeOp take : llvm::drop_begin(takes))
      place(take);
    place(puts[first.getChannel()], /*ahead=*/1);
    placeThrough(nullptr);
    return success();
  }

  tile::ForKeysOp keys;
  SmallVector<pipe::TakeOp> takes;
  llvm::DenseMap<Value, pipe::PutOp> puts;
  llvm::SmallSetVector<Operation *, 32> placed;
  SmallVector<std::pair<Operation *, int64_t>> order;
};

struct AssignStages : attn::impl::AssignStagesBase<AssignStages> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](tile::ForKeysOp keys) {
      if (pipe::takesFromOtherRole(keys))
        return WalkResult::advance();
      return failed(BodyOrder(keys).assign()) ? WalkResult::interrupt()
                                              : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
