//===- Driver.h - The NVIDIA driver, opened at run time ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver's types as far as they are used, and a table of its functions.
// Nothing here needs CUDA headers or a link to libcuda, so everything builds
// and starts on a machine without a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_DRIVER_H
#define ATTN_LIB_RUNTIME_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace attn::driver {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;

/// Error codes that get a message of their own (CUresult).
enum : CUresult {
  success = 0,
  errorOutOfMemory = 2,
  errorNoDevice = 100,
  errorInvalidImage = 200,
  errorNoBinaryForGpu = 209,
  errorInvalidPtx = 218,
  errorUnsupportedPtxVersion = 222,
  errorIllegalAddress = 700,
  errorLaunchTimeout = 702,
  errorAssert = 710,
  // To this one: the hardware's stack, an illegal instruction, a misaligned
  // address, an address space, a program counter, any other exception.
  errorHardwareStack = 714,
  errorLaunchFailed = 719
};

/// A kernel did wrong, and the context is lost.
bool isKernelFault(CUresult result);

/// CUdevice_attribute.
enum : int {
  attributeClockRateKHz = 13,
  attributeMultiprocessorCount = 16,
  attributeMemoryClockRateKHz = 36,
  attributeMemoryBusWidthBits = 37,
  attributeSmMajor = 75,
  attributeSmMinor = 76,
  attributeSharedBytesPerBlockOptin = 97
};

/// CUfunction_attribute.
enum : int {
  functionMaxDynamicSharedBytes = 8,
  functionNonPortableClusterSize = 14
};

/// CUlaunchAttribute for the shape of clusters.
struct LaunchAttribute {
  static constexpr int clusterDimension = 4;
  int id = clusterDimension;
  int padding = 0;
  uint32_t cluster[3] = {1, 1, 1};
  uint32_t unused[13] = {};
};
static_assert(sizeof(LaunchAttribute) == 72, "CUlaunchAttribute");

/// CUlaunchConfig.
struct LaunchParameters {
  unsigned grid[3], block[3], sharedBytes;
  CUstream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchParameters) == 56, "CUlaunchConfig");

/// CUjit_option.
enum : int { jitErrorLogBuffer = 5, jitErrorLogBufferBytes = 6 };

/// The functions, by their exported names.
struct Driver {
#define ATTN_DRIVER(symbol, parameters) CUresult(*symbol) parameters = nullptr;
#include "DriverEntryPoints.def"

  /// Version of CUDA the driver supports, 1000 * major + 10 * minor.
  int version = 0;
};

/// Opens `library`, looks every function up and initialises the driver. Throws
/// DeviceError: no driver, a driver too old to have a function, no device.
Driver loadDriver(const char *library);

/// The table of libcuda.so.1, loaded on first use; a failure is not remembered.
const Driver &driver();

/// "CUDA_ERROR_OUT_OF_MEMORY: out of memory".
std::string describe(const Driver &driver, CUresult error);

/// Throws DeviceError "`what`: <description>" unless `result` is success.
void check(const Driver &driver, CUresult result, const char *what);

/// "13.0" for 13000.
std::string versionText(int version);

} // namespace attn::driver

#endif // ATTN_LIB_RUNTIME_DRIVER_H
