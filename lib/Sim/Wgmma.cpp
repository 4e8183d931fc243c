//===- Wgmma.cpp - The asynchronous multiplies of a warpgroup -------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Wgmma.h"
#include "Lanes.h"
#include "WgmmaOperands.h"

#include <algorithm>

namespace attn::sim {

static unsigned indexInGroup(const Warp &warp) {
  return warp.id % warpgroupWarps;
}

/// The same registers, in the same form.
static bool sameAccumulators(const Inst &one, const Inst &other) {
  return one.destinations == other.destinations &&
         wgmmaForm(one).d == wgmmaForm(other).d &&
         std::equal(one.operands, one.operands + one.destinations,
                    other.operands, [](const Operand &a, const Operand &b) {
                      return a.offset == b.offset;
                    });
}

//===----------------------------------------------------------------------===//
// Registers under the sanitizer
//===----------------------------------------------------------------------===//

/// Checks and takes the registers of a wgmma.
static void holdRegisters(Warp &warp, const Inst &inst, bool accumulates,
                          const std::vector<const Inst *> &inFlight) {
  RegisterWatch &watch = warp.watch;
  auto unfenced = [&](const Operand &operand, uint32_t when) {
    if (when <= watch.fences)
      return;
    warp.report(inst, "wgmma-fence", 0,
                "register " + warp.program->registerNames[operand.reg] +
                    " was used since the last wgmma.fence",
                "put wgmma.fence.sync.aligned between that use and the first "
                "wgmma of the group");
  };
  if (watch.fences == 0)
    warp.report(inst, "wgmma-fence", 0,
                "no wgmma.fence has come before the warp's first wgmma",
                "put wgmma.fence.sync.aligned before it");
  WgmmaForm form = wgmmaForm(inst);
  unsigned fragments = form.aInRegisters ? 4 : 0;
  for (unsigned i = 0; i < inst.sources; ++i) {
    const Operand &operand = inst.src(i);
    if (operand.reg == noRegister)
      continue;
    warp.checkRead(inst, operand, allLanes);
    if (watch.held[operand.reg] == RegisterWatch::Accumulator)
      warp.reportInFlight(inst, operand, /*reads=*/true);
    if (i < fragments) {
      unfenced(operand, watch.written[operand.reg]);
      watch.hold(operand.reg, RegisterWatch::Input);
    }
  }
  bool chained =
      std::any_of(inFlight.begin(), inFlight.end(), [&](const Inst *other) {
        return sameAccumulators(inst, *other);
      });
  for (unsigned i = 0; i < inst.destinations; ++i) {
    const Operand &operand = inst.dst(i);
    if (accumulates)
      warp.checkRead(inst, operand, allLanes);
    RegisterWatch::Hold hold = watch.held[operand.reg];
    if (hold == RegisterWatch::Input ||
        (hold == RegisterWatch::Accumulator && !chained))
      warp.reportInFlight(inst, operand, /*reads=*/false);
    unfenced(operand, watch.touched[operand.reg]);
    watch.hold(operand.reg, RegisterWatch::Accumulator);
    warp.markWritten(operand, allLanes);
  }
}

//===----------------------------------------------------------------------===//
// Warpgroup
//===----------------------------------------------------------------------===//

void Warpgroup::reset() {
  operations.clear();
  accumulators.clear();
  first = computed = 0;
}

Warp &Warpgroup::warpAt(Block &block, unsigned index) const {
  return block.warps[firstWarp + index];
}

void Warpgroup::issue(Warp &warp, const Inst &inst, const Operands &operands) {
  uint64_t number = warp.wgmma.issued;
  if (number == first + operations.size())
    operations.push_back({&inst, operands, 0});
  Operation &operation = operations[number - first];
  if (operation.inst != &inst)
    warp.fail(inst, "wgmma-divergence", 0,
              "this is the warp's wgmma number " + std::to_string(number) +
                  ", which in another warp of its warpgroup is the one in "
                  "line " +
                  std::to_string(operation.inst->line),
              "let the four warps of a warpgroup run the same wgmmas");
  const Operands &others = operation.operands;
  if (others.a != operands.a || others.b != operands.b ||
      others.accumulates != operands.accumulates)
    warp.fail(inst, "wgmma-divergence", 0,
              "the warps of the warpgroup disagree about a descriptor or "
              "scale-d",
              "compute them from what the four warps have in common");
  operation.issuedBy |= uint32_t(1) << indexInGroup(warp);

  WgmmaForm form = wgmmaForm(inst);
  SharedOperand b{operands.b, form.transposedB, form.columns, form.b, "B"};
  SharedOperand a{operands.a, form.transposedA, wgmmaRows, form.a, "A"};
  checkShared(warp, inst, b);
  if (!form.aInRegisters)
    checkShared(warp, inst, a);
  if (warp.block->shadow) {
    std::vector<const Inst *> inFlight;
    for (uint64_t i = std::max(first, warp.wgmma.complete); i < number; ++i)
      inFlight.push_back(operations[i - first].inst);
    holdRegisters(warp, inst, operands.accumulates, inFlight);
    noteSharedReads(warp, inst, b, /*ownRows=*/false);
    if (!form.aInRegisters)
      noteSharedReads(warp, inst, a, /*ownRows=*/true);
  }
  ++warp.wgmma.issued;
  warp.wgmma.lastIssue = &inst;
  // Warps that wait for this one look again.
  for (unsigned i = 0; i < warpgroupWarps; ++i) {
    Warp &other = warpAt(*warp.block, i);
    if (other.state == Warp::State::Waiting && other.waitsForWgmma())
      other.state = Warp::State::Running;
  }
}

bool Warpgroup::allIssued(uint64_t end) const {
  constexpr uint32_t all = (1u << warpgroupWarps) - 1;
  return end <= first || (end <= first + operations.size() &&
                          operations[end - 1 - first].issuedBy == all);
}

std::string Warpgroup::missing(uint64_t end) const {
  uint32_t issued = end > first && end <= first + operations.size()
                        ? operations[end - 1 - first].issuedBy
                        : 0;
  std::string text;
  for (unsigned i = 0; i < warpgroupWarps; ++i)
    if (!(issued >> i & 1))
      text += (text.empty() ? "" : ", ") + std::to_string(firstWarp + i);
  return text;
}

/// The results to which `operation` adds; from the registers of the warps that
/// lack none.
Warpgroup::Accumulators &Warpgroup::accumulatorsOf(Block &block,
                                                   const Operation &operation) {
  const Inst &inst = *operation.inst;
  WgmmaForm form = wgmmaForm(inst);
  auto found = std::find_if(accumulators.begin(), accumulators.end(),
                            [&](const Accumulators &candidate) {
                              return sameAccumulators(*candidate.inst, inst);
                            });
  if (found == accumulators.end()) {
    accumulators.push_back({&inst, 0, 0, {}});
    found = std::prev(accumulators.end());
  }
  found->inst = &inst;
  std::vector<uint32_t> &bits = found->bits;
  bits.resize(size_t(wgmmaRows) * form.columns);
  if (!operation.operands.accumulates) {
    std::fill(bits.begin(), bits.end(), 0);
  } else {
    for (unsigned i = 0; i < warpgroupWarps; ++i)
      if (!(found->pending >> i & 1))
        loadAccumulators(warpAt(block, i), inst, form, bits);
  }
  found->pending = (1u << warpgroupWarps) - 1;
  return *found;
}

void Warpgroup::compute(Block &block, const Operation &operation) {
  const Inst &inst = *operation.inst;
  WgmmaForm form = wgmmaForm(inst);
  RawMatrix raw;
  WgmmaTiles tiles;
  if (form.aInRegisters)
    for (unsigned i = 0; i < warpgroupWarps; ++i)
      gatherRegistersA(warpAt(block, i), inst, raw);
  else
    gatherShared(block, operation.operands.a, form.transposedA, wgmmaRows,
                 form.a, raw);
  unpackA(form, raw, form.transposedA, tiles);
  gatherShared(block, operation.operands.b, form.transposedB, form.columns,
               form.b, raw);
  unpackB(form, raw, form.transposedB, tiles);
  Accumulators &results = accumulatorsOf(block, operation);
  multiplyTiles(form, tiles, results.bits);
  results.end = computed + 1;
}

void Warpgroup::complete(Warp &warp, uint64_t end, uint32_t groups) {
  Block &block = *warp.block;
  for (; computed < end; ++computed)
    compute(block, operations[computed - first]);
  uint32_t own = uint32_t(1) << indexInGroup(warp);
  for (Accumulators &results : accumulators)
    if ((results.pending & own) && results.end <= end) {
      storeAccumulators(warp, *results.inst, wgmmaForm(*results.inst),
                        results.bits);
      results.pending &= ~own;
    }
  accumulators.erase(std::remove_if(accumulators.begin(), accumulators.end(),
                                    [](const Accumulators &results) {
                                      return results.pending == 0;
                                    }),
                     accumulators.end());
  warp.wgmma.complete = std::max(warp.wgmma.complete, end);
  if (block.shadow) {
    block.shadow->asyncReadsDone(warp, groups);
    warp.watch.release();
    for (uint64_t i = warp.wgmma.complete; i < warp.wgmma.issued; ++i) {
      const Inst &inst = *operations[i - first].inst;
      for (unsigned k = 0; k < inst.destinations; ++k)
        warp.watch.hold(inst.dst(k).reg, RegisterWatch::Accumulator);
      for (unsigned k = 0; wgmmaForm(inst).aInRegisters && k < 4; ++k)
        warp.watch.hold(inst.src(k).reg, RegisterWatch::Input);
    }
  }
  uint64_t everywhere = warp.wgmma.complete;
  for (unsigned i = 0; i < warpgroupWarps; ++i)
    everywhere = std::min(everywhere, warpAt(block, i).wgmma.complete);
  for (; first < everywhere; ++first)
    operations.pop_front();
}

//===----------------------------------------------------------------------===//
// Warpgroups of a block
//===----------------------------------------------------------------------===//

void Warpgroups::reset(const Block &block) {
  groups.resize(block.warps.size() / warpgroupWarps);
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].reset();
    groups[i].firstWarp = static_cast<unsigned>(i) * warpgroupWarps;
  }
}

