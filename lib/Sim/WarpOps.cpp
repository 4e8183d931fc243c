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

//===----------------------------------------------------------------------===//
// shfl.sync (PTX ISA 9.7.9.6)
//===----------------------------------------------------------------------===//

enum Shuffle : uint8_t { Up, Down, Bfly, Idx };

/// a = Shuffle. Destinations: value, and the predicate if it is wanted.
void runShuffle(Warp &warp, const Inst &inst) {
  uint32_t present[warpSize] = {};
  forEachGroup(warp, inst, [&](uint32_t group) {
    forEachLane(group, [&](unsigned lane) { present[lane] = group; });
  });
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
    if ((warp.exec >> lane & 1) && !(present[lane] >> (from & 31) & 1))
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

/// The value in all lanes of `group`.
void put(uint32_t *out, uint32_t group, uint32_t value) {
  forEachLane(group, [&](unsigned lane) { out[lane] = value; });
}

enum Vote : uint8_t { All, Any, Uni, Ballot };

void runVote(Warp &warp, const Inst &inst) {
  uint32_t out[warpSize] = {}, truth = 0;
  forEachGroup(warp, inst, [&](uint32_t group) {
    uint32_t holds = warp.predicate(inst.src(0)) & group;
    bool all = holds == group, any = holds != 0;
    if (inst.a == All ? all : inst.a == Any ? any : all || !any)
      truth |= group;
    put(out, group, holds);
  });
  if (inst.a == Ballot)
    commit<1>(warp, inst.dst(), out);
  else
    warp.setPredicate(inst.dst(), truth);
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
  uint32_t out[warpSize] = {};
  put(out, warp.exec, warp.exec);
  commit<1>(warp, inst.dst(), out);
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
  const uint32_t *values = warp.lanes(inst.src(0));
  uint32_t out[warpSize] = {};
  forEachGroup(warp, inst, [&](uint32_t group) {
    forEachLane(group, [&](unsigned lane) {
      forEachLane(group, [&](unsigned other) {
        bool same = getLane<T>(values, lane) == getLane<T>(values, other);
        out[lane] |= uint32_t(same) << other;
      });
    });
  });
  commit<1>(warp, inst.dst(), out);
}

template <class T> void runMatchAll(Warp &warp, const Inst &inst) {
  const uint32_t *values = warp.lanes(inst.src(0));
  uint32_t out[warpSize] = {}, truth = 0;
  forEachGroup(warp, inst, [&](uint32_t group) {
    T first = getLane<T>(values, __builtin_ctz(group));
    bool same = true;
    forEachLane(group, [&](unsigned lane) {
      same &= getLane<T>(values, lane) == first;
    });
    put(out, group, same ? group : 0);
    truth |= same ? group : 0;
  });
  commit<1>(warp, inst.dst(0), out);
  if (inst.destinations == 2)
    warp.setPredicate(inst.dst(1), truth);
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
  const uint32_t *values = warp.lanes(inst.src(0));
  uint32_t out[warpSize] = {};
  forEachGroup(warp, inst, [&](uint32_t group) {
    T result = getLane<T>(values, __builtin_ctz(group));
    forEachLane(group & (group - 1), [&](unsigned lane) {
      result = reduce(static_cast<Reduction>(inst.a), result,
                      getLane<T>(values, lane));
    });
    put(out, group, static_cast<uint32_t>(result));
  });
  commit<1>(warp, inst.dst(), out);
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

/// The lowest lane of a mask is its leader, as on the GPU.
void runElect(Warp &warp, const Inst &inst) {
  uint32_t out[warpSize] = {}, leaders = 0;
  forEachGroup(warp, inst, [&](uint32_t group) {
    auto leader = static_cast<uint32_t>(__builtin_ctz(group));
    put(out, group, leader);
    leaders |= uint32_t(1) << leader;
  });
  commit<1>(warp, inst.dst(0), out);
  warp.setPredicate(inst.dst(1), leaders);
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
