//===- CApiPlanTest.cpp - Plans through the C interface -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the simulator, with the two kernels of ListPackage.h, through the shared
// library.
//
//===----------------------------------------------------------------------===//

#include "ListPackage.h"
#include "attn/Runtime/attn_runtime.h"

#include <thread>

using namespace attn;
using namespace attn::test;

namespace {

// batch 2 x ceil(200 / 16) tiles x 4 bytes.
constexpr int64_t listBytes = 2 * 13 * 4;
constexpr int64_t rows = 2 * 4 * 200, lseBytes = 4 * rows;

attn_package *parse(const Package &source) {
  std::string text = toJson(source);
  attn_package *package = nullptr;
  EXPECT_EQ(attn_package_parse(text.data(), int64_t(text.size()), &package),
            ATTN_OK)
      << attn_last_error();
  return package;
}

attn_view cView(const TensorView &view) {
  return {view.data, view.strideB, view.strideH, view.strideS};
}

/// A device with a package, memory for its list and for lse, and a plan.
class CApiPlan : public ::testing::Test {
protected:
  CApiPlan() {
    EXPECT_EQ(attn_device_open("sim", &device), ATTN_OK);
    package = parse(listPackage());
    EXPECT_EQ(attn_package_use(package, device), ATTN_OK);
    memory = allocate(listBytes);
    lse = allocate(lseBytes);
    EXPECT_EQ(attn_plan_create(&plan), ATTN_OK);
    LaunchArguments source = listArguments();
    args.struct_bytes = sizeof(args);
    args.batch = source.batch;
    args.q_len = source.qLen;
    args.k_len = source.kLen;
    args.q = cView(source.q);
    args.k = cView(source.k);
    args.v = cView(source.v);
    args.lse = cView(source.lse);
    args.lse.data = lse;
    args.params = &left;
    args.param_count = 1;
  }
  ~CApiPlan() override {
    attn_plan_free(plan);
    attn_package_free(package);
    attn_device_close(device);
  }

  uint64_t allocate(int64_t bytes) {
    uint64_t address = 0;
    EXPECT_EQ(attn_device_allocate(device, bytes, &address), ATTN_OK);
    return address;
  }
  int build() {
    return attn_plan_build(package, &args, plan, memory, listBytes, nullptr);
  }
  /// The refusal of a launch, or "launched".
  std::string launch() {
    return attn_launch(package, &args, nullptr) ? attn_last_error()
                                                : "launched";
  }
  /// What a launch into `out` writes that is not the list for `value`.
  std::string launchAndCompare(uint64_t out, int64_t value) {
    attn_launch_args copy = args;
    copy.lse.data = out;
    std::vector<float> got(rows, -1);
    if (attn_device_write(device, out, got.data(), lseBytes) ||
        attn_launch(package, &copy, nullptr) ||
        attn_device_read(device, got.data(), out, lseBytes))
      return attn_last_error();
    for (int64_t row = 0; row < rows; ++row)
      if (got[size_t(row)] != listValue(row / (4 * 200), row % 200, value))
        return "row " + std::to_string(row) + " is " +
               std::to_string(got[size_t(row)]);
    return "";
  }

