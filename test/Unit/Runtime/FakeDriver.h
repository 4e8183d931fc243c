//===- FakeDriver.h - A libcuda.so.1 to test against ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library with the driver's functions over host memory. It records
// what it is asked and fails when told to, so that the GPU code runs in tests
// on any machine.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_FAKEDRIVER_H
#define ATTN_TEST_RUNTIME_FAKEDRIVER_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace attn::test {

struct FakeLaunch {
  std::string kernel;
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  std::vector<uint64_t> arguments; ///< as many as `argumentBytes` says
  std::vector<unsigned> cluster;   ///< empty without
};

struct FakeDriver {
  // How it behaves.
  int initResult = 0;
  int deviceCount = 1;
  size_t freeBytes = size_t(1) << 30;
  int loadResult = 0;
  std::string loadLog;
  int launchResult = 0, synchronizeResult = 0;
  /// Contexts by number; 0 is none.
  static constexpr uintptr_t primary = 1, another = 2;
  uintptr_t current = primary; ///< on any thread
  /// A stream is being captured: what is not a launch fails, as in the
  /// strictest mode of the driver.
  bool capturing = false;
  std::vector<size_t> argumentBytes; ///< sizes of the kernel's parameters

  // What it was asked.
  std::map<uint64_t, std::vector<uint8_t>> memory;
  std::vector<std::string> loaded;
  int modules = 0, contexts = 0, events = 0; ///< alive
  std::vector<FakeLaunch> launches;
  std::map<std::string, int> sharedLimit; ///< by kernel
  bool nonPortableClusters = false;
};

} // namespace attn::test

#endif // ATTN_TEST_RUNTIME_FAKEDRIVER_H
