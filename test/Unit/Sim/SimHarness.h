//===- SimHarness.h - Runs PTX in tests --------------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_SIM_SIMHARNESS_H
#define ATTN_TEST_UNIT_SIM_SIMHARNESS_H

#include "attn/Sim/Simulator.h"

#include <cstring>
#include <string>
#include <vector>

namespace attn::simtest {

template <class T> std::vector<uint8_t> argument(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <class To, class From> To bitsAs(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// A simulator that collects its findings.
class Harness {
public:
  explicit Harness(bool sanitize = true, unsigned threads = 1,
                   bool hardwareOrder = false) {
    SimulatorOptions options;
    options.hardwareOrder = hardwareOrder;
    options.sanitize = sanitize;
    options.threads = threads;
    options.progress = false;
    options.stepLimit = 1 << 26;
    options.onFinding = [this](const SimFinding &finding) {
      findings.push_back(finding);
    };
    device = openSimulator(options);
  }

  template <class T> DevicePtr upload(const std::vector<T> &values) {
    DevicePtr at = device->allocate(values.size() * sizeof(T));
    device->copyToDevice(at, values.data(), values.size() * sizeof(T));
    return at;
  }
  template <class T> std::vector<T> download(DevicePtr at, size_t count) {
    std::vector<T> values(count);
    device->copyFromDevice(values.data(), at, count * sizeof(T));
    return values;
  }

  /// Launches the kernel and returns the error, empty if there was none.
  std::string launch(const std::string &ptx, const std::string &kernel,
                     const LaunchConfig &config) {
    try {
      device->loadModule(ptx)->launch(kernel, config);
    } catch (const DeviceError &error) {
      return error.what();
    }
    return "";
  }

  /// The checks that fired, in order.
  std::string checks() const {
    std::string names;
    for (const SimFinding &finding : findings)
      names += (names.empty() ? "" : " ") + finding.check;
    return names;
  }

  std::vector<SimFinding> findings;
  std::unique_ptr<Device> device;
};

/// A module with one kernel `k(.u64 in, .u64 out)`. In `body` %in and %out are
/// the thread's own places in buffers of 64-bit elements, %t is its number;
/// %r0-%r31, %rd0-%rd31, %h0-%h31 (.b16), %f0-%f31, %d0-%d31 and %p0-%p15 are
/// free, and sh is 1 KiB of shared memory.
inline std::string module(const std::string &body) {
  return R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<32>; .reg .f32 %f<32>;
.reg .b64 %rd<32>; .reg .f64 %d<32>;
.reg .b64 %in, %out, %offset; .reg .b32 %t;
.shared .align 128 .b8 sh[1024];
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; mul.wide.u32 %offset, %t, 8;
add.s64 %in, %in, %offset; add.s64 %out, %out, %offset;
)" + body +
         "\nret;\n}\n";
}

/// Runs `body` for `threads` threads with one 64-bit input each and returns
/// the 64-bit outputs, which start as zero.
inline std::vector<uint64_t> runBody(Harness &harness, const std::string &body,
                                     std::vector<uint64_t> in,
                                     unsigned threads = 32,
                                     std::string *error = nullptr) {
  in.resize(threads);
  DevicePtr from = harness.upload(in);
  DevicePtr to = harness.upload(std::vector<uint64_t>(threads, 0));
  LaunchConfig config;
  config.block[0] = threads;
  config.arguments = {argument(from), argument(to)};
  std::string message = harness.launch(module(body), "k", config);
  if (error)
    *error = message;
  else if (!message.empty())
    throw DeviceError(message);
  return harness.download<uint64_t>(to, threads);
}

/// One thread's result of `body`.
inline uint64_t evaluate(const std::string &body, uint64_t in = 0) {
  Harness harness;
  uint64_t result = runBody(harness, body, {in}, 1)[0];
  if (!harness.findings.empty())
    throw DeviceError(harness.findings[0].str());
  return result;
}

} // namespace attn::simtest

#endif // ATTN_TEST_UNIT_SIM_SIMHARNESS_H
