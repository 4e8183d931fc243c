//===- PublicReportsTest.cpp - Public failures as closed forms --*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle against closed forms. Every test is a public failure of an
// attention kernel, reduced to a small configuration whose result is known;
// the B numbers are the project's list of such reports.
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "TestLaunch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::build;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr auto Q = TestLaunch::Q, K = TestLaunch::K, V = TestLaunch::V;

using Value = TestLaunch::Value;

Value byKey(std::function<double(int64_t)> value) {
  return [=](int64_t, int64_t, int64_t s, int64_t) { return value(s); };
}

TEST(PublicReports, B1MaskedTileThenStronglyNegativeLogits) {
  TestLaunch t(makeProblem(7, 1, 128), 1, 88, 448);
  t.problem.mask = causal();
  t.set(Q, 1).set(K, -10.625).set(V, 1).run();
  for (int64_t h = 0; h < 7; ++h)
    for (int64_t i = 0; i < 88; ++i) {
      EXPECT_NEAR(t.o(0, h, i, 5), 1, 1e-12);
      EXPECT_NEAR(t.lse(0, h, i), -120.2082 + std::log(i + 361), 1e-4);
    }
  EXPECT_NEAR(t.lse(0, 3, 0), -114.3193, 1e-4);
  EXPECT_NEAR(t.lse(0, 3, 87), -114.1034, 1e-4);
}

TEST(PublicReports, B2AllLogitsBelowAFiniteStartValue) {
  TestLaunch t(makeProblem(16, 1, 128), 1, 1, 64);
  t.set(Q, 1)
      .set(K, byKey([](int64_t j) { return j ? -784 : -744; }))
      .set(V, byKey([](int64_t j) { return j == 0; }))
      .run();
  for (int64_t h = 0; h < 16; ++h) {
    EXPECT_EQ(t.o(0, h, 0, 0), 1);
    EXPECT_NEAR(t.lse(0, h, 0), -8417.399, 1e-3);
  }
}

TEST(PublicReports, B3FiniteSentinelLosesToAMaskedKey) {
  TestLaunch t(makeProblem(1, 1, 16, DType::F16), 1, 1, 2);
  t.problem.scale = 1;
  t.problem.mask = eq(k(), constant(0));
  t.set(Q, [](int64_t, int64_t, int64_t, int64_t d) { return d ? 0 : -20000; })
      .set(K, 1)
      .set(V, byKey([](int64_t j) { return j ? 100 : 1; }))
      .run();
  EXPECT_EQ(t.o(0, 0, 0, 0), 1);
  EXPECT_EQ(t.lse(0, 0, 0), -20000);
}

TEST(PublicReports, B5MoreQueriesThanKeysLeaveEmptyRows) {
  TestLaunch t(makeProblem(32, 8, 16), 1, 64, 31);
  t.problem.mask = causal();
  t.fill(Q, Fill::Normal).fill(K, Fill::Normal).fill(V, Fill::Normal).run();
  int64_t empty = 0;
  for (size_t r = 0; r < t.reference.rows.size(); ++r)
    if (t.reference.facts[r].lse == -infinity) {
      ++empty;
      EXPECT_EQ(t.reference.facts[r].visible, 0);
      for (int64_t d = 0; d < 16; ++d)
        EXPECT_EQ(t.reference.o[r * 16 + d], 0);
    }
  EXPECT_EQ(empty, 1056);
}

TEST(PublicReports, B10AdditiveMinimumOnAllKeysIsAnEmptyRow) {
  TestLaunch t(makeProblem(2, 2, 8), 1, 4, 128);
  t.tensor("bias", DType::F32, {128},
           std::vector<double>(128, std::numeric_limits<float>::lowest()));
  t.problem.score = add(s(), read("bias", ExprType::Float, {k()}));
  t.fill(Q, Fill::Normal).fill(K, Fill::Normal).set(V, 1).run();
  EXPECT_EQ(t.o(0, 1, 3, 0), 0);
  EXPECT_EQ(t.lse(0, 1, 3), -infinity);
}

