//===- AsyncCopy.h - cp.async and its groups ---------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cp.async is remembered when it is issued and its bytes reach shared memory
// only when the issuing thread waits for its group (PTX ISA 9.7.9.25): a kernel
// that reads too early sees the old bytes here, and the sanitizer says so.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_ASYNCCOPY_H
#define ATTN_LIB_SIM_ASYNCCOPY_H

#include "Program.h"

#include <array>
#include <cstdint>
#include <deque>

namespace attn::sim {

/// The copies that one cp.async of a warp started.
struct PendingCopy {
  uint32_t lanes = 0; ///< whose bytes have not landed yet
  uint8_t bytes = 0;
  const Inst *inst = nullptr;
  std::array<uint32_t, warpSize> group;  ///< number of the thread's group
  std::array<uint32_t, warpSize> offset; ///< in shared memory
  std::array<std::array<uint8_t, 16>, warpSize> data;
};

/// The copies of one warp in flight, in order of issue.
struct AsyncCopies {
  std::deque<PendingCopy> pending;
  /// Groups that each thread has committed.
  std::array<uint32_t, warpSize> committed{};

  void reset() {
    pending.clear();
    committed.fill(0);
  }
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_ASYNCCOPY_H
