//===- Barrier.cpp - The named barriers of a block ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

#include <algorithm>

namespace attn::sim {

//===----------------------------------------------------------------------===//
// The barriers
//===----------------------------------------------------------------------===//

namespace {

enum Reduction : uint8_t { NoReduction, Popc, And, Or };

/// Modifiers in Inst: a = waits, b = reduction, c = aligned, d = has a count.
void runBarrier(Warp &warp, const Inst &inst);

} // namespace

void Barriers::reset() { barriers.fill(Barrier()); }

uint32_t Barriers::allThreads(const Block &block) {
  uint32_t warps = 0;
  for (const Warp &warp : block.warps)
    warps += warp.state != Warp::State::Done;
  return warps * warpSize;
}

void Barriers::arrive(Warp &warp, const Inst &inst, unsigned id,
                      uint32_t threads, bool waits, uint32_t vote) {
  Block &block = *warp.block;
  Barrier &barrier = barriers[id];
  if (barrier.arrived && barrier.expected != threads)
    warp.fail(inst, "barrier-count", warp.exec,
              "arrives at barrier " + std::to_string(id) + " for " +
                  (threads ? std::to_string(threads) : "all") +
                  " threads, but the warps there came for " +
                  (barrier.expected ? std::to_string(barrier.expected) : "all"),
              "give every participant the same thread count");
  barrier.expected = threads;
  barrier.arrived += warpSize;
  barrier.voters += static_cast<uint32_t>(__builtin_popcount(warp.exec));
  barrier.votes += static_cast<uint32_t>(__builtin_popcount(vote));
  if (block.shadow) {
    warp.shareKnowledge();
    barrier.clock.join(warp.clock);
    warp.synchronizeLanes();
  }
  ++block.cluster.events;
  if (waits) {
    barrier.waiting |= uint32_t(1) << warp.id;
    warp.sleep({WarpWait::Named, id, &block, 0, &inst, warp.exec},
               /*again=*/false);
  }
  uint32_t full = threads ? threads : allThreads(block);
  if (!barrier.waiting && barrier.arrived >= full)
    warp.report(inst, "barrier-unwaited", warp.exec,
                "completes barrier " + std::to_string(id) +
                    " by arriving, and nobody waits there",
                "let the threads that it is for wait (bar.sync) every time");
  completeIfFull(block, id);
}

void Barriers::completeIfFull(Block &block, unsigned id) {
  Barrier &barrier = barriers[id];
  uint32_t expected = barrier.expected ? barrier.expected : allThreads(block);
  if (!barrier.arrived || barrier.arrived < expected)
    return;
  for (Warp &warp : block.warps) {
    if (!(barrier.waiting >> warp.id & 1))
      continue;
    warp.state = Warp::State::Running;
    if (block.shadow)
      warp.clock.join(barrier.clock);
    const Inst &inst = *warp.wait.inst;
    if (inst.b == NoReduction)
      continue;
    uint32_t lanes = warp.wait.lanes;
    std::swap(warp.exec, lanes);
    if (inst.b == Popc) {
      uint32_t values[warpSize];
      std::fill(values, values + warpSize, barrier.votes);
      commit<1>(warp, inst.dst(), values);
    } else {
      bool holds =
          inst.b == And ? barrier.votes == barrier.voters : barrier.votes != 0;
      warp.setPredicate(inst.dst(), holds ? allLanes : 0);
    }
    std::swap(warp.exec, lanes);
  }
  barrier = Barrier();
}

void Barriers::warpEnded(Block &block) {
  for (unsigned id = 0; id < namedBarriers; ++id)
    if (barriers[id].arrived && barriers[id].expected == 0)
      completeIfFull(block, id);
}

std::string Barriers::describe(const Block &block, unsigned id) const {
  const Barrier &barrier = barriers[id];
  uint32_t expected = barrier.expected ? barrier.expected : allThreads(block);
  return "barrier " + std::to_string(id) + " has " +
         std::to_string(barrier.arrived) + " of " + std::to_string(expected) +
         " threads";
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {

/// The value that all running lanes agree on.
uint32_t uniform(Warp &warp, const Inst &inst, const Operand &operand,
                 const char *what) {
  const uint32_t *lanes = warp.lanes(operand);
  uint32_t value = lanes[__builtin_ctz(warp.exec)];
  forEachLane(warp.exec, [&](unsigned lane) {
    if (lanes[lane] != value)
      warp.fail(inst, "divergent-barrier", uint32_t(1) << lane,
                std::string("the lanes of a warp disagree about the ") + what,
                "use one value per warp");
  });
  return value;
}

void runBarrier(Warp &warp, const Inst &inst) {
  uint32_t missing = warp.live() & ~warp.exec;
  if (missing)
    warp.fail(inst, "divergent-barrier", missing,
              "these threads have not come to the barrier with the rest of "
              "their warp",
              "let the warp converge before the barrier, or leave the "
              "barrier out of the branch");
  uint32_t id = uniform(warp, inst, inst.src(0), "barrier");
  if (id >= namedBarriers)
    warp.fail(inst, "barrier-id", warp.exec,
              "barrier " + std::to_string(id) + ", expected 0 to 15",
              "use a barrier below 16");
  uint32_t threads = 0;
  if (inst.d) {
    threads = uniform(warp, inst, inst.src(1), "thread count");
    if (threads == 0 || threads % warpSize)
      warp.fail(inst, "barrier-count", warp.exec,
                std::to_string(threads) +
                    " threads, expected a positive multiple of 32",
                "count whole warps");
  }
  uint32_t vote = 0;
  if (inst.b != NoReduction)
    vote = warp.predicate(inst.src(1 + inst.d)) & warp.exec;
  warp.block->barriers.arrive(warp, inst, id, threads, inst.a, vote);
}

void runWarpSync(Warp &warp, const Inst &inst) {
  forEachGroup(warp, inst, [](uint32_t) {});
  warp.synchronizeLanes();
}

void decodeBarrier(Builder &b) {
  if (b.take("warp")) {
    b.take("sync");
    b.take("aligned");
    b.expectOperands(1);
    b.src(0, Type::B32);
    b.inst.run = runWarpSync;
    return;
  }
  if (b.take("cluster"))
    return decodeClusterBarrier(b);
  b.take("cta");
  b.take("aligned");
  auto action = b.takeOneOf({"sync", "arrive", "red"});
  if (!action)
    b.refuse();
  b.inst.run = runBarrier;
  b.inst.a = *action != 1;
  if (*action == 2) {
    auto reduction = b.takeOneOf({"popc", "and", "or"});
    if (!reduction)
      b.refuse();
    b.inst.b = static_cast<uint8_t>(Popc + *reduction);
    b.takeType();
    b.expectOperands(3, 4);
    b.dst(0, b.inst.b == Popc ? Type::U32 : Type::Pred);
    b.src(1, Type::U32);
    b.inst.d = b.operandCount() == 4;
    if (b.inst.d)
      b.src(2, Type::U32);
    b.srcPredicate(b.ast.operands.back());
    return;
  }
  b.expectOperands(*action == 1 ? 2 : 1, 2);
  b.src(0, Type::U32);
  b.inst.d = b.operandCount() == 2;
  if (b.inst.d)
    b.src(1, Type::U32);
}

} // namespace

void addBarrierInstructions(DecodeTable &table) {
  table["bar"] = decodeBarrier;
  table["barrier"] = decodeBarrier;
}

} // namespace attn::sim
