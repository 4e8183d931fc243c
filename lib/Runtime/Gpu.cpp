//===- Gpu.cpp - The NVIDIA implementation of Device ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>

using namespace attn;
using namespace attn::driver;

int64_t attn::tensorFlopsPerClock(int smMajor, int smMinor) {
  // NVIDIA architecture white papers, dense bf16 per multiprocessor. For 8.6,
  // 8.9 and 12.0 the figure is that of the professional boards; GeForce boards
  // have half of it with f32 accumulation, which the driver does not tell.
  switch (smMajor * 10 + smMinor) {
  case 80:
    return 2048;
  case 86:
  case 89:
  case 120:
    return 1024;
  case 90:
    return 4096;
  case 100:
  case 103:
    return 8192;
  default:
    return 0;
  }
}

std::string attn::ptxVersion(const std::string &ptx) {
  const std::string directive = ".version";
  size_t at = ptx.find(directive);
  if (at == std::string::npos)
    return "";
  std::istringstream rest(ptx.substr(at + directive.size(), 32));
  std::string version;
  rest >> version;
  return version;
}

namespace {

enum class OnFailure { Throw, Ignore };

/// Makes a context current until the end of the scope; the thread then has the
/// one it had.
class ContextScope {
public:
  ContextScope(const Driver &driver, CUcontext context,
               OnFailure onFailure = OnFailure::Throw)
      : cuda(driver) {
    CUresult result = cuda.cuCtxGetCurrent(&previous);
    changed = result == success && previous != context;
    if (changed)
      result = cuda.cuCtxSetCurrent(context);
    if (onFailure == OnFailure::Throw)
      check(cuda, result, "making the context current");
  }
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;
  ~ContextScope() {
    if (changed)
      cuda.cuCtxSetCurrent(previous);
  }

private:
  const Driver &cuda;
  CUcontext previous = nullptr;
  bool changed = false;
};

class GpuModule : public DeviceModule {
public:
  GpuModule(const Driver &driver, CUcontext context, CUmodule module)
      : cuda(driver), context(context), module(module) {}

  ~GpuModule() override {
    // Fails harmlessly at process exit, after the driver has shut down.
    ContextScope scope(cuda, context, OnFailure::Ignore);
    cuda.cuModuleUnload(module);
  }

  void launch(const std::string &kernel, const LaunchConfig &config) override {
    ContextScope scope(cuda, context);
    CUfunction entry = function(kernel, config.sharedBytes);
    std::vector<void *> pointers;
    for (const std::vector<uint8_t> &argument : config.arguments)
      pointers.push_back(const_cast<uint8_t *>(argument.data()));
    CUresult result =
        clusterBlocks(config) > 1
            ? launchClusters(entry, config, pointers.data())
            : cuda.cuLaunchKernel(
                  entry, config.grid[0], config.grid[1], config.grid[2],
                  config.block[0], config.block[1], config.block[2],
                  config.sharedBytes, static_cast<CUstream>(config.stream),
                  pointers.data(), nullptr);
    check(cuda, result, ("launching kernel '" + kernel + "'").c_str());
  }

  int occupancy(const std::string &kernel, int threads,
                int64_t sharedBytes) override {
    ContextScope scope(cuda, context);
    int blocks = 0;
    CUfunction entry = function(kernel, sharedBytes);
    check(cuda,
          cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(
              &blocks, entry, threads, static_cast<size_t>(sharedBytes)),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks;
  }

private:
  static uint64_t clusterBlocks(const LaunchConfig &config) {
    return uint64_t(config.cluster[0]) * config.cluster[1] * config.cluster[2];
  }

  CUresult launchClusters(CUfunction entry, const LaunchConfig &config,
                          void **arguments) {
    // CUDA programming guide: up to 8 blocks work on every GPU; more must be
    // asked for.
    constexpr uint64_t portableBlocks = 8;
    if (clusterBlocks(config) > portableBlocks)
      check(cuda,
            cuda.cuFuncSetAttribute(entry, functionNonPortableClusterSize, 1),
            "asking for clusters of more than 8 blocks");
    LaunchAttribute attribute;
    std::copy_n(config.cluster, 3, attribute.cluster);
    LaunchParameters parameters;
    std::copy_n(config.grid, 3, parameters.grid);
    std::copy_n(config.block, 3, parameters.block);
    parameters.sharedBytes = config.sharedBytes;
    parameters.stream = static_cast<CUstream>(config.stream);
    parameters.attributes = &attribute;
    parameters.attributeCount = 1;
    return cuda.cuLaunchKernelEx(&parameters, entry, arguments, nullptr);
  }

  struct Entry {
    CUfunction function = nullptr;
    int64_t sharedBytes = 0; ///< the dynamic maximum set so far
  };

  CUfunction function(const std::string &kernel, int64_t sharedBytes) {
    std::lock_guard<std::mutex> lock(mutex);
    Entry &entry = entries[kernel];
    if (!entry.function)
      check(cuda,
            cuda.cuModuleGetFunction(&entry.function, module, kernel.c_str()),
            ("looking up kernel '" + kernel + "'").c_str());
    // CUDA programming guide: more than 48 KB of dynamic shared memory per
    // block must be asked for.
    constexpr int64_t defaultLimit = 48 * 1024;
    if (sharedBytes > defaultLimit && sharedBytes > entry.sharedBytes) {
      check(cuda,
            cuda.cuFuncSetAttribute(entry.function,
                                    functionMaxDynamicSharedBytes,
                                    static_cast<int>(sharedBytes)),
            ("asking for " + std::to_string(sharedBytes) +
             " bytes of shared memory")
                .c_str());
      entry.sharedBytes = sharedBytes;
    }
    return entry.function;
  }

  const Driver &cuda;
  CUcontext context;
  CUmodule module;
  std::mutex mutex;
  std::map<std::string, Entry> entries;
};

class Gpu : public Device {
public:
  /// `ownsContext`: the primary context of `device` was retained.
  Gpu(const Driver &driver, CUdevice device, CUcontext context,
      bool ownsContext)
      : cuda(driver), device(device), context(context),
        ownsContext(ownsContext) {}

