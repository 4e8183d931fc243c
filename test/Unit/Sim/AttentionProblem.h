//===- AttentionProblem.h - Inputs and reference of attention ----*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_SIM_ATTENTIONPROBLEM_H
#define ATTN_TEST_UNIT_SIM_ATTENTIONPROBLEM_H

#include "SimHarness.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace attn::simtest {

inline float fromBf16(uint16_t bits) {
  return bitsAs<float>(static_cast<uint32_t>(bits) << 16);
}
inline uint16_t toBf16(float value) {
  uint32_t bits = bitsAs<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

struct AttentionShape {
  int heads, queries, keys;
  bool causal; ///< bottom-right
};

/// Random bf16 q, k, v as [heads][rows][128], and what comes of them.
class AttentionProblem {
public:
  static constexpr int headDim = 128;
  static constexpr float scale = 0.08838834764f;
  static constexpr float scaleLog2 = scale * 1.44269504f;

  explicit AttentionProblem(AttentionShape shape) : shape(shape) {
    std::mt19937 generator(7);
    std::normal_distribution<float> normal;
    for (auto *tensor : {&q, &k, &v}) {
      int rows = tensor == &q ? shape.queries : shape.keys;
      tensor->resize(size_t(shape.heads) * rows * headDim);
      for (uint16_t &value : *tensor)
        value = toBf16(normal(generator));
    }
  }

  size_t outputRows() const { return size_t(shape.heads) * shape.queries; }
  /// Outputs full of NaN.
  DevicePtr makeOut(Harness &harness) const {
    return harness.upload(
        std::vector<uint16_t>(outputRows() * headDim, uint16_t(0x7fc0)));
  }
  DevicePtr makeLse(Harness &harness) const {
    return harness.upload(std::vector<float>(outputRows(), NAN));
  }
  void fetch(Harness &harness, DevicePtr o, DevicePtr l) {
    out = harness.download<uint16_t>(o, outputRows() * headDim);
    lse = harness.download<float>(l, outputRows());
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

public:
  AttentionShape shape;
  std::vector<uint16_t> q, k, v, out;
  std::vector<float> lse;
};

} // namespace attn::simtest

#endif // ATTN_TEST_UNIT_SIM_ATTENTIONPROBLEM_H
