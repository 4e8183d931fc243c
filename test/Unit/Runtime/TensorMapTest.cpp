//===- TensorMapTest.cpp - The rules of tensor maps -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"
#include "attn/Runtime/Device.h"

#include <functional>

using namespace attn;
using namespace attn::test;

namespace {

TensorMap goodMap() {
  TensorMap map;
  map.base = 0x10000;
  map.rank = 3;
  map.dims = {128, uint64_t(1) << 32, 6};
  map.strides = {256, (uint64_t(1) << 40) - 16};
  map.box = {64, 256, 1};
  map.swizzle = TensorMap::Swizzle::Span128;
  return map;
}

std::string refusal(const std::function<void(TensorMap &)> &change) {
  TensorMap map = goodMap();
  change(map);
  return messageOf<DeviceError>([&] { checkTensorMap(map); });
}

TEST(TensorMapRules, TheLargestPass) {
  EXPECT_NO_THROW(checkTensorMap(goodMap()));
}

TEST(TensorMapRules, EachIsNamed) {
  EXPECT_EQ(refusal([](TensorMap &map) { map.rank = 6; }),
            "tensor map: rank is 6, expected 1 to 5");
  EXPECT_EQ(refusal([](TensorMap &map) { map.rank = 0; }),
            "tensor map: rank is 0, expected 1 to 5");
  EXPECT_EQ(refusal([](TensorMap &map) { map.base = 0; }),
            "tensor map: base is 0, expected a device address that is a "
            "multiple of 16");
  EXPECT_EQ(refusal([](TensorMap &map) { map.dims[2] = 0; }),
            "tensor map: dims[2] is 0, expected 1 to 2^32");
  EXPECT_EQ(refusal([](TensorMap &map) { ++map.dims[1]; }),
            "tensor map: dims[1] is 4294967297, expected 1 to 2^32");
  EXPECT_EQ(refusal([](TensorMap &map) { map.strides[0] = 264; }),
            "tensor map: strides[0] is 264, expected a multiple of 16 bytes "
            "below 2^40");
  EXPECT_EQ(refusal([](TensorMap &map) { map.strides[1] += 16; }),
            "tensor map: strides[1] is 1099511627776, expected a multiple of "
            "16 bytes below 2^40");
  EXPECT_EQ(refusal([](TensorMap &map) { map.box[1] = 257; }),
            "tensor map: box[1] is 257, expected 1 to 256");
  EXPECT_EQ(refusal([](TensorMap &map) { map.box[0] = 60; }),
            "tensor map: a row of the box is 120, expected a multiple of 16 "
            "bytes");
  EXPECT_EQ(refusal([](TensorMap &map) { map.box[0] = 72; }),
            "tensor map: a row of the box is 144, expected at most the "
            "swizzle's span of 128 bytes");
  EXPECT_EQ(refusal([](TensorMap &map) {
              map.format = TensorMap::Format::U16;
              map.fill = TensorMap::Fill::NaN;
            }),
            "tensor map: the fill is NaN, expected zero for an integer "
            "format");
}

TEST(TensorMapRules, DimensionsPastTheRankDoNotCount) {
  TensorMap map = goodMap();
  map.dims[3] = 0;
  map.strides[2] = 7;
  map.box[4] = 1000;
  EXPECT_NO_THROW(checkTensorMap(map));
}

} // namespace
