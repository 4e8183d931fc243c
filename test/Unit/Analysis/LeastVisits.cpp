//===- LeastVisits.cpp - The key tiles that must be visited ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeastVisits.h"

#include <ostream>

using namespace attn;
using namespace attn::test;

void attn::PrintTo(const TileVisit &visit, std::ostream *os) {
  *os << visit.firstKey << (visit.isFull ? " full" : " partial");
}

TileVisits test::leastVisits(const KeyClasses &keys, int64_t tileKeys) {
  auto count = static_cast<int64_t>(keys.visible.size());
  TileVisits partial, full;
  for (int64_t first = (count - 1) / tileKeys * tileKeys; first >= 0;
       first -= tileKeys) {
    bool isVisible = false, isFull = first + tileKeys <= count;
    for (int64_t k = first; k < std::min(first + tileKeys, count); ++k) {
      isVisible |= keys.visible[k];
      isFull &= !keys.hidden[k];
    }
    if (isVisible)
      (isFull ? full : partial).push_back({first, isFull});
  }
  partial.insert(partial.end(), full.begin(), full.end());
  return partial;
}
