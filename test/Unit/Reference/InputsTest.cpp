//===- InputsTest.cpp - Made-up inputs --------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Inputs.h"
#include "TestLaunch.h"
#include "attn/Reference/Numbers.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace attn;

namespace {

constexpr auto K = TestLaunch::K, V = TestLaunch::V;

TEST(Inputs, LayoutDoesNotChangeTheNumbers) {
  TestLaunch bshd(makeProblem(3, 3, 24), 2, 5, 7, false);
  TestLaunch bhsd(makeProblem(3, 3, 24), 2, 5, 7, true);
  bshd.fill(K, Fill::Normal);
  bhsd.fill(K, Fill::Normal);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t s = 0; s < 7; ++s)
        for (int64_t d = 0; d < 24; ++d)
          EXPECT_EQ(bshd.get(K, b, h, s, d), bhsd.get(K, b, h, s, d));
}

TEST(Inputs, NormalHasMeanZeroAndVarianceOne) {
  std::vector<float> values(1 << 18);
  RowTarget target{values.data(), DType::F32, 1,       2,  1 << 10,
                   128,           0,          1 << 17, 128};
  fillRows(target, Fill::Normal, 1, Stream::Q);
  double sum = 0, squares = 0, fourth = 0, largest = 0;
  for (double x : values) {
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    largest = std::max(largest, std::fabs(x));
  }
  auto n = double(values.size());
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(fourth / n, 3, 0.1); // as a normal distribution has
  EXPECT_GT(largest, 4);
}

TEST(Inputs, ValuesArePinned) {
  // The same on every platform and forever: recorded results depend on it.
  float values[3];
  RowTarget target{values, DType::F32, 1, 1, 1, 3, 0, 0, 0};
  fillRows(target, Fill::Normal, 42, Stream::V);
  EXPECT_FLOAT_EQ(values[0], -0.45901227f);
  EXPECT_FLOAT_EQ(values[1], -1.8403952f);
  EXPECT_FLOAT_EQ(values[2], 1.1058666f);
}

TEST(Inputs, SeedsAndStreamsDiffer) {
  float a[8], b[8], c[8];
  RowTarget target{a, DType::F32, 1, 1, 1, 8, 0, 0, 0};
  fillRows(target, Fill::Normal, 1, Stream::Q);
  target.data = b;
  fillRows(target, Fill::Normal, 1, Stream::K);
  target.data = c;
  fillRows(target, Fill::Normal, 2, Stream::Q);
  for (int at = 0; at < 8; ++at) {
    EXPECT_NE(a[at], b[at]);
    EXPECT_NE(a[at], c[at]);
  }
}

TEST(Inputs, PatternsShowWhichKeysWereRead) {
  TestLaunch t(makeProblem(2, 2, 16), 1, 1, 130);
  t.fill(V, Fill::Pattern);
  for (int64_t s : {0, 1, 60, 61, 62, 122, 129})
    EXPECT_EQ(t.get(V, 0, 1, s, 3), double(s % 61));
  t.fill(V, Fill::OneHot);
  for (int64_t s : {0, 15, 16, 129})
    for (int64_t d = 0; d < 16; ++d)
      EXPECT_EQ(t.get(V, 0, 1, s, d), d == s % 16);
  t.fill(V, Fill::Ones);
  EXPECT_EQ(t.get(V, 0, 0, 129, 15), 1);
  t.fill(V, Fill::Zeros);
  EXPECT_EQ(t.get(V, 0, 0, 129, 15), 0);
}

TEST(Inputs, OnlyTheRowsAreWritten) {
  // Rows of 8 in a stride of 12: the gaps stay.
  std::vector<float> values(48, -7);
  RowTarget target{values.data(), DType::F32, 1, 1, 4, 8, 0, 0, 12};
  fillRows(target, Fill::Ones, 1, Stream::Q);
  for (int at = 0; at < 48; ++at)
    EXPECT_EQ(values[at], at % 12 < 8 ? 1 : -7);
}

TEST(Inputs, TensorsOfEveryType) {
  for (DType type : {DType::I8, DType::U8, DType::I32, DType::I64, DType::Bool,
                     DType::F16, DType::BF16, DType::F32}) {
    Tensor tensor{"t",   type, {{DimKind::Batch, 0}, {DimKind::KLen, 0}},
                  false, 0,    0};
    std::vector<uint8_t> bytes =
        makeTensor(tensor, {3, 200}, Fill::Normal, 1, 0);
    ASSERT_EQ(int64_t(bytes.size()), 600 * byteSize(type));
    bool differs = false;
    for (int64_t at = 1; at < 600; ++at)
      differs |= loadElement(type, bytes.data(), at) !=
                 loadElement(type, bytes.data(), 0);
    EXPECT_TRUE(differs) << spelling(type);
    tensor.monotone = true;
    bytes = makeTensor(tensor, {3, 200}, Fill::Normal, 1, 0);
    for (int64_t at = 1; at < 600; ++at)
      if (at % 200) {
        EXPECT_GE(loadElement(type, bytes.data(), at),
                  loadElement(type, bytes.data(), at - 1))
            << spelling(type);
      }
  }
}

TEST(Inputs, Words) {
  EXPECT_EQ(parseFill("random"), Fill::Normal);
  EXPECT_EQ(parseFill("zeros"), Fill::Zeros);
  try {
    parseFill("rand");
    FAIL();
  } catch (const std::runtime_error &error) {
    EXPECT_STREQ(error.what(),
                 "made-up values: expected one of random, pattern, onehot, "
                 "ones, zeros, found 'rand'");
  }
}

} // namespace
