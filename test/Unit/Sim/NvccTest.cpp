//===- NvccTest.cpp - Everyday CUDA C++ by nvcc ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where there is an nvcc, Inputs/features.cu is compiled by it, whichever
// version it is, and its kernels check themselves.
//
//===----------------------------------------------------------------------===//

#include "SimHarness.h"

#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace attn;
using namespace attn::simtest;

namespace {

class Nvcc : public ::testing::TestWithParam<const char *> {};

TEST_P(Nvcc, KernelsAgreeWithThemselves) {
  std::ifstream file(ATTN_FEATURES_PTX);
  if (!file)
    GTEST_SKIP() << "no nvcc was found";
  std::stringstream ptx;
  ptx << file.rdbuf();
  constexpr unsigned blocks = 4, threads = 128;
  std::vector<uint64_t> in(4 * blocks * threads);
  std::mt19937_64 generator(5);
  for (uint64_t &value : in)
    value = generator();
  Harness harness(/*sanitize=*/true, /*threads=*/2);
  DevicePtr out = harness.upload(std::vector<uint64_t>(blocks * threads, 0));
  LaunchConfig config;
  config.grid[0] = blocks;
  config.block[0] = threads;
  config.sharedBytes = threads * sizeof(uint32_t);
  config.arguments = {argument(harness.upload(in)), argument(out)};
  ASSERT_EQ(harness.launch(ptx.str(), GetParam(), config), "");
  for (const SimFinding &finding : harness.findings)
    ADD_FAILURE() << finding.str();
  EXPECT_EQ(harness.download<uint64_t>(out, blocks * threads),
            std::vector<uint64_t>(blocks * threads, 1));
}

INSTANTIATE_TEST_SUITE_P(Features, Nvcc,
                         ::testing::Values("integers", "halves", "collectives",
                                           "memories", "atomics", "pipelines",
                                           "messages", "clusters"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
