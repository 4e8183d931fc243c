//===- MbarrierOps.cpp - The mbarrier instructions ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

constexpr uint32_t barrierBytes = 8;
/// Tests of one mbarrier in a row after which nothing will come any more.
constexpr uint32_t maxFailedTests = 1u << 20;

/// The opaque state of an arrival: the phase it was in, and what was pending.
uint64_t token(const Mbarrier &barrier) {
  return uint64_t(barrier.phase) << 32 | barrier.pending;
}

SharedPlace place(Warp &warp, const Inst &inst, unsigned operand,
                  unsigned lane) {
  return warp.sharedPlace(inst, warp.address(inst.src(operand), inst.imm, lane),
                          barrierBytes, barrierBytes, lane);
}

Mbarrier &find(Warp &warp, const Inst &inst, const SharedPlace &at,
               unsigned lane) {
  return at.block->mbarriers.find(warp, inst, lane, at.offset,
                                  Mbarriers::Via::Thread);
}

//===----------------------------------------------------------------------===//
// init, inval, expect_tx, complete_tx
//===----------------------------------------------------------------------===//

void runInit(Warp &warp, const Inst &inst) {
  const uint32_t *counts = warp.lanes(inst.src(1));
  forEachLane(warp.exec, [&](unsigned lane) {
    SharedPlace at = place(warp, inst, 0, lane);
    at.block->mbarriers.init(warp, inst, lane, at.offset, counts[lane]);
  });
}

void runInval(Warp &warp, const Inst &inst) {
  forEachLane(warp.exec, [&](unsigned lane) {
    SharedPlace at = place(warp, inst, 0, lane);
    at.block->mbarriers.inval(warp, inst, lane, at.offset);
  });
}

/// a = completes.
void runTransaction(Warp &warp, const Inst &inst) {
  const uint32_t *bytes = warp.lanes(inst.src(1));
  forEachLane(warp.exec, [&](unsigned lane) {
    SharedPlace at = place(warp, inst, 0, lane);
    Mbarrier &barrier = find(warp, inst, at, lane);
    if (inst.a)
      at.block->mbarriers.complete(warp, inst, lane, barrier, bytes[lane],
                                   nullptr);
    else
      at.block->mbarriers.expect(warp, inst, lane, barrier, bytes[lane]);
  });
}

//===----------------------------------------------------------------------===//
// arrive
//===----------------------------------------------------------------------===//

/// What the last source is.
enum Extra : uint8_t { NoExtra, Count, Bytes };

/// a = drop, b = Extra, c = relaxed, d = noComplete.
void runArrive(Warp &warp, const Inst &inst) {
  const uint32_t *extra = inst.b == NoExtra ? nullptr : warp.lanes(inst.src(1));
  forEachLane(warp.exec, [&](unsigned lane) {
    SharedPlace at = place(warp, inst, 0, lane);
    Mbarriers &all = at.block->mbarriers;
    Mbarrier &barrier = find(warp, inst, at, lane);
    if (inst.destinations)
      putLane<uint64_t>(warp.lanes(inst.dst()), lane, token(barrier));
    if (inst.b == Bytes)
      all.expect(warp, inst, lane, barrier, extra[lane]);
    Mbarriers::Arrival arrival;
    arrival.count = inst.b == Count ? extra[lane] : 1;
    arrival.drop = inst.a;
    arrival.noComplete = inst.d;
    arrival.relaxed = inst.c;
    all.arrive(warp, inst, lane, barrier, arrival);
  });
  if (!inst.c)
    warp.tick();
}

void runPendingCount(Warp &warp, const Inst &inst) {
  constexpr uint32_t mask = (1u << 20) - 1;
  mapLanes1<uint32_t, uint64_t>(warp, inst, [=](uint64_t state) {
    return static_cast<uint32_t>(state) & mask;
  });
}

//===----------------------------------------------------------------------===//
// test_wait, try_wait
//===----------------------------------------------------------------------===//

/// The last source is a token, or with b a parity.
bool isComplete(Warp &warp, const Inst &inst, const Mbarrier &barrier,
                unsigned lane) {
  const uint32_t *lanes = warp.lanes(inst.src(1));
  if (inst.b)
    return (barrier.phase & 1) != (lanes[lane] & 1);
  auto phase = static_cast<uint32_t>(getLane<uint64_t>(lanes, lane) >> 32);
  if (phase != barrier.phase && phase + 1 != barrier.phase)
    warp.fail(inst, "mbarrier-phase", uint32_t(1) << lane,
              "waits with the state of phase " + std::to_string(phase) +
                  ", but the mbarrier is in phase " +
                  std::to_string(barrier.phase),
              "wait for a phase before the next one completes");
  return phase != barrier.phase;
}

