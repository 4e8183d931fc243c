//===- RegisterWatch.h - Registers of asynchronous instructions --*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wgmma owns its accumulators, and the registers of A, from its issue to the
// wait that covers it, and sees earlier accesses only past a wgmma.fence
// (PTX ISA 9.7.15.2). The sanitizer follows both for kernels with wgmma.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_REGISTERWATCH_H
#define ATTN_LIB_SIM_REGISTERWATCH_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attn::sim {

/// By register number of one warp.
struct RegisterWatch {
  enum Hold : uint8_t { Free, Input, Accumulator };
  std::vector<Hold> held;
  /// Fences so far, plus one, at the last ordinary access and write.
  std::vector<uint32_t> touched, written;
  uint32_t fences = 0;

  void reset(size_t registers) {
    held.assign(registers, Free);
    touched.assign(registers, 0);
    written.assign(registers, 0);
    fences = 0;
  }
  void hold(uint32_t reg, Hold how) {
    if (reg < held.size())
      held[reg] = std::max(held[reg], how);
  }
  void release() { std::fill(held.begin(), held.end(), Free); }
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_REGISTERWATCH_H
