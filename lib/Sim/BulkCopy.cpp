//===- BulkCopy.cpp - cp.async.bulk ---------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Atomics.h"
#include "Decoder.h"
#include "Lanes.h"

#include <algorithm>

namespace attn::sim {

//===----------------------------------------------------------------------===//
// Groups of bulk stores
//===----------------------------------------------------------------------===//

AsyncAccess beginBulkStore(Warp &warp, const Inst &inst, unsigned lane) {
  ++warp.bulk.open[lane];
  warp.bulk.last[lane] = &inst;
  if (!warp.block->shadow)
    return {};
  Actors &actors = warp.block->cluster.actors;
  uint32_t time = actors.start() + warp.bulk.committed[lane];
  actors.seen(time);
  return {warp.findActor(Actors::Kind::BulkStores, warp.id * warpSize + lane),
          time};
}

void BulkStores::checkEnd(Warp &warp) const {
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (open[lane] || done[lane] < committed[lane])
      return warp.reportNow(
          *last[lane], "async-read-in-flight", uint32_t(1) << lane,
          "the block ends while bulk stores of this thread may still be "
          "reading its shared memory",
          "run cp.async.bulk.commit_group and cp.async.bulk.wait_group.read 0 "
          "in this thread before the block ends");
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

void beginBulkLoad(Warp &warp, const Inst &inst, unsigned lane,
                   const SharedPlace &at, uint32_t offset, const uint8_t *data,
                   uint32_t bytes) {
  Block &block = *at.block;
  if (block.ended)
    block.noteVisit(warp, inst);
  Mbarrier &barrier = block.mbarriers.find(warp, inst, lane, at.offset,
                                           Mbarriers::Via::Outside);
  if (block.shadow)
    block.shadow->bulkWrite(warp, inst, lane, offset, bytes, barrier.access());
  LandingCopy copy{offset, std::vector<uint8_t>(data, data + bytes)};
  block.mbarriers.complete(warp, inst, lane, barrier, bytes, &copy);
}

uint32_t destinationMask(Warp &warp, const Inst &inst, unsigned lane,
                         const SharedPlace &to, const Operand *multicast) {
  if (!multicast)
    return uint32_t(1) << to.block->rank;
  uint32_t mask = warp.lanes(*multicast)[lane] & 0xffff;
  uint32_t blocks = warp.block->launch.clusterBlocks;
  if (mask == 0 || mask >> blocks)
    warp.fail(inst, "cluster-rank", uint32_t(1) << lane,
              "multicasts to the mask " + hexText(mask) + " of a cluster of " +
                  std::to_string(blocks) + " blocks",
              "name blocks of the cluster, at least one, in the mask");
  return mask;
}

namespace {

constexpr uint32_t bulkUnit = 16, barrierBytes = 8;

/// Where the bytes come from and go to.
enum Direction : uint8_t { GlobalToShared, SharedToShared, SharedToGlobal };

/// Sources of all: destination, source, size; then the mbarrier and its
/// address offset, and the multicast mask. a = Direction, b = multicast,
/// c = reduces, d = AtomicOp.
uint32_t sizeOf(Warp &warp, const Inst &inst, unsigned lane) {
  uint32_t bytes = warp.lanes(inst.src(2))[lane];
  if (bytes % bulkUnit)
    warp.fail(inst, "bulk-size", uint32_t(1) << lane,
              "copies " + std::to_string(bytes) + " bytes",
              "copy a multiple of 16 bytes");
  return bytes;
}

SharedPlace barrierOf(Warp &warp, const Inst &inst, unsigned lane) {
  int64_t offset = static_cast<int32_t>(warp.lanes(inst.src(4))[lane]);
  return warp.sharedPlace(inst, warp.address(inst.src(3), offset, lane),
                          barrierBytes, barrierBytes, lane);
}

/// The source in the block's own shared memory, read until `access` is over.
const uint8_t *readShared(Warp &warp, const Inst &inst, unsigned lane,
                          uint32_t bytes, const AsyncAccess &access) {
  uint32_t from = warp.sharedOffset(
      inst, warp.address(inst.src(1), inst.imm2, lane), bytes, bulkUnit, lane);
  Block &block = *warp.block;
  if (block.shadow)
    block.shadow->bulkRead(warp, inst, lane, from, bytes, access);
  return block.shared.data() + from;
}

void runBulkLoad(Warp &warp, const Inst &inst) {
  forEachLane(warp.exec, [&](unsigned lane) {
    uint32_t bytes = sizeOf(warp, inst, lane);
    SharedPlace to = warp.sharedPlace(
        inst, warp.address(inst.src(0), inst.imm, lane), bytes, bulkUnit, lane);
    SharedPlace barrier = barrierOf(warp, inst, lane);
    const uint8_t *data =
        warp.resolveGlobal(inst, warp.address(inst.src(1), inst.imm2, lane),
                           bytes, bulkUnit, lane, Warp::Access::Read);
    uint32_t mask =
        destinationMask(warp, inst, lane, to, inst.b ? &inst.src(5) : nullptr);
    forEachLane(mask, [&](unsigned rank) {
      barrier.block = warp.block->cluster.blocks[rank].get();
      beginBulkLoad(warp, inst, lane, barrier, to.offset, data, bytes);
    });
  });
}

/// Also cp.reduce, whose result is in place before the phase completes.
void runBulkPeerCopy(Warp &warp, const Inst &inst) {
  forEachLane(warp.exec, [&](unsigned lane) {
    uint32_t bytes = sizeOf(warp, inst, lane);
    SharedPlace to = warp.sharedPlace(
        inst, warp.address(inst.src(0), inst.imm, lane), bytes, bulkUnit, lane);
    SharedPlace at = barrierOf(warp, inst, lane);
    if (at.block != to.block)
      warp.fail(inst, "cluster-rank", uint32_t(1) << lane,
                "completes on an mbarrier of block " +
                    std::to_string(at.block->rank) +
                    " of the cluster, but copies to block " +
                    std::to_string(to.block->rank),
                "use an mbarrier of the block that receives the bytes");
    Mbarriers &barriers = to.block->mbarriers;
    AsyncAccess access =
        barriers.find(warp, inst, lane, at.offset, Mbarriers::Via::Outside)
            .access();
    const uint8_t *data = readShared(warp, inst, lane, bytes, access);
    if (!inst.c)
      return beginBulkLoad(warp, inst, lane, at, to.offset, data, bytes);
    if (to.block->shadow)
      to.block->shadow->bulkReduce(warp, inst, lane, to.offset, bytes, access);
    reduceElements(static_cast<AtomicOp>(inst.d), inst.type,
                   to.block->shared.data() + to.offset, data, bytes);
    LandingCopy none{to.offset, {}};
    barriers.complete(
        warp, inst, lane,
        barriers.find(warp, inst, lane, at.offset, Mbarriers::Via::Outside),
        bytes, &none);
  });
}

void runBulkStore(Warp &warp, const Inst &inst) {
  forEachLane(warp.exec, [&](unsigned lane) {
    uint32_t bytes = sizeOf(warp, inst, lane);
    const uint8_t *data =
        readShared(warp, inst, lane, bytes, beginBulkStore(warp, inst, lane));
    uint8_t *to = warp.resolveGlobal(
        inst, warp.address(inst.src(0), inst.imm, lane), bytes, bulkUnit, lane,
        inst.c ? Warp::Access::Atomic : Warp::Access::Write);
    if (inst.c)
      reduceElements(static_cast<AtomicOp>(inst.d), inst.type, to, data, bytes);
    else
      std::memcpy(to, data, bytes);
  });
}

void runCommit(Warp &warp, const Inst &) {
  BulkStores &bulk = warp.bulk;
  forEachLane(warp.exec, [&](unsigned lane) {
    bulk.open[lane] = 0;
    ++bulk.committed[lane];
  });
}

/// Waiting for the reads of the sources and for all of a store are the same
/// here, where the destination is written at once.
void runWaitGroup(Warp &warp, const Inst &inst) {
  BulkStores &bulk = warp.bulk;
  forEachLane(warp.exec, [&](unsigned lane) {
    int64_t done = int64_t(bulk.committed[lane]) - inst.imm;
    if (done <= int64_t(bulk.done[lane]))
      return;
    bulk.done[lane] = static_cast<uint32_t>(done);
    if (!warp.block->shadow)
      return;
    unsigned actor =
        warp.findActor(Actors::Kind::BulkStores, warp.id * warpSize + lane);
    uint32_t start = warp.block->cluster.actors.start();
    warp.learned.push_back({lane, {actor, start + bulk.done[lane] - 1}});
  });
}

void runNothing(Warp &, const Inst &) {}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Which of the two forms of spaces, in the order destination, source.
Direction takeDirection(Builder &b) {
  // `take` finds a modifier wherever it stands: the opcode tells the order.
  std::string_view opcode = b.ast.opcode;
  bool global = b.take("global");
  bool cluster = b.take("shared::cluster");
  bool cta = b.take("shared::cta");
  if (!global) {
    if (!cluster || !cta)
      b.refuse();
    return SharedToShared;
  }
  if (cluster == cta)
    b.refuse();
  return opcode.find(".global.shared") == std::string_view::npos
             ? GlobalToShared
             : SharedToGlobal;
}

void takeReduction(Builder &b) {
  auto op = b.takeOneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  b.take("noftz");
  Type type = b.takeType();
  if (!op || !canReduce(static_cast<AtomicOp>(*op), type))
    b.refuse();
  b.inst.c = true;
  b.inst.d = static_cast<uint8_t>(*op);
  b.inst.type = type;
}

void decodePrefetch(Builder &b) {
  if (b.take("tensor"))
    return decodeTensorPrefetch(b);
  bool hint = b.take("L2::cache_hint");
  if (!b.take("L2") || !b.take("global"))
    b.refuse();
  b.expectOperands(hint ? 3 : 2);
  b.address(b.ast.operands[0]);
  b.src(1, Type::U32);
  b.inst.run = runNothing;
}

void decodeBulkCopy(Builder &b, bool reduces) {
  Direction direction = takeDirection(b);
  bool hint = b.take("L2::cache_hint");
  bool completes = b.take("mbarrier::complete_tx::bytes");
  bool group = b.take("bulk_group");
  bool multicast = b.take("multicast::cluster");
  bool store = direction == SharedToGlobal;
  if (completes == store || group != store ||
      (multicast && direction != GlobalToShared) ||
      (reduces && direction == GlobalToShared))
    b.refuse();
  if (reduces)
    takeReduction(b);
  b.inst.a = direction;
  b.inst.b = multicast;
  b.expectOperands((store ? 3u : 4u) + multicast + hint);
  b.inst.imm = b.address(b.ast.operands[0]);
  b.inst.imm2 = b.address(b.ast.operands[1]);
  b.src(2, Type::U32);
  if (!store) {
    int64_t offset = b.address(b.ast.operands[3]);
    b.constant(static_cast<uint64_t>(offset), Type::U32);
  }
  if (multicast)
    b.src(4, Type::B16);
  b.inst.run = store                         ? runBulkStore
               : direction == GlobalToShared ? runBulkLoad
                                             : runBulkPeerCopy;
}

} // namespace

void decodeBulk(Builder &b, bool reduces) {
  if (b.take("commit_group")) {
    b.expectOperands(0);
    b.inst.run = runCommit;
  } else if (b.take("wait_group")) {
    b.take("read");
    b.expectOperands(1);
    b.inst.imm = b.immediate(b.ast.operands[0], "the number of groups");
    if (b.inst.imm < 0)
      b.fail("cp.async.bulk.wait_group takes a number from 0");
    b.inst.run = runWaitGroup;
  } else if (b.take("prefetch")) {
    decodePrefetch(b);
  } else if (b.take("tensor")) {
    decodeTensorCopy(b, reduces);
  } else {
    decodeBulkCopy(b, reduces);
  }
}

} // namespace attn::sim