/// a = may sleep (try_wait), b = parity, c = relaxed.
void runWait(Warp &warp, const Inst &inst) {
  uint32_t done = 0;
  const Mbarrier *acquired = nullptr;
  WarpWait wait{WarpWait::Mbarrier, 0, nullptr, 0, &inst, warp.exec};
  forEachLane(warp.exec, [&](unsigned lane) {
    SharedPlace at = place(warp, inst, 0, lane);
    Mbarrier &barrier = find(warp, inst, at, lane);
    if (!isComplete(warp, inst, barrier, lane)) {
      wait.block = at.block;
      wait.offset = at.offset;
      return;
    }
    done |= uint32_t(1) << lane;
    if (warp.block->shadow && acquired != &barrier) {
      if (inst.c)
        warp.clock.joinInits(barrier.completed);
      else
        warp.clock.join(barrier.completed);
    }
    acquired = &barrier;
  });
  if (inst.a && !done && !warp.givesUp)
    return warp.sleep(wait, /*again=*/true);
  warp.givesUp = false;
  warp.failedTests = done || inst.a ? 0 : warp.failedTests + 1;
  if (!done && !inst.a) {
    if (warp.failedTests > maxFailedTests)
      warp.fail(inst, "deadlock", warp.exec,
                "keeps testing, but " +
                    wait.block->mbarriers.describe(wait.offset),
                "let as many threads arrive, and as many bytes come, as the "
                "barrier expects");
    warp.state = Warp::State::Yielded;
  }
  // Lanes that waited have seen what the lanes that arrived did. Which they
  // were is not followed: it counts for all.
  if (done)
    warp.synchronizeLanes();
  warp.setPredicate(inst.dst(), done);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Order, scope, space; true for .relaxed.
bool takeQualifiers(Builder &b) {
  bool relaxed = b.take("relaxed");
  if (!relaxed)
    b.takeOneOf({"release", "acquire"});
  b.takeOneOf({"cta", "cluster"});
  b.takeOneOf({"shared", "shared::cta", "shared::cluster"});
  if (!b.take("b64"))
    b.refuse();
  return relaxed;
}

void decodeInit(Builder &b) {
  takeQualifiers(b);
  b.expectOperands(2);
  b.inst.imm = b.address(b.ast.operands[0]);
  b.src(1, Type::U32);
  b.inst.run = runInit;
}

void decodeInval(Builder &b) {
  takeQualifiers(b);
  b.expectOperands(1);
  b.inst.imm = b.address(b.ast.operands[0]);
  b.inst.run = runInval;
}

void decodeTransaction(Builder &b, bool completes) {
  takeQualifiers(b);
  b.expectOperands(2);
  b.inst.imm = b.address(b.ast.operands[0]);
  b.src(1, Type::U32);
  b.inst.a = completes;
  b.inst.run = runTransaction;
}

void decodeArrive(Builder &b, bool drop) {
  bool expects = b.take("expect_tx");
  b.inst.d = b.take("noComplete");
  if (b.inst.d && expects)
    b.refuse();
  b.inst.c = takeQualifiers(b);
  b.inst.a = drop;
  // The state that is returned may be left out for a remote barrier.
  bool returns =
      b.ast.operands.empty() || b.ast.operands[0].kind != AstOperand::Address;
  unsigned first = returns ? 1 : 0;
  b.expectOperands(expects ? first + 2 : first + 1, first + 2);
  if (returns && b.ast.operands[0].name != "_")
    b.dst(0, Type::B64);
  b.inst.imm = b.address(b.ast.operands[first]);
  bool extra = b.operandCount() == first + 2;
  b.inst.b = expects ? Bytes : extra ? Count : NoExtra;
  if (extra)
    b.src(first + 1, Type::U32);
  b.inst.run = runArrive;
}

void decodeWait(Builder &b, bool tries) {
  bool parity = b.take("parity");
  b.inst.c = takeQualifiers(b);
  b.expectOperands(3, tries ? 4 : 3);
  b.dstPredicate(b.ast.operands[0]);
  b.inst.imm = b.address(b.ast.operands[1]);
  b.src(2, parity ? Type::U32 : Type::B64);
  if (b.operandCount() == 4) // how long to sleep, which time-less runs ignore
    b.src(3, Type::U32);
  b.inst.a = tries;
  b.inst.b = parity;
  b.inst.run = runWait;
}

void decodeMbarrier(Builder &b) {
  if (b.take("init"))
    decodeInit(b);
  else if (b.take("inval"))
    decodeInval(b);
  else if (b.take("arrive"))
    decodeArrive(b, /*drop=*/false);
  else if (b.take("arrive_drop"))
    decodeArrive(b, /*drop=*/true);
  else if (b.take("expect_tx"))
    decodeTransaction(b, /*completes=*/false);
  else if (b.take("complete_tx"))
    decodeTransaction(b, /*completes=*/true);
  else if (b.take("test_wait"))
    decodeWait(b, /*tries=*/false);
  else if (b.take("try_wait"))
    decodeWait(b, /*tries=*/true);
  else if (b.take("pending_count")) {
    if (!b.take("b64"))
      b.refuse();
    b.expectOperands(2);
    b.dst(0, Type::U32);
    b.src(1, Type::B64);
    b.inst.run = runPendingCount;
  } else {
    b.refuse();
  }
}

} // namespace

void addMbarrierInstructions(DecodeTable &table) {
  table["mbarrier"] = decodeMbarrier;
}

} // namespace attn::sim
