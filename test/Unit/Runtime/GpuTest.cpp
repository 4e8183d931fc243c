//===- GpuTest.cpp - The GPU code over a fake driver ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"
#include "Driver.h"
#include "FakeDriver.h"
#include "ListPackage.h"
#include "attn/Runtime/attn_runtime.h"

#include <cstring>
#include <dlfcn.h>

using namespace attn;
using namespace attn::test;

namespace {

class GpuTest : public ::testing::Test {
protected:
  void SetUp() override {
    // The run path of this test finds the fake one first.
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    auto find =
        reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "fakeDriver"));
    ASSERT_NE(find, nullptr) << "a real driver was found";
    fake = find();
    *fake = FakeDriver();
  }

  FakeDriver *fake = nullptr;
};

TEST_F(GpuTest, NoDevice) {
  fake->initResult = driver::errorNoDevice;
  EXPECT_EQ(messageOf<DeviceError>([] { driver::loadDriver("libcuda.so.1"); }),
            "no NVIDIA GPU: the driver is installed but finds no device");
  fake->initResult = 999;
  EXPECT_EQ(messageOf<DeviceError>([] { driver::loadDriver("libcuda.so.1"); }),
            "starting the NVIDIA driver: CUDA_ERROR_OF_THE_FAKE: as told");
  fake->initResult = 0;
  fake->deviceCount = 0;
  EXPECT_EQ(messageOf<DeviceError>([] { openGpu(); }),
            "no NVIDIA GPU: the driver is installed but finds no device");
  fake->deviceCount = 2;
  EXPECT_EQ(messageOf<DeviceError>([] { openGpu(2); }),
            "GPU 2: allowed 0 .. 1");
}

TEST_F(GpuTest, InfoAndPeaks) {
  DeviceInfo info = openGpu()->info();
  EXPECT_EQ(info.name, "fake H200");
  EXPECT_EQ(info.smMajor, 9);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.sharedBytesPerBlock, 232448);
  EXPECT_NEAR(info.peakTensorFlops, 1070.5e12, 0.1e12);
  EXPECT_NEAR(info.peakBytesPerSecond, 4.917e12, 0.001e12);
  EXPECT_EQ(fake->contexts, 0); // released
}

TEST_F(GpuTest, Memory) {
  std::unique_ptr<Device> gpu = openGpu();
  DevicePtr ptr = gpu->allocate(16);
  gpu->fill32(ptr, 0xABCD, 16);
  uint32_t words[4] = {1, 2, 3, 4}, back[4] = {};
  gpu->copyToDevice(ptr, words, 8);
  gpu->copyFromDevice(back, ptr, 16);
  EXPECT_EQ(back[1], 2u);
  EXPECT_EQ(back[2], 0xABCDu);
  gpu->release(ptr);
  EXPECT_TRUE(fake->memory.empty());
  DevicePtr none = gpu->allocate(0), another = gpu->allocate(0);
  EXPECT_NE(none, another);
  gpu->release(none);
  gpu->release(another);
  EXPECT_TRUE(fake->memory.empty());
  fake->freeBytes = 1000;
  EXPECT_EQ(messageOf<DeviceError>([&] { gpu->allocate(1001); }),
            "out of device memory: 1001 bytes asked for, 1000 of 2147483648 "
            "free");
}

TEST_F(GpuTest, LoadErrors) {
  std::unique_ptr<Device> gpu = openGpu();
  fake->loadResult = driver::errorUnsupportedPtxVersion;
  EXPECT_EQ(
      messageOf<DeviceError>([&] { gpu->loadModule(".version 8.7\n"); }),
      "NVIDIA driver too old: it supports CUDA 12.4, the kernel is PTX 8.7; "
      "install a newer driver");
  fake->loadResult = driver::errorInvalidPtx;
  fake->loadLog = "line 3: syntax";
  EXPECT_EQ(messageOf<ModuleError>([&] { gpu->loadModule("x"); }),
            "loading PTX: CUDA_ERROR_OF_THE_FAKE: as told\nline 3: syntax");
  // The text may be fine where the machine fails.
  fake->loadResult = driver::errorOutOfMemory;
  try {
    gpu->loadModule("x");
    ADD_FAILURE() << "loaded";
  } catch (const ModuleError &) {
    ADD_FAILURE() << "the text is blamed for the memory";
  } catch (const DeviceError &error) {
    EXPECT_STREQ(error.what(), "loading PTX: CUDA_ERROR_OUT_OF_MEMORY: as "
                               "told\nline 3: syntax");
  }
  EXPECT_EQ(fake->modules, 0);
}