  ~Gpu() override {
    if (ownsContext)
      cuda.cuDevicePrimaryCtxRelease_v2(device);
  }

  DeviceInfo info() const override {
    DeviceInfo info;
    char name[256] = {};
    check(cuda, cuda.cuDeviceGetName(name, sizeof(name) - 1, device),
          "cuDeviceGetName");
    info.name = name;
    info.smMajor = attribute(attributeSmMajor);
    info.smMinor = attribute(attributeSmMinor);
    info.multiprocessors = attribute(attributeMultiprocessorCount);
    info.sharedBytesPerBlock = attribute(attributeSharedBytesPerBlockOptin);
    constexpr double hertzPerKHz = 1e3;
    info.peakTensorFlops =
        double(tensorFlopsPerClock(info.smMajor, info.smMinor)) *
        info.multiprocessors * attribute(attributeClockRateKHz) * hertzPerKHz;
    // Double data rate: two transfers per clock.
    info.peakBytesPerSecond = 2.0 * attribute(attributeMemoryClockRateKHz) *
                              hertzPerKHz *
                              attribute(attributeMemoryBusWidthBits) / 8;
    return info;
  }

  DevicePtr allocate(size_t bytes) override {
    ContextScope scope(cuda, context);
    CUdeviceptr ptr = 0;
    // The driver refuses 0 bytes.
    CUresult result = cuda.cuMemAlloc_v2(&ptr, bytes ? bytes : 1);
    if (result == errorOutOfMemory) {
      size_t free = 0, total = 0;
      cuda.cuMemGetInfo_v2(&free, &total);
      throw DeviceError("out of device memory: " + std::to_string(bytes) +
                        " bytes asked for, " + std::to_string(free) + " of " +
                        std::to_string(total) + " free");
    }
    check(cuda, result, "allocating device memory");
    return ptr;
  }

  void release(DevicePtr ptr) override {
    ContextScope scope(cuda, context, OnFailure::Ignore);
    cuda.cuMemFree_v2(ptr);
  }

  void copyToDevice(DevicePtr dst, const void *src, size_t bytes) override {
    ContextScope scope(cuda, context);
    check(cuda, cuda.cuMemcpyHtoD_v2(dst, src, bytes), "copying to the device");
  }

  void copyFromDevice(void *dst, DevicePtr src, size_t bytes) override {
    ContextScope scope(cuda, context);
    check(cuda, cuda.cuMemcpyDtoH_v2(dst, src, bytes),
          "copying from the device");
  }

  void fill32(DevicePtr dst, uint32_t pattern, size_t bytes) override {
    ContextScope scope(cuda, context);
    check(cuda, cuda.cuMemsetD32_v2(dst, pattern, bytes / sizeof(pattern)),
          "filling device memory");
  }

  std::unique_ptr<DeviceModule> loadModule(const std::string &ptx) override;
  EncodedTensorMap encodeTensorMap(const TensorMap &map) override;

  void synchronize() override {
    ContextScope scope(cuda, context);
    check(cuda, cuda.cuCtxSynchronize(), "running a kernel");
  }

  double timeMilliseconds(StreamHandle stream, int repeats,
                          void (*body)(void *), void *argument) override;

private:
  int attribute(int which) const {
    int value = 0;
    check(cuda, cuda.cuDeviceGetAttribute(&value, which, device),
          "cuDeviceGetAttribute");
    return value;
  }

