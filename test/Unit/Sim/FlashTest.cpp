//===- FlashTest.cpp - A whole attention kernel from nvcc -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimHarness.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace attn;
using namespace attn::simtest;

namespace {

constexpr int headDim = 128, tileRows = 64, tileBytes = 64 * headDim * 2;
constexpr uint32_t sharedBytes = 5 * tileBytes;

std::string readInput(const std::string &name) {
  std::ifstream file(std::string(ATTN_SIM_INPUTS) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

float fromBf16(uint16_t bits) {
  return bitsAs<float>(static_cast<uint32_t>(bits) << 16);
}
uint16_t toBf16(float value) {
  uint32_t bits = bitsAs<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

struct Shape {
  int heads, queries, keys;
  bool causal;
};

class Problem {
public:
  explicit Problem(Shape shape) : shape(shape) {
    std::mt19937 generator(7);
    std::normal_distribution<float> normal;
    for (auto *tensor : {&q, &k, &v}) {
      int rows = tensor == &q ? shape.queries : shape.keys;
      tensor->resize(size_t(shape.heads) * rows * headDim);
      for (uint16_t &value : *tensor)
        value = toBf16(normal(generator));
    }
  }

  /// Runs the kernel; returns the error, empty if there was none.
  std::string run(Harness &harness, const std::string &ptx) {
    size_t outputs = size_t(shape.heads) * shape.queries;
    DevicePtr o = harness.upload(
        std::vector<uint16_t>(outputs * headDim, uint16_t(0x7fc0)));
    DevicePtr l = harness.upload(std::vector<float>(outputs, NAN));
    LaunchConfig config;
    config.grid[0] = (shape.queries + tileRows - 1) / tileRows;
    config.grid[1] = shape.heads;
    config.block[0] = 128;
    config.sharedBytes = sharedBytes;
    float scaleLog2 = scale * 1.44269504f;
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
    if (error.empty()) {
      out = harness.download<uint16_t>(o, outputs * headDim);
      lse = harness.download<float>(l, outputs);
    }
    return error;
  }

  /// Compares every `step`-th row with a double-precision softmax.
  void check(int step = 1) const {
    for (int head = 0; head < shape.heads; ++head)
      for (int row = 0; row < shape.queries; row += step)
        checkRow(head, row);
  }

private:
  void checkRow(int head, int row) const {
    int visible = shape.keys;
    if (shape.causal)
      visible = std::min(visible, row + 1 + shape.keys - shape.queries);
    std::vector<double> scores;
    double top = -INFINITY;
    const uint16_t *query = &q[(size_t(head) * shape.queries + row) * headDim];
    for (int key = 0; key < visible; ++key) {
      const uint16_t *at = &k[(size_t(head) * shape.keys + key) * headDim];
      double dot = 0;
      for (int i = 0; i < headDim; ++i)
        dot += double(fromBf16(query[i])) * fromBf16(at[i]);
      scores.push_back(dot * scale);
      top = std::max(top, scores.back());
    }
    double sum = 0;
    std::vector<double> expected(headDim, 0.0);
    for (int key = 0; key < visible; ++key) {
      double p = std::exp(scores[key] - top);
      sum += p;
      const uint16_t *at = &v[(size_t(head) * shape.keys + key) * headDim];
      for (int i = 0; i < headDim; ++i)
        expected[i] += p * fromBf16(at[i]);
    }
    size_t place = size_t(head) * shape.queries + row;
    for (int i = 0; i < headDim; ++i) {
      double want = visible > 0 ? expected[i] / sum : 0;
      ASSERT_NEAR(fromBf16(out[place * headDim + i]), want, 0.02)
          << "head " << head << " row " << row << " column " << i;
    }
    if (visible > 0)
      ASSERT_NEAR(lse[place], top + std::log(sum), 1e-3) << "row " << row;
    else
      ASSERT_EQ(lse[place], -INFINITY) << "row " << row;
  }

  static constexpr float scale = 0.08838834764f;
  Shape shape;
  std::vector<uint16_t> q, k, v, out;
  std::vector<float> lse;
};

class Flash : public ::testing::TestWithParam<Shape> {};

TEST_P(Flash, MatchesSoftmax) {
  Harness harness;
  Problem problem(GetParam());
  ASSERT_EQ(problem.run(harness, readInput("flash.ptx")), "");
  for (const SimFinding &finding : harness.findings)
    ADD_FAILURE() << finding.str();
  problem.check();
}

INSTANTIATE_TEST_SUITE_P(Shapes, Flash,
                         ::testing::Values(Shape{1, 64, 64, false},
                                           Shape{2, 65, 137, true},
                                           Shape{1, 1, 17, false},
                                           Shape{1, 127, 1, true},
                                           Shape{2, 63, 129, false}));

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
