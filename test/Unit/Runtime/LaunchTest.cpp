//===- LaunchTest.cpp - Planning and starting launches --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"
#include "RecordingDevice.h"

#include <cmath>
#include <cstring>
#include <functional>

using namespace attn;
using namespace attn::test;

namespace {

template <typename T> T valueOf(const std::vector<uint8_t> &bytes) {
  T value{};
  EXPECT_EQ(bytes.size(), sizeof(T));
  if (bytes.size() == sizeof(T))
    std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

LaunchPlan plan(const LaunchArguments &arguments) {
  static const Package package = smallPackage();
  return planLaunch(package, arguments, smallDevice());
}

/// The refusal of the small launch after `edit`.
std::string refusal(const std::function<void(LaunchArguments &)> &edit,
                    const Package &package = smallPackage()) {
  LaunchArguments arguments = smallArguments();
  edit(arguments);
  return messageOf<LaunchError>(
      [&] { planLaunch(package, arguments, smallDevice()); });
}

TEST(Launch, MarshalsInManifestOrder) {
  LaunchArguments arguments = smallArguments();
  arguments.params["slope"] = ParamValue::ofFloat(0.25);
  LaunchPlan result = plan(arguments);
  const auto &bytes = result.config.arguments;
  ASSERT_EQ(bytes.size(), 12u);
  EXPECT_EQ(valueOf<uint64_t>(bytes[0]), 0x10000u);
  EXPECT_EQ(valueOf<int64_t>(bytes[1]), 200 * 4 * 64);
  EXPECT_EQ(valueOf<int64_t>(bytes[2]), 64);
  EXPECT_EQ(valueOf<int64_t>(bytes[3]), 128);
  EXPECT_EQ(valueOf<int64_t>(bytes[4]), 200);
  EXPECT_EQ(valueOf<int32_t>(bytes[5]), 2);
  EXPECT_EQ(valueOf<int32_t>(bytes[6]), 200);
  EXPECT_EQ(valueOf<int32_t>(bytes[7]), 300);
  EXPECT_EQ(valueOf<float>(bytes[8]), 0.125f);
  EXPECT_EQ(valueOf<int32_t>(bytes[9]), 7); // its default
  EXPECT_EQ(valueOf<float>(bytes[10]), 0.25f);
  EXPECT_EQ(valueOf<uint64_t>(bytes[11]), 0x60000u);
}

TEST(Launch, GridIsOneBlockPerWorkItem) {
  LaunchPlan result = plan(smallArguments());
  EXPECT_EQ(result.workItems, 2 * 4 * 2);
  EXPECT_EQ(result.config.grid[0], 16u);
  EXPECT_EQ(result.config.block[0], 128u);
  EXPECT_EQ(result.config.sharedBytes, 65536u);
  LaunchArguments arguments = smallArguments();
  arguments.grid = 3;
  EXPECT_EQ(plan(arguments).config.grid[0], 3u);
}

TEST(Launch, ResidentGridFillsTheDeviceOnce) {
  Package package = smallPackage();
  Kernel &kernel = package.kernels[0];
  kernel.grid = GridKind::Resident;
  auto blocks = [&](const LaunchArguments &arguments) {
    return planLaunch(package, arguments, smallDevice()).config.grid[0];
  };
  LaunchArguments arguments = smallArguments();
  EXPECT_EQ(blocks(arguments), 4u); // multiprocessors
  kernel.blocksPerMultiprocessor = 2;
  EXPECT_EQ(blocks(arguments), 8u);
  kernel.blocksPerMultiprocessor = 5;
  EXPECT_EQ(blocks(arguments), 16u); // work items
  arguments.grid = 100;
  EXPECT_EQ(blocks(arguments), 100u);
}

TEST(Launch, EmptyLaunchesNeedNoPointers) {
  for (int64_t batch : {0, 1}) {
    LaunchArguments arguments;
    arguments.batch = batch;
    arguments.qLen = 0;
    arguments.kLen = 5;
    LaunchPlan result = plan(arguments);
    EXPECT_EQ(result.kernel, nullptr);
    EXPECT_EQ(result.reason, batch ? "no launch: q_len is 0, there is no output"
                                   : "no launch: batch is 0, there is no "
                                     "output");
  }
}

TEST(Launch, NoKeysStillLaunches) {
  LaunchArguments arguments = smallArguments();
  arguments.kLen = 0;
  arguments.k = arguments.v = {};
  EXPECT_NE(plan(arguments).kernel, nullptr); // o = 0, lse = -inf (C5)
}

TEST(Launch, Lengths) {
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.qLen = (1 << 30) + 1; }),
            "q_len = 1073741825: allowed 0 .. 1073741824");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.kLen = -1; }),
            "k_len = -1: allowed 0 .. 1073741824");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.batch = int64_t(1) << 31; }),
            "batch = 2147483648: allowed 0 .. 2147483647");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.grid = 0; }),
            "grid = 0: allowed 1 .. 2147483647");
}