TEST_F(GpuTest, LaunchesAndLimits) {
  std::unique_ptr<Device> gpu = openGpu();
  std::unique_ptr<DeviceModule> module = gpu->loadModule("entry fwd");
  fake->argumentBytes = {8, 4};
  LaunchConfig config;
  config.grid[0] = 7;
  config.block[0] = 128;
  config.sharedBytes = 100000;
  int stream = 0;
  config.stream = &stream;
  config.arguments = {{1, 0, 0, 0, 0, 0, 0, 2}, {3, 0, 0, 4}};
  module->launch("fwd", config);
  ASSERT_EQ(fake->launches.size(), 1u);
  const FakeLaunch &launch = fake->launches[0];
  EXPECT_EQ(launch.grid[0], 7u);
  EXPECT_EQ(launch.grid[1], 1u);
  EXPECT_EQ(launch.block[0], 128u);
  EXPECT_EQ(launch.sharedBytes, 100000u);
  EXPECT_EQ(launch.stream, &stream);
  EXPECT_EQ(launch.arguments,
            (std::vector<uint64_t>{0x0200000000000001, 0x04000003}));
  // More than 48 KB must be asked for, once.
  EXPECT_EQ(fake->sharedLimit["fwd"], 100000);
  fake->sharedLimit.clear();
  module->launch("fwd", config);
  EXPECT_TRUE(fake->sharedLimit.empty());
  EXPECT_EQ(module->occupancy("fwd", 128, 100000), 2);
  EXPECT_EQ(messageOf<DeviceError>([&] { module->launch("bwd", config); }),
            "looking up kernel 'bwd': CUDA_ERROR_OF_THE_FAKE: as told");
  fake->launchResult = 1;
  EXPECT_EQ(messageOf<DeviceError>([&] { module->launch("fwd", config); }),
            "launching kernel 'fwd': CUDA_ERROR_OF_THE_FAKE: as told");
  module.reset();
  EXPECT_EQ(fake->modules, 0);
}

TEST_F(GpuTest, LaunchesClusters) {
  std::unique_ptr<Device> gpu = openGpu();
  std::unique_ptr<DeviceModule> module = gpu->loadModule("entry fwd");
  LaunchConfig config;
  config.grid[0] = 32;
  config.block[0] = 64;
  module->launch("fwd", config);
  EXPECT_TRUE(fake->launches[0].cluster.empty());
  config.cluster[0] = 2;
  config.cluster[1] = 4;
  module->launch("fwd", config);
  EXPECT_EQ(fake->launches[1].cluster, (std::vector<unsigned>{2, 4, 1}));
  EXPECT_EQ(fake->launches[1].grid[0], 32u);
  EXPECT_EQ(fake->launches[1].block[0], 64u);
  EXPECT_FALSE(fake->nonPortableClusters);
  config.cluster[2] = 2;
  module->launch("fwd", config);
  EXPECT_TRUE(fake->nonPortableClusters);
}

TEST_F(GpuTest, TensorMapsReachTheDriver) {
  std::unique_ptr<Device> gpu = openGpu();
  TensorMap map;
  map.base = 0x7000;
  map.rank = 3;
  map.dims = {64, 1000, 3};
  map.strides = {128, 128000};
  map.box = {64, 128, 1};
  map.swizzle = TensorMap::Swizzle::Span128;
  map.fill = TensorMap::Fill::NaN;
  map.promotion = TensorMap::L2Promotion::Bytes128;
  EncodedTensorMap encoded = gpu->encodeTensorMap(map);
  uint64_t words[16]; // as the fake driver lays them out
  std::memcpy(words, encoded.data(), sizeof(words));
  EXPECT_EQ(words[0], 0x7000u);
  EXPECT_EQ(words[2], 1000u);
  EXPECT_EQ(words[7], uint64_t(1) << 32 | 128);
  EXPECT_EQ(words[12], 128000u);
  EXPECT_EQ(words[15], 0x0102030009u); // fill, promotion, swizzle, -, format
  map.base += 8;
  EXPECT_EQ(messageOf<DeviceError>([&] { gpu->encodeTensorMap(map); }),
            "tensor map: base is 28680, expected a device address that is a "
            "multiple of 16");
}

TEST_F(GpuTest, SmallKernelsKeepTheDefaultLimit) {
  std::unique_ptr<Device> gpu = openGpu();
  std::unique_ptr<DeviceModule> module = gpu->loadModule("entry fwd");
  LaunchConfig config;
  config.sharedBytes = 48 * 1024;
  module->launch("fwd", config);
  EXPECT_TRUE(fake->sharedLimit.empty());
}