  attn_device *device = nullptr;
  attn_package *package = nullptr;
  attn_plan *plan = nullptr;
  uint64_t memory = 0, lse = 0;
  attn_param left = {"left", 0, 7, 0};
  attn_launch_args args = {};
};

TEST_F(CApiPlan, BuiltOnceServesManyLaunches) {
  int64_t bytes = 0;
  ASSERT_EQ(attn_plan_size(package, &args, &bytes), ATTN_OK);
  EXPECT_EQ(bytes, listBytes);
  // The usual order: everything is loaded before there is a plan.
  ASSERT_EQ(attn_prepare(package, &args), ATTN_OK) << attn_last_error();
  ASSERT_EQ(build(), ATTN_OK) << attn_last_error();
  args.plan = plan;
  EXPECT_EQ(launchAndCompare(lse, 7), "");
  // Other tensors and another grid, as in another layer.
  args.q.data += 4096;
  args.grid = 3;
  EXPECT_EQ(launchAndCompare(allocate(lseBytes), 7), "");
  // Built again for another mask.
  left.int_value = 500;
  ASSERT_EQ(build(), ATTN_OK) << attn_last_error();
  EXPECT_EQ(launchAndCompare(lse, 500), "");
}

TEST_F(CApiPlan, RefusedBeforeItIsBuilt) {
  EXPECT_EQ(launch(), "kernel 'fwd' reads what kernel 'list' fills: expected a "
                      "plan that was built for this launch, found none");
  args.plan = plan;
  const std::string unbuilt = "plan: it was not built, or was invalidated; "
                              "expected attn_plan_build before the launch";
  EXPECT_EQ(launch(), unbuilt);
  ASSERT_EQ(build(), ATTN_OK);
  EXPECT_EQ(launch(), "launched");
  ASSERT_EQ(attn_plan_invalidate(plan), ATTN_OK);
  EXPECT_EQ(launch(), unbuilt);
  ASSERT_EQ(build(), ATTN_OK);
  EXPECT_EQ(launch(), "launched");
  // A build that fails leaves nothing that could be taken for its result.
  args.k_len = -1;
  EXPECT_EQ(build(), ATTN_ERROR_INPUT);
  args.k_len = 300;
  EXPECT_EQ(launch(), unbuilt);
}

TEST_F(CApiPlan, OneByteShort) {
  EXPECT_EQ(attn_plan_build(package, &args, plan, memory, listBytes - 1, 0),
            ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "plan memory of 103 bytes: expected 104 "
                                  "bytes or more, 16-byte aligned");
  EXPECT_EQ(attn_plan_build(package, &args, plan, 0, listBytes, 0),
            ATTN_ERROR_INPUT);
  // More than is needed is fine, less than the simulator has is a fault.
  EXPECT_EQ(attn_plan_build(package, &args, plan, memory, listBytes + 1, 0),
            ATTN_OK);
  EXPECT_EQ(attn_plan_build(package, &args, plan, memory + 16, listBytes, 0),
            ATTN_ERROR_DEVICE);
}

TEST_F(CApiPlan, RefusedForAnotherLaunch) {
  ASSERT_EQ(build(), ATTN_OK);
  args.plan = plan;
  args.q_len = 199;
  EXPECT_EQ(launch(), "plan: it was built for q_len = 200, this launch has "
                      "q_len = 199; build it again");
  args.q_len = 200;
  left.int_value = 8;
  EXPECT_EQ(launch(), "plan: it was built for param:left = 7, this launch has "
                      "param:left = 8; build it again");
  left.int_value = 7;
  EXPECT_EQ(launch(), "launched");
}

TEST_F(CApiPlan, RefusedForAnotherPackageOrDevice) {
  ASSERT_EQ(build(), ATTN_OK);
  args.plan = plan;
  attn_package *other = parse(listPackage());
  ASSERT_EQ(attn_package_use(other, device), ATTN_OK);
  EXPECT_EQ(attn_launch(other, &args, nullptr), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "plan: it was built for another package");
  attn_package_free(other);
  attn_device *elsewhere = nullptr;
  ASSERT_EQ(attn_device_open("sim", &elsewhere), ATTN_OK);
  ASSERT_EQ(attn_package_use(package, elsewhere), ATTN_OK);
  EXPECT_EQ(launch(), "plan: it was built on another device or context");
  attn_device_close(elsewhere);
}

TEST_F(CApiPlan, OutlivesItsPackage) {
  ASSERT_EQ(build(), ATTN_OK);
  attn_package_free(package);
  package = parse(listPackage());
  ASSERT_EQ(attn_package_use(package, device), ATTN_OK);
  args.plan = plan;
  // Never that of a package which got the same address.
  EXPECT_EQ(launch(), "plan: it was built for another package");
  ASSERT_EQ(build(), ATTN_OK);
  EXPECT_EQ(launchAndCompare(lse, 7), "");
}

TEST_F(CApiPlan, ThreadsShareAPlan) {
  constexpr int threads = 4, launches = 10;
  ASSERT_EQ(build(), ATTN_OK);
  args.plan = plan;
  std::vector<uint64_t> outputs;
  for (int i = 0; i < threads; ++i)
    outputs.push_back(allocate(lseBytes));
  std::vector<std::string> faults(threads, "unset");
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      std::string fault;
      for (int n = 0; n < launches && fault.empty(); ++n)
        fault = launchAndCompare(outputs[size_t(i)], 7);
      faults[size_t(i)] = fault;
    });
  // The same list again: what the others read does not change.
  for (int n = 0; n < launches; ++n) {
    attn_plan *own = nullptr;
    EXPECT_EQ(attn_plan_create(&own), ATTN_OK);
    EXPECT_EQ(attn_plan_build(package, &args, own, memory, listBytes, nullptr),
              ATTN_OK)
        << attn_last_error();
    attn_plan_free(own);
  }
  for (std::thread &worker : workers)
    worker.join();
  for (const std::string &fault : faults)
    EXPECT_EQ(fault, "");
}

