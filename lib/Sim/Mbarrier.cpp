//===- Mbarrier.cpp - The state of mbarriers ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mbarrier.h"
#include "Block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace attn::sim {
namespace {

constexpr uint32_t maxCount = (1u << 20) - 1; // PTX ISA 9.7.13.15.2

std::string nameOf(uint32_t offset) {
  return "mbarrier " + hexText(offset + sharedBase);
}

std::string state(const Mbarrier &barrier) {
  return "is in phase " + std::to_string(barrier.phase) + " (parity " +
         std::to_string(barrier.phase & 1) + ") and lacks " +
         std::to_string(barrier.pending) + " of " +
         std::to_string(barrier.expected) + " arrivals and " +
         std::to_string(barrier.missing) + " transaction bytes";
}

} // namespace

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

void Mbarriers::init(Warp &warp, const Inst &inst, unsigned lane,
                     uint32_t offset, uint32_t count) {
  uint32_t mask = uint32_t(1) << lane;
  if (count < 1 || count > maxCount)
    warp.fail(inst, "mbarrier-count", mask,
              "initialises " + nameOf(offset) + " with " +
                  std::to_string(count) + " arrivals",
              "expect 1 to 1048575 arrivals");
  Mbarrier &barrier = barriers[offset];
  if (barrier.live)
    warp.report(inst, "mbarrier-init", mask,
                "initialises " + nameOf(offset) + ", which is one already",
                "initialise it once, in one thread, or end it with "
                "mbarrier.inval first");
  uint32_t nextTime = barrier.firstTime + barrier.phase + 1;
  barrier.live = true;
  barrier.offset = offset;
  barrier.expected = barrier.pending = count;
  barrier.missing = 0;
  barrier.phase = 0;
  barrier.landing.clear();
  ++block.cluster.events;
  if (!block.shadow)
    return;
  block.shadow->initBarrier(warp, inst, lane, offset);
  Actors &actors = block.cluster.actors;
  barrier.actor =
      block.cluster.findActor(Actors::Kind::Barrier, block.rank, offset);
  barrier.firstTime = std::max(nextTime, actors.start());
  actors.seen(barrier.firstTime);
  barrier.initActor = warp.actor;
  barrier.initTime = warp.clock.time[warp.actor];
  barrier.arrivals.clear();
  barrier.completed.clear();
}

void Mbarriers::inval(Warp &warp, const Inst &inst, unsigned lane,
                      uint32_t offset) {
  Mbarrier &barrier = find(warp, inst, lane, offset, Via::Thread);
  if (!barrier.landing.empty())
    warp.report(inst, "mbarrier-init", uint32_t(1) << lane,
                "ends " + nameOf(offset) +
                    ", on which copies in flight "
                    "complete",
                "wait for them first");
  barrier.live = false;
  if (block.shadow)
    block.shadow->invalBarrier(offset);
}

Mbarrier &Mbarriers::find(Warp &warp, const Inst &inst, unsigned lane,
                          uint32_t offset, Via via) {
  uint32_t mask = uint32_t(1) << lane;
  auto found = barriers.find(offset);
  if (found == barriers.end() || !found->second.live)
    warp.fail(inst, "mbarrier-init", mask,
              "uses an mbarrier at " + warp.sharedText(block.rank, offset) +
                  ", where none is initialised",
              "run mbarrier.init and pass a barrier before, or correct the "
              "address");
  Mbarrier &barrier = found->second;
  if (!block.shadow)
    return barrier;
  unsigned by = barrier.initActor;
  uint32_t time = barrier.initTime;
  bool outside = via == Via::Outside || warp.block != &block;
  bool seen = warp.clock.time[by] >= time || warp.clock.inits[by] >= time;
  bool shown = warp.clock.inits[by] >= time || warp.clock.fenced[by] >= time;
  if (!seen)
    warp.report(inst, "mbarrier-init", mask,
                "uses " + nameOf(offset) + ", which " +
                    block.cluster.actors.describe(by, warp.rank()) +
                    " initialised with no barrier in between",
                "put a barrier between mbarrier.init and the first use in "
                "another warp");
  else if (outside && !shown)
    warp.report(inst, "mbarrier-init", mask,
                "uses " + nameOf(offset) +
                    (warp.block != &block ? " of another block"
                                          : " by the asynchronous proxy") +
                    " with no fence since its initialisation",
                "put fence.mbarrier_init.release.cluster (or "
                "fence.proxy.async) after mbarrier.init, before the barrier");
  return barrier;
}

