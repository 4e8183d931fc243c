//===- FlashTest.cpp - A whole attention kernel from nvcc -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionProblem.h"

#include <chrono>
#include <fstream>
#include <sstream>

using namespace attn;
using namespace attn::simtest;

namespace {

constexpr int tileRows = 64,
              tileBytes = tileRows * AttentionProblem::headDim * 2;
constexpr uint32_t sharedBytes = 5 * tileBytes;

std::string readInput(const std::string &name) {
  std::ifstream file(std::string(ATTN_SIM_INPUTS) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Problem : public AttentionProblem {
public:
  using AttentionProblem::AttentionProblem;

  /// Runs the kernel; returns the error, empty if there was none.
  std::string run(Harness &harness, const std::string &ptx) {
    DevicePtr o = makeOut(harness), l = makeLse(harness);
    LaunchConfig config;
    config.grid[0] = (shape.queries + tileRows - 1) / tileRows;
    config.grid[1] = shape.heads;
    config.block[0] = 128;
    config.sharedBytes = sharedBytes;
    config.arguments = {argument(harness.upload(q)),
                        argument(harness.upload(k)),
                        argument(harness.upload(v)),
                        argument(o),
                        argument(l),
                        argument(shape.queries),
                        argument(shape.keys),
                        argument(scaleLog2),
                        argument(int(shape.causal))};
    std::string error = harness.launch(ptx, "flash", config);
    if (error.empty())
      fetch(harness, o, l);
    return error;
  }
};

class Flash : public ::testing::TestWithParam<AttentionShape> {};

TEST_P(Flash, MatchesSoftmax) {
  Harness harness;
  Problem problem(GetParam());
  ASSERT_EQ(problem.run(harness, readInput("flash.ptx")), "");
  for (const SimFinding &finding : harness.findings)
    ADD_FAILURE() << finding.str();
  problem.check();
}

INSTANTIATE_TEST_SUITE_P(Shapes, Flash,
                         ::testing::Values(AttentionShape{1, 64, 64, false},
                                           AttentionShape{2, 65, 137, true},
                                           AttentionShape{1, 1, 17, false},
                                           AttentionShape{1, 127, 1, true},
                                           AttentionShape{2, 63, 129, false}));

double seconds(bool sanitize) {
  Harness harness(sanitize, /*threads=*/0);
  Problem problem({1, 512, 512, true});
  std::string ptx = readInput("flash.ptx");
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(problem.run(harness, ptx), "");
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  problem.check(/*step=*/37);
  return elapsed.count();
}

/// Speed targets on two cores, with room for a busy machine.
TEST(FlashSpeed, Causal512) {
  double plain = seconds(false), sanitized = seconds(true);
  RecordProperty("plain", std::to_string(plain));
  RecordProperty("sanitized", std::to_string(sanitized));
  std::printf("plain %.3f s, sanitized %.3f s\n", plain, sanitized);
  EXPECT_LT(plain, 2.0);
  EXPECT_LT(sanitized, 6.0);
}

/// Without its waits or a barrier the kernel is wrong, and the sanitizer says
/// so. All occurrences of `text` go, or the last one only.
struct Mutant {
  const char *name, *text;
  bool lastOnly;
  const char *check;
};
class FlashMutant : public ::testing::TestWithParam<Mutant> {};

TEST_P(FlashMutant, IsFound) {
  std::string ptx = readInput("flash.ptx"), text = GetParam().text;
  size_t at = ptx.rfind(text);
  ASSERT_NE(at, std::string::npos);
  do
    ptx.erase(at, text.size());
  while (!GetParam().lastOnly && (at = ptx.rfind(text)) != std::string::npos);
  Harness harness;
  Problem problem({1, 64, 256, false});
  problem.run(harness, ptx);
  EXPECT_NE(harness.checks().find(GetParam().check), std::string::npos)
      << "found: " << harness.checks();
}

INSTANTIATE_TEST_SUITE_P(
    Deletions, FlashMutant,
    ::testing::Values(
        Mutant{"Wait", "cp.async.wait_group 1;", false, "async-copy-in-flight"},
        Mutant{"Commits", "cp.async.commit_group;", false,
               "async-copy-in-flight"},
        // The first warp runs before the others have copied.
        Mutant{"Barriers", "bar.sync \t0;", false, "uninitialized-shared"},
        // The next copy starts while others read.
        Mutant{"LastBarrier", "bar.sync \t0;", true, "async-copy-in-flight"}),
    [](const auto &info) { return info.param.name; });

} // namespace
