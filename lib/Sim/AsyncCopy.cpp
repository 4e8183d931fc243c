//===- AsyncCopy.cpp - cp.async and its groups ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

/// What the operand after the size means.
enum Extra : uint8_t { NoExtra, SourceSize, IgnoreSource };

/// a = bytes, b = Extra; imm and imm2 are the offsets of destination and
/// source.
void runCopy(Warp &warp, const Inst &inst) {
  warp.copies.pending.emplace_back();
  PendingCopy &copy = warp.copies.pending.back();
  copy.lanes = warp.exec;
  copy.bytes = inst.a;
  copy.inst = &inst;
  copy.group = warp.copies.committed;
  uint32_t ignored =
      inst.b == IgnoreSource ? warp.predicate(inst.src(2)) : uint32_t(0);
  forEachLane(warp.exec, [&](unsigned lane) {
    copy.offset[lane] = warp.sharedOffset(
        inst, warp.address(inst.src(0), inst.imm, lane), inst.a, inst.a, lane);
    uint32_t size = inst.a;
    if (inst.b == SourceSize)
      size = warp.lanes(inst.src(2))[lane];
    if (size > inst.a)
      warp.fail(inst, "async-copy-size", uint32_t(1) << lane,
                "the source size " + std::to_string(size) +
                    " is larger than the copy of " + std::to_string(inst.a) +
                    " bytes",
                "pass a source size up to the copy size");
    if (ignored >> lane & 1)
      size = 0;
    copy.data[lane].fill(0);
    if (size) {
      uint64_t from = warp.address(inst.src(1), inst.imm2, lane);
      std::memcpy(copy.data[lane].data(),
                  warp.resolveGlobal(inst, from, size, inst.a, lane,
                                     Warp::Access::Read),
                  size);
    }
    if (SharedShadow *shadow = warp.block->shadow.get())
      shadow->issueCopy(warp, inst, lane, copy.offset[lane], inst.a);
  });
}

void land(Warp &warp, PendingCopy &copy, unsigned lane) {
  std::memcpy(warp.block->shared.data() + copy.offset[lane],
              copy.data[lane].data(), copy.bytes);
  if (SharedShadow *shadow = warp.block->shadow.get())
    shadow->landCopy(warp, lane, copy.offset[lane], copy.bytes);
  copy.lanes &= ~(uint32_t(1) << lane);
}

void dropLanded(Warp &warp) {
  std::deque<PendingCopy> &pending = warp.copies.pending;
  while (!pending.empty() && pending.front().lanes == 0)
    pending.pop_front();
}

/// Lands, in the running lanes, the copies for which `done(lane, group)`.
template <class F> void landCopies(Warp &warp, F done) {
  for (PendingCopy &copy : warp.copies.pending)
    forEachLane(copy.lanes & warp.exec, [&](unsigned lane) {
      if (done(lane, copy.group[lane]))
        land(warp, copy, lane);
    });
  dropLanded(warp);
}

void runCommit(Warp &warp, const Inst &) {
  forEachLane(warp.exec, [&](unsigned lane) { ++warp.copies.committed[lane]; });
}

/// cp.async.mbarrier.arrive: the copies of the thread so far land, for whoever
/// waits for the mbarrier's phase, and the thread arrives. a = the arrival is
/// one that the mbarrier was not told of: the phase expects one more.
void runArrive(Warp &warp, const Inst &inst) {
  constexpr uint32_t barrierBytes = 8;
  Block &block = *warp.block;
  forEachLane(warp.exec, [&](unsigned lane) {
    uint32_t offset =
        warp.sharedOffset(inst, warp.address(inst.src(0), inst.imm, lane),
                          barrierBytes, barrierBytes, lane);
    Mbarrier &barrier =
        block.mbarriers.find(warp, inst, lane, offset, Mbarriers::Via::Thread);
    for (PendingCopy &copy : warp.copies.pending) {
      if (!(copy.lanes >> lane & 1))
        continue;
      land(warp, copy, lane);
      if (block.shadow)
        block.shadow->landCopy(barrier.access(), copy.offset[lane], copy.bytes);
    }
    if (inst.a)
      ++barrier.pending;
    block.mbarriers.arrive(warp, inst, lane, barrier, Mbarriers::Arrival());
  });
  warp.tick();
  dropLanded(warp);
}

void decodeArrive(Builder &b) {
  if (!b.take("arrive"))
    b.refuse();
  b.inst.a = !b.take("noinc");
  b.takeOneOf({"shared", "shared::cta"});
  if (!b.take("b64"))
    b.refuse();
  b.expectOperands(1);
  b.inst.imm = b.address(b.ast.operands[0]);
  b.inst.run = runArrive;
}

void runWaitGroup(Warp &warp, const Inst &inst) {
  auto left = static_cast<uint64_t>(inst.imm);
  landCopies(warp, [&](unsigned lane, uint32_t group) {
    return group + left < warp.copies.committed[lane];
  });
}

void runWaitAll(Warp &warp, const Inst &) {
  landCopies(warp, [](unsigned, uint32_t) { return true; });
}

void decodeCopy(Builder &b) {
  bool cacheGlobal = b.take("cg");
  if (!cacheGlobal && !b.take("ca"))
    b.refuse();
  bool spaces = b.take("global") && (b.take("shared") || b.take("shared::cta"));
  if (!spaces)
    b.refuse();
  bool hint = b.take("L2::cache_hint");
  b.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  b.expectOperands(hint ? 4 : 3, hint ? 5 : 4);
  b.inst.imm = b.address(b.ast.operands[0]);
  b.inst.imm2 = b.address(b.ast.operands[1]);
  int64_t bytes = b.immediate(b.ast.operands[2], "the copy size");
  bool legal = bytes == 16 || (!cacheGlobal && (bytes == 4 || bytes == 8));
  if (!legal)
    b.fail("cp.async copies " +
           std::string(cacheGlobal ? "16 bytes with .cg" : "4, 8 or 16 bytes") +
           ", found " + std::to_string(bytes));
  b.inst.a = static_cast<uint8_t>(bytes);
  bool extra = b.operandCount() == (hint ? 5u : 4u);
  if (extra) {
    const AstOperand &operand = b.ast.operands[3];
    bool predicate = b.registerType(operand) == Type::Pred;
    b.inst.b = predicate ? IgnoreSource : SourceSize;
    b.src(operand, predicate ? Type::Pred : Type::U32);
  }
  b.inst.run = runCopy;
}

void decodeCpAsync(Builder &b) {
  bool reduces = b.take("reduce");
  if (!b.take("async"))
    b.refuse();
  if (b.take("bulk"))
    return decodeBulk(b, reduces);
  if (reduces)
    b.refuse();
  if (b.take("mbarrier"))
    return decodeArrive(b);
  if (b.take("commit_group")) {
    b.expectOperands(0);
    b.inst.run = runCommit;
  } else if (b.take("wait_group")) {
    b.expectOperands(1);
    b.inst.imm = b.immediate(b.ast.operands[0], "the number of groups");
    if (b.inst.imm < 0)
      b.fail("cp.async.wait_group takes a number from 0");
    b.inst.run = runWaitGroup;
  } else if (b.take("wait_all")) {
    b.expectOperands(0);
    b.inst.run = runWaitAll;
  } else {
    decodeCopy(b);
  }
}

} // namespace

void addAsyncCopyInstructions(DecodeTable &table) {
  table["cp"] = decodeCpAsync;
}

} // namespace attn::sim
