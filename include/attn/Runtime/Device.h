//===- Device.h - What a kernel runs on -------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface that the NVIDIA driver (lib/Runtime) and the PTX simulator
// (lib/Sim) implement, so that launching, checking and timing are written once.
// Plain C++. Errors are thrown as attn::DeviceError with a one-line message.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_DEVICE_H
#define ATTN_RUNTIME_DEVICE_H

#include "attn/Runtime/TensorMap.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace attn {

class DeviceError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// PTX that the device refuses, a launch that does not fit it, or a trace of
/// what the launch does not have: what was asked for is at fault and not the
/// machine.
class ModuleError : public DeviceError {
public:
  using DeviceError::DeviceError;
};

/// The kernel itself did wrong: it faulted, or the simulator found something.
class KernelError : public DeviceError {
public:
  using DeviceError::DeviceError;
};

/// An address in device memory.
using DevicePtr = uint64_t;
/// An opaque stream; 0 is the device's default stream.
using StreamHandle = void *;

struct DeviceInfo {
  std::string name;
  int smMajor = 0, smMinor = 0; ///< compute capability
  int multiprocessors = 1;
  int64_t sharedBytesPerBlock = 0; ///< opt-in maximum
  double peakTensorFlops = 0;      ///< dense bf16, FLOP/s; 0 = unknown
  double peakBytesPerSecond = 0;   ///< device memory; 0 = unknown
};

/// One launch. `arguments` holds the kernel parameters in order, each already
/// in its binary form (4 or 8 bytes; larger for by-value structs, such as the
/// 128 bytes of a tensor map).
struct LaunchConfig {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  /// Blocks of a cluster along each axis, divisors of the grid's. All 1 leaves
  /// it to the kernel's own `.reqnctapercluster`.
  uint32_t cluster[3] = {1, 1, 1};
  uint32_t sharedBytes = 0;
  StreamHandle stream = nullptr;
  std::vector<std::vector<uint8_t>> arguments;
};

/// A loaded PTX module. Destroying it unloads.
class DeviceModule {
public:
  virtual ~DeviceModule() = default;
  /// Launches `kernel` asynchronously.
  virtual void launch(const std::string &kernel,
                      const LaunchConfig &config) = 0;
  /// Resident blocks per multiprocessor for this block and shared size.
  virtual int occupancy(const std::string &kernel, int threads,
                        int64_t sharedBytes) = 0;
};

class Device {
public:
  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  /// An address of its own for release, also for 0 bytes.
  virtual DevicePtr allocate(size_t bytes) = 0;
  virtual void release(DevicePtr ptr) = 0;
  virtual void copyToDevice(DevicePtr dst, const void *src, size_t bytes) = 0;
  virtual void copyFromDevice(void *dst, DevicePtr src, size_t bytes) = 0;
  /// Fills `bytes` (a multiple of 4) with a 32-bit pattern.
  virtual void fill32(DevicePtr dst, uint32_t pattern, size_t bytes) = 0;
  /// Loads PTX text. Throws ModuleError where the text is refused; the driver's
  /// or the simulator's log goes into the error.
  virtual std::unique_ptr<DeviceModule> loadModule(const std::string &ptx) = 0;
  /// The bytes by which a kernel of this device receives `map`. Throws
  /// DeviceError that names the rule a bad map breaks (checkTensorMap).
  virtual EncodedTensorMap encodeTensorMap(const TensorMap &map) = 0;
  virtual void synchronize() = 0;
  /// Milliseconds of device time that `repeats` runs of `body` take together
  /// (CUDA events on `stream`; host clock on the simulator).
  virtual double timeMilliseconds(StreamHandle stream, int repeats,
                                  void (*body)(void *), void *context) = 0;
};

/// The first NVIDIA GPU (or `ordinal`). Throws DeviceError when there is no
/// driver, no GPU or the driver is too old, saying which.
std::unique_ptr<Device> openGpu(int ordinal = 0);
/// The PTX simulator (lib/Sim).
std::unique_ptr<Device> openSimulator();

} // namespace attn

#endif // ATTN_RUNTIME_DEVICE_H
