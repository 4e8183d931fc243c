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
#include "BulkCopy.h"
#include "Clock.h"
#include "Memory.h"
#include "Program.h"
#include "RegisterWatch.h"
#include "Wgmma.h"
#include "attn/Sim/Simulator.h"

#include <string>
#include <vector>

namespace attn::sim {

class Block;
class Cluster;

/// Ends a launch whose finding leaves nothing to go on with. The finding
/// itself is in the Launch.
struct LaunchAborted {};

/// Divergent lanes run one side of a branch after the other; an entry is what
/// is left to do once the lanes that run now reach their `join`.
struct StackEntry {
  uint32_t pc, join, mask;
};

/// What a waiting warp waits for.
struct WarpWait {
  enum Kind : uint8_t { Named, OfCluster, Mbarrier, Registers, Wgmma };
  Kind kind = Named;
  unsigned barrier = 0; ///< number of a named barrier
  Block *block = nullptr;
  uint32_t offset = 0; ///< of an mbarrier, in the shared memory of `block`
  const Inst *inst = nullptr;
  uint32_t lanes = 0;
};

/// A place in the shared memory of a block of the cluster.
struct SharedPlace {
  Block *block;
  uint32_t offset;
};

class Warp {
public:
  /// Yielded: runs on after the others.
  enum class State : uint8_t { Running, Yielded, Waiting, Done };

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
  /// After a strong load or an atomic, which may be of another state space:
  /// what was released at a global address. Never before it, for another block
  /// may release and write in between, and then it was heard from.
  void hearGlobal(const Inst &inst, uint64_t address);
  /// Another cluster must not race with this access.
  void checkGlobal(const Inst &inst, const Allocation &allocation,
                   uint64_t address, uint32_t bytes, unsigned lane,
                   Access access);
  /// `bytes` of global memory at a multiple of `align`.
  uint8_t *resolveGlobal(const Inst &inst, uint64_t address, uint32_t bytes,
                         uint32_t align, unsigned lane, Access access);
  /// Offset from the start of shared memory of a shared or generic address.
  uint32_t sharedOffset(const Inst &inst, uint64_t address, uint32_t bytes,
                        uint32_t align, unsigned lane);
  /// The same for an address that may be another block's of the cluster.
  SharedPlace sharedPlace(const Inst &inst, uint64_t address, uint32_t bytes,
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
  /// The same outside the handler of `inst`.
  void reportNow(const Inst &inst, const char *check, uint32_t lanes,
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
  bool waitsForWgmma() const { return wait.kind == WarpWait::Wgmma; }
  /// Stops the warp; with `again` it runs the instruction anew when it wakes.
  void sleep(const WarpWait &what, bool again);
  /// The warp has released what it did so far: what comes is not covered.
  void tick();
  /// The lanes have passed a barrier together.
  void synchronizeLanes();
  /// Before a release: what lanes have learned goes into the clock.
  void shareKnowledge();
  /// Hands on what `lanes` know: all of the warp's clock, but of its accesses
  /// to shared memory since the last barrier among its lanes only their own.
  void release(uint32_t lanes, Clock &into);
  /// Rank of the warp's block in its cluster.
  unsigned rank() const;
  /// An actor of the warp's block.
  unsigned findActor(Actors::Kind kind, uint32_t number);
  /// "shared address 0x8400", with the block unless it is the warp's own.
  std::string sharedText(unsigned block, uint32_t offset) const;

  const Program *program = nullptr;
  Block *block = nullptr;
  unsigned id = 0;
  State state = State::Done;
  uint32_t exec = 0;   ///< lanes that run the current instruction
  uint32_t active = 0; ///< lanes at `pc`
  uint32_t pc = 0, next = 0, join = noTarget;
  uint64_t steps = 0;
  uint64_t clockReads = 0;
  uint32_t carry = 0; ///< the carry flag of each lane
  AsyncCopies copies;
  WgmmaProgress wgmma;
  RegisterWatch watch;
  BulkStores bulk;
  WarpWait wait;
  /// A try_wait that sleeps returns without success.
  bool givesUp = false;
  /// Tests of mbarriers in a row that failed.
  uint32_t failedTests = 0;
  uint32_t registers = 0;               ///< per thread, as setmaxnreg left them
  uint32_t registerChanges = 0;         ///< setmaxnreg that the warp has run
  const Inst *registerChange = nullptr; ///< the last one
  bool inClusterBarrier = false;        ///< arrived, not waited
  uint32_t clusterPhase = 0;            ///< that it arrived for
  unsigned actor = 0;                   ///< in clocks
  Clock clock;                          ///< the sanitizer's
  uint32_t synchronized = 0; ///< time of the last barrier among its lanes
  uint32_t accessors = 0;    ///< lanes that used shared memory since
  /// What single lanes have waited for, which the others have not heard of.
  struct Knowledge {
    unsigned lane;
    AsyncAccess over;
  };
  std::vector<Knowledge> learned;

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

/// "threads 0-31", "thread 5": threads of `warp` in `lanes`.
std::string describeThreads(const Warp &warp, uint32_t lanes);
std::string hexText(uint64_t value);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_WARP_H
