//===- CounterHash.h - Random bits from a counter ---------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_COUNTERHASH_H
#define ATTN_LIB_REFERENCE_COUNTERHASH_H

#include <cstdint>

namespace attn::detail {

/// The output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable
/// pseudorandom number generators", 2014): neighbouring inputs give unrelated
/// outputs.
inline uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Its increment, 2^64 over the golden ratio: keeps key and counter apart.
constexpr uint64_t goldenGamma = 0x9e3779b97f4a7c15u;

/// 64 random bits that belong to `counter` under `key`.
inline uint64_t hash(uint64_t key, uint64_t counter) {
  return mix(mix(key + goldenGamma) + counter * goldenGamma);
}

} // namespace attn::detail

#endif // ATTN_LIB_REFERENCE_COUNTERHASH_H
