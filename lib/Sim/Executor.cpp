//===- Executor.cpp - Runs warps ------------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Launch.h"

#include <algorithm>
#include <cstring>

namespace attn::sim {

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

void Warp::start(Block &owner, unsigned number, uint32_t validLanes) {
  block = &owner;
  program = &owner.launch.program;
  id = number;
  state = validLanes ? State::Running : State::Done;
  active = validLanes;
  exited = ~validLanes;
  pc = 0;
  join = noTarget;
  steps = clockReads = 0;
  carry = 0;
  stack.clear();
  reports.clear();
  copies.reset();
  wgmma.reset();
  bulk.reset();
  givesUp = inClusterBarrier = false;
  learned.clear();
  failedTests = registerChanges = synchronized = accessors = 0;
  file.resize(program->fileWords);
  std::copy(program->constants.begin(), program->constants.end(), file.begin());
  predicates.assign(program->predicates, 0);
  if (block->shadow)
    written.assign(program->registers, 0);
  watch.reset(block->shadow && program->watchesRegisters ? program->registers
                                                         : 0);
  fillSpecials();
}

static uint64_t specialValue(const Warp &warp, Special kind, unsigned lane) {
  const Launch &launch = warp.block->launch;
  const Cluster &cluster = warp.block->cluster;
  const uint32_t *ntid = launch.config.block;
  uint32_t thread = warp.id * warpSize + lane;
  switch (kind) {
  case Special::TidX:
    return thread % ntid[0];
  case Special::TidY:
    return thread / ntid[0] % ntid[1];
  case Special::TidZ:
    return thread / ntid[0] / ntid[1];
  case Special::NtidX:
  case Special::NtidY:
  case Special::NtidZ:
    return ntid[unsigned(kind) - unsigned(Special::NtidX)];
  case Special::CtaidX:
  case Special::CtaidY:
  case Special::CtaidZ:
    return warp.block->index[unsigned(kind) - unsigned(Special::CtaidX)];
  case Special::NctaidX:
  case Special::NctaidY:
  case Special::NctaidZ:
    return launch.config.grid[unsigned(kind) - unsigned(Special::NctaidX)];
  case Special::ClusteridX:
  case Special::ClusteridY:
  case Special::ClusteridZ:
    return cluster.index[unsigned(kind) - unsigned(Special::ClusteridX)];
  case Special::NclusteridX:
  case Special::NclusteridY:
  case Special::NclusteridZ: {
    unsigned axis = unsigned(kind) - unsigned(Special::NclusteridX);
    return launch.config.grid[axis] / cluster.shape[axis];
  }
  case Special::ClusterCtaidX:
  case Special::ClusterCtaidY:
  case Special::ClusterCtaidZ: {
    unsigned axis = unsigned(kind) - unsigned(Special::ClusterCtaidX);
    return warp.block->index[axis] % cluster.shape[axis];
  }
  case Special::ClusterNctaidX:
  case Special::ClusterNctaidY:
  case Special::ClusterNctaidZ:
    return cluster.shape[unsigned(kind) - unsigned(Special::ClusterNctaidX)];
  case Special::ClusterCtarank:
    return warp.block->rank;
  case Special::ClusterNctarank:
    return launch.clusterBlocks;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp.id;
  case Special::NwarpId:
    return warp.block->warps.size();
  case Special::SmId:
    return warp.block->linear % simulatedMultiprocessors;
  case Special::NsmId:
    return simulatedMultiprocessors;
  case Special::GridId:
    return 1;
  case Special::LanemaskEq:
    return uint32_t(1) << lane;
  case Special::LanemaskLe:
    return (uint64_t(2) << lane) - 1;
  case Special::LanemaskLt:
    return (uint32_t(1) << lane) - 1;
  case Special::LanemaskGe:
    return ~((uint32_t(1) << lane) - 1);
  case Special::LanemaskGt:
    return static_cast<uint32_t>(~((uint64_t(2) << lane) - 1));
  case Special::DynamicSharedBytes:
    return launch.config.sharedBytes;
  case Special::TotalSharedBytes:
    return launch.sharedBytes;
  }
  return 0;
}

void Warp::fillSpecials() {
  for (const SpecialSlot &slot : program->specials)
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint64_t value = specialValue(*this, slot.kind, lane);
      uint32_t *at = file.data() + slot.offset + lane * slot.words;
      at[0] = static_cast<uint32_t>(value);
      if (slot.words == 2)
        at[1] = static_cast<uint32_t>(value >> 32);
    }
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

void Warp::run(uint64_t budget) {
  const SimTrace &trace = block->launch.options.trace;
  bool traced =
      trace.enabled && trace.block == block->linear && trace.warp == id;
  bool sanitized = block->shadow != nullptr;
  if (traced)
    sanitized ? runLoop<true, true>(budget) : runLoop<false, true>(budget);
  else
    sanitized ? runLoop<true, false>(budget) : runLoop<false, false>(budget);
}

template <bool Sanitize, bool Trace> void Warp::runLoop(uint64_t budget) {
  const Inst *code = program->code.data();
  steps += budget;
  for (; budget > 0; --budget) {
    const Inst &inst = code[pc];
    next = pc + 1;
    exec = active;
    if (inst.guarded) {
      if (Sanitize)
        checkRead(inst, inst.guard, active);
      exec &= predicate(inst.guard);
    }
    if (exec) {
      bool follow = Sanitize && !inst.asynchronous;
      if (follow)
        checkReads(inst);
      inst.run(*this, inst);
      if (follow)
        markWrites(inst);
      if (Trace)
        trace(inst);
    }
    if (Sanitize && !reports.empty())
      flushReports(inst);
    pc = next;
    if (pc == join || !active)
      reconverge();
    if (state != State::Running)
      break;
  }
  steps -= budget;
}

/// The lanes that ran are done with their side: go on with what is left.
void Warp::reconverge() {
  while (pc == join || !active) {
    if (stack.empty()) {
      if (!active)
        state = State::Done;
      return;
    }
    StackEntry entry = stack.back();
    stack.pop_back();
    pc = entry.pc;
    join = entry.join;
    active = entry.mask & live();
  }
}

void Warp::diverge(const Inst &inst, const Side *sides, unsigned count) {
  if (count == 1) {
    next = sides[0].pc;
    return;
  }
  // Lanes that part again inside a side meet at the same place as the others
  // of that side: no new entry, so that a loop does not grow the stack.
  if (inst.join != noTarget && inst.join != join)
    stack.push_back({inst.join, join, active});
  uint32_t sideJoin = inst.join == noTarget ? join : inst.join;
  active = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (sides[i].pc == sideJoin)
      continue; // waits there in the entry below
    if (active)
      stack.push_back({next, sideJoin, active});
    active = sides[i].mask;
    next = sides[i].pc;
  }
  join = sideJoin;
}

