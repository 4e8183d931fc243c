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
  constexpr Engine sync = Engine::MmaSync, wgmma = Engine::Wgmma;
  constexpr RowMax exact = RowMax::Exact;
  // clang-format off
  static const std::vector<TileChoice> table = {
      // engine  QK   V   rules         M    N  warps stages blocks overlap turns  max   q_len source
      { sync,    64,  64, Rules::Light, 128, 80,   4,    2,    1,     0, false, exact,    0, "bench/results/2026-11-30-h200-fa2.md: 1.09 x FA2 (causal)"},
      { sync,    64,  64, Rules::Heavy, 128, 48,   4,    2,    1,     0, false, exact,    0, "no spills (relative bias: 112 bytes at 128 x 80, Swin: 36 at 128 x 64)"},
      { sync,    96,  96, Rules::Heavy,  128,  48,   4,    2,    1,     0, false, exact,    0, "bench/results/2026-11-30-h200-fa2.md: 1.02 x FA2"},
      { sync,   128, 128, Rules::None, 128,  48,   4,    1,    2,     0, false, exact,    0, "bench/results/2026-11-30-h200-fa2.md: 1.12 x FA2; with rules it spills"},
      { sync,   128, 128, Rules::Light, 128, 48,   4,    2,    1,     0, false, exact,    0, "bench/results/2026-11-30-h200-fa2.md: 1.10 x FA2 (causal)"},
      { sync,   128, 128, Rules::Heavy, 64,  48,   4,    1,    2,     0, false, exact,    0, "no spills (prefix-LM: 28 to 92 bytes with 128 rows, trees: 20 at 64 x 96)"},
      { sync,   192, 192, Rules::Heavy,  128,  64,   8,    1,    1,     0, false, exact,    0, "FlashAttention-2, head dim 192"},
      { sync,   256, 256, Rules::Heavy,   64,  64,   4,    1,    1,     0, false, exact,    0, "bench/results/2026-11-30-h200-fa2.md: 1.03 x FA2"},
      {wgmma,    64,  64, Rules::None, 192, 128,  12,    2,    1,     1, true, exact,     0, "bench/results/2026-11-30-h200-fa3.md: 1.19 x cuDNN at 8k"},
      {wgmma,    64,  64, Rules::Light, 192, 128,  12,    2,    1,     1, true, exact,  4096, "bench/results/2026-12-01-h200-fa3.md: 1.13 x cuDNN at 8k, 128 rows 1.03; shorter, 0.85 and 0.99"},
      {wgmma,    64,  64, Rules::Medium, 128, 128,   8,    2,    1,     1, true, exact,     0, "bench/results/2026-11-30-h200-fa3.md: short causal items waste less of it"},
      {wgmma,    64,  64, Rules::Heavy, 128, 64,   8,    2,    1,     1, true, exact,     0, "no spills (Swin: 84 bytes at 128 x 128)"},
      {wgmma,    96,  96, Rules::Heavy,  128, 128,   8,    2,    1,     1, true, exact,     0, "bench/results/2026-11-30-h200-fa3.md: 1.34 x cuDNN (causal, 8k)"},
      {wgmma,   128, 128, Rules::Heavy,  128, 128,   8,    2,    1,     1, true, exact,     0, "bench/results/2026-11-30-h200-fa3.md: 1.19 x cuDNN (causal, 8k)"},
      {wgmma,   192, 128, Rules::Heavy,  128, 112,   8,    2,    1,     1, true, exact,     0, "bench/results/2026-11-30-h200-fa3.md: 1.30 x cuDNN (causal, 8k)"},
      {wgmma,   192, 192, Rules::Heavy,  128,  96,   8,    2,    1,     1, true, exact,     0, "FlashAttention-3, head dim 192"},
      {wgmma,   256, 256, Rules::Heavy,  128,  80,   8,    2,    1,     1, true, exact,     0, "bench/results/2026-11-30-h200-fa3.md: 1.07 x cuDNN (causal, 8k)"},
  };
  // clang-format on
  return table;
}

std::vector<const TileChoice *>
attn::chooseTiles(const layout::GpuTarget &target, Engine engine,
                  int64_t headDimQK, int64_t headDimV, Rules rules,
                  int64_t elementBytes) {
  // Each block takes 1 KB more; the largest block leaves that much.
  constexpr int64_t reserved = 1024;
  auto fits = [&](const TileChoice &choice) {
    SharedUse use =
        sharedUse(engine == Engine::Wgmma, headDimQK, headDimV, elementBytes,
                  choice.tileM, choice.tileN, choice.stages);
    return choice.blocks * (use.total() + reserved) <=
           target.sharedBytesPerBlock + reserved;
  };
  std::vector<const TileChoice *> rows;
  for (const TileChoice &choice : tileTable()) {
    bool matches = choice.engine == engine && headDimQK <= choice.maxQK &&
                   headDimV <= choice.maxV && rules <= choice.rules &&
                   (choice.blocks == 1 || fits(choice));
    if (!matches)
      continue;
    rows.push_back(&choice);
    if (choice.minQLen == 0)
      return rows;
  }
  return {};
}

SharedUse attn::sharedUse(bool wholePanels, int64_t headDimQK, int64_t headDimV,
                          int64_t elementBytes, int64_t tileM, int64_t tileN,
                          int64_t stages) {
  // An mma contracts 16 elements; a panel of the 128-byte swizzle is whole.
  constexpr int64_t mmaDepth = 16, panelBytes = 128;
  int64_t unit = wholePanels ? panelBytes / elementBytes : mmaDepth;
  auto rowBytes = [&](int64_t elements) {
    return (elements + unit - 1) / unit * unit * elementBytes;
  };
  int64_t rowQK = rowBytes(headDimQK), rowV = rowBytes(headDimV);
  return {tileM * rowQK, tileN * rowQK, tileN * rowV, tileM * rowV, stages};
}
