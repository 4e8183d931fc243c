//===- Options.h - attn-run's command line ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_OPTIONS_H
#define ATTN_TOOLS_RUN_OPTIONS_H

#include "CheckRun.h"
#include "Inputs.h"

#include "attn/Sim/Simulator.h"

#include <optional>
#include <string>

namespace attn::run {

enum class DeviceChoice { Auto, Gpu, Simulator };

struct RunOptions {
  std::string source;    ///< a spec or a package
  std::string attention; ///< block of the spec; empty: its only one
  std::string target;    ///< empty: the device's
  /// The only schedule to compile; empty: all, and the launch chooses.
  std::string alternative;
  DeviceChoice device = DeviceChoice::Auto;
  SimTrace trace; ///< of every launch
  /// Instructions that a warp may run on the simulator; none: its own limit.
  std::optional<uint64_t> stepLimit;
  InputOptions inputs;
  std::string saveO, saveLse; ///< empty: not saved
  bool check = false, bench = false, json = false;
  CheckOptions checkOptions; ///< its grid is the grid of every launch
  int benchRepeats = 20;
};

/// Reads the command line. Throws InputError; prints and exits with 0 for
/// --help and --version.
RunOptions parseOptions(int argc, char **argv);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_OPTIONS_H