void Warp::sleep(const WarpWait &what, bool again) {
  state = State::Waiting;
  wait = what;
  if (again)
    next = pc;
}

void Warp::exitLanes(uint32_t mask) {
  exited |= mask;
  active &= ~mask;
}

//===----------------------------------------------------------------------===//
// Registers under the sanitizer
//===----------------------------------------------------------------------===//

void Warp::checkRead(const Inst &inst, const Operand &operand, uint32_t lanes) {
  if (operand.reg == noRegister)
    return;
  uint32_t missing = lanes & ~written[operand.reg];
  if (!missing)
    return;
  report(inst, "uninitialized-register", missing,
         "reads a register that these threads never wrote",
         "write it on every path that leads here");
  written[operand.reg] |= missing;
}

void Warp::checkReads(const Inst &inst) {
  const Operand *source = inst.operands + inst.destinations;
  for (unsigned i = 0; i < inst.sources; ++i)
    checkRead(inst, source[i], exec);
  if (program->watchesRegisters)
    watchRegisters(inst);
}

void Warp::markWrites(const Inst &inst) {
  for (unsigned i = 0; i < inst.destinations; ++i)
    written[inst.operands[i].reg] |= exec;
}

void Warp::watchRegisters(const Inst &inst) {
  const unsigned operands = inst.destinations + inst.sources;
  for (unsigned i = 0; i < operands; ++i) {
    const Operand &operand = inst.operands[i];
    if (operand.reg == noRegister)
      continue;
    bool reads = i >= inst.destinations;
    RegisterWatch::Hold hold = watch.held[operand.reg];
    if (hold == RegisterWatch::Accumulator ||
        (hold == RegisterWatch::Input && !reads))
      reportInFlight(inst, operand, reads);
    watch.touched[operand.reg] = watch.fences + 1;
    if (!reads)
      watch.written[operand.reg] = watch.fences + 1;
  }
}

