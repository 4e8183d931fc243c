//===- KnobRules.h - Which knobs of a schedule go together ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The knobs of a schedule are independent. What few combinations have no
// meaning, or no instruction, stand in one table. Plain C++: no MLIR, no LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_KNOBRULES_H
#define ATTN_ANALYSIS_KNOBRULES_H

#include "attn/Analysis/TileTable.h"

#include <vector>

namespace attn {

/// The knobs of one kernel, none of them open.
struct Knobs {
  Engine engine = Engine::MmaSync;
  bool tma = false;      ///< loader
  bool producer = false; ///< a role of its own loads
  int64_t tileM = 0, tileN = 0;
  int64_t warps = 0; ///< that compute
  int64_t overlap = 0;
  bool turns = false, persistent = false;
  bool tmaStore = false; ///< store
  bool hasOutput = true; ///< beside lse

  /// Warpgroups that compute; 0 where the warps are no whole warpgroups.
  int64_t consumers() const;
  /// Warps of the role that loads: one warpgroup, or none.
  int64_t producerWarps() const;
  /// Whether slots of rings are counted by barriers in shared memory.
  bool hasBarriers() const { return tma || producer; }
  /// Whether a kernel argument says by a tensor map where an operand lies.
  bool hasMaps() const { return tma || tmaStore; }
};

/// A combination that cannot be built.
struct KnobRule {
  const char *knob; ///< the one to change
  bool (*isBroken)(const Knobs &knobs, const layout::GpuTarget &target);
  const char *reason; ///< why, and what to choose; follows the knob's name
};

/// All of them, in the order in which they are looked at.
const std::vector<KnobRule> &knobRules();
/// The first that the knobs break; null if they are legal.
const KnobRule *findBrokenRule(const Knobs &knobs,
                               const layout::GpuTarget &target);

/// Registers of a thread, of 32 bits.
struct RegisterShares {
  int64_t launched; ///< as the kernel starts
  int64_t loader;   ///< of the role that loads, once it gave the rest away
  int64_t computer; ///< of the role that computes
};
/// What a block of these warps has. Where roles can pass registers on
/// (`canShare`: setmaxnreg), the one that loads keeps what it needs.
RegisterShares shareRegisters(int64_t loadingWarps, int64_t computingWarps,
                              bool canShare);

} // namespace attn

#endif // ATTN_ANALYSIS_KNOBRULES_H