TEST(PublicReports, B12EmptyRowsWithASink) {
  TestLaunch t(makeProblem(2, 1, 128), 1, 16, 256);
  t.problem.mask = both(ge(i(), constant(14)), causal());
  t.problem.sink = constant(0.5);
  t.fill(Q, Fill::Normal).fill(K, Fill::Normal).set(V, 1).run();
  for (int64_t i = 0; i < 14; ++i) {
    EXPECT_EQ(t.o(0, 1, i, 7), 0);
    EXPECT_EQ(t.lse(0, 1, i), 0.5);
  }
  for (int64_t i = 14; i < 16; ++i)
    EXPECT_NEAR(t.o(0, 1, i, 7), 1 - std::exp(0.5 - t.lse(0, 1, i)), 1e-12);
}

TEST(PublicReports, B14TopRowsOfATallCausalBlockSeeNothing) {
  TestLaunch t(makeProblem(2, 1, 8), 1, 5, 2);
  t.problem.mask = causal();
  t.fill(V, Fill::OneHot).run();
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(t.o(0, 1, i, 0), 0);
    EXPECT_EQ(t.lse(0, 1, i), -infinity);
  }
  EXPECT_EQ(t.o(0, 1, 3, 0), 1);
  EXPECT_EQ(t.o(0, 1, 3, 1), 0);
  EXPECT_EQ(t.o(0, 1, 4, 0), 0.5);
  EXPECT_EQ(t.o(0, 1, 4, 1), 0.5);
}

TEST(PublicReports, B15PaddingKeysHaveNoWeight) {
  TestLaunch t(makeProblem(2, 2, 64), 1, 704, 704);
  t.set(Q, 1).set(K, -15).set(V, 1).run();
  EXPECT_NEAR(t.o(0, 1, 703, 0), 1, 1e-12);
  EXPECT_NEAR(t.lse(0, 1, 703), -113.44322, 1e-5);
  TestLaunch decode(makeProblem(2, 2, 64), 1, 1, 128);
  decode.set(Q, 1).set(K, -16).set(V, 1).run();
  EXPECT_NEAR(decode.o(0, 0, 0, 0), 1, 1e-12);
  EXPECT_NEAR(decode.lse(0, 0, 0), -123.14797, 1e-5);
}

TEST(PublicReports, B16HugeEqualLogits) {
  TestLaunch single(makeProblem(1, 1, 64), 1, 1, 1);
  single.set(Q, 133120).set(K, 133120).set(V, 133120).run();
  EXPECT_EQ(single.o(0, 0, 0, 63), 133120);
  TestLaunch four(makeProblem(1, 1, 64), 1, 4, 4);
  four.set(Q, 4096).set(K, 4096).fill(V, Fill::Pattern).run();
  EXPECT_EQ(four.o(0, 0, 2, 0), 1.5);
}

TEST(PublicReports, B17RawScoresBeyondF16) {
  TestLaunch t(makeProblem(1, 1, 128, DType::F16), 1, 2, 9);
  t.set(Q, 256)
      .set(K, byKey([](int64_t j) { return j ? 200 : 256; }))
      .fill(V, Fill::Normal)
      .run();
  EXPECT_NEAR(t.lse(0, 0, 1), 741455.2, 0.05);
  for (int64_t d = 0; d < 128; ++d)
    EXPECT_EQ(t.o(0, 0, 1, d), t.get(V, 0, 0, 0, d));
}

TEST(PublicReports, B19NoKeysAtAll) {
  for (bool masked : {false, true}) {
    TestLaunch t(makeProblem(4, 4, 128), 1, 16, 0);
    if (masked)
      t.problem.mask = causal();
    t.set(Q, 1).run();
    EXPECT_EQ(t.o(0, 3, 15, 127), 0);
    EXPECT_EQ(t.lse(0, 3, 15), -infinity);
  }
}

