//===- WarpOps.cpp - shfl, vote, match, redux and elect -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

#include <algorithm>

namespace attn::sim {
namespace {

/// Checks the member mask, the last source, and returns it: all its lanes that
/// have not ended must be here, and every lane here must be in it.
uint32_t members(Warp &warp, const Inst &inst) {
  const uint32_t *masks = warp.lanes(inst.src(inst.sources - 1));
  uint32_t mask = masks[__builtin_ctz(warp.exec)];
  warp.requireLanes(inst, mask & warp.live());
  uint32_t strangers = warp.exec & ~mask;
  if (strangers)
    warp.fail(inst, "member-mask", strangers,
              "these threads run the instruction but are not in its member "
              "mask " +
                  hexText(mask),
              "name every running lane in the mask");
  return mask & warp.exec;
}

//===----------------------------------------------------------------------===//
// shfl.sync (PTX ISA 9.7.9.6)
//===----------------------------------------------------------------------===//

enum Shuffle : uint8_t { Up, Down, Bfly, Idx };

/// a = Shuffle. Destinations: value, and the predicate if it is wanted.
void runShuffle(Warp &warp, const Inst &inst) {
  uint32_t present = members(warp, inst);
  const uint32_t *values = warp.lanes(inst.src(0));
  const uint32_t *b = warp.lanes(inst.src(1)), *c = warp.lanes(inst.src(2));
  uint32_t out[warpSize], inRange = 0, unread = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    int at = static_cast<int>(lane), by = static_cast<int>(b[lane] & 31);
    int clamp = static_cast<int>(c[lane] & 31);
    int segment = static_cast<int>(c[lane] >> 8 & 31);
    int high = (at & segment) | (clamp & ~segment), low = at & segment;
    int from = at;
    bool valid = false;
    switch (inst.a) {
    case Up:
      from = at - by;
      valid = from >= high;
      break;
    case Down:
      from = at + by;
      valid = from <= high;
      break;
    case Bfly:
      from = at ^ by;
      valid = from <= high;
      break;
    default:
      from = low | (by & ~segment);
      valid = from <= high;
    }
    from = valid ? from : at;
    out[lane] = values[from & 31];
    inRange |= uint32_t(valid) << lane;
    if ((warp.exec >> lane & 1) && !(present >> (from & 31) & 1))
      unread |= uint32_t(1) << lane;
  }
  if (unread && warp.block->shadow)
    warp.report(inst, "inactive-lane", unread,
                "these threads read a lane that takes no part",
                "read from lanes in the member mask only");
  commit<1>(warp, inst.dst(0), out);
  if (inst.destinations == 2)
    warp.setPredicate(inst.dst(1), inRange);
}

void decodeShuffle(Builder &b) {
  if (!b.take("sync"))
    b.refuse();
  auto mode = b.takeOneOf({"up", "down", "bfly", "idx"});
  if (!mode || typeBits(b.takeType()) != 32)
    b.refuse();
  b.inst.a = static_cast<uint8_t>(*mode);
  b.expectOperands(5);
  const AstOperand &to = b.ast.operands[0];
  if (to.kind == AstOperand::Pair) {
    b.dst(to.elements[0], Type::B32);
    b.dstPredicate(to.elements[1]);
  } else {
    b.dst(to, Type::B32);
  }
  for (unsigned i = 1; i < 5; ++i)
    b.src(i, Type::B32);
  b.inst.run = runShuffle;
}

//===----------------------------------------------------------------------===//
// vote.sync, activemask
//===----------------------------------------------------------------------===//

void put(Warp &warp, const Operand &to, uint32_t value) {
  uint32_t out[warpSize];
  std::fill(out, out + warpSize, value);
  commit<1>(warp, to, out);
}

enum Vote : uint8_t { All, Any, Uni, Ballot };

void runVote(Warp &warp, const Inst &inst) {
  uint32_t present = members(warp, inst);
  uint32_t holds = warp.predicate(inst.src(0)) & present;
  switch (inst.a) {
  case All:
    return warp.setPredicate(inst.dst(), holds == present ? allLanes : 0);
  case Any:
    return warp.setPredicate(inst.dst(), holds ? allLanes : 0);
  case Uni:
    return warp.setPredicate(inst.dst(),
                             holds == present || !holds ? allLanes : 0);
  default:
    put(warp, inst.dst(), holds);
  }
}

void decodeVote(Builder &b) {
  auto mode = b.takeOneOf({"all", "any", "uni", "ballot"});
  if (!b.take("sync") || !mode)
    b.refuse();
  b.takeType();
  b.inst.a = static_cast<uint8_t>(*mode);
  b.expectOperands(3);
  b.dst(0, *mode == Ballot ? Type::B32 : Type::Pred);
  b.srcPredicate(b.ast.operands[1]);
  b.src(2, Type::B32);
  b.inst.run = runVote;
}

void runActiveMask(Warp &warp, const Inst &inst) {
  put(warp, inst.dst(), warp.exec);
}

void decodeActiveMask(Builder &b) {
  b.takeType();
  b.expectOperands(1);
  b.dst(0, Type::B32);
  b.inst.run = runActiveMask;
}

//===----------------------------------------------------------------------===//
// match.sync
//===----------------------------------------------------------------------===//

template <class T> void runMatchAny(Warp &warp, const Inst &inst) {
  uint32_t present = members(warp, inst);
  const uint32_t *values = warp.lanes(inst.src(0));
  uint32_t out[warpSize] = {};
  forEachLane(present, [&](unsigned lane) {
    forEachLane(present, [&](unsigned other) {
      bool same = getLane<T>(values, lane) == getLane<T>(values, other);
      out[lane] |= uint32_t(same) << other;
    });
  });
  commit<1>(warp, inst.dst(), out);
}

template <class T> void runMatchAll(Warp &warp, const Inst &inst) {
  uint32_t present = members(warp, inst);
  const uint32_t *values = warp.lanes(inst.src(0));
  T first = getLane<T>(values, __builtin_ctz(present));
  bool same = true;
  forEachLane(present, [&](unsigned lane) {
    same &= getLane<T>(values, lane) == first;
  });
  put(warp, inst.dst(0), same ? present : 0);
  if (inst.destinations == 2)
    warp.setPredicate(inst.dst(1), same ? allLanes : 0);
}

void decodeMatch(Builder &b) {
  auto mode = b.takeOneOf({"any", "all"});
  if (!b.take("sync") || !mode)
    b.refuse();
  Type type = b.takeType();
  bool wide = typeBits(type) == 64, all = *mode == 1;
  if (!wide && typeBits(type) != 32)
    b.refuse();
  b.expectOperands(3);
  const AstOperand &to = b.ast.operands[0];
  if (all && to.kind == AstOperand::Pair) {
    b.dst(to.elements[0], Type::B32);
    b.dstPredicate(to.elements[1]);
  } else {
    b.dst(to, Type::B32);
  }
  b.src(1, type);
  b.src(2, Type::B32);
  if (all)
    b.inst.run = wide ? runMatchAll<uint64_t> : runMatchAll<uint32_t>;
  else
    b.inst.run = wide ? runMatchAny<uint64_t> : runMatchAny<uint32_t>;
}

//===----------------------------------------------------------------------===//
// redux.sync, elect.sync
//===----------------------------------------------------------------------===//

enum Reduction : uint8_t { Add, Min, Max, And, Or, Xor };

template <class T> T reduce(Reduction how, T a, T b) {
  switch (how) {
  case Add:
    return static_cast<T>(uint32_t(a) + uint32_t(b));
  case Min:
    return std::min(a, b);
  case Max:
    return std::max(a, b);
  case And:
    return a & b;
  case Or:
    return a | b;
  case Xor:
    return a ^ b;
  }
  return a;
}

template <class T> void runRedux(Warp &warp, const Inst &inst) {
  uint32_t present = members(warp, inst);
  const uint32_t *values = warp.lanes(inst.src(0));
  T result = getLane<T>(values, __builtin_ctz(present));
  forEachLane(present & (present - 1), [&](unsigned lane) {
    result = reduce(static_cast<Reduction>(inst.a), result,
                    getLane<T>(values, lane));
  });
  put(warp, inst.dst(), static_cast<uint32_t>(result));
}

void decodeRedux(Builder &b) {
  auto how = b.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = b.takeType();
  if (!b.take("sync") || !how || !isIntegerLike(type) || typeBits(type) != 32)
    b.refuse();
  b.inst.a = static_cast<uint8_t>(*how);
  b.expectOperands(3);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, Type::B32);
  b.inst.run = type == Type::S32 ? runRedux<int32_t> : runRedux<uint32_t>;
}

/// The lowest lane of the mask is the leader, as on the GPU.
void runElect(Warp &warp, const Inst &inst) {
  uint32_t present = members(warp, inst);
  auto leader = static_cast<uint32_t>(__builtin_ctz(present));
  put(warp, inst.dst(0), leader);
  warp.setPredicate(inst.dst(1), uint32_t(1) << leader);
}

void decodeElect(Builder &b) {
  if (!b.take("sync"))
    b.refuse();
  b.expectOperands(2);
  const AstOperand &to = b.ast.operands[0];
  if (to.kind != AstOperand::Pair)
    b.fail("elect.sync gives a lane and a predicate: expected d|p");
  b.dst(to.elements[0], Type::B32);
  b.dstPredicate(to.elements[1]);
  b.src(1, Type::B32);
  b.inst.run = runElect;
}

} // namespace

void addWarpInstructions(DecodeTable &table) {
  table["shfl"] = decodeShuffle;
  table["vote"] = decodeVote;
  table["activemask"] = decodeActiveMask;
  table["match"] = decodeMatch;
  table["redux"] = decodeRedux;
  table["elect"] = decodeElect;
}

} // namespace attn::sim
