//===- HopperKernelTest.cpp - Kernels that are right on an H200 -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whole warp-specialised attention kernels, which were written without the
// simulator and checked on a GPU. They are not part of the repository: the
// tests run where ATTN_HOPPER_KERNELS (an environment variable, or the CMake
// variable of that name) is a folder that has them.
//
//===----------------------------------------------------------------------===//

#include "AttentionProblem.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace attn;
using namespace attn::simtest;

namespace {

std::string readKernel(const std::string &name) {
  const char *folder = std::getenv("ATTN_HOPPER_KERNELS");
  std::ifstream file(std::string(folder ? folder : ATTN_HOPPER_KERNELS) + "/" +
                     name + ".ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct HopperKernel {
  const char *name;
  bool causal;
  uint32_t sharedBytes, tileQueries, tileKeys, threads;
  bool counter; ///< persistent: takes tiles by an atomic counter
};

const HopperKernel kernels[] = {
    {"a128", false, 163952, 128, 128, 384, false},
    {"e1m1qd", false, 163952, 128, 128, 384, true},
    {"ce1m1qod", true, 197632, 128, 128, 384, true},
    {"rbw3s", false, 131184, 192, 80, 512, false},
};

std::vector<uint8_t> mapArgument(Harness &harness, DevicePtr base, int heads,
                                 int rows, uint32_t tileRows) {
  constexpr uint64_t rowBytes = AttentionProblem::headDim * 2;
  TensorMap map;
  map.base = base;
  map.rank = 3;
  map.dims = {AttentionProblem::headDim, uint64_t(rows), uint64_t(heads)};
  map.strides = {rowBytes, uint64_t(rows) * rowBytes};
  map.box = {64, tileRows, 1};
  map.swizzle = TensorMap::Swizzle::Span128;
  EncodedTensorMap encoded = harness.device->encodeTensorMap(map);
  return {encoded.begin(), encoded.end()};
}

/// Returns the error, empty if there was none.
std::string run(Harness &harness, AttentionProblem &problem,
                const HopperKernel &kernel, const std::string &ptx,
                uint32_t maxGrid) {
  constexpr uint32_t storeRows = 16;
  const AttentionShape &shape = problem.shape;
  DevicePtr o = problem.makeOut(harness), l = problem.makeLse(harness);
  auto map = [&](DevicePtr base, uint32_t rows) {
    return mapArgument(harness, base, shape.heads, shape.keys, rows);
  };
  LaunchConfig config;
  uint32_t tiles = (shape.queries + kernel.tileQueries - 1) /
                   kernel.tileQueries * shape.heads;
  config.grid[0] = kernel.counter ? std::min(tiles, maxGrid) : tiles;
  config.block[0] = kernel.threads;
  config.sharedBytes = kernel.sharedBytes;
  config.arguments = {map(harness.upload(problem.q), kernel.tileQueries),
                      map(harness.upload(problem.k), kernel.tileKeys),
                      map(harness.upload(problem.v), kernel.tileKeys),
                      map(o, storeRows),
                      argument(l),
                      argument(shape.queries),
                      argument(shape.heads),
                      argument(AttentionProblem::scaleLog2)};
  if (kernel.counter)
    config.arguments.push_back(
        argument(harness.upload(std::vector<uint32_t>(4, 0))));
  std::string error = harness.launch(ptx, "attn", config);
  if (error.empty())
    problem.fetch(harness, o, l);
  return error;
}

class Hopper : public ::testing::TestWithParam<HopperKernel> {};

TEST_P(Hopper, MatchesSoftmax) {
  const HopperKernel &kernel = GetParam();
  std::string ptx = readKernel(kernel.name);
  if (ptx.empty())
    GTEST_SKIP() << "no " << kernel.name << ".ptx in ATTN_HOPPER_KERNELS";
  for (int rows : {128, 400}) {
    AttentionProblem problem({2, rows, rows, kernel.causal});
    Harness harness(/*sanitize=*/true, /*threads=*/0, /*hardwareOrder=*/true);
    ASSERT_EQ(run(harness, problem, kernel, ptx, /*maxGrid=*/3), "");
    for (const SimFinding &finding : harness.findings)
      ADD_FAILURE() << finding.str();
    problem.check(/*step=*/5);
  }
}

// All lanes read the tile's number and one of them releases it at once; the
// last block resets the counter with no fence behind its atomic. Both work on
// an H200 and are not what the memory model promises.
TEST(HopperOrder, WhatTheMemoryModelDoesNotPromiseIsFound) {
  const HopperKernel &kernel = kernels[2];
  std::string ptx = readKernel(kernel.name);
  if (ptx.empty())
    GTEST_SKIP() << "no " << kernel.name << ".ptx in ATTN_HOPPER_KERNELS";
  AttentionProblem problem({2, 400, 400, kernel.causal});
  Harness harness(/*sanitize=*/true, /*threads=*/1);
  EXPECT_EQ(run(harness, problem, kernel, ptx, /*maxGrid=*/2), "");
  ASSERT_EQ(harness.checks(), "shared-race global-race global-race");
  EXPECT_NE(harness.findings[0].mend.find("bar.warp.sync"), std::string::npos);
  EXPECT_NE(harness.findings[1].mend.find("acquire"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Hopper, ::testing::ValuesIn(kernels),
                         [](const auto &info) { return info.param.name; });

} // namespace