void Mbarriers::checkEnd() {
  for (auto &entry : barriers) {
    Mbarrier &barrier = entry.second;
    if (!barrier.live || !barrier.lastCopy)
      continue;
    bool open = !barrier.landing.empty() || barrier.missing != 0;
    if (open || barrier.lastCopyTime > block.endClock.time[barrier.actor])
      barrier.lastCopyWarp->reportNow(
          *barrier.lastCopy, "async-copy-in-flight", 0,
          "block " + std::to_string(block.rank) +
              " of the cluster ends and no thread of it has waited for this "
              "copy: " +
              nameOf(barrier.offset) + " " + state(barrier),
          "wait for every copy's phase before the block ends, and expect as "
          "many bytes as are copied");
  }
}

std::string Mbarriers::describe(uint32_t offset) const {
  auto found = barriers.find(offset);
  return nameOf(offset) + " " +
         (found == barriers.end() ? "is gone" : state(found->second));
}

//===----------------------------------------------------------------------===//
// Transactions and arrivals
//===----------------------------------------------------------------------===//

void Mbarriers::checkBytes(Warp &warp, const Inst &inst, unsigned lane,
                           const Mbarrier &barrier) {
  uint32_t mask = uint32_t(1) << lane;
  if (std::llabs(barrier.missing) > maxCount)
    warp.fail(inst, "transaction-bytes", mask,
              nameOf(barrier.offset) + " " + state(barrier) +
                  ", out of the range of 1048575",
              "expect and copy fewer bytes in one phase");
  if (barrier.pending == 0 && barrier.missing < 0)
    warp.fail(inst, "transaction-bytes", mask,
              nameOf(barrier.offset) + " " + state(barrier) +
                  ": more bytes came than the phase expected",
              "expect (mbarrier.arrive.expect_tx) as many bytes as the copies "
              "of the phase have");
}

void Mbarriers::expect(Warp &warp, const Inst &inst, unsigned lane,
                       Mbarrier &barrier, int64_t bytes) {
  barrier.missing += bytes;
  checkBytes(warp, inst, lane, barrier);
}

void Mbarriers::complete(Warp &warp, const Inst &inst, unsigned lane,
                         Mbarrier &barrier, int64_t bytes, LandingCopy *copy) {
  ++block.cluster.events;
  barrier.missing -= bytes;
  if (copy) {
    barrier.landing.push_back(std::move(*copy));
    barrier.lastCopy = &inst;
    barrier.lastCopyWarp = &warp;
    barrier.lastCopyTime = barrier.access().time;
  }
  checkBytes(warp, inst, lane, barrier);
  completeIfFull(barrier);
}

void Mbarriers::arrive(Warp &warp, const Inst &inst, unsigned lane,
                       Mbarrier &barrier, const Arrival &arrival) {
  uint32_t count = arrival.count;
  uint32_t mask = uint32_t(1) << lane;
  if (count < 1 || count > barrier.pending)
    warp.fail(inst, "mbarrier-count", mask,
              "arrives " + std::to_string(count) + " times, but " +
                  nameOf(barrier.offset) + " " + state(barrier),
              "initialise the mbarrier with the number of all arrivals of a "
              "phase, and wait for the phase before the next arrival");
  ++block.cluster.events;
  barrier.pending -= count;
  if (arrival.drop)
    barrier.expected -= count;
  if (block.shadow) {
    if (arrival.relaxed)
      barrier.arrivals.joinInits(warp.clock);
    else
      warp.release(warp.exec, barrier.arrivals);
  }
  if (arrival.noComplete && barrier.pending == 0)
    warp.fail(inst, "mbarrier-count", mask,
              "completes the phase of " + nameOf(barrier.offset) +
                  ", which .noComplete promises not to",
              "leave .noComplete out");
  checkBytes(warp, inst, lane, barrier);
  completeIfFull(barrier);
}

void Mbarriers::completeIfFull(Mbarrier &barrier) {
  if (barrier.pending != 0 || barrier.missing != 0)
    return;
  for (const LandingCopy &copy : barrier.landing)
    std::memcpy(block.shared.data() + copy.offset, copy.bytes.data(),
                copy.bytes.size());
  barrier.landing.clear();
  if (block.shadow) {
    Cluster &cluster = block.cluster;
    barrier.completed.join(barrier.arrivals);
    barrier.completed.grow(cluster.actors.count());
    barrier.completed.time[barrier.actor] = barrier.access().time;
    barrier.arrivals.clear();
    cluster.actors.seen(barrier.access().time + 1);
  }
  ++barrier.phase;
  barrier.pending = barrier.expected;
  block.cluster.forEachWarp([&](Warp &other) {
    const WarpWait &wait = other.wait;
    if (other.state == Warp::State::Waiting &&
        wait.kind == WarpWait::Mbarrier && wait.block == &block &&
        wait.offset == barrier.offset)
      other.state = Warp::State::Running;
  });
}

} // namespace attn::sim
