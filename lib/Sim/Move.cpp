//===- Move.cpp - mov, packing and clocks ---------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

template <class T> void runMove(Warp &warp, const Inst &inst) {
  mapLanes1<T, T>(warp, inst, [](T a) { return a; });
}
void runMovePredicate(Warp &warp, const Inst &inst) {
  warp.setPredicate(inst.dst(), warp.predicate(inst.src(0)));
}
void runSetPredicate(Warp &warp, const Inst &inst) {
  warp.setPredicate(inst.dst(), inst.imm ? allLanes : 0);
}

void runIsCluster(Warp &warp, const Inst &inst) {
  bool cluster = warp.block->launch.clusterBlocks > 1;
  warp.setPredicate(inst.dst(), cluster ? allLanes : 0);
}

/// Element i of a vector has the bits from i * width on. a = bits of an
/// element.
void runPack(Warp &warp, const Inst &inst) {
  unsigned width = inst.a;
  const Operand &to = inst.dst();
  alignas(64) uint32_t out[2 * warpSize];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t value = 0;
    for (unsigned i = 0; i < inst.sources; ++i) {
      const uint32_t *from = warp.lanes(inst.src(i));
      value |= uint64_t(from[lane]) << width * i;
    }
    out[lane * to.words] = static_cast<uint32_t>(value);
    if (to.words == 2)
      out[lane * 2 + 1] = static_cast<uint32_t>(value >> 32);
  }
  to.words == 2 ? commit<2>(warp, to, out) : commit<1>(warp, to, out);
}

void runUnpack(Warp &warp, const Inst &inst) {
  unsigned width = inst.a;
  const Operand &from = inst.src(0);
  uint64_t mask = (uint64_t(1) << width) - 1;
  const uint32_t *lanes = warp.lanes(from);
  // A destination may be the source: read it all first.
  uint64_t values[warpSize];
  for (unsigned lane = 0; lane < warpSize; ++lane)
    values[lane] =
        from.words == 2 ? getLane<uint64_t>(lanes, lane) : lanes[lane];
  for (unsigned i = 0; i < inst.destinations; ++i) {
    uint32_t out[warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane)
      out[lane] = static_cast<uint32_t>(values[lane] >> width * i & mask);
    commit<1>(warp, inst.dst(i), out);
  }
}

/// Time is not modelled: clocks count how often they were read.
template <class T> void runClock(Warp &warp, const Inst &inst) {
  const uint64_t now = ++warp.clockReads;
  uint32_t out[warpSize * wordsPer<T>];
  for (unsigned lane = 0; lane < warpSize; ++lane)
    putLane<T>(out, lane, static_cast<T>(now));
  commit<wordsPer<T>>(warp, inst.dst(), out);
}

void decodePacking(Builder &b, Type type) {
  const AstOperand &to = b.ast.operands[0], &from = b.ast.operands[1];
  bool unpacks = to.kind == AstOperand::Vector;
  const AstOperand &vector = unpacks ? to : from;
  auto count = static_cast<unsigned>(vector.elements.size());
  unsigned bits = typeBits(type);
  if ((count != 2 && count != 4) || bits / count < 8 || bits / count > 32)
    b.refuse();
  b.inst.a = static_cast<uint8_t>(bits / count);
  Type element = b.inst.a == 8    ? Type::B8
                 : b.inst.a == 16 ? Type::B16
                                  : Type::B32;
  if (unpacks) {
    b.dstVector(to, count, element);
    b.src(from, type);
    b.inst.run = runUnpack;
  } else {
    b.dst(to, type);
    b.srcVector(from, count, element);
    b.inst.run = runPack;
  }
}

void decodeMov(Builder &b) {
  Type type = b.takeType();
  b.expectOperands(2);
  const AstOperand &to = b.ast.operands[0], &from = b.ast.operands[1];
  if (to.kind == AstOperand::Vector || from.kind == AstOperand::Vector)
    return decodePacking(b, type);
  if (type == Type::Pred) {
    b.dstPredicate(to);
    if (from.name == "%is_explicit_cluster") {
      b.inst.run = runIsCluster;
    } else if (from.kind == AstOperand::Integer) {
      b.inst.imm = from.value;
      b.inst.run = runSetPredicate;
    } else {
      b.srcPredicate(from);
      b.inst.run = runMovePredicate;
    }
    return;
  }
  bool wide = typeBits(type) == 64;
  b.dst(to, type);
  bool clock = from.name == "%clock" || from.name == "%clock64" ||
               from.name == "%clock_hi" || from.name == "%globaltimer" ||
               from.name == "%globaltimer_lo";
  if (clock) {
    b.inst.run = wide ? runClock<uint64_t> : runClock<uint32_t>;
    return;
  }
  b.src(from, type);
  b.inst.run = wide ? runMove<uint64_t> : runMove<uint32_t>;
}

} // namespace

void addMoveInstructions(DecodeTable &table) { table["mov"] = decodeMov; }

} // namespace attn::sim
