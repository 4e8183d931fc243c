//===- Warp.h - A warp and its block while they run --------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_WARP_H
#define ATTN_LIB_SIM_WARP_H

#include "AsyncCopy.h"
#include "Barrier.h"
#include "Memory.h"
#include "Program.h"
#include "RegisterWatch.h"
#include "SharedShadow.h"
#include "Wgmma.h"
#include "attn/Sim/Simulator.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace attn::sim {

class Block;
class Launch;

/// Ends a launch whose finding leaves nothing to go on with. The finding
/// itself is in the Launch.
struct LaunchAborted {};

/// Divergent lanes run one side of a branch after the other; an entry is what
/// is left to do once the lanes that run now reach their `join`.
struct StackEntry {
  uint32_t pc, join, mask;
};

class Warp {
public:
  enum class State : uint8_t { Running, Waiting, Done };

  void start(Block &block, unsigned id, uint32_t validLanes);
  /// Runs until the warp waits, ends or has executed `budget` instructions.
  void run(uint64_t budget);

  //===--------------------------------------------------------------------===//
  // For handlers
  //===--------------------------------------------------------------------===//

  uint32_t *lanes(const Operand &operand) {
    return file.data() + operand.offset;
  }
  /// Lanes for which the predicate holds.
  uint32_t predicate(const Operand &operand) const {
    uint32_t value = predicates[operand.offset];
    return operand.negated ? ~value : value;
  }
  /// Writes a predicate in the running lanes.
  void setPredicate(const Operand &operand, uint32_t value) {
    uint32_t &old = predicates[operand.offset];
    old = (old & ~exec) | (value & exec);
  }
  /// Lanes that have not ended.
  uint32_t live() const { return ~exited; }

  /// The address that `lane` uses.
  uint64_t address(const Operand &base, int64_t offset, unsigned lane) const {
    const uint32_t *at = file.data() + base.offset + lane * base.words;
    if (base.words == 1)
      return static_cast<uint32_t>(at[0] + static_cast<uint64_t>(offset));
    return (uint64_t(at[1]) << 32 | at[0]) + static_cast<uint64_t>(offset);
  }

  enum class Access : uint8_t { Read, Write, Atomic };
  /// Checks bounds, alignment and, in shared memory, the sanitizer's state,
  /// and returns the host bytes. `address` belongs to the address space
  /// `space`. Aborts the launch when there is nothing to return.
  uint8_t *resolve(const Inst &inst, Space space, uint64_t address,
                   uint32_t bytes, unsigned lane, Access access);
  /// Reads `bytes` of global memory at a multiple of `align`.
  const uint8_t *resolveGlobal(const Inst &inst, uint64_t address,
                               uint32_t bytes, uint32_t align, unsigned lane);
  /// Offset from the start of shared memory of a shared or generic address.
  uint32_t sharedOffset(const Inst &inst, uint64_t address, uint32_t bytes,
                        uint32_t align, unsigned lane);

  /// Sends lanes to different instructions. The masks are disjoint, not empty
  /// and make up `active`.
  struct Side {
    uint32_t pc, mask;
  };
  void diverge(const Inst &inst, const Side *sides, unsigned count);
  void exitLanes(uint32_t mask);

  /// A finding after which the warp goes on. Those of one check at one
  /// instruction become one finding, told by the first.
  void report(const Inst &inst, const char *check, uint32_t lanes,
              const std::string &what, const std::string &mend);
  /// A finding that ends the launch.
  [[noreturn]] void fail(const Inst &inst, const char *check, uint32_t lanes,
                         const std::string &what, const std::string &mend);
  /// A warp-wide instruction that some lanes of `needed` do not take part in.
  void requireLanes(const Inst &inst, uint32_t needed);

  /// Finds lanes that read a register before anybody wrote it.
  void checkRead(const Inst &inst, const Operand &operand, uint32_t lanes);
  void markWritten(const Operand &operand, uint32_t lanes) {
    written[operand.reg] |= lanes;
  }
  /// A register is touched that a wgmma in flight owns.
  void reportInFlight(const Inst &inst, const Operand &operand, bool reads);
  /// Stops until the rest of the warpgroup has issued what `inst` waits for,
  /// which then runs again.
  void waitForWgmma(const Inst &inst);
  bool waitsForWgmma() const { return wait.barrier == wgmmaWait; }

