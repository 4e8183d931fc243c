//===- Launch.h - From run-time values to a kernel launch -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks what a caller binds (contract C9, C13, C14), chooses the kernel of a
// package and marshals its parameters. Planning touches no device, so it is the
// same for the GPU, the simulator and the tests. Plain C++.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_LAUNCH_H
#define ATTN_RUNTIME_LAUNCH_H

#include "attn/Runtime/Device.h"
#include "attn/Runtime/Package.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace attn {

/// A launch that is refused before it starts; the message names the field, the
/// value and the legal range.
class LaunchError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Largest q_len, k_len and totals: positions and their differences stay inside
/// i32.
constexpr int64_t maxSequenceLength = int64_t(1) << 30;
/// Base addresses and strides of q, k, v and o (contract C14).
constexpr int64_t accessAlignmentBytes = 16;
/// Blocks of a one-dimensional grid (CUDA, maximum x dimension).
constexpr int64_t maxGrid = (int64_t(1) << 31) - 1;

/// Where q, k, v, o ([batch, heads, positions, head_dim], innermost stride 1)
/// or lse ([batch, heads, q_len]) lie. Strides are in elements.
struct TensorView {
  DevicePtr data = 0;
  int64_t strideB = 0, strideH = 0, strideS = 0;
};

/// A value for a param: an integer (i32, i64, bool) or a float.
struct ParamValue {
  bool isFloat = false;
  int64_t intValue = 0;
  double floatValue = 0;

  static ParamValue ofInt(int64_t value) { return {false, value, 0}; }
  static ParamValue ofFloat(double value) { return {true, 0, value}; }
};

/// A tensor of the spec: row-major, contiguous, `elements` long.
struct TensorBinding {
  DevicePtr data = 0;
  int64_t elements = 0;
};

struct AuxiliaryPlan;

struct LaunchArguments {
  /// Lengths of all batch entries; where each has its own, of the longest.
  int64_t batch = 1, qLen = 0, kLen = 0;
  TensorView q, k, v, o, lse;
  /// Lengths of the entries, i32[batch]: both for `batch padded`; k_lens may be
  /// bound for `batch varlen`.
  DevicePtr qLens = 0, kLens = 0;
  /// `batch varlen`: the first row of each sequence among the packed ones,
  /// i32[batch + 1]. q, o and lse are packed ([heads, total_q]), k and v where
  /// cuSeqlensK is bound; the batch strides of what is packed are not looked
  /// at.
  DevicePtr cuSeqlensQ = 0, cuSeqlensK = 0;
  int64_t totalQ = 0, totalK = 0; ///< rows of the packed tensors
  /// Of one package, and of one launch at a time.
  DevicePtr workspace = 0;
  int64_t workspaceBytes = 0;
  std::map<std::string, ParamValue> params;
  std::map<std::string, TensorBinding> tensors;
  std::optional<int64_t> grid; ///< blocks; unset: as the kernel says
  /// Built for this package; null where auxiliaryBytes is 0 (or for planning
  /// only).
  const AuxiliaryPlan *plan = nullptr;
};

/// A parameter that only the device can encode.
struct MapArgument {
  size_t index = 0; ///< its place among the parameters
  TensorMap map;
};

/// A checked launch, ready for any stream.
struct LaunchPlan {
  const Kernel *kernel = nullptr; ///< null: nothing to compute, no launch
  /// The places of `maps` are empty until the launch.
  LaunchConfig config;
  std::vector<MapArgument> maps;
  int64_t workItems = 0;
  std::string reason; ///< which kernel, and why
  /// The kernels whose buffers it reads.
  std::vector<const Kernel *> auxiliaries;
  std::string missing; ///< what keeps it from being launched; else empty
};

/// The launch of one auxiliary kernel, and where its buffer is.
struct AuxiliaryLaunch {
  const Kernel *kernel = nullptr;
  LaunchConfig config;
  int64_t offset = 0, bytes = 0; ///< in the plan's memory
};

/// Device memory with the buffers of a package's auxiliary kernels: made once,
/// read by every launch with the same lengths, params and tensors. The memory
/// is the caller's; it holds the buffers once LoadedPackage::build has run, for
/// launches behind it on the stream.
///
/// What it was made for are the arguments of the auxiliary kernels, as they
/// were marshalled: a launch for which they differ is refused. Contents of
/// tensors are not looked at; after they change, it has to be built again.
struct AuxiliaryPlan {
  const Package *package = nullptr;
  DevicePtr memory = 0;
  int64_t bytes = 0;
  std::vector<AuxiliaryLaunch> launches; ///< in the order in which they run
};

