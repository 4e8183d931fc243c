//===- Barrier.h - The named barriers of a block -----------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.13.1 (bar, barrier): sixteen barriers per block, each counting
// threads in whole warps. A barrier is complete when as many threads as it
// expects have arrived; then it is free again.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_BARRIER_H
#define ATTN_LIB_SIM_BARRIER_H

#include "Program.h"

#include "Clock.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace attn::sim {

class Block;
class Warp;
struct Inst;

constexpr unsigned namedBarriers = 16;

class Barriers {
public:
  void reset();
  /// A whole warp arrives, maybe not for the first time, at barrier `id`, which
  /// expects `threads` (0: all threads of the block that have not ended). With
  /// `waits` the warp stops until the barrier is complete. `vote` are the lanes
  /// whose predicate holds (for bar.red).
  void arrive(Warp &warp, const Inst &inst, unsigned id, uint32_t threads,
              bool waits, uint32_t vote);
  /// A warp has ended: barriers of all threads may be complete now.
  void warpEnded(Block &block);
  /// "barrier 1: 64 of 128 threads have arrived", for a deadlock.
  std::string describe(const Block &block, unsigned id) const;

private:
  struct Barrier {
    uint32_t arrived = 0;  ///< threads
    uint32_t expected = 0; ///< threads; 0 = all
    uint32_t waiting = 0;  ///< warps
    uint32_t voters = 0;   ///< threads that have arrived, without padding
    uint32_t votes = 0;    ///< threads whose predicate holds
    /// Join of the arrivals' clocks (sanitizer).
    Clock clock;
  };

  static uint32_t allThreads(const Block &block);
  void completeIfFull(Block &block, unsigned id);

  std::array<Barrier, namedBarriers> barriers;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_BARRIER_H
