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

ChannelTrace::ChannelTrace(RoleOp role) {
  for (Operation &op : role.getBody().front())
    if (auto work = dyn_cast<tile::ForWorkOp>(op))
      for (int item = 0; item < tracedItems; ++item) {
        int64_t iteration = 0;
        traceBlock(work.getBody().front(), item * itemGap, iteration);
      }
}

void ChannelTrace::traceBlock(Block &block, int64_t base, int64_t &iteration) {
  bool inLoop = isa<tile::ForKeysOp>(block.getParentOp());
  int64_t now = base + (inLoop ? iteration : 0);
  auto ranges = block.getOps<tile::ForKeysOp>();
  int rounds = tracedRounds /
               std::max<int>(1, std::distance(ranges.begin(), ranges.end()));
  for (Operation &op : block) {
    if (auto put = dyn_cast<PutOp>(op)) {
      events.push_back({ChannelEvent::Put, &op, put.getChannel(),
                        now + static_cast<int64_t>(put.getAhead())});
    } else if (auto take = dyn_cast<TakeOp>(op)) {
      events.push_back({ChannelEvent::Take, &op, take.getChannel(), now});
      if (!take.getJoined())
        events.push_back({ChannelEvent::Sync, &op, Value(), 0});
    } else if (auto release = dyn_cast<ReleaseOp>(op)) {
      events.push_back({ChannelEvent::Release, &op, release.getChannel(), now});
    } else if (isa<SyncOp>(op)) {
      events.push_back({ChannelEvent::Sync, &op, Value(), 0});
    } else if (auto drain = dyn_cast<DrainOp>(op)) {
      events.push_back({ChannelEvent::Sync, &op, Value(), 0});
      events.push_back({ChannelEvent::Drain, &op, drain.getChannel(), now});
      events.push_back({ChannelEvent::Sync, &op, Value(), 0});
    } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
      // Whether a work item has key tiles (attn-overlap-gemms): a run in which
      // each has some holds every order there is.
      traceBlock(*choice.thenBlock(), base, iteration);
    } else if (auto keys = dyn_cast<tile::ForKeysOp>(op)) {
      for (int round = 0; round < rounds; ++round, ++iteration)
        traceBlock(keys.getBody().front(), base, iteration);
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

int64_t ChannelTrace::count(int64_t from, int64_t to,
                            ChannelEvent::Kind kind) const {
  int64_t found = 0;
  for (int64_t at = from + 1; at < to; ++at)
    found += events[at].kind == kind;
  return found;
}

int64_t ChannelTrace::itemOf(int64_t tile) { return tile / itemGap; }

bool ChannelTrace::isFirstTiles(int64_t tile, int64_t depth) {
  return tile % itemGap < depth;
}
