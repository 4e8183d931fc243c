//===- Cluster.cpp - Cluster instructions and setmaxnreg ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cluster.h"
#include "Decoder.h"
#include "Lanes.h"
#include "Launch.h"

namespace attn::sim {

//===----------------------------------------------------------------------===//
// The barrier
//===----------------------------------------------------------------------===//

void ClusterBarrier::reset() {
  phase = 0;
  arrivals.clear();
  completed.clear();
}

void ClusterBarrier::arrive(Warp &warp, const Inst &inst, bool relaxed) {
  if (warp.inClusterBarrier)
    warp.fail(inst, "barrier-reuse", warp.exec,
              "arrives at the cluster's barrier for the second time without a "
              "wait in between",
              "run barrier.cluster.wait between two arrivals");
  warp.inClusterBarrier = true;
  warp.clusterPhase = phase;
  Cluster &cluster = warp.block->cluster;
  ++cluster.events;
  if (warp.block->shadow) {
    warp.shareKnowledge();
    if (relaxed)
      arrivals.joinInits(warp.clock);
    else
      arrivals.join(warp.clock);
    warp.synchronizeLanes();
  }
  completeIfFull(cluster);
}

void ClusterBarrier::wait(Warp &warp, const Inst &inst, bool relaxed) {
  if (!warp.inClusterBarrier)
    warp.fail(inst, "barrier-reuse", warp.exec,
              "waits at the cluster's barrier where it has not arrived",
              "run barrier.cluster.arrive first");
  if (warp.clusterPhase == phase)
    return warp.sleep({WarpWait::OfCluster, 0, warp.block, 0, &inst, warp.exec},
                      /*again=*/true);
  warp.inClusterBarrier = false;
  if (!warp.block->shadow)
    return;
  if (relaxed)
    warp.clock.joinInits(completed);
  else
    warp.clock.join(completed);
}

void ClusterBarrier::completeIfFull(Cluster &cluster) {
  bool full = true, any = false;
  cluster.forEachWarp([&](Warp &warp) {
    bool here = warp.inClusterBarrier && warp.clusterPhase == phase;
    full &= here || warp.state == Warp::State::Done;
    any |= here;
  });
  if (!full || !any)
    return;
  ++phase;
  completed.join(arrivals);
  arrivals.clear();
  cluster.forEachWarp([&](Warp &warp) {
    if (warp.state == Warp::State::Waiting &&
        warp.wait.kind == WarpWait::OfCluster)
      warp.state = Warp::State::Running;
  });
}

void ClusterBarrier::warpEnded(Cluster &cluster) { completeIfFull(cluster); }

std::string ClusterBarrier::describe(Cluster &cluster) const {
  unsigned arrived = 0, all = 0;
  cluster.forEachWarp([&](Warp &warp) {
    arrived += warp.inClusterBarrier && warp.clusterPhase == phase;
    all += warp.state != Warp::State::Done;
  });
  return "the cluster's barrier has " + std::to_string(arrived) + " of " +
         std::to_string(all) + " warps";
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

namespace {

/// a = waits, b = relaxed.
void runClusterBarrier(Warp &warp, const Inst &inst) {
  uint32_t missing = warp.live() & ~warp.exec;
  if (missing)
    warp.fail(inst, "divergent-barrier", missing,
              "these threads have not come to the barrier with the rest of "
              "their warp",
              "let the warp converge before the barrier");
  ClusterBarrier &barrier = warp.block->cluster.barrier;
  if (inst.a)
    barrier.wait(warp, inst, inst.b);
  else
    barrier.arrive(warp, inst, inst.b);
}

/// The shared address of `offset` in the block of rank `rank`.
uint32_t mapped(uint32_t offset, uint32_t rank) {
  return (rank + 1) << clusterShift | (offset + sharedBase);
}

/// a = the source is generic.
void runMapa(Warp &warp, const Inst &inst) {
  const uint32_t *ranks = warp.lanes(inst.src(1));
  const Operand &to = inst.dst();
  forEachLane(warp.exec, [&](unsigned lane) {
    uint32_t rank = ranks[lane], blocks = warp.block->launch.clusterBlocks;
    if (rank >= blocks)
      warp.fail(inst, "cluster-rank", uint32_t(1) << lane,
                "maps into block " + std::to_string(rank) +
                    " of a cluster of " + std::to_string(blocks),
                "use a rank below %cluster_nctarank, and launch with the "
                "cluster that the kernel is written for");
    SharedPlace place =
        warp.sharedPlace(inst, warp.address(inst.src(0), 0, lane), 0, 1, lane);
    uint64_t address = mapped(place.offset, rank);
    if (inst.a)
      address += sharedWindow;
    if (to.words == 2)
      putLane<uint64_t>(warp.lanes(to), lane, address);
    else
      warp.lanes(to)[lane] = static_cast<uint32_t>(address);
  });
}

void decodeMapa(Builder &b) {
  bool shared = b.take("shared::cluster");
  Type type = b.takeType();
  b.expectOperands(3);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, Type::U32);
  if (!shared && typeBits(type) != 64)
    b.fail("generic addresses have 64 bits: expected mapa.u64");
  b.inst.a = !shared;
  b.inst.run = runMapa;
}

void runRank(Warp &warp, const Inst &inst) {
  forEachLane(warp.exec, [&](unsigned lane) {
    SharedPlace place =
        warp.sharedPlace(inst, warp.address(inst.src(0), 0, lane), 0, 1, lane);
    warp.lanes(inst.dst())[lane] = place.block->rank;
  });
}

void decodeRank(Builder &b) {
  b.take("shared::cluster");
  Type type = b.takeType();
  b.expectOperands(2);
  b.dst(0, Type::U32);
  b.src(1, type);
  b.inst.run = runRank;
}

/// a = increases.
void runSetRegisters(Warp &warp, const Inst &inst) {
  warp.requireLanes(inst, warp.live());
  auto count = static_cast<uint32_t>(inst.imm);
  RegisterPool &pool = warp.block->registers;
  if (inst.a)
    pool.increase(warp, inst, count);
  else
    pool.decrease(warp, inst, count);
}

void decodeSetRegisters(Builder &b) {
  auto direction = b.takeOneOf({"dec", "inc"});
  if (!direction || !b.take("sync") || !b.take("aligned"))
    b.refuse();
  b.take("u32");
  b.expectOperands(1);
  b.inst.imm = b.immediate(b.ast.operands[0], "the number of registers");
  if (b.inst.imm < 24 || b.inst.imm > 256 || b.inst.imm % 8)
    b.fail("setmaxnreg takes a multiple of 8 from 24 to 256, found " +
           std::to_string(b.inst.imm));
  b.inst.a = *direction == 1;
  b.inst.run = runSetRegisters;
}

} // namespace

/// `cluster` is consumed already.
void decodeClusterBarrier(Builder &b) {
  auto action = b.takeOneOf({"arrive", "wait"});
  auto order = b.takeOneOf({"relaxed", "release", "acquire"});
  b.take("aligned");
  if (!action || (*action == 0 ? order == 2u : order && *order < 2))
    b.refuse();
  b.expectOperands(0);
  b.inst.a = *action == 1;
  b.inst.b = order == 0u;
  b.inst.run = runClusterBarrier;
}

void addClusterInstructions(DecodeTable &table) {
  table["mapa"] = decodeMapa;
  table["getctarank"] = decodeRank;
  table["setmaxnreg"] = decodeSetRegisters;
}

} // namespace attn::sim
