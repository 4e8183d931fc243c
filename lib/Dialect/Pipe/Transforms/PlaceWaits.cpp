//===- PlaceWaits.cpp - Pending puts and syncs ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChannelTrace.h"
#include "SharedReads.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace attn {
#define GEN_PASS_DEF_PLACEWAITS
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::pipe;

namespace {

/// Waits for what leaves by tensor copies: before the next tile goes the same
/// way, and at the end of the role. Memory that belongs to another channel is
/// given back at once.
void placeDrained(RoleOp role) {
  llvm::SmallSetVector<Value, 1> draining;
  role.walk([&](DrainOp drain) {
    Value channel = drain.getChannel();
    if (!drainMapOf(channel))
      return;
    OpBuilder builder(drain);
    if (isAlias(channel))
      builder.setInsertionPointAfter(drain);
    else
      draining.insert(channel);
    DrainedOp::create(builder, drain.getLoc(), channel);
  });
  OpBuilder builder = OpBuilder::atBlockEnd(&role.getBody().front());
  for (Value channel : draining)
    DrainedOp::create(builder, role.getLoc(), channel);
}

/// Sets `pending` of every take: the fewest puts that follow its own put on any
/// way to it.
LogicalResult countPending(RoleOp role) {
  llvm::DenseMap<Operation *, int64_t> pending;
  for (Rounds rounds : {Rounds::Several, Rounds::None}) {
    ChannelTrace trace(role, rounds);
    for (auto [at, event] : llvm::enumerate(trace.getEvents())) {
      if (event.kind != ChannelEvent::Take || isFed(event.channel))
        continue;
      int64_t put =
          trace.findBefore(at, ChannelEvent::Put, event.channel, event.tile);
      if (put < 0)
        return event.op->emitError() << "nothing was put into the channel for "
                                        "this take";
      if (isSignalled(event.channel))
        continue;
      int64_t later = trace.countGroups(put, at);
      auto [entry, isNew] = pending.try_emplace(event.op, later);
      if (!isNew)
        entry->second = std::min(entry->second, later);
    }
  }
  for (auto [op, count] : pending)
    cast<TakeOp>(op).setPending(count);
  return success();
}

/// Lets runs of takes wait once, at the last of them, for the most demanding.
void joinTakes(RoleOp role) {
  role.walk([](TakeOp take) {
    if (isSignalled(take.getChannel()))
      return;
    Operation *next = take->getNextNode();
    while (next && isPure(next) && !readsSharedTile(next))
      next = next->getNextNode();
    auto following = dyn_cast_or_null<TakeOp>(next);
    if (!following || isSignalled(following.getChannel()))
      return;
    take.setJoined(true);
    following.setPending(std::min(*take.getPending(), *following.getPending()));
    take.removePendingAttr();
  });
}

/// The first put whose slot was read since all warps met; null when all are
/// safe.
Operation *findUnsafePut(RoleOp role) {
  ChannelTrace trace(role);
  for (auto [at, event] : llvm::enumerate(trace.getEvents())) {
    if (event.kind != ChannelEvent::Put || isFed(event.channel))
      continue;
    int64_t depth = cast<ChannelType>(event.channel.getType()).getDepth();
    // The first tiles of a work item may meet any slot of the item before.
    int64_t release = ChannelTrace::isFirstTiles(event.tile, depth)
                          ? trace.findLastRelease(at, event.channel)
                          : trace.findBefore(at, ChannelEvent::Release,
                                             event.channel, event.tile - depth);
    if (release >= 0 && trace.countSyncs(release, at) == 0)
      return event.op;
  }
  return nullptr;
}

struct PlaceWaits : attn::impl::PlaceWaitsBase<PlaceWaits> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](RoleOp role) {
      if (failed(countPending(role)))
        return WalkResult::interrupt();
      joinTakes(role);
      placeDrained(role);
      while (Operation *put = findUnsafePut(role)) {
        OpBuilder builder(put);
        SyncOp::create(builder, put->getLoc());
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