TEST_F(GpuTest, TimingReleasesItsEvents) {
  std::unique_ptr<Device> gpu = openGpu();
  int runs = 0;
  auto body = [](void *context) { ++*static_cast<int *>(context); };
  EXPECT_EQ(gpu->timeMilliseconds(nullptr, 5, body, &runs), 1.5);
  EXPECT_EQ(runs, 5);
  fake->synchronizeResult = 700;
  EXPECT_THROW(gpu->timeMilliseconds(nullptr, 1, body, &runs), DeviceError);
  EXPECT_EQ(messageOf<DeviceError>([&] { gpu->synchronize(); }),
            "running a kernel: CUDA_ERROR_OF_THE_FAKE: as told");
  // The kernel's own fault, unlike what the machine lacks.
  for (int fault : {700, 702, 710, 715, 719}) {
    fake->synchronizeResult = fault;
    EXPECT_THROW(gpu->synchronize(), KernelError) << fault;
  }
  fake->synchronizeResult = 2;
  try {
    gpu->synchronize();
    ADD_FAILURE();
  } catch (const KernelError &) {
    ADD_FAILURE();
  } catch (const DeviceError &) {
  }
  EXPECT_EQ(fake->events, 0);
}

//===----------------------------------------------------------------------===//
// The C interface on the caller's context
//===----------------------------------------------------------------------===//

attn_view cView(const TensorView &view) {
  return {view.data, view.strideB, view.strideH, view.strideS};
}

attn_launch_args cArguments(const LaunchArguments &small) {
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
  return args;
}

TEST_F(GpuTest, CInterfaceLaunches) {
  Package source = smallPackage();
  std::string text = toJson(source);
  attn_package *package = nullptr;
  ASSERT_EQ(attn_package_parse(text.data(), int64_t(text.size()), &package),
            ATTN_OK);
  attn_param param = {"left", 0, 11, 0};
  attn_tensor tensor = {"bias", 0x60000, 12};
  attn_launch_args args = cArguments(smallArguments());
  args.params = &param;
  args.param_count = 1;
  args.tensors = &tensor;
  args.tensor_count = 1;
  int64_t bytes = -1;
  EXPECT_EQ(attn_query_workspace(package, &args, &bytes), ATTN_OK);
  EXPECT_EQ(bytes, 0);
  EXPECT_TRUE(fake->loaded.empty());
  EXPECT_EQ(attn_prepare(package, &args), ATTN_OK) << attn_last_error();
  EXPECT_EQ(fake->loaded.size(), 1u);
  EXPECT_EQ(fake->sharedLimit["fwd"], 65536);
  fake->argumentBytes = {8, 8, 8, 8, 8, 4, 4, 4, 4, 4, 4, 8};
  int stream = 0;
  EXPECT_EQ(attn_launch(package, &args, &stream), ATTN_OK) << attn_last_error();
  EXPECT_EQ(fake->loaded.size(), 1u); // prepared already
  ASSERT_EQ(fake->launches.size(), 1u);
  EXPECT_EQ(fake->launches[0].stream, &stream);
  EXPECT_EQ(fake->launches[0].grid[0], 16u);
  EXPECT_EQ(fake->launches[0].arguments[0], 0x10000u);
  EXPECT_EQ(fake->launches[0].arguments[9], 11u);
  EXPECT_EQ(fake->launches[0].arguments[11], 0x60000u);
  args.grid = 5;
  EXPECT_EQ(attn_launch(package, &args, nullptr), ATTN_OK);
  EXPECT_EQ(fake->launches[1].grid[0], 5u);
  char line[16];
  EXPECT_EQ(attn_explain(package, &args, line, 4), ATTN_OK);
  EXPECT_STREQ(line, "fwd");
  args.q.data += 2;
  EXPECT_EQ(attn_launch(package, &args, nullptr), ATTN_ERROR_INPUT);
  EXPECT_STREQ(attn_last_error(),
               "q = 0x10002: the base address is 2 bytes past a multiple of "
               "16, allowed multiples of 16");
  args.q_len = 0;
  EXPECT_EQ(attn_launch(package, &args, nullptr), ATTN_OK);
  EXPECT_EQ(fake->launches.size(), 2u);
  attn_package_free(package);
  EXPECT_EQ(fake->modules, 0);
  EXPECT_EQ(fake->contexts, 0); // the caller's was never retained
}

TEST_F(GpuTest, CInterfaceIsCapturableOncePrepared) {
  Package source = smallPackage();
  source.problem.tensors.clear();
  Kernel &kernel = source.kernels[0];
  kernel.arguments.pop_back();
  kernel.arguments.push_back(
      {"k_map", ArgumentType::TensorMap, {128, 64, 128}});
  kernel.arguments.push_back({"work_counter", ArgumentType::Ptr});
  kernel.ptx = emptyPtx("fwd", kernel.arguments);
  std::string text = toJson(source);
  attn_package *package = nullptr;
  ASSERT_EQ(attn_package_parse(text.data(), int64_t(text.size()), &package),
            ATTN_OK);
  attn_launch_args args = cArguments(smallArguments());
  args.workspace = 0x70000;
  args.workspace_bytes = 16;
  fake->capturing = true;
  EXPECT_EQ(attn_launch(package, &args, nullptr), ATTN_ERROR_DEVICE);
  fake->capturing = false;
  ASSERT_EQ(attn_prepare(package, &args), ATTN_OK) << attn_last_error();
  fake->capturing = true;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(attn_launch(package, &args, nullptr), ATTN_OK)
        << attn_last_error();
  EXPECT_EQ(fake->launches.size(), 3u);
  fake->capturing = false;
  attn_package_free(package);
}

