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

SharedShadow::SharedShadow(uint32_t bytes, unsigned warps)
    : bytes(bytes), warps(warps), warpgroups(warps / warpgroupWarps),
      writers(bytes, 0), readers(size_t(bytes) * clockSize(), 0) {}

uint32_t SharedShadow::startBlock() {
  // Times only grow, so that the state of the block before needs no clearing:
  // everything older than `start` counts as never.
  constexpr uint32_t headroom = 1u << 24;
  if (latest > inFlight - headroom) {
    std::fill(readers.begin(), readers.end(), 0);
    latest = 0;
  }
  // Copies that never landed would look like the new block's.
  std::fill(writers.begin(), writers.end(), 0);
  start = ++latest;
  atomics.clear();
  return start;
}

SharedShadow::Epoch SharedShadow::epochOf(const Warp &warp) {
  return warp.clock[warp.id] << warpBits | warp.id;
}

bool SharedShadow::ordered(const Warp &warp, Epoch epoch) const {
  return timeOf(epoch) <= warp.clock[warpOf(epoch)];
}

void SharedShadow::reportWriter(Warp &warp, const Inst &inst, unsigned lane,
                                uint32_t offset, Epoch epoch, bool reads) {
  uint32_t mask = uint32_t(1) << lane;
  std::string at = "shared address " + hexText(offset + sharedBase);
  if (epoch == 0) {
    warp.report(inst, "uninitialized-shared", mask,
                "reads " + at + ", which nobody in this block has written",
                "write it before and pass a barrier, or do not read past what "
                "was written");
    return;
  }
  std::string other = "warp " + std::to_string(warpOf(epoch));
  if (timeOf(epoch) == inFlight) {
    std::string state =
        at + ", which a cp.async of " + other + " is still on its way to";
    warp.report(inst, "async-copy-in-flight", mask,
                (reads ? "reads " : "writes ") + state,
                "wait for its group (cp.async.wait_group) in the thread that "
                "issued it and pass a barrier first; or, if the copy came too "
                "early, put a barrier before the copy");
    return;
  }
  warp.report(inst, "shared-race", mask,
              (reads ? "reads " : "writes ") + at + ", which " + other +
                  " wrote with no barrier in between",
              "put a barrier that both warps pass between the two accesses");
}

/// The earlier writes of these bytes must have happened before.
void SharedShadow::checkWriter(Warp &warp, const Inst &inst, unsigned lane,
                               uint32_t offset, uint32_t count, bool reads) {
  const Epoch *epochs = writers.data() + offset;
  for (uint32_t i = 0; i < count; ++i) {
    Epoch epoch = epochs[i];
    if (i > 0 && epoch == epochs[i - 1])
      continue;
    if (epoch == 0 ? reads : !ordered(warp, epoch)) {
      reportWriter(warp, inst, lane, offset + i, epoch, reads);
      return;
    }
  }
}

/// The earlier reads of these bytes by other warps must have happened before.
void SharedShadow::checkReaders(Warp &warp, const Inst &inst, unsigned lane,
                                uint32_t offset, uint32_t count) {
  for (unsigned other = 0; other < clockSize(); ++other) {
    const uint32_t *times = readers.data() + size_t(other) * bytes + offset;
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; ++i)
      last = std::max(last, times[i]);
    if (last < start || last <= warp.clock[other])
      continue;
    std::string at = "writes shared address " + hexText(offset + sharedBase);
    if (other >= warps) {
      warp.report(inst, "shared-race", uint32_t(1) << lane,
                  at + ", which a wgmma of warpgroup " +
                      std::to_string(other - warps) + " may still read",
                  "wait for it (wgmma.wait_group) and let the writer know by a "
                  "barrier");
      return;
    }
    warp.report(inst, "shared-race", uint32_t(1) << lane,
                at + ", which warp " + std::to_string(other) +
                    " read with no barrier in between",
                "put a barrier that both warps pass between the two accesses");
    return;
  }
}

void SharedShadow::read(Warp &warp, const Inst &inst, unsigned lane,
                        uint32_t offset, uint32_t count) {
  checkWriter(warp, inst, lane, offset, count, /*reads=*/true);
  uint32_t *times = readers.data() + size_t(warp.id) * bytes + offset;
  std::fill_n(times, count, warp.clock[warp.id]);
}

void SharedShadow::write(Warp &warp, const Inst &inst, unsigned lane,
                         uint32_t offset, uint32_t count) {
  checkWriter(warp, inst, lane, offset, count, /*reads=*/false);
  checkReaders(warp, inst, lane, offset, count);
  std::fill_n(writers.data() + offset, count, epochOf(warp));
}

void SharedShadow::atomic(Warp &warp, const Inst &inst, unsigned lane,
                          uint32_t offset, uint32_t count) {
  // Acquire what the earlier atomics on this place released.
  std::vector<uint32_t> &clock = atomics[offset];
  clock.resize(clockSize(), 0);
  for (size_t i = 0; i < clock.size(); ++i)
    clock[i] = warp.clock[i] = std::max(clock[i], warp.clock[i]);
  checkWriter(warp, inst, lane, offset, count, /*reads=*/true);
  checkReaders(warp, inst, lane, offset, count);
  std::fill_n(writers.data() + offset, count, epochOf(warp));
  seen(++warp.clock[warp.id]);
}

void SharedShadow::issueCopy(Warp &warp, const Inst &inst, unsigned lane,
                             uint32_t offset, uint32_t count) {
  checkWriter(warp, inst, lane, offset, count, /*reads=*/false);
  checkReaders(warp, inst, lane, offset, count);
  std::fill_n(writers.data() + offset, count, inFlight << warpBits | warp.id);
}

void SharedShadow::asyncRead(Warp &warp, const Inst &inst, uint32_t offset,
                             uint32_t count, uint32_t group) {
  constexpr unsigned firstLane = 0;
  checkWriter(warp, inst, firstLane, offset, count, /*reads=*/true);
  size_t entry = warps + warp.id / warpgroupWarps;
  std::fill_n(readers.data() + entry * bytes + offset, count,
              start + 1 + group);
}

void SharedShadow::asyncReadsDone(Warp &warp, uint32_t groups) {
  uint32_t time = start + groups;
  uint32_t &known = warp.clock[warps + warp.id / warpgroupWarps];
  known = std::max(known, time);
  seen(time);
}

void SharedShadow::landCopy(Warp &warp, uint32_t offset, uint32_t count) {
  std::fill_n(writers.data() + offset, count, epochOf(warp));
}

} // namespace attn::sim
