//===- PlanTest.cpp - Buffers that auxiliary kernels fill -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ListPackage.h"
#include "RecordingDevice.h"

#include <functional>

using namespace attn;
using namespace attn::test;

namespace {

// batch 2 x ceil(200 / 16) tiles x 4 bytes.
constexpr int64_t listBytes = 2 * 13 * 4;
constexpr DevicePtr planMemory = 0x100000;

/// The refusal of a launch that differs by `edit` from the one that the plan
/// was made for.
std::string refusal(const std::function<void(LaunchArguments &)> &edit,
                    const Package &package = listPackage()) {
  AuxiliaryPlan plan = planAuxiliaries(package, listArguments(), smallDevice(),
                                       planMemory, listBytes);
  LaunchArguments arguments = listArguments();
  arguments.plan = &plan;
  edit(arguments);
  return messageOf<LaunchError>(
      [&] { planLaunch(package, arguments, smallDevice()); });
}

TEST(Plan, SizeFollowsTheLengths) {
  Package package = listPackage();
  LaunchArguments arguments = listArguments();
  EXPECT_EQ(auxiliaryBytes(package, arguments, smallDevice()), listBytes);
  arguments.batch = 3;
  EXPECT_EQ(auxiliaryBytes(package, arguments, smallDevice()), 3 * 13 * 4);
  arguments.qLen = 0;
  EXPECT_EQ(auxiliaryBytes(package, arguments, smallDevice()), 0);
  arguments.qLen = -1;
  EXPECT_EQ(messageOf<LaunchError>(
                [&] { auxiliaryBytes(package, arguments, smallDevice()); }),
            "q_len = -1: allowed 0 .. 1073741824");
  // A sum: a header for each tile, and a word for each pair of tiles.
  arguments = listArguments();
  package.kernels[1].bufferBytes = {
      {16, {{"heads", 1}, {"q_len", 128}}},
      {4, {{"heads", 1}, {"q_len", 128}, {"k_len", 64}}},
      {8, {}}};
  EXPECT_EQ(auxiliaryBytes(package, arguments, smallDevice()),
            16 * 4 * 2 + 4 * 4 * 2 * 5 + 8);
  // A list of nothing is still a list; only without one there is no plan.
  arguments.kLen = 0;
  package.kernels[1].bufferBytes = {{4, {{"k_len", 64}}}};
  EXPECT_EQ(auxiliaryBytes(package, arguments, smallDevice()), 16);
  EXPECT_EQ(auxiliaryBytes(smallPackage(), smallArguments(), smallDevice()), 0);
}

TEST(Plan, SizesThatNoDeviceHolds) {
  Package package = listPackage();
  LaunchArguments arguments = listArguments();
  arguments.batch = INT32_MAX;
  arguments.qLen = arguments.kLen = maxSequenceLength;
  package.kernels[1].bufferBytes = {
      {1 << 30, {{"batch", 1}, {"q_len", 1}, {"k_len", 1}, {"k_len", 1}}}};
  EXPECT_EQ(messageOf<LaunchError>(
                [&] { auxiliaryBytes(package, arguments, smallDevice()); }),
            "kernel 'list': a buffer of more than 2^48 bytes (batch = "
            "2147483647, q_len = 1073741824, k_len = 1073741824)");
}

TEST(Plan, MemoryThatDoesNotFit) {
  Package package = listPackage();
  auto message = [&](DevicePtr memory, int64_t bytes) {
    return messageOf<LaunchError>([&] {
      planAuxiliaries(package, listArguments(), smallDevice(), memory, bytes);
    });
  };
  EXPECT_EQ(message(planMemory, listBytes - 1),
            "plan memory of 103 bytes: expected 104 bytes or more, 16-byte "
            "aligned");
  EXPECT_EQ(message(planMemory + 8, listBytes),
            "plan memory of 104 bytes: expected 104 bytes or more, 16-byte "
            "aligned");
  EXPECT_EQ(message(0, listBytes),
            "plan memory of 104 bytes: expected 104 bytes or more, 16-byte "
            "aligned");
  EXPECT_EQ(message(planMemory, listBytes), "no exception");
}

TEST(Plan, ALaunchNeedsOne) {
  Package package = listPackage();
  LaunchPlan plan = planLaunch(package, listArguments(), smallDevice());
  RecordingDevice device;
  LoadedPackage loaded(package, device);
  EXPECT_EQ(messageOf<LaunchError>([&] { loaded.launch(plan); }),
            "kernel 'fwd' reads what kernel 'list' fills: expected a plan that "
            "was built for this launch, found none");
  EXPECT_TRUE(device.record.launched.empty());
  // What it will need is loaded without one.
  loaded.prepare(plan);
  EXPECT_EQ(device.record.loaded,
            (std::vector<std::string>{readerPtx, listPtx}));
}

TEST(Plan, RefusedForOtherLaunches) {
  EXPECT_EQ(refusal([](LaunchArguments &) {}), "no exception");
  EXPECT_EQ(refusal([](LaunchArguments &a) {
              a.qLen = 199; // as many tiles, and as many bytes
            }),
            "plan: it was built for q_len = 200, this launch has q_len = 199; "
            "build it again");
  EXPECT_EQ(refusal([](LaunchArguments &a) {
              a.params["left"] = ParamValue::ofInt(-3);
            }),
            "plan: it was built for param:left = 7, this launch has param:left "
            "= -3; build it again");
  // What the list does not depend on may change.
  EXPECT_EQ(refusal([](LaunchArguments &a) {
              a.params["slope"] = ParamValue::ofFloat(2);
              a.kLen = 17;
              a.q.data += 64;
              a.grid = 3;
            }),
            "no exception");
  EXPECT_EQ(refusal([](LaunchArguments &a) {
              static const Package other = listPackage();
              static AuxiliaryPlan plan = planAuxiliaries(
                  other, listArguments(), smallDevice(), planMemory, listBytes);
              a.plan = &plan;
            }),
            "plan: it was built for another package");
}

TEST(Plan, RefusedForOtherTensors) {
  Package package = listPackage();
  package.problem.tensors = smallProblem().tensors;
  Kernel &list = package.kernels[1];
  list.arguments.push_back({"tensor:bias", ArgumentType::Ptr});
  list.ptx = emptyPtx("list", list.arguments);
  LaunchArguments arguments = listArguments();
  arguments.tensors["bias"] = {0x60000, 12};
  AuxiliaryPlan plan =
      planAuxiliaries(package, arguments, smallDevice(), planMemory, listBytes);
  arguments.plan = &plan;
  EXPECT_EQ(planLaunch(package, arguments, smallDevice()).missing, "");
  arguments.tensors["bias"].data = 0x61000;
  EXPECT_EQ(messageOf<LaunchError>(
                [&] { planLaunch(package, arguments, smallDevice()); }),
            "plan: it was built for tensor:bias = 0x60000, this launch has "
            "tensor:bias = 0x61000; build it again");
}

TEST(Plan, LengthsThatOnlyTheSizeDependsOn) {
  Package package = listPackage();
  package.kernels[1].bufferBytes[0].factors.push_back({"k_len", 64});
  LaunchArguments arguments = listArguments(); // k_len 300: 5 tiles
  AuxiliaryPlan plan = planAuxiliaries(package, arguments, smallDevice(),
                                       planMemory, 5 * listBytes);
  arguments.plan = &plan;
  arguments.kLen = 257;
  EXPECT_EQ(planLaunch(package, arguments, smallDevice()).missing, "");
  arguments.kLen = 256;
  EXPECT_EQ(messageOf<LaunchError>(
                [&] { planLaunch(package, arguments, smallDevice()); }),
            "plan: it was built with 520 bytes for 'list', this launch needs "
            "416; build it again");
}

TEST(Plan, RefusedForAKernelWithAnotherList) {
  // Long rows take a kernel with a list of its own.
  Package package = listPackage();
  package.kernels[0].guards = {{{"q_len", 0, 0}, GuardOp::Le, {"", 200, 0}}};
  Kernel wide = package.kernels[0], wideList = package.kernels[1];
  wide.name = "wide";
  wide.guards.clear();
  wide.auxiliaries = {"wide_list"};
  wideList.name = "wide_list";
  package.kernels.push_back(wide);
  package.kernels.push_back(wideList);
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.qLen = 201; }, package),
            "lse_stride_h = 200: elements of the output overlap, allowed 201 "
            "and up");
  EXPECT_EQ(refusal(
                [](LaunchArguments &a) {
                  a.qLen = 201;
                  a.lse = {0x50000, 1024, 256, 1};
                },
                package),
            "plan: kernel 'wide' reads what kernel 'wide_list' fills, and the "
            "plan was built with kernel 'list'; build it again");
}