TEST_F(GpuTest, BuildingAPlanIsCapturableOncePrepared) {
  std::string text = toJson(listPackage());
  attn_package *package = nullptr;
  ASSERT_EQ(attn_package_parse(text.data(), int64_t(text.size()), &package),
            ATTN_OK);
  attn_launch_args args = cArguments(listArguments());
  ASSERT_EQ(attn_prepare(package, &args), ATTN_OK) << attn_last_error();
  EXPECT_EQ(fake->loaded.size(), 2u);
  attn_plan *plan = nullptr;
  ASSERT_EQ(attn_plan_create(&plan), ATTN_OK);
  int stream = 0;
  fake->argumentBytes = {8, 4, 4, 4};
  fake->capturing = true;
  ASSERT_EQ(attn_plan_build(package, &args, plan, 0x90000, 104, &stream),
            ATTN_OK)
      << attn_last_error();
  args.plan = plan;
  fake->argumentBytes = {8, 8, 4, 4};
  ASSERT_EQ(attn_launch(package, &args, &stream), ATTN_OK) << attn_last_error();
  EXPECT_EQ(fake->loaded.size(), 2u);
  ASSERT_EQ(fake->launches.size(), 2u);
  for (const auto &launch : fake->launches)
    EXPECT_EQ(launch.stream, &stream);
  fake->capturing = false;
  // Where the list is, to both.
  EXPECT_EQ(fake->launches[0].arguments[0], 0x90000u);
  EXPECT_EQ(fake->launches[1].arguments[1], 0x90000u);
  attn_plan_free(plan);
  attn_package_free(package);
}

TEST_F(GpuTest, CInterfaceOpensAGpuItself) {
  Package source = smallPackage();
  source.problem.tensors.clear();
  source.kernels[0].arguments.pop_back();
  source.kernels[0].ptx = emptyPtx("fwd", source.kernels[0].arguments);
  std::string text = toJson(source);
  attn_device *device = nullptr;
  attn_package *package = nullptr;
  EXPECT_EQ(attn_device_open("gpu:7", &device), ATTN_ERROR_DEVICE);
  EXPECT_STREQ(attn_last_error(), "GPU 7: allowed 0 .. 0");
  ASSERT_EQ(attn_device_open("gpu", &device), ATTN_OK) << attn_last_error();
  ASSERT_EQ(attn_package_parse(text.data(), int64_t(text.size()), &package),
            ATTN_OK);
  ASSERT_EQ(attn_package_use(package, device), ATTN_OK);
  // Whatever the thread has as its context, or none, it keeps.
  attn_launch_args args = cArguments(smallArguments());
  uint64_t address = 0;
  for (uintptr_t current : {uintptr_t(0), FakeDriver::another}) {
    fake->current = current;
    EXPECT_EQ(attn_prepare(package, &args), ATTN_OK) << attn_last_error();
    EXPECT_EQ(attn_launch(package, &args, nullptr), ATTN_OK)
        << attn_last_error();
    EXPECT_EQ(attn_device_allocate(device, 16, &address), ATTN_OK)
        << attn_last_error();
    EXPECT_EQ(attn_device_release(device, address), ATTN_OK);
    EXPECT_EQ(fake->current, current);
  }
  EXPECT_EQ(fake->launches.size(), 2u);
  EXPECT_EQ(fake->contexts, 1);
  attn_device_close(device);
  EXPECT_EQ(fake->contexts, 1); // the package still has it
  attn_package_free(package);
  EXPECT_EQ(fake->current, FakeDriver::another);
  EXPECT_EQ(fake->modules, 0);
  EXPECT_EQ(fake->contexts, 0);
}

TEST_F(GpuTest, CInterfaceNeedsAContext) {
  std::string text = toJson(smallPackage());
  attn_package *package = nullptr;
  ASSERT_EQ(attn_package_parse(text.data(), int64_t(text.size()), &package),
            ATTN_OK);
  attn_launch_args args = {};
  args.struct_bytes = sizeof(args);
  fake->current = 0;
  EXPECT_EQ(attn_launch(package, &args, nullptr), ATTN_ERROR_DEVICE);
  EXPECT_STREQ(attn_last_error(),
               "no CUDA context is current on this thread: make one current "
               "(any CUDA runtime call does) before launching");
  attn_package_free(package);
}

} // namespace
