//===- TensorMapTest.cpp - Tensor maps of the simulator -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimHarness.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::simtest;

namespace {

TensorMap rows() {
  TensorMap map;
  map.base = 0x7f0000000000;
  map.rank = 2;
  map.dims = {64, 10};
  map.strides = {128};
  map.box = {64, 8};
  map.swizzle = TensorMap::Swizzle::Span128;
  return map;
}

TEST(SimTensorMap, RulesHoldHereToo) {
  Harness harness;
  TensorMap map = rows();
  EXPECT_NO_THROW(harness.device->encodeTensorMap(map));
  map.base += 4;
  EXPECT_THROW(harness.device->encodeTensorMap(map), DeviceError);
}

TEST(SimTensorMap, ShortSwizzledRowsAreRefused) {
  TensorMap map = rows();
  map.box[0] = 32;
  try {
    Harness().device->encodeTensorMap(map);
    FAIL() << "a row of 64 bytes was taken";
  } catch (const DeviceError &error) {
    EXPECT_NE(std::string(error.what())
                  .find("64 bytes, expected the swizzle's "
                        "span of 128"),
              std::string::npos)
        << error.what();
  }
}

/// 128 bytes travel as one argument.
TEST(SimTensorMap, ReachesTheKernel) {
  Harness harness;
  EncodedTensorMap encoded = harness.device->encodeTensorMap(rows());
  DevicePtr out = harness.upload(std::vector<uint64_t>(16, 0));
  LaunchConfig config;
  config.arguments = {std::vector<uint8_t>(encoded.begin(), encoded.end()),
                      argument(out)};
  config.block[0] = 16;
  EXPECT_EQ(harness.launch(R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{
.reg .b64 %rd<8>; .reg .b32 %r<2>;
mov.u32 %r0, %tid.x; mul.wide.u32 %rd0, %r0, 8;
mov.b64 %rd1, map; add.s64 %rd1, %rd1, %rd0;
ld.param.b64 %rd2, [%rd1];
ld.param.u64 %rd3, [out]; add.s64 %rd3, %rd3, %rd0;
st.global.b64 [%rd3], %rd2;
ret;
})",
                           "k", config),
            "");
  EncodedTensorMap back{};
  harness.device->copyFromDevice(back.data(), out, back.size());
  EXPECT_EQ(back, encoded);
}

} // namespace
