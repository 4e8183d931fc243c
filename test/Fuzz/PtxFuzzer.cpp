//===- PtxFuzzer.cpp - Any text as PTX ------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The simulator parses and decodes the text, or refuses it with a line number.
//
//===----------------------------------------------------------------------===//

#include "attn/Sim/Simulator.h"

#include <cstdlib>

using namespace attn;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static std::unique_ptr<Device> device = openSimulator();
  try {
    device->loadModule(std::string(reinterpret_cast<const char *>(data), size));
  } catch (const DeviceError &error) {
    // One line that says what is wrong; PTX that is wrong has a place.
    std::string text = error.what();
    if (text.empty() || text.find('\n') != std::string::npos)
      std::abort();
  }
  return 0;
}
