//===- Execution.h - Inputs on a device, launched and watched ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every buffer lies between guard bands; outputs, gaps and workspace are
// poisoned with NaN before each launch, so that what a kernel did not write,
// or should not have, shows. Plain C++.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_EXECUTION_H
#define ATTN_TOOLS_RUN_EXECUTION_H

#include "Inputs.h"
#include "attn/Reference/Check.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attn::run {

/// Device memory between two guard bands.
class GuardedBuffer {
public:
  GuardedBuffer(Device &device, std::string name, int64_t bytes,
                int64_t guardBytes);
  GuardedBuffer(const GuardedBuffer &) = delete;
  GuardedBuffer &operator=(const GuardedBuffer &) = delete;
  ~GuardedBuffer();

  DevicePtr data() const { return base + DevicePtr(guardBytes); }
  /// Contents, and fresh guard bands.
  void upload(const std::vector<uint8_t> &contents);
  /// Fills contents and guard bands with poison.
  void poison();
  std::vector<uint8_t> download() const;
  /// "guard band after o: byte 16 was overwritten", or nothing.
  std::optional<std::string> guardViolation() const;

private:
  int64_t allocated() const;

  Device &device;
  std::string name;
  int64_t bytes, guardBytes;
  DevicePtr base = 0;
};

/// What a run left behind: whole buffers, gaps included.
struct OutputImage {
  std::vector<uint8_t> o, lse; ///< empty when the problem has no such output
};

struct ExecutionOptions {
  int64_t guardBytes = 0; ///< each side of every buffer; a multiple of 256
};

/// One launch's buffers on a device.
class Execution {
public:
  /// Allocates and uploads. Throws DeviceError when memory runs out.
  Execution(Device &device, LoadedPackage &package, const Inputs &inputs,
            const ExecutionOptions &options);

  /// Poisons outputs and workspace but its work counter, launches on `grid`
  /// blocks (unset: the default) and waits.
  LaunchPlan run(std::optional<int64_t> grid);
  /// The arguments of a launch, pointers included.
  LaunchArguments arguments(std::optional<int64_t> grid);

  OutputImage outputs() const;
  /// Guard bands overwritten, inputs changed, gaps of the outputs written,
  /// output elements not written, work counter not reset: one line for the
  /// first of each kind.
  /// `launched`: false when there was nothing to launch.
  std::vector<std::string> violations(const OutputImage &image,
                                      bool launched) const;

private:
  using Buffer = std::unique_ptr<GuardedBuffer>;
  Buffer make(const std::string &name, int64_t bytes);
  void clearWorkCounter();
  std::optional<std::string> workCounterViolation() const;
  Buffer makeInput(const std::string &name,
                   const std::vector<uint8_t> &contents);

  Device &device;
  LoadedPackage &package;
  const Inputs &inputs;
  ExecutionOptions options;
  Buffer q, k, v, o, lse, workspace;
  int64_t workspaceSize = 0;
  std::map<std::string, Buffer> tensors;
};

/// The outputs as the judge sees them; `image` must outlive the result.
Outputs viewOutputs(const Inputs &inputs, const OutputImage &image);

/// "o at b = 0, h = 1, i = 7, d = 3": where two images first differ, with both
/// bit patterns; nothing when they are equal.
std::optional<std::string> firstDifference(const Inputs &inputs,
                                           const OutputImage &a,
                                           const OutputImage &b);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_EXECUTION_H