  const Driver &cuda;
  CUdevice device;
  CUcontext context;
  bool ownsContext;
};

/// A pair of events that is destroyed on every way out.
class EventPair {
public:
  explicit EventPair(const Driver &driver) : cuda(driver) {
    check(cuda, cuda.cuEventCreate(&start, 0), "cuEventCreate");
    CUresult result = cuda.cuEventCreate(&stop, 0);
    if (result != success)
      cuda.cuEventDestroy_v2(start);
    check(cuda, result, "cuEventCreate");
  }
  EventPair(const EventPair &) = delete;
  EventPair &operator=(const EventPair &) = delete;
  ~EventPair() {
    cuda.cuEventDestroy_v2(start);
    cuda.cuEventDestroy_v2(stop);
  }
  CUevent start = nullptr, stop = nullptr;

private:
  const Driver &cuda;
};

} // namespace

std::unique_ptr<DeviceModule> Gpu::loadModule(const std::string &ptx) {
  ContextScope scope(cuda, context);
  std::string log(8192, '\0');
  int options[] = {jitErrorLogBuffer, jitErrorLogBufferBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  CUmodule module = nullptr;
  CUresult result =
      cuda.cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values);
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  if (result == errorUnsupportedPtxVersion)
    throw DeviceError("NVIDIA driver too old: it supports CUDA " +
                      versionText(cuda.version) + ", the kernel is PTX " +
                      ptxVersion(ptx) + "; install a newer driver");
  std::string message = "loading PTX: " + describe(cuda, result) +
                        (log.empty() ? "" : "\n" + log);
  if (result == errorInvalidImage || result == errorInvalidPtx ||
      result == errorNoBinaryForGpu)
    throw ModuleError(message);
  if (result != success)
    throw DeviceError(message);
  return std::make_unique<GpuModule>(cuda, context, module);
}

/// CUtensorMapDataType.
static int driverFormat(TensorMap::Format format) {
  switch (format) {
  case TensorMap::Format::U8:
    return 0;
  case TensorMap::Format::U16:
    return 1;
  case TensorMap::Format::U32:
    return 2;
  case TensorMap::Format::I32:
    return 3;
  case TensorMap::Format::U64:
    return 4;
  case TensorMap::Format::I64:
    return 5;
  case TensorMap::Format::F16:
    return 6;
  case TensorMap::Format::F32:
    return 7;
  case TensorMap::Format::F64:
    return 8;
  case TensorMap::Format::BF16:
    return 9;
  }
  return -1;
}

EncodedTensorMap Gpu::encodeTensorMap(const TensorMap &map) {
  checkTensorMap(map);
  ContextScope scope(cuda, context);
  constexpr int interleaveNone = 0;
  const uint32_t elementStrides[TensorMap::maxRank] = {1, 1, 1, 1, 1};
  // The driver wants the map on a multiple of 64.
  alignas(64) EncodedTensorMap encoded;
  // The enumerators of swizzle, promotion and fill are the driver's.
  check(cuda,
        cuda.cuTensorMapEncodeTiled(
            encoded.data(), driverFormat(map.format), map.rank,
            reinterpret_cast<void *>(map.base), map.dims.data(),
            map.strides.data(), map.box.data(), elementStrides, interleaveNone,
            static_cast<int>(map.swizzle), static_cast<int>(map.promotion),
            static_cast<int>(map.fill)),
        "encoding a tensor map");
  return encoded;
}

double Gpu::timeMilliseconds(StreamHandle stream, int repeats,
                             void (*body)(void *), void *argument) {
  ContextScope scope(cuda, context);
  EventPair events(cuda);
  auto queue = static_cast<CUstream>(stream);
  check(cuda, cuda.cuEventRecord(events.start, queue), "cuEventRecord");
  for (int i = 0; i < repeats; ++i)
    body(argument);
  check(cuda, cuda.cuEventRecord(events.stop, queue), "cuEventRecord");
  check(cuda, cuda.cuEventSynchronize(events.stop), "running a kernel");
  float milliseconds = 0;
  check(cuda, cuda.cuEventElapsedTime(&milliseconds, events.start, events.stop),
        "cuEventElapsedTime");
  return milliseconds;
}

std::unique_ptr<Device> attn::openGpu(int ordinal) {
  const Driver &cuda = driver::driver();
  int count = 0;
  check(cuda, cuda.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0)
    throw DeviceError("no NVIDIA GPU: the driver is installed but finds no "
                      "device");
  if (ordinal < 0 || ordinal >= count)
    throw DeviceError("GPU " + std::to_string(ordinal) + ": allowed 0 .. " +
                      std::to_string(count - 1));
  CUdevice device = 0;
  check(cuda, cuda.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  CUcontext context = nullptr;
  check(cuda, cuda.cuDevicePrimaryCtxRetain(&context, device),
        "opening the GPU");
  return std::make_unique<Gpu>(cuda, device, context, /*ownsContext=*/true);
}

void *attn::currentGpuContext() {
  const Driver &cuda = driver::driver();
  CUcontext context = nullptr;
  check(cuda, cuda.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  return context;
}

std::unique_ptr<Device> attn::openCurrentGpu() {
  auto context = static_cast<CUcontext>(currentGpuContext());
  if (!context)
    throw DeviceError("no CUDA context is current on this thread: make one "
                      "current (any CUDA runtime call does) before launching");
  const Driver &cuda = driver::driver();
  CUdevice device = 0;
  check(cuda, cuda.cuCtxGetDevice(&device), "cuCtxGetDevice");
  return std::make_unique<Gpu>(cuda, device, context, /*ownsContext=*/false);
}
