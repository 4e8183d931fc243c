//===- TileTable.cpp - The tiles chosen for a problem ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileTable.h"

#include <algorithm>

using namespace attn;

const std::vector<TileChoice> &attn::tileTable() {
  // clang-format off
  static const std::vector<TileChoice> table = {
      // head dim   rules   M    N  warps stages  source
      {  64,    Rules::None, 128,  96,    4,    2,  "bench/results/2026-11-30-h200-fa2.md: 1.14 x FA2; with rules it spills"},
      {  64,     Rules::Any, 128,  80,    4,    2,  "bench/results/2026-11-30-h200-fa2.md: 1.09 x FA2 (causal)"},
      {  96,     Rules::Any, 128,  48,    4,    2,  "bench/results/2026-11-30-h200-fa2.md: 1.02 x FA2"},
      { 128,    Rules::None, 128,  48,    4,    1,  "bench/results/2026-11-30-h200-fa2.md: 1.12 x FA2; with rules it spills"},
      { 128,     Rules::Any, 128,  48,    4,    2,  "bench/results/2026-11-30-h200-fa2.md: 1.10 x FA2 (causal)"},
      { 192,     Rules::Any, 128,  64,    8,    1,  "FlashAttention-2, head dim 192"},
      { 256,     Rules::Any,  64,  64,    4,    1,  "bench/results/2026-11-30-h200-fa2.md: 1.03 x FA2"},
  };
  // clang-format on
  return table;
}

const TileChoice *attn::chooseTile(int64_t headDimQK, int64_t headDimV,
                                   bool hasRules) {
  int64_t headDim = std::max(headDimQK, headDimV);
  for (const TileChoice &choice : tileTable())
    if (headDim <= choice.maxHeadDim &&
        (choice.rules == Rules::Any || !hasRules))
      return &choice;
  return nullptr;
}

SharedUse attn::sharedUse(int64_t headDimQK, int64_t headDimV,
                          int64_t elementBytes, int64_t tileM, int64_t tileN,
                          int64_t stages) {
  constexpr int64_t mmaDepth = 16;
  auto padded = [](int64_t elements) {
    return (elements + mmaDepth - 1) / mmaDepth * mmaDepth;
  };
  int64_t rowQK = padded(headDimQK) * elementBytes;
  int64_t rowV = padded(headDimV) * elementBytes;
  return {tileM * rowQK, tileN * rowQK, tileN * rowV, stages};
}
