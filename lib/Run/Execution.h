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

/// What the auxiliary kernels of a package made for a launch.
struct PlanReport {
  int64_t bytes = 0; ///< of device memory
  double milliseconds = 0;
  std::string kernels; ///< "list" or "list, other"

  /// "64 bytes by list, built in 0.0123 ms"
  std::string text() const;
};

/// Builds a plan where a device times something.
struct TimedBuild {
  LoadedPackage &package;
  const AuxiliaryPlan &plan;

  static void run(void *context) {
    auto *self = static_cast<TimedBuild *>(context);
    self->package.build(self->plan);
  }
};

/// One launch's buffers on a device.
class Execution {
public:
  /// Allocates and uploads. Throws DeviceError when memory runs out.
  Execution(Device &device, LoadedPackage &package, const Inputs &inputs,
            const ExecutionOptions &options);

  /// Poisons outputs, plan and workspace but its work counter, builds the plan,
  /// launches on `grid` blocks (unset: the default) and waits.
  LaunchPlan run(std::optional<int64_t> grid);
  /// The plan of every launch here; null where the kernel needs none.
  const AuxiliaryPlan *plan() const {
    return auxiliary.launches.empty() ? nullptr : &auxiliary;
  }
  /// Size, and the time of the last build.
  const std::optional<PlanReport> &planReport() const { return report; }
  /// What the last build left, before the launch; empty without a plan.
  const std::vector<uint8_t> &planImage() const { return builtImage; }
  /// The arguments of a launch, pointers included.
  LaunchArguments arguments(std::optional<int64_t> grid);

  OutputImage outputs() const;
  /// Guard bands overwritten, inputs changed, gaps of the outputs written,
  /// output elements not written, plan changed by its reader, work counter not
  /// reset: one line for the first of each kind.
  /// `launched`: false when there was nothing to launch.
  std::vector<std::string> violations(const OutputImage &image,
                                      bool launched) const;

private:
  using Buffer = std::unique_ptr<GuardedBuffer>;
  Buffer make(const std::string &name, int64_t bytes);
  void makeLengthArrays();
  void buildPlan();
  void clearWorkCounter();
  std::optional<std::string> workCounterViolation() const;
  Buffer makeInput(const std::string &name,
                   const std::vector<uint8_t> &contents);

  Device &device;
  LoadedPackage &package;
  const Inputs &inputs;
  ExecutionOptions options;
  Buffer q, k, v, o, lse, workspace, planMemory;
  int64_t workspaceSize = 0;
  AuxiliaryPlan auxiliary; ///< without launches: not needed
  std::optional<PlanReport> report;
  std::vector<uint8_t> builtImage;
  std::map<std::string, Buffer> tensors, lengthArrays;
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
