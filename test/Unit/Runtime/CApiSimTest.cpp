//===- CApiSimTest.cpp - The C interface on the simulator -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Through the shared library, with a kernel that fills lse with a param: what
// reaches it shows whose arguments they were.
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"
#include "attn/Runtime/attn_runtime.h"

#include <thread>

using namespace attn;
using namespace attn::test;

namespace {

const char *const fillPtx = R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 lse, .param .u32 batch, .param .u32 q_len,
                     .param .u32 left)
{
  .reg .pred %p;
  .reg .b32 %r<10>;
  .reg .f32 %f;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [lse];
  ld.param.u32 %r1, [batch];
  ld.param.u32 %r2, [q_len];
  ld.param.u32 %r3, [left];
  cvt.rn.f32.s32 %f, %r3;
  mul.lo.s32 %r4, %r1, %r2;
  shl.b32 %r4, %r4, 2;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %ntid.x;
  mov.u32 %r7, %tid.x;
  mad.lo.s32 %r5, %r5, %r6, %r7;
  mov.u32 %r8, %nctaid.x;
  mul.lo.s32 %r8, %r8, %r6;
LOOP:
  setp.ge.s32 %p, %r5, %r4;
  @%p bra DONE;
  mul.wide.s32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f;
  add.s32 %r5, %r5, %r8;
  bra LOOP;
DONE:
  ret;
}
)";

Package fillPackage() {
  Package package = smallPackage();
  package.problem.tensors.clear();
  Kernel &kernel = package.kernels[0];
  kernel.name = "fill";
  kernel.ptx = fillPtx;
  kernel.block = 32;
  kernel.sharedBytes = 0;
  kernel.arguments = {{"lse", ArgumentType::Ptr},
                      {"batch", ArgumentType::I32},
                      {"q_len", ArgumentType::I32},
                      {"param:left", ArgumentType::I32}};
  kernel.grid = GridKind::Resident;
  return package;
}

attn_package *parse(const Package &source) {
  std::string text = toJson(source);
  attn_package *package = nullptr;
  EXPECT_EQ(attn_package_parse(text.data(), int64_t(text.size()), &package),
            ATTN_OK)
      << attn_last_error();
  return package;
}

attn_device *openSim() {
  attn_device *device = nullptr;
  EXPECT_EQ(attn_device_open("sim", &device), ATTN_OK) << attn_last_error();
  return device;
}

attn_view cView(const TensorView &view) {
  return {view.data, view.strideB, view.strideH, view.strideS};
}

/// The small launch with lse at `lse`; nothing else is touched.
attn_launch_args cArguments(uint64_t lse) {
  LaunchArguments small = smallArguments();
  attn_launch_args args = {};
  args.struct_bytes = sizeof(args);
  args.batch = small.batch;
  args.q_len = small.qLen;
  args.k_len = small.kLen;
  args.q = cView(small.q);
  args.k = cView(small.k);
  args.v = cView(small.v);
  args.o = cView(small.o);
  args.lse = cView(small.lse);
  args.lse.data = lse;
  return args;
}

constexpr int64_t lseElements = 2 * 4 * 200, lseBytes = 4 * lseElements;

/// Launches with left = `value` and returns the first element that is not it.
std::string fillAndCompare(attn_package *package, attn_device *device,
                           uint64_t lse, int value) {
  attn_launch_args args = cArguments(lse);
  attn_param left = {"left", 0, value, 0};
  args.params = &left;
  args.param_count = 1;
  std::vector<float> out(lseElements, -1);
  if (attn_device_write(device, lse, out.data(), lseBytes) ||
      attn_launch(package, &args, nullptr) ||
      attn_device_read(device, out.data(), lse, lseBytes))
    return attn_last_error();
  for (float found : out)
    if (found != float(value))
      return "expected " + std::to_string(value) + ", found " +
             std::to_string(found);
  return "";
}

/// Launches many times, with refusals between, on memory of its own.
std::string worker(attn_package *package, attn_device *device, int first) {
  constexpr int launches = 25;
  uint64_t lse = 0;
  if (attn_device_allocate(device, lseBytes, &lse))
    return attn_last_error();
  for (int i = 0; i < launches; ++i) {
    std::string fault = fillAndCompare(package, device, lse, first + i);
    if (!fault.empty())
      return fault;
    // The text of a refusal is that of this thread.
    attn_launch_args args = cArguments(lse);
    args.k_len = -first - i;
    std::string expected =
        "k_len = " + std::to_string(args.k_len) + ": allowed 0 .. 1073741824";
    if (attn_launch(package, &args, nullptr) != ATTN_ERROR_INPUT ||
        attn_last_error() != expected)
      return std::string("expected a refusal, found ") + attn_last_error();
  }
  return attn_device_release(device, lse) ? attn_last_error() : "";
}

/// Runs `count` workers; each makes or borrows its handles in `body`.
template <typename Body> void runThreads(int count, Body body) {
  std::vector<std::string> faults(size_t(count), "unset");
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] { faults[size_t(i)] = body(i); });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &fault : faults)
    EXPECT_EQ(fault, "");
}

TEST(CApiSim, ThreadsShareAPackageAndADevice) {
  attn_device *device = openSim();
  attn_package *package = parse(fillPackage());
  ASSERT_EQ(attn_package_use(package, device), ATTN_OK);
  // The first launches race to load the kernel.
  runThreads(4, [&](int i) { return worker(package, device, 1000 * (i + 1)); });
  attn_package_free(package);
  attn_device_close(device);
}

