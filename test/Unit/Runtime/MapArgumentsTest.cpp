//===- MapArgumentsTest.cpp - Tensor maps as kernel arguments -------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordingDevice.h"

#include <functional>

using namespace attn;
using namespace attn::test;

namespace {

KernelArgument mapArgument(const std::string &operand) {
  return {operand + "_map", ArgumentType::TensorMap, {128, 64, 128}};
}

/// The small kernel with the four maps in front of its arguments, and behind it
/// the same without.
Package mapPackage() {
  Package package = smallPackage();
  package.kernels.push_back(smallKernel("plain"));
  Kernel &kernel = package.kernels[0];
  kernel.arguments.insert(
      kernel.arguments.begin(),
      {mapArgument("q"), mapArgument("k"), mapArgument("v"), mapArgument("o")});
  return package;
}

LaunchPlan planOf(const Package &package,
                  const LaunchArguments &arguments = smallArguments()) {
  return planLaunch(package, arguments, smallDevice());
}

using Dims = std::array<uint64_t, TensorMap::maxRank>;
using Strides = std::array<uint64_t, TensorMap::maxRank - 1>;
using Box = std::array<uint32_t, TensorMap::maxRank>;

TEST(MapArguments, DescribeTheBoundViews) {
  Package package = mapPackage();
  package.problem.kvDtype = DType::F16;
  package.problem.out = DType::F32;
  package.kernels[0].arguments[3].box = {32, 16, 64};
  LaunchPlan plan = planOf(package);
  ASSERT_EQ(plan.maps.size(), 4u);
  ASSERT_EQ(plan.config.arguments.size(), 16u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plan.maps[i].index, i);
    EXPECT_TRUE(plan.config.arguments[i].empty()); // until the launch
    EXPECT_NO_THROW(checkTensorMap(plan.maps[i].map));
    EXPECT_EQ(plan.maps[i].map.rank, 4u);
    EXPECT_EQ(plan.maps[i].map.fill, TensorMap::Fill::Zero);
  }
  const TensorMap &q = plan.maps[0].map;
  EXPECT_EQ(q.base, 0x10000u);
  EXPECT_EQ(q.format, TensorMap::Format::BF16);
  EXPECT_EQ(q.dims, (Dims{64, 200, 4, 2, 0}));
  EXPECT_EQ(q.strides, (Strides{512, 128, 102400, 0}));
  EXPECT_EQ(q.box, (Box{64, 128, 1, 1, 0}));
  EXPECT_EQ(q.swizzle, TensorMap::Swizzle::Span128);
  const TensorMap &v = plan.maps[2].map;
  EXPECT_EQ(v.base, 0x30000u);
  EXPECT_EQ(v.format, TensorMap::Format::F16);
  EXPECT_EQ(v.dims, (Dims{32, 300, 2, 2, 0}));
  EXPECT_EQ(v.strides, (Strides{128, 64, 38400, 0}));
  const TensorMap &o = plan.maps[3].map;
  EXPECT_EQ(o.base, 0x40000u);
  EXPECT_EQ(o.format, TensorMap::Format::F32);
  EXPECT_EQ(o.dims, (Dims{32, 200, 4, 2, 0}));
  EXPECT_EQ(o.strides, (Strides{512, 128, 102400, 0}));
  EXPECT_EQ(o.box, (Box{16, 32, 1, 1, 0}));
  EXPECT_EQ(o.swizzle, TensorMap::Swizzle::Span64);
}

TEST(MapArguments, AnAxisOfOneElementTakesAnyStride) {
  LaunchArguments arguments = smallArguments();
  arguments.batch = 1;
  arguments.k.strideB = 0;
  arguments.v.strideB = -3;
  LaunchPlan plan = planOf(mapPackage(), arguments);
  ASSERT_EQ(plan.maps.size(), 4u);
  EXPECT_EQ(plan.maps[1].map.dims, (Dims{64, 300, 2, 1, 0}));
  EXPECT_EQ(plan.maps[1].map.strides, (Strides{256, 128, 128, 0}));
  EXPECT_EQ(plan.maps[2].map.strides, (Strides{128, 64, 64, 0}));
  for (const MapArgument &argument : plan.maps)
    EXPECT_NO_THROW(checkTensorMap(argument.map));
}

TEST(MapArguments, NoKeysStillMakeALegalMap) {
  LaunchArguments arguments = smallArguments();
  arguments.kLen = 0;
  arguments.k = arguments.v = {};
  LaunchPlan plan = planOf(mapPackage(), arguments);
  ASSERT_EQ(plan.maps.size(), 4u);
  for (size_t i : {1, 2}) {
    const TensorMap &map = plan.maps[i].map;
    EXPECT_EQ(map.base, 0x10000u); // q: one element that may be read
    EXPECT_EQ(map.dims, (Dims{1, 1, 1, 1, 0}));
    EXPECT_NO_THROW(checkTensorMap(map));
  }
}

TEST(MapArguments, WhatAMapCannotExpressPassesOverTheKernel) {
  auto reason = [](const std::function<void(LaunchArguments &)> &edit) {
    LaunchArguments arguments = smallArguments();
    edit(arguments);
    Package package = mapPackage(); // the plan points into it
    LaunchPlan plan = planOf(package, arguments);
    EXPECT_EQ(plan.kernel->name, "plain");
    EXPECT_TRUE(plan.maps.empty());
    return plan.reason;
  };
  EXPECT_EQ(
      reason([](LaunchArguments &a) { a.v.strideB = int64_t(1) << 39; }),
      "plain (sm_80; passed over fwd: v_map: v_stride_b = 549755813888 "
      "elements of 2 bytes: a tensor map allows multiples of 16 bytes below "
      "2^40)");
}

