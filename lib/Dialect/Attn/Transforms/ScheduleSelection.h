//===- ScheduleSelection.h - One way to compile a kernel --------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SCHEDULESELECTION_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SCHEDULESELECTION_H

#include "attn/Analysis/KnobRules.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include <string>

namespace attn::ir {

/// A schedule for one kernel, as it is filled in: what the specification asks
/// for, the rest from the family and a row of the tile table.
class ScheduleSelection {
public:
  /// The family: which instruction multiplies, who loads. `wish` is null where
  /// the specification has no schedule.
  ScheduleSelection(KernelOp kernel, const layout::GpuTarget &target,
                    ScheduleAttr wish);

  Engine engine() const { return knobs.engine; }
  /// Takes the tile of a row of the table and fills in what is left, for a
  /// kernel with such rules.
  void fillIn(const TileChoice &choice, Rules rules);
  /// The same schedule with as few tensor maps as the specification allows: it
  /// may ask for the loader.
  ScheduleSelection withFewerMaps(std::string reason) const;
  const Knobs &getKnobs() const { return knobs; }
  int64_t tileN() const { return knobs.tileN; }

  /// Why it cannot be built, in words; empty when it can.
  std::string fault() const;
  /// A knob that is left out is that of FlashAttention-2; where all are, none
  /// is written.
  ScheduleAttr attribute() const;
  /// What was chosen, and by which row.
  std::string describe() const;

private:
  struct RegisterUse {
    int64_t o, s, p, early, others;
    int64_t total() const { return o + s + p + early + others; }
  };

  bool isWgmma() const { return knobs.engine == Engine::Wgmma; }
  int64_t consumers() const;
  RegisterShares registers() const;
  RegisterUse registerUse() const;
  int64_t otherRegisters() const;
  const KnobRule *findBroken(llvm::StringRef knob) const;
  void chooseLoader();
  void takeTile(const TileChoice &row);
  void chooseStore();
  void measure();
  /// Bytes of the tiles in shared memory.
  int64_t tileBytes() const;
  std::string ruleFault() const;
  std::string tileFault() const;
  std::string sharedFault() const;
  std::string registerFault() const;

  mutable KernelOp kernel; // accessors of operations are not const
  const layout::GpuTarget &target;
  ScheduleAttr wish;
  Rules rules = Rules::None;
  ScheduleKind kind = ScheduleKind::Fa2;
  Knobs knobs = {};
  int64_t stages = 0;
  MaxMode max = MaxMode::Exact;
  SharedUse use = {};
  std::string loaderReason;
  const TileChoice *row = nullptr; ///< of the table, whose tile was taken
};

} // namespace attn::ir

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_SCHEDULESELECTION_H