TEST(CApiSim, ThreadsLoadPackagesOfTheirOwn) {
  attn_device *shared = openSim();
  std::string text = toJson(fillPackage());
  runThreads(4, [&](int i) -> std::string {
    attn_device *own = nullptr;
    attn_package *package = nullptr;
    if (attn_device_open("sim", &own) ||
        attn_package_parse(text.data(), int64_t(text.size()), &package))
      return attn_last_error();
    attn_device *device = i % 2 ? own : shared;
    if (attn_package_use(package, device))
      return attn_last_error();
    std::string fault = worker(package, device, 1000 * (i + 1));
    attn_package_free(package);
    attn_device_close(own);
    return fault;
  });
  attn_device_close(shared);
}

TEST(CApiSim, AClosedDeviceLivesInItsPackages) {
  attn_device *device = openSim(), *other = openSim();
  attn_package *package = parse(fillPackage());
  uint64_t lse = 0;
  ASSERT_EQ(attn_device_allocate(device, lseBytes, &lse), ATTN_OK);
  ASSERT_EQ(attn_package_use(package, device), ATTN_OK);
  EXPECT_EQ(fillAndCompare(package, device, lse, 3), "");
  attn_device_close(device);
  attn_launch_args args = cArguments(lse);
  EXPECT_EQ(attn_launch(package, &args, nullptr), ATTN_OK) << attn_last_error();
  // Another device: loaded again, with its own memory.
  ASSERT_EQ(attn_device_allocate(other, lseBytes, &lse), ATTN_OK);
  ASSERT_EQ(attn_package_use(package, other), ATTN_OK);
  EXPECT_EQ(attn_prepare(package, &args), ATTN_OK) << attn_last_error();
  EXPECT_EQ(fillAndCompare(package, other, lse, 4), "");
  attn_package_free(package);
  attn_device_close(other);
}

TEST(CApiSim, FaultsOfAKernelAreErrors) {
  attn_device *device = openSim();
  attn_package *package = parse(fillPackage());
  ASSERT_EQ(attn_package_use(package, device), ATTN_OK);
  uint64_t lse = 0;
  ASSERT_EQ(attn_device_allocate(device, lseBytes - 4, &lse), ATTN_OK);
  attn_launch_args args = cArguments(lse);
  EXPECT_EQ(attn_launch(package, &args, nullptr), ATTN_ERROR_DEVICE);
  EXPECT_NE(std::string(attn_last_error()).find("past the end"),
            std::string::npos)
      << attn_last_error();
  attn_package_free(package);
  attn_device_close(device);
}

TEST(CApiSim, DeviceRefusals) {
  attn_device *device = reinterpret_cast<attn_device *>(1);
  EXPECT_EQ(attn_device_open("tpu", &device), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "device 'tpu': expected gpu, gpu:N or sim");
  EXPECT_EQ(device, nullptr);
  for (const char *name : {"", "gpu:", "gpu:x", "gpu:1x", "simulator"})
    EXPECT_EQ(attn_device_open(name, &device), ATTN_ERROR_INPUT) << name;
  EXPECT_EQ(attn_device_open(nullptr, &device), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "name: null pointer");
  EXPECT_EQ(attn_device_open("sim", nullptr), ATTN_ERROR_INPUT);
  device = openSim();
  uint64_t address = 1;
  EXPECT_EQ(attn_device_allocate(device, 0, &address), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "bytes = 0: expected 1 or more");
  EXPECT_EQ(address, 0u);
  EXPECT_EQ(attn_device_allocate(nullptr, 8, &address), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(), "device: null pointer");
  EXPECT_EQ(attn_device_write(device, 16, "x", 1), ATTN_ERROR_DEVICE);
  EXPECT_EQ(attn_device_write(device, 16, nullptr, 1), ATTN_ERROR_INPUT);
  EXPECT_EQ(attn_device_release(device, 16), ATTN_ERROR_DEVICE);
  EXPECT_EQ(attn_device_release(device, 0), ATTN_OK);
  EXPECT_EQ(attn_device_synchronize(device), ATTN_OK);
  EXPECT_EQ(attn_package_use(nullptr, device), ATTN_ERROR_INPUT);
  attn_device_close(device);
  attn_device_close(nullptr);
}

TEST(CApiSim, TellsWhatAPackageComputes) {
  attn_package *package = parse(fillPackage());
  attn_problem problem = {};
  EXPECT_EQ(attn_query_problem(package, &problem), ATTN_ERROR_INPUT);
  problem.struct_bytes = sizeof(problem);
  ASSERT_EQ(attn_query_problem(package, &problem), ATTN_OK);
  EXPECT_STREQ(problem.name, "small");
  EXPECT_EQ(problem.heads, 4);
  EXPECT_EQ(problem.kv_heads, 2);
  EXPECT_EQ(problem.head_dim_qk, 64);
  EXPECT_EQ(problem.head_dim_v, 32);
  EXPECT_EQ(problem.q_type, ATTN_BF16);
  EXPECT_EQ(problem.kv_type, ATTN_BF16);
  EXPECT_EQ(problem.o_type, ATTN_BF16);
  EXPECT_EQ(problem.has_o, 1);
  EXPECT_EQ(problem.has_lse, 1);
  attn_package_free(package);
}

} // namespace
