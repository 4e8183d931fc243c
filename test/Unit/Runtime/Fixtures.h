//===- Fixtures.h - Packages and launches to test with ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUNTIME_FIXTURES_H
#define ATTN_TEST_RUNTIME_FIXTURES_H

#include "attn/Runtime/Launch.h"

#include <gtest/gtest.h>

#include <string>

namespace attn::test {

/// Grouped heads, different qk and v dims, two params and a tensor.
inline Problem smallProblem() {
  Problem problem;
  problem.name = "small";
  problem.heads = 4;
  problem.kvHeads = 2;
  problem.headDimQK = 64;
  problem.headDimV = 32;
  Param left;
  left.name = "left";
  left.intDefault = 7;
  Param slope;
  slope.name = "slope";
  slope.type = DType::F32;
  slope.floatDefault = 0.5;
  problem.params = {left, slope};
  Tensor bias;
  bias.name = "bias";
  bias.dims = {{DimKind::Heads, 0}, {DimKind::Literal, 3}};
  problem.tensors = {bias};
  return problem;
}

inline const char *ptxTypeOf(ArgumentType type) {
  switch (type) {
  case ArgumentType::Ptr:
  case ArgumentType::I64:
    return ".u64";
  case ArgumentType::I32:
    return ".u32";
  case ArgumentType::F32:
    return ".f32";
  case ArgumentType::TensorMap:
    return ".align 64 .b8";
  }
  return "";
}

/// The text of a kernel that takes these arguments and does nothing.
inline std::string emptyPtx(const std::string &name,
                            const std::vector<KernelArgument> &arguments) {
  std::string ptx =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry " + name +
      "(\n";
  for (size_t i = 0; i < arguments.size(); ++i)
    ptx += std::string(i ? ",\n" : "") + "\t.param " +
           ptxTypeOf(arguments[i].type) + " " + name + "_param_" +
           std::to_string(i) +
           (arguments[i].type == ArgumentType::TensorMap ? "[128]" : "");
  return ptx + "\n)\n{\n\tret;\n}\n";
}

inline Kernel smallKernel(const std::string &name = "fwd") {
  Kernel kernel;
  kernel.name = name;
  kernel.target = "sm_80";
  kernel.block = 128;
  kernel.sharedBytes = 65536;
  kernel.arguments = {{"q", ArgumentType::Ptr},
                      {"q_stride_b", ArgumentType::I64},
                      {"k_stride_h", ArgumentType::I64},
                      {"o_stride_s", ArgumentType::I64},
                      {"lse_stride_h", ArgumentType::I64},
                      {"batch", ArgumentType::I32},
                      {"q_len", ArgumentType::I32},
                      {"k_len", ArgumentType::I32},
                      {"scale", ArgumentType::F32},
                      {"param:left", ArgumentType::I32},
                      {"param:slope", ArgumentType::F32},
                      {"tensor:bias", ArgumentType::Ptr}};
  kernel.ptx = emptyPtx(name, kernel.arguments);
  kernel.workItems = {{"batch", 1}, {"heads", 1}, {"q_len", 128}};
  kernel.tileM = 128;
  kernel.tileN = 64;
  kernel.schedule = "fa2";
  return kernel;
}

inline Package smallPackage() {
  Package package;
  package.compiler = "attn test";
  package.problem = smallProblem();
  package.kernels = {smallKernel()};
  return package;
}

/// Made-up, well-formed addresses for batch 2, q_len 200, k_len 300 in bshd.
inline LaunchArguments smallArguments() {
  LaunchArguments arguments;
  arguments.batch = 2;
  arguments.qLen = 200;
  arguments.kLen = 300;
  arguments.q = {0x10000, 200 * 4 * 64, 64, 4 * 64};
  arguments.k = {0x20000, 300 * 2 * 64, 64, 2 * 64};
  arguments.v = {0x30000, 300 * 2 * 32, 32, 2 * 32};
  arguments.o = {0x40000, 200 * 4 * 32, 32, 4 * 32};
  arguments.lse = {0x50004, 4 * 200, 200, 1};
  arguments.tensors["bias"] = {0x60000, 12};
  return arguments;
}

inline DeviceInfo smallDevice() {
  DeviceInfo info;
  info.name = "test device";
  info.smMajor = 9;
  info.smMinor = 0;
  info.multiprocessors = 4;
  info.sharedBytesPerBlock = 227 * 1024;
  return info;
}

/// The message of the exception of type E that `body` throws.
template <typename E, typename Body> std::string messageOf(Body body) {
  try {
    body();
  } catch (const E &error) {
    return error.what();
  } catch (const std::exception &error) {
    return std::string("another exception: ") + error.what();
  }
  return "no exception";
}

} // namespace attn::test

#endif // ATTN_TEST_RUNTIME_FIXTURES_H
