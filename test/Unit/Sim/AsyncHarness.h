//===- AsyncHarness.h - Runs small asynchronous kernels ----------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_SIM_ASYNCHARNESS_H
#define ATTN_TEST_UNIT_SIM_ASYNCHARNESS_H

#include "SimHarness.h"

namespace attn::simtest {

/// The line of a test's body in the module around it.
constexpr unsigned asyncBodyLine = 16;

/// A kernel `k(map, .u64 in, .u64 out)`. In `body` %in and %out are generic
/// addresses, %map is that of the tensor map, %t the thread and %w the warp;
/// %r0-%r31, %rd0-%rd31, %h0-%h7, %f0-%f7 and %p0-%p15 are free, sh is 16 KiB
/// of shared memory and bar the place of eight mbarriers.
inline std::string asyncModule(const std::string &body,
                               const std::string &directives = "") {
  return R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 in,
                  .param .u64 out) )" +
         directives + R"(
{
.reg .pred %p<16>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .f32 %f<8>;
.reg .b64 %rd<32>;
.reg .b64 %in, %out, %map; .reg .b32 %t, %w;
.shared .align 1024 .b8 sh[16384];
.shared .align 8 .b64 bar[8];
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.b64 %map, map; cvta.param.u64 %map, %map;
mov.u32 %t, %tid.x;
shr.u32 %w, %t, 5;
)" + body +
         "\nret;\n}\n";
}

/// Thread 0 makes bar[0], which expects `count` arrivals.
inline std::string initBarrier(unsigned count) {
  return "setp.ne.u32 %p15, %t, 0;\n@%p15 bra INIT;\n"
         "mbarrier.init.shared::cta.b64 [bar], " +
         std::to_string(count) +
         ";\nfence.mbarrier_init.release.cluster;\nINIT:\nbar.sync 0;\n";
}

/// Spins until phase `parity` of `barrier` is complete. `label` is unique.
inline std::string waitFor(const std::string &barrier, const char *parity,
                           const std::string &label) {
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p14, [" +
         barrier + "], " + parity + ";\n@!%p14 bra " + label + ";\n";
}

/// Thread `%t` copies `bytes` of sh to its block's part of `out`, four at a
/// time.
inline std::string copyOut(unsigned bytes) {
  return "mov.u32 %r20, %ntid.x; mov.u32 %r21, %ctaid.x;\n"
         "shl.b32 %r22, %t, 2; shl.b32 %r20, %r20, 2;\n"
         "COPY: setp.ge.u32 %p13, %r22, " +
         std::to_string(bytes) +
         ";\n@%p13 bra COPIED;\n"
         "mov.u32 %r23, sh; add.u32 %r23, %r23, %r22;\n"
         "ld.shared.u32 %r24, [%r23];\n"
         "mad.lo.u32 %r25, %r21, " +
         std::to_string(bytes) +
         ", %r22; cvt.u64.u32 %rd30, %r25; add.s64 %rd30, %out, %rd30;\n"
         "st.global.u32 [%rd30], %r24;\n"
         "add.u32 %r22, %r22, %r20; bra COPY;\nCOPIED:\n";
}

/// One launch of such a kernel.
class AsyncRun {
public:
  explicit AsyncRun(bool sanitize = true) : harness(sanitize) {}

  template <class T> void input(const std::vector<T> &values) {
    in = harness.upload(values);
  }
  /// Runs, and returns the error; outputs start as 0xAB.
  std::string run(const std::string &body, size_t outBytes,
                  const std::string &directives = "") {
    out = harness.upload(std::vector<uint8_t>(outBytes, 0xAB));
    config.arguments = {map, argument(in), argument(out)};
    return harness.launch(asyncModule(body, directives), "k", config);
  }
  template <class T> std::vector<T> output(size_t count) {
    return harness.download<T>(out, count);
  }
  void setMap(const TensorMap &tensor) {
    EncodedTensorMap encoded = harness.device->encodeTensorMap(tensor);
    map.assign(encoded.begin(), encoded.end());
  }
  /// All findings, one a line.
  std::string findings() const {
    std::string text;
    for (const SimFinding &finding : harness.findings)
      text += finding.str() + "\n";
    return text;
  }

  Harness harness;
  LaunchConfig config;
  DevicePtr in = 0, out = 0;
  std::vector<uint8_t> map = std::vector<uint8_t>(128, 0);
};

} // namespace attn::simtest

#endif // ATTN_TEST_UNIT_SIM_ASYNCHARNESS_H
