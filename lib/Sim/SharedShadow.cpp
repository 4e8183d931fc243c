//===- SharedShadow.cpp - Who touched each shared byte --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedShadow.h"
#include "Warp.h"

#include <algorithm>

namespace attn::sim {

SharedShadow::SharedShadow(Actors &actors, unsigned block, uint32_t bytes)
    : actors(actors), block(block), bytes(bytes), writers(bytes, 0) {}

void SharedShadow::startBlock(bool anew) {
  if (anew)
    for (std::vector<Stamp> &stamps : readers)
      std::fill(stamps.begin(), stamps.end(), 0);
  // Copies that never landed would look like the new block's.
  std::fill(writers.begin(), writers.end(), 0);
  atomics.clear();
}

SharedShadow::Epoch SharedShadow::epochOf(const Warp &warp, unsigned lane) {
  return epochOf(warp.actor, warp.clock.time[warp.actor], lane);
}

bool SharedShadow::ordered(const Warp &warp, Epoch epoch) const {
  return warp.clock.reaches(actorOf(epoch), laneOf(epoch), timeOf(epoch));
}

/// What the asynchronous proxy wrote itself needs no fence.
bool SharedShadow::fenced(const Warp &warp, Epoch epoch) const {
  unsigned actor = actorOf(epoch);
  if (!actors.isWarp(actor) && laneOf(epoch) != genericCopy)
    return true;
  return actor < warp.clock.fenced.size() &&
         timeOf(epoch) <= warp.clock.fenced[actor];
}

bool SharedShadow::unsynchronized(const Warp &warp, unsigned lane, Epoch epoch,
                                  Use use) {
  bool follows = use == Use::Read || use == Use::AsyncRead;
  return follows && actorOf(epoch) == warp.actor && laneOf(epoch) != lane &&
         timeOf(epoch) >= warp.synchronized;
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

std::string SharedShadow::orderHint(const Warp &warp, unsigned other,
                                    uint32_t time) const {
  if (warp.clock.heardOfLanes(other, time))
    return "put bar.warp.sync in " + actors.describe(other, warp.rank()) +
           ", behind the access: it has let others know by an arrival of some "
           "of its threads, which does not speak for the rest";
  return "put a barrier that both warps pass between the two accesses";
}

void SharedShadow::reportWriter(Warp &warp, const Inst &inst, unsigned lane,
                                uint32_t offset, Epoch epoch, Use use) {
  uint32_t mask = uint32_t(1) << lane;
  std::string at =
      (reads(use) ? "reads " : "writes ") + warp.sharedText(block, offset);
  if (epoch == 0)
    return warp.report(
        inst, "uninitialized-shared", mask,
        at + ", which nobody in this block has written",
        "write it before and pass a barrier, or do not read past what was "
        "written");
  std::string other = actors.describe(actorOf(epoch), warp.rank());
  if (timeOf(epoch) == inFlight)
    return warp.report(
        inst, "async-copy-in-flight", mask,
        at + ", which a cp.async of " + other + " is still on its way to",
        "wait for its group (cp.async.wait_group) in the thread that issued it "
        "and pass a barrier first; or, if the copy came too early, put a "
        "barrier before the copy");
  if (timeOf(epoch) == barrierWord)
    return warp.report(
        inst, "mbarrier-words", mask, at + ", which is part of an mbarrier",
        "touch an mbarrier with mbarrier instructions only, or end it with "
        "mbarrier.inval first");
  bool isCopy = !actors.isWarp(actorOf(epoch));
  if (isCopy && ordered(warp, epoch))
    return warp.report(
        inst, "missing-proxy-fence", mask,
        at + " by the asynchronous proxy, which a cp.async wrote that arrives "
             "on an mbarrier, with no proxy fence since",
        "put fence.proxy.async in this warp after its wait for that mbarrier");
  if (isCopy)
    return warp.report(
        inst, "async-copy-in-flight", mask,
        at + ", which " + other + " may still be on its way to",
        "wait for that mbarrier's phase first, in this warp or before a "
        "barrier that this warp passes; if it did wait, the phase that it "
        "waited for expected too few bytes or arrivals");
  if (!ordered(warp, epoch))
    return warp.report(inst, "shared-race", mask,
                       at + ", which " + other +
                           " wrote with no barrier in between",
                       orderHint(warp, actorOf(epoch), timeOf(epoch)));
  if (isAsync(use) && !fenced(warp, epoch))
    return warp.report(
        inst, "missing-proxy-fence", mask,
        at + " by the asynchronous proxy, which " + other +
            " wrote by an ordinary store with no proxy fence since",
        "put fence.proxy.async after the store in " + other +
            ", before the barrier that orders the two");
  warp.report(inst, "warp-race", mask,
              at + ", which thread " +
                  std::to_string(warp.id * warpSize + laneOf(epoch)) +
                  " of the same warp wrote with no barrier in between",
              "put bar.warp.sync (__syncwarp) between the two accesses");
}

void SharedShadow::reportReader(Warp &warp, const Inst &inst, unsigned lane,
                                uint32_t offset, unsigned reader,
                                uint32_t time) {
  uint32_t mask = uint32_t(1) << lane;
  std::string at = "writes " + warp.sharedText(block, offset) + ", which " +
                   actors.describe(reader, warp.rank());
  switch (actors.kind(reader)) {
  case Actors::Kind::BulkStores:
    return warp.report(inst, "async-read-in-flight", mask,
                       at + " may still be reading",
                       "wait for its group (cp.async.bulk.wait_group.read) in "
                       "the thread that issued it, and pass a barrier "
                       "(bar.warp.sync in its warp) if this is another one");
  case Actors::Kind::Wgmma:
    return warp.report(inst, "shared-race", mask, at + " may still read",
                       "wait for it (wgmma.wait_group) and let the writer know "
                       "by a barrier");
  default:
    warp.report(inst, "shared-race", mask,
                at + " read with no barrier in between",
                orderHint(warp, reader, time));
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The earlier writes of these bytes must have happened before, and be visible
/// to the proxy of this access.
void SharedShadow::checkWriter(Warp &warp, const Inst &inst, unsigned lane,
                               uint32_t offset, uint32_t count, Use use,
                               unsigned friendly) {
  const Epoch *epochs = writers.data() + offset;
  for (uint32_t i = 0; i < count; ++i) {
    Epoch epoch = epochs[i];
    if (i > 0 && epoch == epochs[i - 1])
      continue;
    bool bad = epoch == 0 ? reads(use)
                          : !ordered(warp, epoch) ||
                                (isAsync(use) && !fenced(warp, epoch)) ||
                                unsynchronized(warp, lane, epoch, use);
    if (bad && actorOf(epoch) != friendly)
      return reportWriter(warp, inst, lane, offset + i, epoch, use);
  }
}

/// Whether `lane` itself has waited until `access` was over.
static bool learned(const Warp &warp, unsigned lane,
                    const AsyncAccess &access) {
  return std::any_of(warp.learned.begin(), warp.learned.end(),
                     [&](const Warp::Knowledge &known) {
                       return known.lane == lane &&
                              known.over.actor == access.actor &&
                              known.over.time >= access.time;
                     });
}

/// The earlier reads of these bytes by others must have happened before.
void SharedShadow::checkReaders(Warp &warp, const Inst &inst, unsigned lane,
                                uint32_t offset, uint32_t count) {
  for (unsigned reader : readingActors) {
    const Stamp *stamps = readers[reader].data() + offset;
    Stamp stamp = 0;
    for (uint32_t i = 0; i < count; ++i)
      stamp = std::max(stamp, stamps[i]);
    uint32_t last = stamp >> laneBits;
    if (last >= actors.start() &&
        !warp.clock.reaches(reader, stamp & (warpSize - 1), last) &&
        !learned(warp, lane, {reader, last}))
      return reportReader(warp, inst, lane, offset, reader, last);
  }
}

std::vector<SharedShadow::Stamp> &SharedShadow::readersOf(unsigned actor) {
  if (actor >= readers.size())
    readers.resize(actors.count());
  if (readers[actor].empty()) {
    readers[actor].assign(bytes, 0);
    readingActors.push_back(actor);
  }
  return readers[actor];
}

void SharedShadow::markRead(unsigned actor, uint32_t time, uint32_t offset,
                            uint32_t count, unsigned lane) {
  std::fill_n(readersOf(actor).data() + offset, count, time << laneBits | lane);
}

//===----------------------------------------------------------------------===//
// Ordinary accesses and cp.async
//===----------------------------------------------------------------------===//

void SharedShadow::read(Warp &warp, const Inst &inst, unsigned lane,
                        uint32_t offset, uint32_t count) {
  checkWriter(warp, inst, lane, offset, count, Use::Read);
  markRead(warp.actor, warp.clock.time[warp.actor], offset, count, lane);
  warp.accessors |= uint32_t(1) << lane;
}

void SharedShadow::write(Warp &warp, const Inst &inst, unsigned lane,
                         uint32_t offset, uint32_t count) {
  checkWriter(warp, inst, lane, offset, count, Use::Write);
  checkReaders(warp, inst, lane, offset, count);
  std::fill_n(writers.data() + offset, count, epochOf(warp, lane));
  warp.accessors |= uint32_t(1) << lane;
}

void SharedShadow::atomic(Warp &warp, const Inst &inst, unsigned lane,
                          uint32_t offset, uint32_t count) {
  // Acquire what the earlier atomics on this place released.
  Clock &clock = atomics[offset];
  warp.shareKnowledge();
  warp.clock.join(clock);
  clock.join(warp.clock);
  checkWriter(warp, inst, lane, offset, count, Use::Atomic);
  checkReaders(warp, inst, lane, offset, count);
  std::fill_n(writers.data() + offset, count, epochOf(warp, lane));
  warp.tick();
}

void SharedShadow::issueCopy(Warp &warp, const Inst &inst, unsigned lane,
                             uint32_t offset, uint32_t count) {
  checkWriter(warp, inst, lane, offset, count, Use::Write);
  checkReaders(warp, inst, lane, offset, count);
  std::fill_n(writers.data() + offset, count, epochOf(warp.actor, inFlight));
}

void SharedShadow::landCopy(Warp &warp, unsigned lane, uint32_t offset,
                            uint32_t count) {
  std::fill_n(writers.data() + offset, count, epochOf(warp, lane));
  warp.accessors |= uint32_t(1) << lane;
}

void SharedShadow::landCopy(const AsyncAccess &phase, uint32_t offset,
                            uint32_t count) {
  std::fill_n(writers.data() + offset, count,
              epochOf(phase.actor, phase.time, genericCopy));
}

//===----------------------------------------------------------------------===//
// The asynchronous proxy
//===----------------------------------------------------------------------===//

/// A warpgroup acts as one lane in the accesses of its wgmma.
constexpr unsigned firstLane = 0;

void SharedShadow::asyncRead(Warp &warp, const Inst &inst, uint32_t offset,
                             uint32_t count, uint32_t group) {
  uint32_t time = actors.start() + group;
  actors.seen(time);
  checkWriter(warp, inst, firstLane, offset, count, Use::Wgmma);
  markRead(actors.wgmma(block, warp.id / warpgroupWarps), time, offset, count);
}

void SharedShadow::asyncReadsDone(Warp &warp, uint32_t groups) {
  if (groups == 0)
    return;
  uint32_t &known =
      warp.clock.time[actors.wgmma(block, warp.id / warpgroupWarps)];
  known = std::max(known, actors.start() + groups - 1);
}

void SharedShadow::bulkRead(Warp &warp, const Inst &inst, unsigned lane,
                            uint32_t offset, uint32_t count,
                            const AsyncAccess &access) {
  checkWriter(warp, inst, lane, offset, count, Use::AsyncRead);
  markRead(access.actor, access.time, offset, count);
}

void SharedShadow::bulkWrite(Warp &warp, const Inst &inst, unsigned lane,
                             uint32_t offset, uint32_t count,
                             const AsyncAccess &access) {
  checkWriter(warp, inst, lane, offset, count, Use::AsyncWrite);
  checkReaders(warp, inst, lane, offset, count);
  std::fill_n(writers.data() + offset, count,
              epochOf(access.actor, access.time));
}

void SharedShadow::bulkReduce(Warp &warp, const Inst &inst, unsigned lane,
                              uint32_t offset, uint32_t count,
                              const AsyncAccess &access) {
  checkWriter(warp, inst, lane, offset, count, Use::AsyncRead, access.actor);
  checkReaders(warp, inst, lane, offset, count);
  std::fill_n(writers.data() + offset, count,
              epochOf(access.actor, access.time));
}

//===----------------------------------------------------------------------===//
// The words of mbarriers
//===----------------------------------------------------------------------===//

constexpr uint32_t barrierBytes = 8;

void SharedShadow::initBarrier(Warp &warp, const Inst &inst, unsigned lane,
                               uint32_t offset) {
  checkWriter(warp, inst, lane, offset, barrierBytes, Use::Write);
  checkReaders(warp, inst, lane, offset, barrierBytes);
  std::fill_n(writers.data() + offset, barrierBytes,
              epochOf(warp.actor, barrierWord));
}

void SharedShadow::invalBarrier(uint32_t offset) {
  std::fill_n(writers.data() + offset, barrierBytes, 0);
}

} // namespace attn::sim