TEST(Launch, Alignment) {
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.q.data += 2; }),
            "q = 0x10002: the base address is 2 bytes past a multiple of 16, "
            "allowed multiples of 16");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.k.strideS = 130; }),
            "k_stride_s = 130 elements (260 bytes): allowed multiples of 16 "
            "bytes");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.lse.data += 2; }),
            "lse = 0x50006: the base address is 2 bytes past a multiple of 4, "
            "allowed multiples of 4");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.v.data = 0; }),
            "v: null pointer, expected device memory");
}

TEST(Launch, Strides) {
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.v.strideH = -32; }),
            "v_stride_h = -32: negative strides are not supported, allowed 0 "
            "and up");
  EXPECT_EQ(
      refusal([](LaunchArguments &a) { a.k.strideB = int64_t(1) << 60; }),
      "k_stride_b = 1152921504606846976: the tensor would span more than 2^57 "
      "bytes");
  // Broadcasting inputs is legal, broadcasting outputs is a race.
  LaunchArguments arguments = smallArguments();
  arguments.k.strideB = arguments.v.strideB = 0;
  EXPECT_NE(plan(arguments).kernel, nullptr);
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.o.strideB = 0; }),
            "o_stride_b = 0: elements of the output overlap, allowed 32 and "
            "up");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.lse.strideH = 199; }),
            "lse_stride_h = 199: elements of the output overlap, allowed 200 "
            "and up");
  // An axis of one element is never stepped over.
  arguments.batch = 1;
  arguments.q.strideB = -3;
  EXPECT_NE(plan(arguments).kernel, nullptr);
}

TEST(Launch, Params) {
  EXPECT_EQ(
      refusal([](LaunchArguments &a) { a.params["x"] = ParamValue::ofInt(1); }),
      "param 'x': attention 'small' has no such param; it declares left, "
      "slope");
  EXPECT_EQ(refusal([](LaunchArguments &a) {
              a.params["left"] = ParamValue::ofFloat(1.5);
            }),
            "param 'left' = 1.5: expected an integer (i32)");
  EXPECT_EQ(refusal([](LaunchArguments &a) {
              a.params["left"] = ParamValue::ofInt(int64_t(1) << 31);
            }),
            "param 'left' = 2147483648: allowed -2147483648 .. 2147483647");
  EXPECT_EQ(refusal([](LaunchArguments &a) {
              a.params["slope"] = ParamValue::ofFloat(0.0 / 0.0);
            }),
            "param 'slope' = nan: allowed any f32 but nan");
  EXPECT_EQ(refusal([](LaunchArguments &a) {
              a.params["slope"] = ParamValue::ofFloat(-3e39);
            }),
            "param 'slope' = -3e+39: the number is beyond the largest f32, "
            "3.40282e+38; inf is written inf");
  // Infinities are f32s, and the largest double that rounds to a finite one.
  for (double value :
       std::initializer_list<double>{INFINITY, -INFINITY, 3.4028235e38}) {
    LaunchArguments arguments = smallArguments();
    arguments.params["slope"] = ParamValue::ofFloat(value);
    EXPECT_NO_THROW(plan(arguments)) << value;
  }
}

TEST(Launch, BoolParamIsZeroOrOne) {
  Package package = smallPackage();
  package.problem.params[0].type = DType::Bool;
  EXPECT_EQ(
      refusal(
          [](LaunchArguments &a) { a.params["left"] = ParamValue::ofInt(2); },
          package),
      "param 'left' = 2: allowed 0 .. 1");
}

