//===- Launch.h - One launch of a kernel -------------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_LAUNCH_H
#define ATTN_LIB_SIM_LAUNCH_H

#include "GlobalShadow.h"
#include "Memory.h"
#include "Program.h"
#include "attn/Sim/Simulator.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace attn::sim {

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
  std::unique_ptr<GlobalShadow> shadow; ///< null when the sanitizer is off
  std::vector<uint8_t> parameters;
  uint32_t threads = 0;            ///< per block
  uint32_t sharedBytes = 0;        ///< per block, static and dynamic
  uint32_t cluster[3] = {1, 1, 1}; ///< blocks
  unsigned clusterBlocks = 1;
  std::atomic<bool> stop{false};
  /// Instructions that SimulatorOptions::trace printed, by one host thread.
  uint64_t traced = 0;

private:
  void checkShape() const;
  void setCluster();
  void checkTrace() const;
  void endTrace() const;
  void bindParameters();
  void work();

  std::atomic<uint64_t> nextCluster{0}, doneBlocks{0};
  uint64_t blocks = 0;
  std::chrono::steady_clock::time_point started, lastPrint;
  std::mutex mutex;
  std::set<std::pair<std::string, const void *>> seen;
  std::vector<SimFinding> findings;
  bool aborted = false;
  std::string hostError;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_LAUNCH_H
