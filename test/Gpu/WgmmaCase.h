//===- WgmmaCase.h - One wgmma as a kernel of its own ------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// D = scale * A * B (+ D) of one wgmma.mma_async: PTX text, operands laid out
// in shared memory and registers, and the expected result. The simulator's
// tests and the comparison with a GPU share it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_GPU_WGMMACASE_H
#define ATTN_TEST_GPU_WGMMACASE_H

#include "attn/Runtime/Device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn::simtest {

struct WgmmaCase {
  std::string a = "bf16", b = "bf16", d = "f32"; ///< PTX types
  unsigned columns = 64;                         ///< N
  bool registersA = false;
  bool transposedA = false, transposedB = false; ///< M-major, N-major
  int scaleA = 1, scaleB = 1;
  bool accumulates = true;
  bool predicate = false;      ///< scale-d in a predicate register
  bool saturates = false;      ///< integers
  unsigned swizzleBytes = 128; ///< 16 (none), 32, 64, 128
  unsigned step = 0;    ///< k-step inside the rows of a swizzled K-major tile
  unsigned shift = 0;   ///< multiple of 128 bytes from the pattern's start
  bool integers = true; ///< small integers: sums are exact

  unsigned depth() const;      ///< K
  unsigned registersD() const; ///< per thread
  std::string name() const;
  std::string ptx() const; ///< kernel `wgmma`
};

/// The operands of a case and its result in exact arithmetic.
struct WgmmaData {
  std::vector<uint8_t> shared;               ///< image of shared memory
  std::vector<uint32_t> fragments;           ///< A, [thread][4]
  std::vector<uint32_t> accumulators;        ///< D before, [thread][registersD]
  uint64_t descriptorA = 0, descriptorB = 0; ///< less the image's address
  std::vector<double> expected;  ///< [thread][values], as `values` reads D
  std::vector<double> magnitude; ///< sum of the absolute terms

  WgmmaData(const WgmmaCase &wgmma, unsigned seed);
};

/// Runs the case; D per thread as bits.
std::vector<uint32_t> runWgmma(Device &device, const WgmmaCase &wgmma,
                               const WgmmaData &data);
/// The values in D's registers: floats, halves of pairs, or integers.
std::vector<double> wgmmaValues(const WgmmaCase &wgmma,
                                const std::vector<uint32_t> &bits);

} // namespace attn::simtest

#endif // ATTN_TEST_GPU_WGMMACASE_H