TEST(MapArguments, StrideZeroIsAStride) {
  LaunchArguments arguments = smallArguments();
  arguments.k.strideB = arguments.q.strideH = 0;
  Package package = mapPackage();
  LaunchPlan plan = planOf(package, arguments);
  EXPECT_EQ(plan.kernel->name, "fwd");
  ASSERT_EQ(plan.maps.size(), 4u);
  EXPECT_EQ(plan.maps[1].map.strides[2], 0u);
  EXPECT_NO_THROW(checkTensorMap(plan.maps[1].map));
}

/// The small package over padded sequences, K by a ragged map.
Package raggedPackage() {
  Package package = mapPackage();
  package.problem.batch = BatchKind::Padded;
  package.kernels[0].arguments[1].box.ragged = true;
  return package;
}

LaunchArguments raggedArguments() {
  LaunchArguments arguments = smallArguments();
  arguments.qLens = arguments.kLens = 0x100;
  return arguments;
}

TEST(MapArguments, RaggedMapsEndWithASequence) {
  Package package = raggedPackage();
  LaunchPlan plan = planOf(package, raggedArguments());
  ASSERT_EQ(plan.maps.size(), 4u);
  const TensorMap &k = plan.maps[1].map;
  EXPECT_NO_THROW(checkTensorMap(k));
  EXPECT_EQ(k.rank, 5u);
  EXPECT_EQ(k.dims, (Dims{64, 1u << 30, 2, 1u << 31, (1u << 30) + 1}));
  EXPECT_EQ(k.strides, (Strides{256, 128, 256, (uint64_t(1) << 35) - 256}));
  EXPECT_EQ(k.box, (Box{64, 128, 1, 1, 1}));
  // Row 7 of the 9 rows from row 300 on, of the second head; 9 is outside.
  auto coordinates = [](uint64_t row) {
    return std::array<uint64_t, 5>{0, (1u << 30) - 9 + row, 1, 300 + 9,
                                   1u << 30};
  };
  uint64_t address = k.base;
  for (size_t i = 1; i < 5; ++i) {
    ASSERT_LT(coordinates(7)[i], k.dims[i]);
    address += coordinates(7)[i] * k.strides[i - 1];
  }
  EXPECT_EQ(address, k.base + 307 * 256 + 128);
  EXPECT_EQ(coordinates(9)[1], k.dims[1]);
}

TEST(MapArguments, WhatARaggedMapCannotExpress) {
  auto reason = [](int64_t strideB, int64_t strideS) {
    LaunchArguments arguments = raggedArguments();
    arguments.k.strideB = strideB;
    arguments.k.strideS = strideS;
    Package package = raggedPackage();
    return planOf(package, arguments).reason;
  };
  const std::string over = "plain (sm_80; passed over fwd: k_map: k_stride_";
  EXPECT_EQ(reason(38408, 128),
            over + "b = 38408: a map of sequences allows multiples of the row "
                   "stride 128 and up to 2^30 rows in all)");
  EXPECT_EQ(reason(int64_t(1) << 37, 128),
            over + "b = 137438953472: a map of sequences allows multiples of "
                   "the row stride 128 and up to 2^30 rows in all)");
  EXPECT_EQ(reason(38400, 0),
            over + "s = 0: a map of sequences allows strides above 0)");
  EXPECT_EQ(reason(0, 128), "fwd (sm_80)");
}

TEST(MapArguments, WithoutAnotherKernelThatIsTheError) {
  Package package = mapPackage();
  package.kernels.pop_back();
  LaunchArguments arguments = smallArguments();
  arguments.v.strideH = int64_t(1) << 39;
  EXPECT_EQ(messageOf<LaunchError>([&] { planOf(package, arguments); }),
            "no kernel of the package runs this launch: fwd: v_map: "
            "v_stride_h = 549755813888 elements of 2 bytes: a tensor map "
            "allows multiples of 16 bytes below 2^40; a schedule without "
            "'loader = tma' has a kernel that needs no tensor map");
}

TEST(MapArguments, InProcessPackagesAreChecked) {
  Package package = mapPackage();
  package.kernels[0].arguments[1].box.swizzleBytes = 48;
  EXPECT_EQ(messageOf<PackageError>([&] { planOf(package); }),
            "argument 'k_map': swizzle = 48: allowed 0, 32, 64, 128 bytes");
  package.kernels[0].arguments[1] = {"k_map", ArgumentType::Ptr};
  EXPECT_EQ(messageOf<PackageError>([&] { planOf(package); }),
            "argument 'k_map' has type ptr, expected tensor_map");
}

TEST(MapArguments, TheDeviceOfTheLaunchEncodes) {
  Package package = mapPackage();
  RecordingDevice device;
  LoadedPackage loaded(package, device);
  LaunchPlan plan = loaded.launch(smallArguments());
  const std::vector<std::vector<uint8_t>> &bytes = device.record.last.arguments;
  ASSERT_EQ(bytes.size(), 16u);
  ASSERT_EQ(device.record.maps.size(), 4u);
  EXPECT_EQ(device.record.maps[1].base, 0x20000u);
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(bytes[i].size(), 128u);
    EXPECT_EQ(bytes[i][0], i + 1);
  }
  EXPECT_EQ(bytes[4].size(), 8u);
  // A plan is for any number of launches.
  loaded.launch(plan);
  EXPECT_EQ(device.record.maps.size(), 8u);
  EXPECT_EQ(device.record.last.arguments[3][0], 8u);
}

} // namespace
