//===- Lanes.h - One operation over the lanes of a warp ----------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All 32 lanes are computed, in loops that the compiler vectorises, and the
// running ones are kept. Values below 32 bits occupy the low bits of a word.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_LANES_H
#define ATTN_LIB_SIM_LANES_H

#include "Block.h"
#include "Launch.h"

#include <cstring>

namespace attn::sim {

template <class T> constexpr unsigned wordsPer = sizeof(T) == 8 ? 2 : 1;

template <class T> inline T getLane(const uint32_t *lanes, unsigned lane) {
  T value;
  if constexpr (sizeof(T) == 8) {
    std::memcpy(&value, lanes + 2 * lane, sizeof(T));
  } else if constexpr (sizeof(T) == 4) {
    std::memcpy(&value, lanes + lane, sizeof(T));
  } else {
    static_assert(std::is_integral_v<T>, "small lanes are integers");
    value = static_cast<T>(lanes[lane]);
  }
  return value;
}

template <class T>
inline void putLane(uint32_t *lanes, unsigned lane, T value) {
  if constexpr (sizeof(T) == 8)
    std::memcpy(lanes + 2 * lane, &value, sizeof(T));
  else if constexpr (sizeof(T) == 4)
    std::memcpy(lanes + lane, &value, sizeof(T));
  else
    lanes[lane] = static_cast<std::make_unsigned_t<T>>(value);
}

/// Keeps `values` in the running lanes of the destination.
template <unsigned Words>
inline void commit(Warp &warp, const Operand &to, const uint32_t *values) {
  uint32_t *lanes = warp.lanes(to);
  if (warp.exec == allLanes) {
    std::memcpy(lanes, values, warpSize * Words * sizeof(uint32_t));
    return;
  }
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if (warp.exec >> lane & 1)
      for (unsigned word = 0; word < Words; ++word)
        lanes[lane * Words + word] = values[lane * Words + word];
}

/// Calls `f` with the lanes of each group that runs a warp-wide instruction
/// together: those that name the same member mask, the last source. All lanes
/// of a mask that have not ended must be here and name it, and every lane must
/// be in its own.
template <class F> inline void forEachGroup(Warp &warp, const Inst &inst, F f) {
  const uint32_t *masks = warp.lanes(inst.src(inst.sources - 1));
  for (uint32_t left = warp.exec; left;) {
    uint32_t mask = masks[__builtin_ctz(left)], group = 0;
    for (unsigned lane = 0; lane < warpSize; ++lane)
      group |= uint32_t(masks[lane] == mask) << lane;
    group &= warp.exec;
    warp.requireLanes(inst, mask & warp.live());
    if (uint32_t strangers = group & ~mask)
      warp.fail(inst, "member-mask", strangers,
                "these threads run the instruction but are not in its member "
                "mask " +
                    hexText(mask),
                "name every running lane in the mask");
    if (uint32_t others = mask & warp.exec & ~group)
      warp.fail(inst, "member-mask", others,
                "these threads are in the member mask " + hexText(mask) +
                    " of others and name another one",
                "give all lanes of a mask the same mask");
    f(group);
    left &= ~group;
  }
}

/// d = f(a) for result type R and source type A.
template <class R, class A, class F>
inline void mapLanes1(Warp &warp, const Inst &inst, F f) {
  const uint32_t *a = warp.lanes(inst.src(0));
  alignas(64) uint32_t out[warpSize * wordsPer<R>];
  for (unsigned lane = 0; lane < warpSize; ++lane)
    putLane<R>(out, lane, f(getLane<A>(a, lane)));
  commit<wordsPer<R>>(warp, inst.dst(), out);
}

/// d = f(a, b).
template <class R, class A, class B, class F>
inline void mapLanes2(Warp &warp, const Inst &inst, F f) {
  const uint32_t *a = warp.lanes(inst.src(0));
  const uint32_t *b = warp.lanes(inst.src(1));
  alignas(64) uint32_t out[warpSize * wordsPer<R>];
  for (unsigned lane = 0; lane < warpSize; ++lane)
    putLane<R>(out, lane, f(getLane<A>(a, lane), getLane<B>(b, lane)));
  commit<wordsPer<R>>(warp, inst.dst(), out);
}

/// d = f(a, b, c).
template <class R, class A, class B, class C, class F>
inline void mapLanes3(Warp &warp, const Inst &inst, F f) {
  const uint32_t *a = warp.lanes(inst.src(0));
  const uint32_t *b = warp.lanes(inst.src(1));
  const uint32_t *c = warp.lanes(inst.src(2));
  alignas(64) uint32_t out[warpSize * wordsPer<R>];
  for (unsigned lane = 0; lane < warpSize; ++lane)
    putLane<R>(
        out, lane,
        f(getLane<A>(a, lane), getLane<B>(b, lane), getLane<C>(c, lane)));
  commit<wordsPer<R>>(warp, inst.dst(), out);
}

/// Calls `f(lane)` for the running lanes.
template <class F> inline void forEachLane(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1)
    f(static_cast<unsigned>(__builtin_ctz(mask)));
}

} // namespace attn::sim

#endif // ATTN_LIB_SIM_LANES_H
