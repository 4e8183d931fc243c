//===- Simulator.h - Runs PTX text on the CPU --------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attn::Device that executes the PTX itself, warp by warp, and reports
// what a GPU would let pass in silence: registers and shared bytes that nobody
// wrote, races between warps, asynchronous copies used too early, accesses
// outside a buffer, barriers that cannot complete. docs/Simulator.md says what
// is modelled.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SIM_SIMULATOR_H
#define ATTN_SIM_SIMULATOR_H

#include "attn/Runtime/Device.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace attn {

/// One thing that the sanitizer found wrong in a kernel.
struct SimFinding {
  std::string check; ///< e.g. "shared-race"; docs/Simulator.md lists them
  std::string kernel;
  unsigned line = 0;       ///< of the PTX text, from 1
  std::string instruction; ///< its text
  std::string where;       ///< block, warp and threads
  std::string what;        ///< addresses and states
  std::string mend;        ///< what would make it right

  /// All of it in one line.
  std::string str() const;
};

/// Which instructions to print to stderr while they run.
struct SimTrace {
  bool enabled = false;
  uint64_t block = 0;     ///< linear index in the grid
  unsigned warp = 0;      ///< in the block
  unsigned firstLine = 0; ///< range of PTX lines
  unsigned lastLine = ~0u;
};

struct SimulatorOptions {
  /// Check races, uninitialised reads and asynchronous copies. Bounds and
  /// alignment are always checked.
  bool sanitize = true;
  /// Judge order as a GPU keeps it, not as the PTX memory model promises it: an
  /// arrival at an mbarrier by some threads of a warp speaks for the others'
  /// accesses before it (while the warp runs converged), and atomics in device
  /// memory tell of one another without fences.
  bool hardwareOrder = false;
  /// Host threads that run blocks; 0 takes all cores.
  unsigned threads = 0;
  /// Print how far a launch is once it has taken two seconds.
  bool progress = true;
  /// Instructions one warp may execute before the launch is given up as an
  /// endless loop.
  uint64_t stepLimit = uint64_t(1) << 32;
  /// A launch stops after this many different findings.
  unsigned maxFindings = 20;
  /// Receives each finding once (a check at an instruction), from any thread
  /// but never two at a time. Without it a launch with findings throws
  /// DeviceError with one line per finding.
  std::function<void(const SimFinding &)> onFinding;
  SimTrace trace;
};

std::unique_ptr<Device> openSimulator(const SimulatorOptions &options);

} // namespace attn

#endif // ATTN_SIM_SIMULATOR_H