TEST(PublicReports, B22AndB24EmptySidesOfAPackedBatch) {
  // cu_q = [0, 150, 150, 300], cu_k = [0, 100, 200, 300].
  TestLaunch t(makeProblem(3, 1, 8), 1, 300, 300);
  t.problem.batch = BatchKind::Varlen;
  t.launch.q.strideB = t.launch.k.strideB = t.launch.v.strideB = 0;
  t.launch.sequences = {
      {150, 100, 0, 0}, {0, 100, 150, 100}, {150, 100, 150, 200}};
  t.set(V, byKey([](int64_t row) { return double(row / 100); })).run();
  EXPECT_EQ(t.reference.rows.size(), 900u);
  EXPECT_EQ(t.o(0, 2, 149, 0), 0);
  EXPECT_EQ(t.o(2, 2, 0, 0), 2);
}

TEST(PublicReports, B27EmptyBatch) {
  TestLaunch none(makeProblem(2, 2, 8), 0, 4, 4);
  EXPECT_TRUE(none.run().rows.empty());
  TestLaunch zero(makeProblem(2, 2, 8), 2, 0, 0);
  EXPECT_TRUE(zero.run().rows.empty());
  CheckReport report =
      compare(zero.launch, zero.selection, zero.reference, Outputs());
  EXPECT_TRUE(report.passed);
}

TEST(PublicReports, B38NaNBeyondTheLengthsDoesNotMatter) {
  TestLaunch t(makeProblem(2, 1, 64, DType::F16), 2, 2, 3);
  t.problem.batch = BatchKind::Padded;
  t.launch.sequences = {{2, 1, 0, 0}, {2, 3, 0, 0}};
  auto poisoned = [](int64_t b, int64_t, int64_t s, int64_t) {
    return b == 0 && s >= 1 ? notANumber : double(s + 1);
  };
  t.set(Q, 1).set(K, poisoned).set(V, poisoned).run();
  EXPECT_EQ(t.o(0, 1, 1, 63), 1);
  EXPECT_TRUE(std::isfinite(t.o(1, 1, 1, 63)));
}

TEST(PublicReports, B43BottomRightAgainstTopLeft) {
  TestLaunch t(makeProblem(2, 2, 8), 1, 2, 5);
  t.problem.mask = causal();
  t.fill(V, Fill::OneHot).run();
  for (int64_t j = 0; j < 5; ++j) {
    EXPECT_DOUBLE_EQ(t.o(0, 1, 0, j), j < 4 ? 0.25 : 0);
    EXPECT_DOUBLE_EQ(t.o(0, 1, 1, j), 0.2);
  }
  t.problem.align = Alignment::TopLeft;
  t.run();
  for (int64_t j = 0; j < 5; ++j) {
    EXPECT_DOUBLE_EQ(t.o(0, 1, 0, j), j == 0);
    EXPECT_DOUBLE_EQ(t.o(0, 1, 1, j), j < 2 ? 0.5 : 0);
  }
}

TEST(PublicReports, B49SlidingWindowKeepsItsOldestKey) {
  TestLaunch t(makeProblem(2, 1, 8), 1, 1, 5000);
  t.problem.mask = window(4095);
  t.set(V, [](int64_t, int64_t, int64_t s, int64_t d) {
     return (s == 904 && d == 1) || (s == 903 && d == 0) ? 4096 : 0;
   }).run();
  EXPECT_EQ(t.o(0, 1, 0, 0), 0);
  EXPECT_NEAR(t.o(0, 1, 0, 1), 1, 1e-12);
}

TEST(PublicReports, B50WindowLeftCountsTheKeysBeforeTheQuery) {
  for (int left : {0, 3}) {
    TestLaunch t(makeProblem(2, 2, 8), 1, 8, 8);
    t.problem.mask = window(left);
    t.fill(V, Fill::OneHot).run();
    for (int64_t i = 0; i < 8; ++i)
      for (int64_t j = 0; j < 8; ++j) {
        bool seen = j <= i && i - j <= left;
        double count = double(std::min<int64_t>(i, left) + 1);
        EXPECT_DOUBLE_EQ(t.o(0, 1, i, j), seen ? 1 / count : 0);
      }
  }
}

