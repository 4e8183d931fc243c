//===- Registers.cpp - setmaxnreg -----------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Registers.h"
#include "Block.h"
#include "Launch.h"

#include <algorithm>

namespace attn::sim {

uint32_t launchRegisters(const Launch &launch) {
  // A multiprocessor has 65536 registers; a thread gets them by eight, and
  // ptxas gives it no more than 240 when setmaxnreg is in use.
  constexpr uint32_t all = 65536, unit = 8, most = 240;
  if (launch.program.maxRegisters)
    return launch.program.maxRegisters;
  const uint32_t *limit = launch.program.requiredThreads[0]
                              ? launch.program.requiredThreads
                              : launch.program.maxThreads;
  uint32_t threads = limit[0] ? limit[0] * limit[1] * limit[2] : launch.threads;
  return std::min(all / threads / unit * unit, most);
}

void RegisterPool::start(Block &block) {
  free = 0;
  uint32_t each = launchRegisters(block.launch);
  for (Warp &warp : block.warps)
    warp.registers = each;
}

void RegisterPool::decrease(Warp &warp, const Inst &inst, uint32_t count) {
  if (count > warp.registers)
    warp.fail(inst, "setmaxnreg", warp.exec,
              "decreases to " + std::to_string(count) +
                  " registers per thread, but the warp has " +
                  std::to_string(warp.registers),
              "decrease below what the warp has, or launch with more");
  free += warp.registers - count;
  warp.registers = count;
  ++warp.registerChanges;
  warp.registerChange = &inst;
  ++warp.block->cluster.events;
  for (Warp &other : warp.block->warps)
    if (other.state == Warp::State::Waiting &&
        other.wait.kind == WarpWait::Registers)
      other.state = Warp::State::Running;
}

void RegisterPool::increase(Warp &warp, const Inst &inst, uint32_t count) {
  if (count < warp.registers)
    warp.fail(inst, "setmaxnreg", warp.exec,
              "increases to " + std::to_string(count) +
                  " registers per thread, but the warp has " +
                  std::to_string(warp.registers) + " already",
              "use setmaxnreg.dec to give registers back");
  uint32_t more = count - warp.registers;
  if (more > free)
    return warp.sleep({WarpWait::Registers, 0, warp.block, 0, &inst, warp.exec},
                      /*again=*/true);
  free -= more;
  warp.registers = count;
  ++warp.registerChanges;
  warp.registerChange = &inst;
  ++warp.block->cluster.events;
}

void RegisterPool::checkEnd(Block &block) {
  for (size_t first = 0; first < block.warps.size(); first += warpgroupWarps) {
    size_t end = std::min(block.warps.size(), first + warpgroupWarps);
    Warp *most = &block.warps[first], *least = most;
    for (size_t i = first; i < end; ++i) {
      Warp &warp = block.warps[i];
      if (warp.registerChanges > most->registerChanges)
        most = &warp;
      if (warp.registerChanges < least->registerChanges)
        least = &warp;
    }
    if (most->registerChanges != least->registerChanges)
      most->reportNow(*most->registerChange, "setmaxnreg", 0,
                      "runs without warp " + std::to_string(least->id) +
                          " of the same warpgroup",
                      "let all four warps of a warpgroup run it");
  }
}

} // namespace attn::sim