/// True when PTX for `target` runs on a device of this compute capability:
/// "sm_80" on 8.0 and everything later, "sm_90a" on exactly 9.0, "sm_100f" on
/// the rest of its family. Throws PackageError for another spelling.
bool targetRunsOn(const std::string &target, int smMajor, int smMinor);

/// Number of elements of a tensor of the spec for these lengths.
int64_t elementCount(const Problem &problem, const Tensor &tensor,
                     const LaunchArguments &arguments);
/// Extent of every dimension of a tensor of the spec.
std::vector<int64_t> extents(const Problem &problem, const Tensor &tensor,
                             const LaunchArguments &arguments);

/// The factor applied to q . k in this launch: auto, the number, or the param.
double launchScale(const Problem &problem, const LaunchArguments &arguments);

/// The first attention kernel, in chooser order, whose target runs on the
/// device, whose guards hold and whose tensor maps can express the operands.
/// Sets `reason`. Throws LaunchError naming what each kernel lacks when none
/// fits.
const Kernel &chooseKernel(const Package &package,
                           const LaunchArguments &arguments,
                           const DeviceInfo &device, std::string &reason);

/// Bytes at the start of a workspace that hold the work counter: two i32, the
/// next work item and the blocks that are done. They are 0 before the first
/// launch on a workspace, and every launch leaves them so. All kernels of a
/// package reserve them as soon as one uses them, so that a workspace serves
/// any of its launches.
int64_t workCounterBytes(const Package &package);

/// Bytes of workspace that a launch with these lengths and strides needs.
int64_t workspaceBytes(const Package &package, const LaunchArguments &arguments,
                       const DeviceInfo &device);

/// Bytes of plan memory that a launch with these lengths and strides needs; 0
/// where its kernel reads no buffer of an auxiliary one.
int64_t auxiliaryBytes(const Package &package, const LaunchArguments &arguments,
                       const DeviceInfo &device);

/// The plan of a launch in `bytes` bytes at `memory`, a multiple of 16, ready
/// to be built. Throws LaunchError for a launch that is refused, and for memory
/// that is null, not aligned, or too short, with both numbers.
AuxiliaryPlan planAuxiliaries(const Package &package,
                              const LaunchArguments &arguments,
                              const DeviceInfo &device, DevicePtr memory,
                              int64_t bytes);

/// Checks, chooses and marshals. Throws LaunchError, also for a plan that was
/// made for another launch, with both values. Without the plan that its kernel
/// needs, the launch is only `missing` it, and may be prepared.
LaunchPlan planLaunch(const Package &package, const LaunchArguments &arguments,
                      const DeviceInfo &device);

/// A package on a device; PTX is loaded at the first launch that needs it. Both
/// must outlive it. Launching from several threads is safe, as far as it is on
/// the device; no thread waits for another to load another kernel.
class LoadedPackage {
public:
  LoadedPackage(const Package &package, Device &device);

  /// Plans and launches on the stream, without waiting. Throws LaunchError or
  /// DeviceError.
  LaunchPlan launch(const LaunchArguments &arguments,
                    StreamHandle stream = nullptr);
  /// Fills the buffers of a plan of this package, on the stream, without
  /// waiting.
  void build(const AuxiliaryPlan &plan, StreamHandle stream = nullptr);
  /// Launches a plan made by planLaunch for this package and device.
  void launch(const LaunchPlan &plan, StreamHandle stream = nullptr);
  /// Loads what launching the plan, and building what it reads, will need, so
  /// that they only launch.
  void prepare(const LaunchPlan &plan);
  /// The loaded module of a kernel.
  DeviceModule &module(const Kernel &kernel);

  const Package &package() const { return thePackage; }
  const DeviceInfo &deviceInfo() const { return info; }

private:
  struct Slot {
    std::mutex loading;
    std::unique_ptr<DeviceModule> module;
  };

  const Package &thePackage;
  Device &device;
  DeviceInfo info;
  std::mutex mutex; ///< of the map, not of what is in it
  std::map<const Kernel *, Slot> modules;
};

} // namespace attn

#endif // ATTN_RUNTIME_LAUNCH_H