TEST(Launch, ScaleParam) {
  Package package = smallPackage();
  package.problem.scaleParam = "slope";
  LaunchArguments arguments = smallArguments();
  arguments.params["slope"] = ParamValue::ofFloat(3);
  LaunchPlan result = planLaunch(package, arguments, smallDevice());
  EXPECT_EQ(valueOf<float>(result.config.arguments[8]), 3.0f);
  EXPECT_EQ(refusal(
                [](LaunchArguments &a) {
                  a.params["slope"] = ParamValue::ofFloat(0);
                },
                package),
            "scale = 0: allowed positive finite numbers of f32");
}

TEST(Launch, Tensors) {
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.tensors.clear(); }),
            "tensor 'bias': not bound, expected f32[4, 3]");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.tensors["bias"].elements = 3; }),
            "tensor 'bias' has 3 elements: expected 12 (f32[4, 3])");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.tensors["bias"].data = 0; }),
            "tensor 'bias': null pointer, expected f32[4, 3]");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.tensors["bias"].data = 2; }),
            "tensor 'bias': the address is not a multiple of 4 bytes (f32[4, "
            "3])");
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.tensors["y"] = {16, 1}; }),
            "tensor 'y': attention 'small' has no such tensor; it declares "
            "bias");
}

TEST(Launch, OutputsThatTheSpecLacks) {
  Package package = smallPackage();
  package.problem.outputLse = false;
  EXPECT_EQ(refusal([](LaunchArguments &) {}, package),
            "lse: bound, but attention 'small' outputs o only");
  package.problem.outputLse = true;
  package.problem.outputO = false;
  EXPECT_EQ(refusal([](LaunchArguments &) {}, package),
            "o: bound, but attention 'small' outputs lse only");
}

TEST(Launch, LengthArrays) {
  EXPECT_EQ(refusal([](LaunchArguments &a) { a.kLens = 16; }),
            "k_lens: bound, but the spec says `batch dense`");
  Package package = smallPackage();
  package.problem.batch = BatchKind::Padded;
  EXPECT_EQ(refusal([](LaunchArguments &) {}, package),
            "q_lens: not bound, expected i32[batch] because the spec says "
            "`batch padded`");
}

TEST(Launch, PackedSequences) {
  Package package = smallPackage();
  package.problem.batch = BatchKind::Varlen;
  EXPECT_EQ(refusal([](LaunchArguments &) {}, package),
            "cu_seqlens_q: not bound, expected i32[batch + 1] because the spec "
            "says `batch varlen`");
  auto packed = [](LaunchArguments &a) {
    a.cuSeqlensQ = 16;
    a.totalQ = a.batch * a.qLen;
  };
  auto refusalWith = [&](auto change) {
    return refusal(
        [&](LaunchArguments &a) {
          packed(a);
          change(a);
        },
        package);
  };
  EXPECT_EQ(refusalWith([](LaunchArguments &) {}),
            "cu_seqlens_k and k_lens: neither is bound, expected at least one "
            "because the spec says `batch varlen`");
  EXPECT_EQ(refusalWith([](LaunchArguments &a) { a.qLens = 16; }),
            "q_lens: bound, but the spec says `batch varlen`");
  EXPECT_EQ(refusalWith([](LaunchArguments &a) { a.cuSeqlensQ = 18; }),
            "cu_seqlens_q: the address is not a multiple of 4 bytes");
  EXPECT_EQ(refusalWith([](LaunchArguments &a) {
              a.kLens = 16;
              a.totalK = 5;
            }),
            "total_k = 5: expected 0 without cu_seqlens_k");
  EXPECT_EQ(refusalWith([](LaunchArguments &a) {
              a.kLens = 16;
              a.totalQ = a.qLen - 1;
            }),
            "q_len = 200: expected the length of the longest sequence, at most "
            "total_q = 199");
  EXPECT_EQ(refusalWith([](LaunchArguments &a) {
              a.kLens = 16;
              a.totalQ = (int64_t(1) << 30) + 1;
            }),
            "total_q = 1073741825: allowed 0 .. 1073741824");
}

