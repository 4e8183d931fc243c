//===- RecordingDevice.h - A device that runs nothing -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_RECORDINGDEVICE_H
#define ATTN_TEST_RUNTIME_RECORDINGDEVICE_H

#include "Fixtures.h"

#include <string>
#include <vector>

namespace attn::test {

struct Record {
  std::vector<std::string> loaded, launched;
  std::vector<TensorMap> maps;
  LaunchConfig last;
};

class RecordingModule : public DeviceModule {
public:
  explicit RecordingModule(Record &record) : record(record) {}
  void launch(const std::string &kernel, const LaunchConfig &config) override {
    record.launched.push_back(kernel);
    record.last = config;
  }
  int occupancy(const std::string &, int, int64_t) override { return 1; }

private:
  Record &record;
};

/// Keeps what it is asked. A map is encoded as its number, counted from 1.
class RecordingDevice : public Device {
public:
  Record record;
  DeviceInfo info() const override { return smallDevice(); }
  DevicePtr allocate(size_t) override { return 0; }
  void release(DevicePtr) override {}
  void copyToDevice(DevicePtr, const void *, size_t) override {}
  void copyFromDevice(void *, DevicePtr, size_t) override {}
  void fill32(DevicePtr, uint32_t, size_t) override {}
  std::unique_ptr<DeviceModule> loadModule(const std::string &ptx) override {
    record.loaded.push_back(ptx);
    return std::make_unique<RecordingModule>(record);
  }
  EncodedTensorMap encodeTensorMap(const TensorMap &map) override {
    checkTensorMap(map);
    record.maps.push_back(map);
    EncodedTensorMap encoded{};
    encoded[0] = uint8_t(record.maps.size());
    return encoded;
  }
  void synchronize() override {}
  double timeMilliseconds(StreamHandle, int, void (*)(void *),
                          void *) override {
    return 1;
  }
};

} // namespace attn::test

#endif // ATTN_TEST_RUNTIME_RECORDINGDEVICE_H
