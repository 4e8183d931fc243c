//===- Mbarrier.h - Barriers in shared memory --------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.13.15. The state of an mbarrier is kept beside shared memory, by
// its offset: kernels must not look into its eight bytes. A phase is complete
// when no arrivals are pending and no transaction bytes are missing; copies
// that complete on the barrier land at that moment, never earlier.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_MBARRIER_H
#define ATTN_LIB_SIM_MBARRIER_H

#include "SharedShadow.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace attn::sim {

class Block;
class Warp;

/// Bytes on their way to the shared memory of the barrier's block.
struct LandingCopy {
  uint32_t offset;
  std::vector<uint8_t> bytes;
};

struct Mbarrier {
  bool live = false;
  uint32_t offset = 0;   ///< in shared memory
  uint32_t expected = 0; ///< arrivals of the next phase
  uint32_t pending = 0;  ///< arrivals that this phase lacks
  int64_t missing = 0;   ///< transaction bytes that it lacks
  uint32_t phase = 0;    ///< phases that are complete
  std::vector<LandingCopy> landing;

  // The sanitizer's.
  unsigned actor = 0;     ///< of the copies that complete here
  uint32_t firstTime = 0; ///< of phase 0
  unsigned initActor = 0;
  uint32_t initTime = 0;
  /// The last copy that completes here, and the time of its phase.
  Warp *lastCopyWarp = nullptr;
  const Inst *lastCopy = nullptr;
  uint32_t lastCopyTime = 0;
  Clock arrivals;  ///< of this phase
  Clock completed; ///< of all before
  /// The copies of this phase: an access that is over with it.
  AsyncAccess access() const { return {actor, firstTime + phase}; }
};

/// The mbarriers of a block.
class Mbarriers {
public:
  explicit Mbarriers(Block &block) : block(block) {}
  void reset() { barriers.clear(); }

  void init(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
            uint32_t count);
  void inval(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset);

  /// Who touches a barrier: a thread of its block, or the asynchronous proxy
  /// and other blocks, who see its initialisation through a fence only.
  enum class Via : uint8_t { Thread, Outside };
  /// The barrier at `offset`, initialised before. Fails otherwise.
  Mbarrier &find(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                 Via via);

  void expect(Warp &warp, const Inst &inst, unsigned lane, Mbarrier &barrier,
              int64_t bytes);
  /// Bytes have come, those of `copy` if it is not null.
  void complete(Warp &warp, const Inst &inst, unsigned lane, Mbarrier &barrier,
                int64_t bytes, LandingCopy *copy);
  struct Arrival {
    uint32_t count = 1;
    bool drop = false;       ///< from the phases that follow too
    bool noComplete = false; ///< promises not to be the last
    bool relaxed = false;    ///< orders nothing
  };
  void arrive(Warp &warp, const Inst &inst, unsigned lane, Mbarrier &barrier,
              const Arrival &arrival);

  /// "mbarrier 0x8400 is in phase 3 (parity 1) and lacks 1 of 2 arrivals".
  std::string describe(uint32_t offset) const;
  /// Findings about barriers that the block leaves behind when it ends.
  void checkEnd();

private:
  void checkBytes(Warp &warp, const Inst &inst, unsigned lane,
                  const Mbarrier &barrier);
  void completeIfFull(Mbarrier &barrier);

  Block &block;
  std::unordered_map<uint32_t, Mbarrier> barriers;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_MBARRIER_H
