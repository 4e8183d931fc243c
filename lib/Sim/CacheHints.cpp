//===- CacheHints.cpp - Prefetches and cache policies ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There are no caches here. Policies are opaque values, and nothing happens.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

void runNothing(Warp &, const Inst &) {}

void runPolicy(Warp &warp, const Inst &inst) {
  forEachLane(warp.exec, [&](unsigned lane) {
    putLane<uint64_t>(warp.lanes(inst.dst()), lane, 0);
  });
}

void decodePrefetch(Builder &b) {
  b.trySpace();
  b.take("tensormap");
  b.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  b.expectOperands(1);
  b.address(b.ast.operands[0]);
  b.inst.run = runNothing;
}

/// discard and applypriority, of 128 bytes.
void decodeLine(Builder &b) {
  b.trySpace();
  if (!b.takeOneOf({"L2", "L2::evict_normal"}))
    b.refuse();
  b.expectOperands(2);
  b.address(b.ast.operands[0]);
  b.immediate(b.ast.operands[1], "the number of bytes");
  b.inst.run = runNothing;
}

void takePriorities(Builder &b) {
  for (int i = 0; i < 2; ++i)
    b.takeOneOf({"L2::evict_first", "L2::evict_last", "L2::evict_normal",
                 "L2::evict_unchanged"});
}

void decodePolicy(Builder &b) {
  auto kind = b.takeOneOf({"fractional", "range", "cvt"});
  if (!kind)
    b.refuse();
  takePriorities(b);
  b.trySpace();
  b.take("L2");
  if (!b.take("b64"))
    b.refuse();
  b.expectOperands(1, 4);
  b.dst(0, Type::B64);
  b.inst.run = runPolicy;
}

void decodeEvent(Builder &b) {
  b.take("mask");
  b.expectOperands(1);
  b.immediate(b.ast.operands[0], "an event");
  b.inst.run = runNothing;
}

} // namespace

void addCacheHintInstructions(DecodeTable &table) {
  table["prefetch"] = decodePrefetch;
  table["prefetchu"] = decodePrefetch;
  table["discard"] = decodeLine;
  table["applypriority"] = decodeLine;
  table["createpolicy"] = decodePolicy;
  table["pmevent"] = decodeEvent;
}

} // namespace attn::sim
