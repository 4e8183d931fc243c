//===- FakeDriver.cpp - A libcuda.so.1 to test against --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include "Driver.h"

#include <cstring>

using namespace attn::driver;
using attn::test::FakeDriver;
using attn::test::FakeLaunch;

/// The state, which the test finds by this name.
extern "C" FakeDriver *fakeDriver() {
  static FakeDriver state;
  return &state;
}

static FakeDriver &fake() { return *fakeDriver(); }

/// Handles are addresses of names that live as long as the library.
static std::string &kernelName(CUfunction function) {
  return *reinterpret_cast<std::string *>(function);
}

static int eventObject, moduleObject;

constexpr CUresult captureUnsupported = 900, invalidContext = 201;

extern "C" {

CUresult cuInit(unsigned) { return fake().initResult; }
CUresult cuDriverGetVersion(int *version) {
  *version = 12040;
  return success;
}
CUresult cuGetErrorName(CUresult error, const char **name) {
  *name = error == errorOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
                                    : "CUDA_ERROR_OF_THE_FAKE";
  return success;
}
CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "as told";
  return success;
}
CUresult cuDeviceGetCount(int *count) {
  *count = fake().deviceCount;
  return success;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return success;
}
CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  std::strncpy(name, "fake H200", size_t(length));
  return success;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  static const std::map<int, int> h200 = {
      {attributeClockRateKHz, 1980000},
      {attributeMultiprocessorCount, 132},
      {attributeMemoryClockRateKHz, 3201000},
      {attributeMemoryBusWidthBits, 6144},
      {attributeSmMajor, 9},
      {attributeSmMinor, 0},
      {attributeSharedBytesPerBlockOptin, 232448}};
  *value = h200.at(attribute);
  return success;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  ++fake().contexts;
  *context = reinterpret_cast<CUcontext>(FakeDriver::primary);
  return success;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  --fake().contexts;
  return success;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  fake().current = reinterpret_cast<uintptr_t>(context);
  return success;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = reinterpret_cast<CUcontext>(fake().current);
  return success;
}
CUresult cuCtxGetDevice(CUdevice *device) {
  *device = 0;
  return success;
}
CUresult cuCtxSynchronize() {
  return fake().capturing ? captureUnsupported : fake().synchronizeResult;
}
CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes) {
  if (fake().current != FakeDriver::primary)
    return invalidContext;
  if (fake().capturing)
    return captureUnsupported;
  constexpr CUresult invalidValue = 1; // CUDA_ERROR_INVALID_VALUE
  if (!bytes)
    return invalidValue;
  if (bytes > fake().freeBytes)
    return errorOutOfMemory;
  std::vector<uint8_t> buffer(bytes);
  *ptr = reinterpret_cast<CUdeviceptr>(buffer.data());
  fake().memory[*ptr] = std::move(buffer);
  return success;
}
CUresult cuMemFree_v2(CUdeviceptr ptr) {
  if (fake().capturing)
    return captureUnsupported;
  fake().memory.erase(ptr);
  return success;
}
CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = fake().freeBytes;
  *total = size_t(1) << 31;
  return success;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes) {
  if (fake().capturing)
    return captureUnsupported;
  std::memcpy(reinterpret_cast<void *>(dst), src, bytes);
  return success;
}
CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes) {
  if (fake().capturing)
    return captureUnsupported;
  std::memcpy(dst, reinterpret_cast<const void *>(src), bytes);
  return success;
}
CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned pattern, size_t words) {
  if (fake().capturing)
    return captureUnsupported;
  for (size_t i = 0; i < words; ++i)
    std::memcpy(reinterpret_cast<uint8_t *>(dst) + i * sizeof(pattern),
                &pattern, sizeof(pattern));
  return success;
}
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            int *options, void **values) {
  if (fake().current != FakeDriver::primary)
    return invalidContext;
  if (fake().capturing)
    return captureUnsupported;
  fake().loaded.emplace_back(static_cast<const char *>(image));
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == jitErrorLogBuffer)
      std::strcpy(static_cast<char *>(values[i]), fake().loadLog.c_str());
  if (fake().loadResult == success)
    ++fake().modules;
  *module = reinterpret_cast<CUmodule>(&moduleObject);
  return fake().loadResult;
}
CUresult cuModuleUnload(CUmodule) {
  --fake().modules;
  return success;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  if (fake().capturing)
    return captureUnsupported;
  constexpr CUresult notFound = 500; // CUDA_ERROR_NOT_FOUND
  if (fake().loaded.back().find(name) == std::string::npos)
    return notFound;
  static std::map<std::string, std::string> names;
  std::string &entry = names[name];
  entry = name;
  *function = reinterpret_cast<CUfunction>(&entry);
  return success;
}
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  if (fake().capturing)
    return captureUnsupported;
  if (attribute == functionMaxDynamicSharedBytes)
    fake().sharedLimit[kernelName(function)] = value;
  if (attribute == functionNonPortableClusterSize)
    fake().nonPortableClusters = value != 0;
  return success;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY,
                        unsigned gridZ, unsigned blockX, unsigned blockY,
                        unsigned blockZ, unsigned sharedBytes, CUstream stream,
                        void **parameters, void **) {
  if (fake().current != FakeDriver::primary)
    return invalidContext;
  if (fake().launchResult != success)
    return fake().launchResult;
  FakeLaunch launch{kernelName(function),
                    {gridX, gridY, gridZ},
                    {blockX, blockY, blockZ},
                    sharedBytes,
                    stream,
                    {},
                    {}};
  for (size_t i = 0; i < fake().argumentBytes.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, parameters[i], fake().argumentBytes[i]);
    launch.arguments.push_back(value);
  }
  fake().launches.push_back(launch);
  return success;
}
CUresult cuLaunchKernelEx(const LaunchParameters *config, CUfunction function,
                          void **parameters, void **extra) {
  const unsigned *grid = config->grid, *block = config->block;
  CUresult result = cuLaunchKernel(
      function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
      config->sharedBytes, config->stream, parameters, extra);
  if (result == success)
    fake().launches.back().cluster.assign(config->attributes->cluster,
                                          config->attributes->cluster + 3);
  return result;
}
/// Not NVIDIA's encoding, which is secret: the arguments one after the other.
CUresult cuTensorMapEncodeTiled(void *map, int format, uint32_t rank,
                                void *base, const uint64_t *dims,
                                const uint64_t *strides, const uint32_t *box,
                                const uint32_t *elementStrides, int interleave,
                                int swizzle, int promotion, int fill) {
  constexpr CUresult invalidValue = 1;
  if (reinterpret_cast<uintptr_t>(map) % 64)
    return invalidValue;
  uint64_t words[16] = {reinterpret_cast<uint64_t>(base)};
  for (unsigned i = 0; i < rank; ++i) {
    words[1 + i] = dims[i];
    words[6 + i] = uint64_t(elementStrides[i]) << 32 | box[i];
    if (i + 1 < rank)
      words[11 + i] = strides[i];
  }
  const int flags[] = {format, interleave, swizzle, promotion, fill};
  for (unsigned i = 0; i < 5; ++i)
    words[15] |= uint64_t(flags[i]) << 8 * i;
  std::memcpy(map, words, sizeof(words));
  return success;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction,
                                                     int, size_t) {
  *blocks = 2;
  return success;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  if (fake().capturing)
    return captureUnsupported;
  ++fake().events;
  *event = reinterpret_cast<CUevent>(&eventObject);
  return success;
}
CUresult cuEventRecord(CUevent, CUstream) { return success; }
CUresult cuEventSynchronize(CUevent) { return fake().synchronizeResult; }
CUresult cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  *milliseconds = 1.5f;
  return success;
}
CUresult cuEventDestroy_v2(CUevent) {
  --fake().events;
  return success;
}

} // extern "C"

// A function of the table that is missing here would be a "driver too old" at
// run time; this makes it an error at compile time.
#define ATTN_DRIVER(symbol, parameters)                                        \
  static_assert(sizeof(&symbol) > 0, #symbol);
#include "DriverEntryPoints.def"
