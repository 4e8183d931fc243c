//===- SerialDevice.cpp - One call at a time ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SerialDevice.h"

#include <mutex>

using namespace attn;

namespace {

/// Outlives the device, as its modules may.
using SharedMutex = std::shared_ptr<std::mutex>;
using Lock = std::lock_guard<std::mutex>;

class SerialModule : public DeviceModule {
public:
  SerialModule(std::unique_ptr<DeviceModule> module, SharedMutex mutex)
      : module(std::move(module)), mutex(std::move(mutex)) {}
  ~SerialModule() override {
    Lock lock(*mutex);
    module.reset();
  }

  void launch(const std::string &kernel, const LaunchConfig &config) override {
    Lock lock(*mutex);
    module->launch(kernel, config);
  }
  int occupancy(const std::string &kernel, int threads,
                int64_t sharedBytes) override {
    Lock lock(*mutex);
    return module->occupancy(kernel, threads, sharedBytes);
  }

private:
  std::unique_ptr<DeviceModule> module;
  SharedMutex mutex;
};

class SerialDevice : public Device {
public:
  explicit SerialDevice(std::unique_ptr<Device> device)
      : device(std::move(device)) {}

  DeviceInfo info() const override {
    Lock lock(*mutex);
    return device->info();
  }
  DevicePtr allocate(size_t bytes) override {
    Lock lock(*mutex);
    return device->allocate(bytes);
  }
  void release(DevicePtr ptr) override {
    Lock lock(*mutex);
    device->release(ptr);
  }
  void copyToDevice(DevicePtr dst, const void *src, size_t bytes) override {
    Lock lock(*mutex);
    device->copyToDevice(dst, src, bytes);
  }
  void copyFromDevice(void *dst, DevicePtr src, size_t bytes) override {
    Lock lock(*mutex);
    device->copyFromDevice(dst, src, bytes);
  }
  void fill32(DevicePtr dst, uint32_t pattern, size_t bytes) override {
    Lock lock(*mutex);
    device->fill32(dst, pattern, bytes);
  }
  std::unique_ptr<DeviceModule> loadModule(const std::string &ptx) override {
    Lock lock(*mutex);
    return std::make_unique<SerialModule>(device->loadModule(ptx), mutex);
  }
  EncodedTensorMap encodeTensorMap(const TensorMap &map) override {
    Lock lock(*mutex);
    return device->encodeTensorMap(map);
  }
  void synchronize() override {
    Lock lock(*mutex);
    device->synchronize();
  }
  double timeMilliseconds(StreamHandle stream, int repeats,
                          void (*body)(void *), void *context) override {
    // `body` launches, which locks.
    return device->timeMilliseconds(stream, repeats, body, context);
  }

private:
  std::unique_ptr<Device> device;
  SharedMutex mutex = std::make_shared<std::mutex>();
};

} // namespace

std::unique_ptr<Device> attn::makeSerial(std::unique_ptr<Device> device) {
  return std::make_unique<SerialDevice>(std::move(device));
}
