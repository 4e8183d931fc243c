//===- CApiDevice.cpp - The C interface to devices ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CApiSupport.h"
#include "SerialDevice.h"

#include <charconv>

using namespace attn;

/// "gpu" is the first one, "gpu:N" the N-th from 0.
static std::optional<int> gpuOrdinal(const std::string &name) {
  const std::string prefix = "gpu:";
  if (name == "gpu")
    return 0;
  if (name.compare(0, prefix.size(), prefix) != 0)
    return std::nullopt;
  int ordinal = 0;
  const char *end = name.data() + name.size();
  auto [stop, error] =
      std::from_chars(name.data() + prefix.size(), end, ordinal);
  if (error != std::errc() || stop != end)
    return std::nullopt;
  return ordinal;
}

static std::unique_ptr<Device> open(const std::string &name) {
  // Its memory is not made for changes by several threads.
  if (name == "sim")
    return makeSerial(openSimulator());
  if (std::optional<int> ordinal = gpuOrdinal(name))
    return openGpu(*ordinal);
  throw LaunchError("device '" + name + "': expected gpu, gpu:N or sim");
}

static Device &deviceOf(attn_device *handle) {
  return *required(handle, "device").device;
}

int attn_device_open(const char *name, attn_device **device) {
  return guarded([&] {
    required(device, "device") = nullptr;
    auto handle = std::make_unique<attn_device>();
    handle->device = open(&required(name, "name"));
    *device = handle.release();
  });
}

void attn_device_close(attn_device *device) { delete device; }

int attn_device_allocate(attn_device *device, int64_t bytes,
                         uint64_t *address) {
  return guarded([&] {
    required(address, "address") = 0;
    if (bytes < 1)
      throw LaunchError("bytes = " + std::to_string(bytes) +
                        ": expected 1 or more");
    *address = deviceOf(device).allocate(size_t(bytes));
  });
}

int attn_device_release(attn_device *device, uint64_t address) {
  return guarded([&] {
    if (address)
      deviceOf(device).release(address);
  });
}

int attn_device_write(attn_device *device, uint64_t address, const void *source,
                      int64_t bytes) {
  return guarded([&] {
    checkCount("bytes", source, bytes);
    if (bytes > 0)
      deviceOf(device).copyToDevice(address, source, size_t(bytes));
  });
}

int attn_device_read(attn_device *device, void *destination, uint64_t address,
                     int64_t bytes) {
  return guarded([&] {
    checkCount("bytes", destination, bytes);
    if (bytes > 0)
      deviceOf(device).copyFromDevice(destination, address, size_t(bytes));
  });
}

int attn_device_synchronize(attn_device *device) {
  return guarded([&] { deviceOf(device).synchronize(); });
}