TEST(Launch, FormatsOfLaterReleases) {
  Package package = smallPackage();
  package.problem.kv = KvKind::Paged;
  EXPECT_EQ(refusal([](LaunchArguments &) {}, package),
            "kv = paged: this runtime launches contiguous keys and values");
}

TEST(Launch, TooManyWorkItems) {
  std::string message = refusal([](LaunchArguments &a) {
    a.batch = 1 << 20;
    a.qLen = a.kLen = 1 << 20;
    a.q = {0x10000, 0, 0, 64};
    a.k = {0x20000, 0, 0, 64};
    a.v = {0x30000, 0, 0, 32};
    a.o = {0x40000, int64_t(1) << 27, int64_t(1) << 25, 32};
    a.lse = {0x50000, int64_t(1) << 22, int64_t(1) << 20, 1};
  });
  EXPECT_EQ(message, "kernel 'fwd': more than 2147483647 work items (batch = "
                     "1048576, q_len = 1048576): split the batch");
}

TEST(Launch, Workspace) {
  Package package = smallPackage();
  package.kernels[0].workspaceBytesPerItem = 32;
  EXPECT_EQ(refusal([](LaunchArguments &) {}, package),
            "workspace of 0 bytes: expected 512 bytes or more, 16-byte "
            "aligned");
  LaunchArguments arguments = smallArguments();
  arguments.workspace = 0x70000;
  arguments.workspaceBytes = 512;
  EXPECT_NE(planLaunch(package, arguments, smallDevice()).kernel, nullptr);
}

TEST(Launch, WorkCounterLiesInFrontOfTheWorkspace) {
  Package package = smallPackage();
  Kernel &kernel = package.kernels[0];
  kernel.workspaceBytesPerItem = 32;
  kernel.arguments.push_back({"workspace", ArgumentType::Ptr});
  kernel.arguments.push_back({"work_counter", ArgumentType::Ptr});
  LaunchArguments arguments = smallArguments();
  arguments.workspace = 0x70000;
  arguments.workspaceBytes = 16 + 512;
  LaunchPlan result = planLaunch(package, arguments, smallDevice());
  EXPECT_EQ(valueOf<uint64_t>(result.config.arguments[12]), 0x70010u);
  EXPECT_EQ(valueOf<uint64_t>(result.config.arguments[13]), 0x70000u);
  EXPECT_EQ(refusal(
                [](LaunchArguments &a) {
                  a.workspace = 0x70000;
                  a.workspaceBytes = 527;
                },
                package),
            "workspace of 527 bytes: expected 528 bytes or more, 16-byte "
            "aligned");
}

TEST(Launch, InProcessPackageWithABadArgument) {
  Package package = smallPackage();
  package.kernels[0].arguments.push_back({"tensor:x", ArgumentType::Ptr});
  EXPECT_EQ(messageOf<PackageError>(
                [&] { planLaunch(package, smallArguments(), smallDevice()); }),
            "nothing can bind an argument named 'tensor:x'");
}

//===----------------------------------------------------------------------===//
// LoadedPackage on a device that records
//===----------------------------------------------------------------------===//

TEST(LoadedPackage, LoadsOnceAndUsesTheCallersStream) {
  Package package = smallPackage();
  package.kernels[0].guards = {{{"q_len", 0, 0}, GuardOp::Ge, {"", 128, 0}}};
  package.kernels.push_back(smallKernel("small"));
  package.kernels[1].ptx = "other";
  RecordingDevice device;
  LoadedPackage loaded(package, device);
  EXPECT_TRUE(device.record.loaded.empty());
  int stream = 0;
  loaded.launch(smallArguments(), &stream);
  loaded.launch(smallArguments(), &stream);
  EXPECT_EQ(device.record.loaded,
            std::vector<std::string>{package.kernels[0].ptx});
  EXPECT_EQ(device.record.last.stream, &stream);
  LaunchArguments arguments = smallArguments();
  arguments.qLen = 100;
  loaded.launch(arguments);
  EXPECT_EQ(device.record.launched,
            (std::vector<std::string>{"fwd", "fwd", "small"}));
  EXPECT_EQ(device.record.loaded.size(), 2u);
  arguments.qLen = 0;
  loaded.launch(arguments);
  EXPECT_EQ(device.record.launched.size(), 3u);
}

} // namespace