  const Program *program = nullptr;
  Block *block = nullptr;
  unsigned id = 0;
  State state = State::Done;
  uint32_t exec = 0;   ///< lanes that run the current instruction
  uint32_t active = 0; ///< lanes at `pc`
  uint32_t pc = 0, next = 0, join = noTarget;
  uint64_t steps = 0;
  uint64_t clockReads = 0;
  AsyncCopies copies;
  WgmmaProgress wgmma;
  RegisterWatch watch;
  BarrierWait wait;
  /// The sanitizer's vector clock, by warp of the block.
  std::vector<uint32_t> clock;

private:
  template <bool Sanitize, bool Trace> void runLoop(uint64_t budget);
  void checkReads(const Inst &inst);
  void markWrites(const Inst &inst);
  void watchRegisters(const Inst &inst);
  void flushReports(const Inst &inst);
  void trace(const Inst &inst);
  void reconverge();
  void fillSpecials();
  [[noreturn]] void outOfBounds(const Inst &inst, Space space, uint64_t address,
                                uint32_t bytes, uint32_t align, unsigned lane,
                                Access access);
  uint8_t *globalBytes(const Inst &inst, uint64_t address, uint32_t bytes,
                       uint32_t align, unsigned lane, Access access);
  uint8_t *resolveShared(const Inst &inst, uint64_t address, uint32_t bytes,
                         unsigned lane, Access access);
  uint8_t *resolveLocal(const Inst &inst, uint64_t address, uint32_t bytes,
                        unsigned lane, Access access);

  uint32_t exited = 0;
  std::vector<uint32_t> file;
  std::vector<uint32_t> predicates;
  std::vector<uint32_t>
      written; ///< by register number: lanes that hold a value
  std::vector<StackEntry> stack;
  struct Report {
    const char *check;
    uint32_t lanes;
    std::string what, mend;
  };
  std::vector<Report> reports; ///< of the current instruction
  const Allocation *lastAllocation = nullptr;
};

/// One block (CTA) on one host thread. Reused for block after block.
class Block {
public:
  explicit Block(Launch &launch);
  /// Runs block number `linear` of the grid to its end.
  void run(uint64_t linear);

  Launch &launch;
  uint64_t linear = 0;
  uint32_t index[3] = {0, 0, 0};
  std::vector<Warp> warps;
  std::vector<uint8_t> shared;
  std::vector<uint8_t> local; ///< by thread
  Barriers barriers;
  Warpgroups warpgroups;
  /// Null when the sanitizer is off.
  std::unique_ptr<SharedShadow> shadow;

private:
  void reportDeadlock();
};

/// One kernel launch.
class Launch {
public:
  Launch(const Program &program, const LaunchConfig &config,
         DeviceMemory &memory, const SimulatorOptions &options);
  /// Runs the grid. Throws DeviceError for a bad configuration or, without
  /// SimulatorOptions::onFinding, for findings.
  void run();

  /// Keeps the finding if it is the first of `check` at the instruction `key`.
  /// Throws LaunchAborted at the limit.
  void add(const SimFinding &finding, const void *key);
  /// Prints how far the launch is, now and then.
  void tick();

  const Program &program;
  const LaunchConfig &config;
  DeviceMemory &memory;
  const SimulatorOptions &options;
  std::vector<uint8_t> parameters;
  uint32_t threads = 0;     ///< per block
  uint32_t sharedBytes = 0; ///< per block, static and dynamic
  std::atomic<bool> stop{false};
  /// Instructions that SimulatorOptions::trace printed, by one host thread.
  uint64_t traced = 0;

private:
  void checkShape() const;
  void checkTrace() const;
  void endTrace() const;
  void bindParameters();
  void work();

  std::atomic<uint64_t> nextBlock{0}, doneBlocks{0};
  uint64_t blocks = 0;
  std::chrono::steady_clock::time_point started, lastPrint;
  std::mutex mutex;
  std::set<std::pair<std::string, const void *>> seen;
  std::vector<SimFinding> findings;
  bool aborted = false;
  std::string hostError;
};

/// "threads 0-31", "thread 5": threads of `warp` in `lanes`.
std::string describeThreads(const Warp &warp, uint32_t lanes);
std::string hexText(uint64_t value);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_WARP_H