TEST(Plan, KernelsThatNeedNoneTakeAnyOfTheirPackage) {
  Package package = smallPackage();
  AuxiliaryPlan plan =
      planAuxiliaries(package, smallArguments(), smallDevice(), 0, 0);
  EXPECT_TRUE(plan.launches.empty());
  LaunchArguments arguments = smallArguments();
  arguments.plan = &plan;
  EXPECT_EQ(planLaunch(package, arguments, smallDevice()).missing, "");
}

TEST(Plan, BuffersFollowEachOther) {
  // Only block lists are known; two of them show the layout.
  Package package = listPackage();
  package.kernels.push_back(package.kernels[1]);
  package.kernels[2].name = "list2";
  package.kernels[0].auxiliaries = {"list", "list2"};
  AuxiliaryPlan plan = planAuxiliaries(package, listArguments(), smallDevice(),
                                       planMemory, 1000);
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(plan.launches[0].offset, 0);
  EXPECT_EQ(plan.launches[1].offset, 128);
  EXPECT_EQ(plan.bytes, 128 + listBytes);
  // But a kernel has one argument of that name.
  RecordingDevice device;
  EXPECT_EQ(messageOf<PackageError>([&] { LoadedPackage(package, device); }),
            "kernels[0].auxiliary: two kernels fill 'block_list'");
}

TEST(Plan, FilledAndReadOnTheSimulator) {
  std::unique_ptr<Device> device = openSimulator();
  Package package = packageFromJson(toJson(listPackage()));
  LoadedPackage loaded(package, *device);
  LaunchArguments arguments = listArguments();
  constexpr int64_t rows = 2 * 4 * 200;
  arguments.lse.data = device->allocate(rows * 4);
  DevicePtr memory = device->allocate(listBytes);
  for (int64_t left : {7, 1000}) {
    arguments.params["left"] = ParamValue::ofInt(left);
    AuxiliaryPlan plan = planAuxiliaries(
        package, arguments, loaded.deviceInfo(), memory, listBytes);
    device->fill32(memory, 0xFFFFFFFF, listBytes);
    loaded.build(plan);
    arguments.plan = &plan;
    // Built once, launched often.
    for (std::optional<int64_t> grid : {std::optional<int64_t>(), {3}}) {
      arguments.grid = grid;
      device->fill32(arguments.lse.data, 0xFFFFFFFF, rows * 4);
      loaded.launch(arguments);
      std::vector<float> lse(rows);
      device->copyFromDevice(lse.data(), arguments.lse.data, rows * 4);
      for (int64_t row = 0; row < rows; ++row)
        ASSERT_EQ(lse[size_t(row)], listValue(row / (4 * 200), row % 200, left))
            << row;
    }
  }
}

} // namespace
