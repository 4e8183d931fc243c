//===- Control.cpp - Branches and the end of threads --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

void runBranch(Warp &warp, const Inst &inst) {
  uint32_t others = warp.active & ~warp.exec;
  if (!others || inst.target == warp.next) {
    warp.next = inst.target;
    return;
  }
  const Warp::Side sides[] = {{inst.target, warp.exec}, {warp.next, others}};
  warp.diverge(inst, sides, 2);
}

void runBranchTable(Warp &warp, const Inst &inst) {
  const std::vector<uint32_t> &targets =
      warp.program->branchTables[static_cast<size_t>(inst.imm)];
  const uint32_t *indices = warp.lanes(inst.src(0));
  Warp::Side sides[warpSize + 1];
  unsigned count = 0;
  auto add = [&](uint32_t pc, uint32_t mask) {
    for (unsigned i = 0; i < count; ++i)
      if (sides[i].pc == pc) {
        sides[i].mask |= mask;
        return;
      }
    sides[count++] = {pc, mask};
  };
  forEachLane(warp.exec, [&](unsigned lane) {
    if (indices[lane] >= targets.size())
      warp.fail(inst, "branch-index", uint32_t(1) << lane,
                "index " + std::to_string(indices[lane]) + " of " +
                    std::to_string(targets.size()) + " targets",
                "check the index before the branch");
    add(targets[indices[lane]], uint32_t(1) << lane);
  });
  if (uint32_t others = warp.active & ~warp.exec)
    add(warp.next, others);
  warp.diverge(inst, sides, count);
}

void runExit(Warp &warp, const Inst &inst) {
  warp.exitLanes(warp.exec);
  if (!warp.live())
    checkWgmmaAtExit(warp, inst);
}

void runTrap(Warp &warp, const Inst &inst) {
  warp.fail(inst, "trap", warp.exec, "the kernel gave up by itself",
            "look for the condition before the trap");
}

void runNothing(Warp &, const Inst &) {}

void decodeBranch(Builder &b) {
  b.take("uni");
  b.expectOperands(1);
  if (b.ast.operands[0].kind != AstOperand::Name)
    b.fail("expected a label");
  b.branchTo(b.ast.operands[0].name);
  b.inst.run = runBranch;
}

void decodeBranchTable(Builder &b) {
  if (!b.take("idx"))
    b.refuse();
  b.take("uni");
  b.expectOperands(2);
  if (b.ast.operands[1].kind != AstOperand::Name)
    b.fail("expected the label of a '.branchtargets' list");
  b.src(0, Type::U32);
  b.branchTable(b.ast.operands[1].name);
  b.inst.run = runBranchTable;
}

void decodeExit(Builder &b) {
  b.take("uni");
  b.expectOperands(0);
  b.inst.flow = Flow::Exit;
  b.inst.run = runExit;
}

void decodeTrap(Builder &b) {
  b.expectOperands(0);
  b.inst.flow = Flow::Exit;
  b.inst.run = runTrap;
}

void decodeNothing(Builder &b) {
  b.takeOneOf({"u32", "aligned"});
  b.expectOperands(0, 1);
  if (b.operandCount())
    b.src(0, Type::U32);
  b.inst.run = runNothing;
}

/// Launches run one after the other, so what came before is always done.
void decodeGridDependency(Builder &b) {
  if (!b.takeOneOf({"wait", "launch_dependents"}))
    b.refuse();
  b.expectOperands(0);
  b.inst.run = runNothing;
}

} // namespace

void addControlInstructions(DecodeTable &table) {
  table["bra"] = decodeBranch;
  table["brx"] = decodeBranchTable;
  table["ret"] = decodeExit;
  table["exit"] = decodeExit;
  table["trap"] = decodeTrap;
  table["griddepcontrol"] = decodeGridDependency;
  table["nanosleep"] = decodeNothing;
  table["brkpt"] = decodeNothing;
}

} // namespace attn::sim