void Warp::reportInFlight(const Inst &inst, const Operand &operand,
                          bool reads) {
  bool input = watch.held[operand.reg] == RegisterWatch::Input;
  report(inst, "wgmma-in-flight", 0,
         std::string(reads ? "reads" : "writes") + " register " +
             program->registerNames[operand.reg] + ", which is " +
             (input ? "an input" : "an accumulator") +
             " of a wgmma that is not complete",
         "commit the wgmma and wait for its group (wgmma.wait_group) before");
}

void Warp::waitForWgmma(const Inst &inst) {
  sleep({WarpWait::Wgmma, 0, block, 0, &inst, exec}, /*again=*/true);
}

void Warp::tick() {
  if (block->shadow)
    block->cluster.actors.seen(++clock.time[actor]);
}

void Warp::shareKnowledge() {
  for (const Knowledge &known : learned) {
    uint32_t &time = clock.time[known.over.actor];
    time = std::max(time, known.over.time);
  }
  learned.clear();
}

void Warp::synchronizeLanes() {
  shareKnowledge();
  tick();
  if (block->shadow)
    synchronized = clock.time[actor];
  accessors = 0;
}

void Warp::release(uint32_t lanes, Clock &into) {
  shareKnowledge();
  if (!(accessors & ~lanes) || block->launch.options.hardwareOrder) {
    into.join(clock);
    return;
  }
  Clock partial = clock;
  partial.time[actor] = std::min(synchronized - 1, clock.time[actor]);
  partial.add({actor, lanes, clock.time[actor]});
  into.join(partial);
}

unsigned Warp::rank() const { return block->rank; }

unsigned Warp::findActor(Actors::Kind kind, uint32_t number) {
  return block->cluster.findActor(kind, block->rank, number);
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

std::string hexText(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

std::string Warp::sharedText(unsigned of, uint32_t offset) const {
  std::string text = "shared address " + hexText(offset + sharedBase);
  if (of != block->rank)
    text += " of block " + std::to_string(of) + " of the cluster";
  return text;
}

std::string describeThreads(const Warp &warp, uint32_t lanes) {
  std::string text;
  unsigned ranges = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    unsigned last = lane;
    while (last + 1 < warpSize && (lanes >> (last + 1) & 1))
      ++last;
    text += ranges++ ? "," : "";
    text += std::to_string(warp.id * warpSize + lane);
    if (last > lane)
      text += "-" + std::to_string(warp.id * warpSize + last);
    lane = last;
  }
  bool one = (lanes & (lanes - 1)) == 0;
  return (one ? "thread " : "threads ") + text;
}

void Warp::report(const Inst &inst, const char *check, uint32_t lanes,
                  const std::string &what, const std::string &mend) {
  for (Report &earlier : reports)
    if (std::strcmp(earlier.check, check) == 0) {
      earlier.lanes |= lanes;
      return;
    }
  reports.push_back({check, lanes, what, mend});
  if (!block->shadow)
    flushReports(inst);
}

void Warp::flushReports(const Inst &inst) {
  std::vector<Report> all;
  all.swap(reports);
  for (const Report &report : all) {
    SimFinding finding;
    finding.check = report.check;
    finding.kernel = program->name;
    finding.line = inst.line;
    finding.instruction = program->texts[inst.text];
    const uint32_t *at = block->index;
    finding.where = "block (" + std::to_string(at[0]) + ", " +
                    std::to_string(at[1]) + ", " + std::to_string(at[2]) +
                    "), warp " + std::to_string(id);
    if (report.lanes)
      finding.where += ", " + describeThreads(*this, report.lanes);
    finding.what = report.what;
    finding.mend = report.mend;
    block->launch.add(finding, &inst);
  }
}

void Warp::reportNow(const Inst &inst, const char *check, uint32_t lanes,
                     const std::string &what, const std::string &mend) {
  report(inst, check, lanes, what, mend);
  flushReports(inst);
}

void Warp::fail(const Inst &inst, const char *check, uint32_t lanes,
                const std::string &what, const std::string &mend) {
  report(inst, check, lanes, what, mend);
  flushReports(inst);
  throw LaunchAborted();
}

void Warp::requireLanes(const Inst &inst, uint32_t needed) {
  uint32_t missing = needed & ~exec;
  if (!missing)
    return;
  fail(inst, "inactive-lane", missing,
       (missing & exited) == missing
           ? "these threads have ended, yet the instruction needs them"
           : "these threads are elsewhere, yet the instruction needs them",
       "run it with all the lanes that it names converged");
}

} // namespace attn::sim