TEST(PublicReports, B53CausalWithMoreKeysThanQueries) {
  TestLaunch t(makeProblem(2, 1, 8), 1, 16, 1000);
  t.problem.mask = causal();
  t.fill(V, Fill::Pattern).run();
  for (int64_t i = 0; i < 16; ++i) {
    double sum = 0;
    for (int64_t j = 0; j <= 984 + i; ++j)
      sum += double(j % 61);
    EXPECT_NEAR(t.o(0, 1, i, 0), sum / double(985 + i), 1e-11);
  }
}

TEST(PublicReports, B54AWindowIsNeverIgnored) {
  TestLaunch t(makeProblem(2, 1, 64), 1, 256, 256);
  t.problem.mask = window(16);
  auto early = byKey([](int64_t j) { return j <= 200; });
  t.set(Q, 1)
      .set(K, byKey([](int64_t j) { return j <= 200 ? 6.25 : 0; }))
      .set(V, early)
      .run();
  EXPECT_EQ(t.o(0, 1, 255, 0), 0);
  EXPECT_NEAR(t.o(0, 1, 200, 0), 1, 1e-12);
}

TEST(PublicReports, B56MaskHoldsInInteriorTiles) {
  TestLaunch t(makeProblem(2, 1, 8), 1, 512, 512);
  t.problem.mask = both(causal(), eq(mod(k(), constant(2)), constant(0)));
  t.set(V, byKey([](int64_t j) { return double(j % 2); })).run();
  for (int64_t i = 0; i < 512; i += 37)
    EXPECT_EQ(t.o(0, 1, i, 0), 0);
}

TEST(PublicReports, B57AMaskMayOpenKeysPastTheDiagonal) {
  ExprPtr tree = either(both(eq(i(), constant(0)), eq(k(), constant(135))),
                        eq(k(), constant(3)));
  TestLaunch t(makeProblem(2, 1, 8), 1, 8, 136);
  t.set(V, byKey([](int64_t j) { return double(j); }));
  t.problem.mask = tree;
  t.run();
  EXPECT_DOUBLE_EQ(t.o(0, 1, 0, 0), (135 + 3) / 2.0);
  t.problem.mask = both(causal(), tree);
  t.run();
  EXPECT_DOUBLE_EQ(t.o(0, 1, 0, 0), 3);
}

TEST(PublicReports, B62RemainderAndQuotientAreFloored) {
  auto floorMod3 = [](int64_t x) { return ((x % 3) + 3) % 3; };
  TestLaunch t(makeProblem(2, 1, 16), 1, 16, 16);
  t.fill(V, Fill::OneHot);
  t.problem.mask = eq(mod(sub(q(), k()), constant(3)), constant(1));
  t.run();
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j)
      EXPECT_EQ(t.o(0, 1, i, j) > 0, floorMod3(i - j) == 1) << i << " " << j;
  t.problem.mask = eq(div(sub(q(), k()), constant(4)), constant(-1));
  t.run();
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j)
      EXPECT_EQ(t.o(0, 1, i, j) > 0, i - j >= -4 && i - j <= -1);
}

TEST(PublicReports, B69SoftcapComesBeforeTheMask) {
  TestLaunch t(makeProblem(2, 2, 8), 1, 1, 4);
  t.problem.mask = eq(k(), constant(0));
  t.problem.score = softcap(s(), 2);
  t.fill(V, Fill::OneHot).run();
  EXPECT_EQ(t.o(0, 1, 0, 0), 1);
  EXPECT_EQ(t.o(0, 1, 0, 1), 0);
}

ExprPtr alibi(double slope) {
  return add(s(), mul(constant(slope), toFloat(sub(k(), q()))));
}

