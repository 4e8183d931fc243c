//===- LeastVisits.h - The key tiles that must be visited -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_ANALYSIS_LEASTVISITS_H
#define ATTN_TEST_UNIT_ANALYSIS_LEASTVISITS_H

#include "attn/Analysis/TileVisits.h"

namespace attn {
/// For messages of GoogleTest.
void PrintTo(const TileVisit &visit, std::ostream *os);
} // namespace attn

namespace attn::test {

/// What is true of each key: whether some row sees it, whether some misses it.
struct KeyClasses {
  std::vector<uint8_t> visible, hidden;
};

/// The least that has to be visited: partial tiles from right to left, then
/// full ones. A tile is full if all of its keys exist and no row misses one.
TileVisits leastVisits(const KeyClasses &keys, int64_t tileKeys);

} // namespace attn::test

#endif // ATTN_TEST_UNIT_ANALYSIS_LEASTVISITS_H