TEST_F(CApiPlan, PackagesWithoutListsNeedNone) {
  Package plain = smallPackage();
  plain.problem.tensors.clear();
  plain.problem.outputO = false;
  Kernel &kernel = plain.kernels[0];
  kernel.arguments = {{"lse", ArgumentType::Ptr}};
  kernel.ptx = emptyPtx("fwd", kernel.arguments);
  attn_package *simple = parse(plain);
  ASSERT_EQ(attn_package_use(simple, device), ATTN_OK);
  int64_t bytes = -1;
  ASSERT_EQ(attn_plan_size(simple, &args, &bytes), ATTN_OK);
  EXPECT_EQ(bytes, 0);
  EXPECT_EQ(attn_launch(simple, &args, nullptr), ATTN_OK) << attn_last_error();
  // Code for any package builds one all the same.
  ASSERT_EQ(attn_plan_build(simple, &args, plan, 0, 0, nullptr), ATTN_OK);
  args.plan = plan;
  EXPECT_EQ(attn_launch(simple, &args, nullptr), ATTN_OK) << attn_last_error();
  attn_package_free(simple);
}

TEST_F(CApiPlan, NothingToComputeNeedsNone) {
  args.q_len = 0;
  int64_t bytes = -1;
  ASSERT_EQ(attn_plan_size(package, &args, &bytes), ATTN_OK);
  EXPECT_EQ(bytes, 0);
  ASSERT_EQ(attn_plan_build(package, &args, plan, 0, 0, nullptr), ATTN_OK);
  EXPECT_EQ(launch(), "launched");
  args.plan = plan;
  EXPECT_EQ(launch(), "launched");
  // But its plan is no one else's.
  args.q_len = 200;
  EXPECT_EQ(launch(), "plan: kernel 'fwd' reads what kernel 'list' fills, and "
                      "the plan was built for a launch that reads nothing; "
                      "build it again");
}

TEST_F(CApiPlan, NullPointers) {
  EXPECT_EQ(attn_plan_create(nullptr), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "plan: null pointer");
  EXPECT_EQ(attn_plan_invalidate(nullptr), ATTN_ERROR_INPUT);
  EXPECT_EQ(attn_plan_build(package, &args, nullptr, memory, listBytes, 0),
            ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "plan: null pointer");
  EXPECT_EQ(attn_plan_build(nullptr, &args, plan, memory, listBytes, 0),
            ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "package: null pointer");
  EXPECT_EQ(attn_plan_build(package, nullptr, plan, memory, listBytes, 0),
            ATTN_ERROR_INPUT);
  EXPECT_EQ(attn_plan_size(package, &args, nullptr), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "bytes: null pointer");
  attn_plan_free(nullptr);
}

} // namespace
