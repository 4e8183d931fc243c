//===- Wgmma.h - The asynchronous multiplies of a warpgroup ------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wgmma is remembered when the warps of its warpgroup issue it. It is
// computed when the first of them waits for its group, once all four have
// issued it; the results reach a warp's registers at that warp's own wait. So
// whoever reads an accumulator too early computes with its old value.
//
// Completion is the warpgroup's: the wait of one warp covers the shared memory
// that the whole instruction reads (PTX ISA 9.7.15.7.1). The sanitizer has a
// reader of its own for each warpgroup, whose time a wait makes known.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_WGMMA_H
#define ATTN_LIB_SIM_WGMMA_H

#include "Program.h"

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace attn::sim {

class Block;
class Warp;

constexpr unsigned warpgroupWarps = 4;

/// One warp's place in the sequence of its warpgroup.
struct WgmmaProgress {
  uint64_t issued = 0;         ///< instructions
  uint64_t complete = 0;       ///< instructions that a wait has covered
  std::deque<uint64_t> groups; ///< ends of the groups not yet waited for
  uint64_t committed = 0;      ///< end of the last group
  uint32_t commits = 0;        ///< groups so far
  const Inst *lastIssue = nullptr;

  void reset() { *this = WgmmaProgress(); }
};

class Warpgroup {
public:
  void reset();

  struct Operands {
    uint64_t a = 0, b = 0; ///< descriptors; `a` only without registers
    bool accumulates = false;
  };
  /// A warp issues its next wgmma.
  void issue(Warp &warp, const Inst &inst, const Operands &operands);
  /// All warps have issued the first `end` instructions.
  bool allIssued(uint64_t end) const;
  /// Computes them, where that has not happened, and hands the results of
  /// those that `warp` waits for to its registers. They make up the first
  /// `groups` groups.
  void complete(Warp &warp, uint64_t end, uint32_t groups);
  /// "warps 1, 2", the warps that have not issued instruction `end` - 1.
  std::string missing(uint64_t end) const;

private:
  struct Operation {
    const Inst *inst;
    Operands operands;
    uint32_t issuedBy = 0; ///< warps of the group
  };
  /// Results on their way to the registers of one accumulator.
  struct Accumulators {
    const Inst *inst;     ///< of the last instruction; names the registers
    uint64_t end = 0;     ///< instructions included
    uint32_t pending = 0; ///< warps of the group that lack them
    std::vector<uint32_t> bits; ///< [64][columns]
  };

  Accumulators &accumulatorsOf(Block &block, const Operation &operation);
  void compute(Block &block, const Operation &operation);
  Warp &warpAt(Block &block, unsigned index) const;

  unsigned firstWarp = 0;
  std::deque<Operation> operations;
  uint64_t first = 0;    ///< number of the front operation
  uint64_t computed = 0; ///< operations computed
  std::vector<Accumulators> accumulators;

  friend class Warpgroups;
};

/// The complete warpgroups of a block.
class Warpgroups {
public:
  void reset(const Block &block);
  /// Null for a warp outside any complete warpgroup.
  Warpgroup *of(const Warp &warp);

private:
  std::vector<Warpgroup> groups;
};

/// "of its warpgroup, warps 1, 2 have not issued ...", for a deadlock.
std::string describeWgmmaWait(const Warp &warp);
/// A warp has ended: nothing may be in flight.
void checkWgmmaAtExit(Warp &warp, const Inst &inst);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_WGMMA_H