Warpgroup *Warpgroups::of(const Warp &warp) {
  size_t index = warp.id / warpgroupWarps;
  return index < groups.size() ? &groups[index] : nullptr;
}

std::string describeWgmmaWait(const Warp &warp) {
  const WgmmaProgress &progress = warp.wgmma;
  auto left = static_cast<size_t>(warp.wait.inst->imm);
  uint64_t end = progress.groups[progress.groups.size() - 1 - left];
  return "of its warpgroup, warps " +
         warp.block->warpgroups.of(warp)->missing(end) +
         " have not issued the wgmmas that a wait is for";
}

void checkWgmmaAtExit(Warp &warp, const Inst &inst) {
  WgmmaProgress &progress = warp.wgmma;
  if (!warp.block->shadow || progress.complete == progress.issued)
    return;
  bool committed = progress.committed == progress.issued;
  warp.report(inst, "wgmma-unwaited", 0,
              "ends with the wgmma of line " +
                  std::to_string(progress.lastIssue->line) +
                  (committed ? " not waited for" : " not committed"),
              committed ? "put wgmma.wait_group.sync.aligned 0 before"
                        : "put wgmma.commit_group.sync.aligned and "
                          "wgmma.wait_group.sync.aligned 0 before");
}

} // namespace attn::sim
