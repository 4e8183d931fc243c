//===- ChannelTrace.cpp - The order of puts, takes and releases -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChannelTrace.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using namespace attn::pipe;

namespace {
constexpr int64_t itemGap = 1 << 20; // more tiles than a trace has
constexpr int tracedItems = 2;
/// Enough rounds for a put that runs ahead to meet its take twice; the ranges
/// of a split loop share them, so that every role of a kernel has as many.
constexpr int tracedRounds = 6;
} // namespace

ChannelTrace::ChannelTrace(RoleOp role, Rounds rounds) : rounds(rounds) {
  for (Operation &op : role.getBody().front()) {
    if (auto drained = dyn_cast<DrainedOp>(op))
      append(ChannelEvent::Drained, drained, drained.getChannel());
    auto work = dyn_cast<tile::ForWorkOp>(op);
    for (int item = 0; work && item < tracedItems; ++item) {
      base = item * itemGap;
      taken.clear();
      takenBefore.clear();
      traceBlock(work.getBody().front());
    }
  }
}

void ChannelTrace::append(ChannelEvent::Kind kind, Operation *op, Value channel,
                          int64_t ahead) {
  events.push_back(
      {kind, op, channel, base + takenBefore.lookup(channel) + ahead, choice});
}

/// Where the loop is rotated, the tile of an iteration is not the same for all
/// channels: some were taken before the loop.
void ChannelTrace::traceLoop(tile::ForKeysOp keys, int count) {
  auto around = takenBefore, entered = taken;
  for (int round = 0; round < count; ++round) {
    takenBefore = taken;
    traceBlock(keys.getBody().front());
  }
  // What the loop does not take goes on as if it were not there.
  for (auto [channel, tiles] : taken)
    if (tiles != entered.lookup(channel))
      around[channel] = tiles;
  takenBefore = around;
}

void ChannelTrace::traceBlock(Block &block) {
  auto ranges = block.getOps<tile::ForKeysOp>();
  int each = tracedRounds /
             std::max<int>(1, std::distance(ranges.begin(), ranges.end()));
  auto sync = [&](Operation &op) {
    events.push_back({ChannelEvent::Sync, &op, Value(), 0, choice});
  };
  for (Operation &op : block) {
    if (auto put = dyn_cast<PutOp>(op)) {
      append(ChannelEvent::Put, put, put.getChannel(), put.getAhead());
    } else if (auto take = dyn_cast<TakeOp>(op)) {
      append(ChannelEvent::Take, take, take.getChannel());
      ++taken[take.getChannel()];
      // Where a barrier in memory says that the slot is full, nobody meets.
      if (!take.getJoined() && !isSignalled(take.getChannel()))
        sync(op);
    } else if (auto release = dyn_cast<ReleaseOp>(op)) {
      append(ChannelEvent::Release, release, release.getChannel());
    } else if (isa<SyncOp>(op)) {
      sync(op);
    } else if (auto drain = dyn_cast<DrainOp>(op)) {
      // In memory of its own, warps need not meet for it.
      if (isAlias(drain.getChannel()))
        sync(op);
      append(ChannelEvent::Drain, drain, drain.getChannel());
      if (isAlias(drain.getChannel()))
        sync(op);
    } else if (auto drained = dyn_cast<DrainedOp>(op)) {
      append(ChannelEvent::Drained, drained, drained.getChannel());
      if (isAlias(drained.getChannel()))
        sync(op);
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      // Whether a work item has key tiles (attn-overlap-gemms): a run in which
      // each has some holds every order there is.
      int around = choice;
      choice = static_cast<int>(choices.size());
      choices.push_back(around);
      traceBlock(*branch.thenBlock());
      choice = around;
    } else if (auto keys = dyn_cast<tile::ForKeysOp>(op)) {
      traceLoop(keys, rounds == Rounds::Several ? each : 0);
    }
  }
}

int64_t ChannelTrace::findBefore(int64_t before, ChannelEvent::Kind kind,
                                 Value channel, int64_t tile) const {
  while (--before >= 0) {
    const ChannelEvent &event = events[before];
    if (event.kind == kind && event.channel == channel && event.tile == tile)
      return before;
  }
  return -1;
}

int64_t ChannelTrace::findLastRelease(int64_t before, Value channel) const {
  while (--before >= 0)
    if (events[before].kind == ChannelEvent::Release &&
        events[before].channel == channel)
      return before;
  return -1;
}

int64_t ChannelTrace::findAfter(int64_t after, ChannelEvent::Kind kind,
                                Value channel, int64_t tile) const {
  for (int64_t at = after + 1, end = events.size(); at < end; ++at) {
    const ChannelEvent &event = events[at];
    if (event.kind == kind && event.channel == channel && event.tile == tile)
      return at;
  }
  return -1;
}

bool ChannelTrace::happensWith(const ChannelEvent &event,
                               const ChannelEvent &other) const {
  // A choice is numbered after the one around it.
  int around = other.choice;
  while (around > event.choice)
    around = choices[around];
  return around == event.choice;
}

int64_t ChannelTrace::countSyncs(int64_t from, int64_t to) const {
  int64_t found = 0;
  for (int64_t at = from + 1; at < to; ++at)
    found += events[at].kind == ChannelEvent::Sync &&
             (happensWith(events[at], events[from]) ||
              happensWith(events[at], events[to]));
  return found;
}

int64_t ChannelTrace::countGroups(int64_t from, int64_t to) const {
  int64_t found = 0;
  for (int64_t at = from + 1; at < to; ++at)
    found += events[at].kind == ChannelEvent::Put &&
             !isSignalled(events[at].channel) &&
             (happensWith(events[at], events[from]) ||
              happensWith(events[at], events[to]));
  return found;
}

int64_t ChannelTrace::itemOf(int64_t tile) { return tile / itemGap; }

bool ChannelTrace::isFirstTiles(int64_t tile, int64_t depth) {
  return tile % itemGap < depth;
}
