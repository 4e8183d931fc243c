//===- TileTable.cpp - The tiles chosen for a problem ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileTable.h"

#include <algorithm>

using namespace attn;

static constexpr int64_t kib = 1024;
/// A100's shared memory: below it a block has 99 KiB.
static constexpr int64_t largeShared = 163 * kib;

const std::vector<TileChoice> &attn::tileTable() {
  // clang-format off
  static const std::vector<TileChoice> table = {
      // head dim   shared        M    N  warps stages  source
      {  64,            0,      128, 128,    4,    1,  "FlashAttention-2, head dim 64"},
      { 128,  largeShared,      128,  64,    4,    1,  "FlashAttention-2, head dim 128 on sm_80"},
      { 128,            0,       64,  64,    4,    1,  "FlashAttention-2, causal head dim 128 on sm_86 and sm_89"},
      { 192,            0,      128,  64,    8,    1,  "FlashAttention-2, head dim 192"},
      { 256,            0,       64,  64,    4,    1,  "FlashAttention-2, head dim 256 on sm_86 and sm_89"},
  };
  // clang-format on
  return table;
}

const TileChoice *attn::chooseTile(int64_t headDimQK, int64_t headDimV,
                                   const layout::GpuTarget &target) {
  int64_t headDim = std::max(headDimQK, headDimV);
  for (const TileChoice &choice : tileTable())
    if (headDim <= choice.maxHeadDim &&
        target.sharedBytesPerBlock >= choice.minSharedBytes)
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