TEST(PublicReports, B72AlibiUsesAbsolutePositions) {
  TestLaunch t(makeProblem(2, 1, 8), 1, 1, 4);
  t.problem.score = alibi(0.5);
  t.fill(V, Fill::OneHot).run();
  const double weights[] = {0.1015, 0.1674, 0.2760, 0.4551};
  for (int64_t j = 0; j < 4; ++j)
    EXPECT_NEAR(t.o(0, 1, 0, j), weights[j], 1e-4);
  EXPECT_NEAR(t.lse(0, 1, 0), 0.78734, 1e-5);
}

TEST(PublicReports, B72PrefillAndDecodeOfOneTokenAgree) {
  auto fillIn = [](TestLaunch &t) {
    t.problem.score = alibi(0.5);
    t.problem.mask = causal();
    t.fill(K, Fill::Normal).fill(V, Fill::Normal);
    t.set(Q, [](int64_t, int64_t h, int64_t, int64_t d) {
      return double(h + d) / 8;
    });
    t.run();
  };
  TestLaunch prefill(makeProblem(2, 1, 8), 1, 8, 20);
  TestLaunch decode(makeProblem(2, 1, 8), 1, 1, 20);
  fillIn(prefill);
  fillIn(decode);
  for (int64_t d = 0; d < 8; ++d)
    EXPECT_EQ(prefill.o(0, 1, 7, d), decode.o(0, 1, 0, d));
  EXPECT_EQ(prefill.lse(0, 1, 7), decode.lse(0, 1, 0));
}

TEST(PublicReports, B80AllHeadsOfAGroupSeeTheSameKeys) {
  TestLaunch t(makeProblem(8, 2, 16), 1, 3, 10);
  t.problem.mask = causal();
  t.fill(V, Fill::OneHot).run();
  for (int64_t h = 0; h < 8; ++h)
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 10; ++j)
        EXPECT_EQ(t.o(0, h, i, j) > 0, j <= i + 7);
}

TEST(PublicReports, B104SinkIsAddedOnce) {
  TestLaunch t(makeProblem(2, 1, 8), 1, 1, 97);
  t.problem.sink = constant(1.0);
  t.set(V, 1).run();
  EXPECT_NEAR(t.o(0, 1, 0, 0), 0.972740, 1e-6);
  EXPECT_NEAR(t.lse(0, 1, 0), 4.602349, 1e-6);
}

TEST(PublicReports, B114BatchStrideOfZero) {
  TestLaunch t(makeProblem(2, 1, 8), 3, 2, 2);
  t.launch.v.strideB = 0;
  t.set(V, [](int64_t b, int64_t, int64_t, int64_t) { return double(b + 1); });
  t.run();
  for (int64_t b = 0; b < 3; ++b)
    EXPECT_EQ(t.o(b, 1, 1, 0), 1);
}

TEST(PublicReports, B119LseIsTheNaturalLogarithm) {
  TestLaunch t(makeProblem(2, 2, 8), 1, 1, 8);
  t.run();
  EXPECT_NEAR(t.lse(0, 1, 0), 2.0794415, 1e-7);
}

TEST(PublicReports, B125EachHeadHasItsOwnSink) {
  TestLaunch t(makeProblem(4, 2, 8), 1, 64, 64);
  t.tensor("sinks", DType::F32, {4}, {0, 1, 2, 3});
  t.problem.mask = causal();
  t.problem.sink = read("sinks", ExprType::Float, {h()});
  t.set(V, 1).run();
  for (int64_t h = 0; h < 4; ++h)
    for (int64_t i = 0; i < 64; ++i)
      EXPECT_NEAR(t.o(0, h, i, 0),
                  double(i + 1) / (double(i + 1) + std::exp(double(h))), 1e-12);
  EXPECT_NEAR(t.o(0, 1, 0, 0), .268941, 1e-6);
  EXPECT_NEAR(t.o(0, 1, 1, 0), .423883, 1e-6);
  EXPECT_NEAR(t.o(0, 1, 63, 0), .959257, 1e-6);
}

} // namespace
