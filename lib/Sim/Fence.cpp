//===- Fence.cpp - Fences -------------------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The warps of a cluster run in turn on one host thread, so that a fence has
// nothing to do. What the sanitizer follows are the fences between proxies,
// without which a GPU's asynchronous copies miss ordinary writes.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

void runNothing(Warp &, const Inst &) {}

/// A fence of the GPU's scope: what earlier strong reads saw is known, and what
/// later strong writes tell comes with all before.
void runMemoryFence(Warp &warp, const Inst &) {
  warp.block->cluster.knowledge.fence();
}

/// Of the whole warp, whichever lane runs it: lanes are in step here.
/// The PTX ISA asks for a proxy fence somewhere on the way from the store to
/// the access; of a warp's own stores the sanitizer wants it in that warp.
void runProxyFence(Warp &warp, const Inst &) {
  if (!warp.block->shadow)
    return;
  Clock &clock = warp.clock;
  clock.fenced[warp.actor] = clock.time[warp.actor];
  // Nobody but who waits for the phase can fence a cp.async that arrives on an
  // mbarrier: the warp that issued it does not know when it lands.
  for (size_t actor = warp.block->cluster.actors.warpCount();
       actor < clock.time.size(); ++actor)
    clock.fenced[actor] = clock.time[actor];
  warp.tick();
}

void runInitFence(Warp &warp, const Inst &) {
  if (!warp.block->shadow)
    return;
  warp.clock.inits[warp.actor] = warp.clock.time[warp.actor];
  warp.tick();
}

/// fence.proxy.*: those of global memory and of tensor maps order nothing that
/// is followed.
void decodeProxyFence(Builder &b) {
  b.inst.run = runNothing;
  if (b.takeOneOf({"async", "async::generic"})) {
    auto space = b.takeOneOf({"global", "shared::cta", "shared::cluster"});
    if (!space || *space != 0)
      b.inst.run = runProxyFence;
    b.takeOneOf({"acquire", "release"});
    b.takeOneOf(
        {"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
    b.takeOneOf({"cluster"});
    b.expectOperands(0);
  } else if (b.take("alias")) {
    b.expectOperands(0);
  } else if (b.take("tensormap::generic")) {
    bool acquires = b.take("acquire");
    if (!acquires && !b.take("release"))
      b.refuse();
    b.takeOneOf({"cta", "cluster", "gpu", "sys"});
    b.expectOperands(acquires ? 2 : 0);
    if (acquires)
      b.address(b.ast.operands[0]);
  } else {
    b.refuse();
  }
}

void decodeFence(Builder &b) {
  if (b.take("proxy"))
    return decodeProxyFence(b);
  b.expectOperands(0);
  b.inst.run = runNothing;
  if (b.take("mbarrier_init")) {
    if (!b.take("release") || !b.take("cluster"))
      b.refuse();
    b.inst.run = runInitFence;
    return;
  }
  b.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  b.takeOneOf({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  auto scope = b.takeOneOf({"cta", "cluster", "gl", "gpu", "sys"});
  if (scope && *scope > 1)
    b.inst.run = runMemoryFence;
}

} // namespace

void addFenceInstructions(DecodeTable &table) {
  table["membar"] = decodeFence;
  table["fence"] = decodeFence;
}

} // namespace attn::sim
