//===- OracleTest.cpp - The oracle against a second implementation *- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Brute force written as the formula reads, in long double, with lambdas in
// place of rule trees: it shares nothing with the oracle but the inputs.
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

constexpr auto Q = TestLaunch::Q, K = TestLaunch::K, V = TestLaunch::V;

struct Formula {
  std::function<bool(int64_t h, int64_t q, int64_t k)> mask =
      [](int64_t, int64_t, int64_t) { return true; };
  std::function<double(double s, int64_t h, int64_t q, int64_t k)> score =
      [](double s, int64_t, int64_t, int64_t) { return s; };
  double scale = 0;
};

void expectBruteForce(const TestLaunch &t, const Formula &formula) {
  const Problem &p = t.problem;
  int64_t group = p.heads / p.kvHeads;
  for (size_t r = 0; r < t.reference.rows.size(); ++r) {
    const RowId &id = t.reference.rows[r];
    const Sequence &sequence = t.launch.sequences[id.b];
    int64_t q = p.align == Alignment::TopLeft
                    ? id.i
                    : id.i + sequence.kLen - sequence.qLen;
    long double sum = 0;
    std::vector<long double> o(p.headDimV, 0);
    for (int64_t k = 0; k < sequence.kLen; ++k) {
      if (!formula.mask(id.h, q, k))
        continue;
      long double s = 0;
      for (int64_t d = 0; d < p.headDimQK; ++d)
        s += (long double)t.get(Q, id.b, id.h, id.i, d) *
             t.get(K, id.b, id.h / group, k, d);
      s = formula.score(double(s * formula.scale), id.h, q, k);
      long double weight = std::exp(s);
      sum += weight;
      for (int64_t d = 0; d < p.headDimV; ++d)
        o[d] += weight * t.get(V, id.b, id.h / group, k, d);
    }
    for (int64_t d = 0; d < p.headDimV; ++d)
      ASSERT_NEAR(t.reference.o[r * p.headDimV + d],
                  sum > 0 ? double(o[d] / sum) : 0, 1e-11)
          << "b " << id.b << " h " << id.h << " i " << id.i << " d " << d;
    double lse = t.reference.facts[r].lse;
    if (sum > 0)
      ASSERT_NEAR(lse, double(std::log(sum)), 1e-11);
    else
      ASSERT_EQ(lse, -std::numeric_limits<double>::infinity());
  }
}

void fillRandomly(TestLaunch &t) {
  t.fill(Q, Fill::Normal, 3).fill(K, Fill::Normal, 4).fill(V, Fill::Normal, 5);
}

Problem groupedProblem(DType dtype) {
  Problem problem = makeProblem(6, 2, 24, dtype);
  problem.headDimV = 40;
  return problem;
}

TEST(Oracle, LengthsAroundTileEdges) {
  for (int64_t qLen : {1, 2, 7, 17})
    for (int64_t kLen : {0, 1, 7, 16, 63, 64, 65, 129, 257}) {
      TestLaunch t(groupedProblem(DType::BF16), 2, qLen, kLen);
      t.problem.mask = causal();
      fillRandomly(t);
      t.run();
      Formula formula;
      formula.scale = 1 / std::sqrt(24.0);
      formula.mask = [](int64_t, int64_t q, int64_t k) { return k <= q; };
      expectBruteForce(t, formula);
    }
}

TEST(Oracle, EveryDtypeAndLayout) {
  for (DType dtype : {DType::BF16, DType::F16, DType::E4M3, DType::E5M2})
    for (bool bhsd : {false, true}) {
      TestLaunch t(groupedProblem(dtype), 2, 9, 70, bhsd);
      fillRandomly(t);
      t.run();
      Formula formula;
      formula.scale = 1 / std::sqrt(24.0);
      expectBruteForce(t, formula);
    }
}

TEST(Oracle, ScoreMaskScaleAlignmentTogether) {
  TestLaunch t(groupedProblem(DType::F16), 2, 30, 90);
  t.problem.params = {{"temperature", DType::F32, 0, 0.25, 0, 0}};
  t.problem.scaleParam = "temperature";
  t.problem.align = Alignment::TopLeft;
  std::vector<double> slopes = {0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625};
  t.tensor("slope", DType::F32, {6}, slopes);
  t.problem.score = softcap(add(s(), mul(read("slope", ExprType::Float, {h()}),
                                         toFloat(sub(k(), q())))),
                            8);
  t.problem.mask = either(window(12), lt(k(), constant(4)));
  fillRandomly(t);
  t.run();
  Formula formula;
  formula.scale = 0.25;
  formula.mask = [](int64_t, int64_t q, int64_t k) {
    return (k <= q && q - k <= 12) || k < 4;
  };
  formula.score = [&](double s, int64_t h, int64_t q, int64_t k) {
    return 8 * std::tanh((s + slopes[h] * double(k - q)) / 8);
  };
  expectBruteForce(t, formula);
  // A bound value takes the default's place.
  t.launch.bindings.params["temperature"] = 0.5;
  t.run();
  formula.scale = 0.5;
  expectBruteForce(t, formula);
}

TEST(Oracle, PaddedLengthsDifferPerEntry) {
  TestLaunch t(groupedProblem(DType::BF16), 3, 10, 40);
  t.problem.batch = BatchKind::Padded;
  t.problem.mask = causal();
  t.launch.sequences = {{10, 3, 0, 0}, {0, 40, 0, 0}, {7, 33, 0, 0}};
  fillRandomly(t);
  t.run();
  EXPECT_EQ(t.reference.rows.size(), size_t(6 * 17));
  Formula formula;
  formula.scale = 1 / std::sqrt(24.0);
  formula.mask = [](int64_t, int64_t q, int64_t k) { return k <= q; };
  expectBruteForce(t, formula);
}

TEST(Oracle, PackedSequencesGiveWhatEachGivesAlone) {
  // Lengths (5, 33), (0, 4), (7, 0), (3, 70), packed along the rows.
  TestLaunch t(groupedProblem(DType::F16), 1, 15, 107);
  t.problem.batch = BatchKind::Varlen;
  t.problem.mask = causal();
  t.launch.q.strideB = t.launch.k.strideB = t.launch.v.strideB = 0;
  t.launch.sequences = {
      {5, 33, 0, 0}, {0, 4, 5, 33}, {7, 0, 5, 37}, {3, 70, 12, 37}};
  fillRandomly(t);
  t.run();
  EXPECT_EQ(t.reference.rows.size(), size_t(6 * 15));
  for (int64_t b : {0, 3}) {
    const Sequence &sequence = t.launch.sequences[b];
    TestLaunch alone(groupedProblem(DType::F16), 1, sequence.qLen,
                     sequence.kLen);
    alone.problem.mask = causal();
    for (auto which : {Q, K, V}) {
      int64_t start = which == Q ? sequence.qStart : sequence.kStart;
      alone.set(which, [&](int64_t, int64_t h, int64_t s, int64_t d) {
        return t.get(which, 0, h, start + s, d);
      });
    }
    alone.run();
    for (int64_t h = 0; h < 6; ++h)
      for (int64_t i = 0; i < sequence.qLen; ++i) {
        EXPECT_EQ(t.lse(b, h, i), alone.lse(0, h, i));
        EXPECT_EQ(t.o(b, h, i, 39), alone.o(0, h, i, 39));
      }
  }
}

TEST(Oracle, ScalesOfEightBitKeysAndValues) {
  Problem problem = groupedProblem(DType::BF16);
  problem.kvDtype = DType::E4M3;
  TestLaunch t(problem, 2, 5, 33);
  fillRandomly(t);
  t.tensor("k_scale", DType::F32, {2}, {0.5, 2});
  t.tensor("v_scale", DType::F32, {2, 2}, {1, 3, 5, 7});
  t.run();
  TestLaunch plain(problem, 2, 5, 33);
  fillRandomly(plain);
  plain.problem.score = select(lt(h(), constant(3)), mul(s(), constant(0.5)),
                               mul(s(), constant(2.0)));
  plain.run();
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 6; ++h)
      EXPECT_NEAR(t.o(b, h, 4, 9),
                  plain.o(b, h, 4, 9) * double(1 + 2 * (h / 3) + 4 * b), 1e-12);
}

TEST(Oracle, ThreadsAndRowOrderChangeNothing) {
  TestLaunch t(groupedProblem(DType::BF16), 2, 20, 150);
  t.problem.mask = causal();
  fillRandomly(t);
  t.run();
  std::vector<RowId> reversed(t.selection.rows.rbegin(),
                              t.selection.rows.rend());
  for (int threads : {1, 2, 5}) {
    Reference other = computeReference(t.launch, reversed, threads);
    size_t rows = reversed.size();
    for (size_t r = 0; r < rows; ++r) {
      EXPECT_EQ(other.facts[rows - 1 - r].lse, t.reference.facts[r].lse);
      for (int64_t d = 0; d < 40; ++d)
        EXPECT_EQ(other.o[(rows - 1 - r) * 40 + d], t.reference.o[r * 40 + d]);
    }
  }
}

TEST(Oracle, NaNAndInfiniteLogits) {
  double inf = std::numeric_limits<double>::infinity();
  for (double bad : {std::nan(""), inf}) {
    TestLaunch t(makeProblem(2, 1, 8), 1, 3, 6);
    t.tensor("bias", DType::F32, {6}, {0, bad, 0, 0, 0, 0});
    t.problem.score = add(s(), read("bias", ExprType::Float, {k()}));
    t.problem.mask = either(eq(i(), constant(0)), ge(k(), constant(2)));
    t.set(V, 1).run();
    EXPECT_TRUE(std::isnan(t.o(0, 1, 0, 0)));
    EXPECT_TRUE(std::isnan(t.lse(0, 1, 0)));
    EXPECT_EQ(t.o(0, 1, 1, 0), 1); // the key is masked there
  }
  // -inf and anything at or below -1e30 is no weight, and no NaN.
  for (double hidden : {-inf, -1e30}) {
    TestLaunch t(makeProblem(2, 1, 8), 1, 1, 2);
    t.tensor("bias", DType::F32, {2}, {hidden, 0});
    t.problem.score = add(s(), read("bias", ExprType::Float, {k()}));
    t.fill(V, Fill::OneHot).run();
    EXPECT_EQ(t.o(0, 1, 0, 0), 0);
    EXPECT_EQ(t.o(0, 1, 0, 1), 1);
    EXPECT_EQ(t.reference.facts[1].visible, 1);
  }
}

TEST(Oracle, MaskedPairsMayHoldNaN) {
  TestLaunch t(makeProblem(2, 1, 8), 1, 4, 200);
  t.problem.mask = ne(mod(k(), constant(3)), constant(1));
  auto poisoned = [](int64_t, int64_t, int64_t s, int64_t) {
    return s % 3 == 1 ? std::nan("") : 0.5;
  };
  t.fill(Q, Fill::Normal).set(K, poisoned).set(V, poisoned).run();
  EXPECT_DOUBLE_EQ(t.o(0, 1, 3, 7), 0.5);
}

TEST(Oracle, HugeSinkTakesAllTheWeight) {
  TestLaunch t(makeProblem(2, 1, 8), 1, 1, 4);
  t.problem.sink = constant(5000.0);
  t.set(V, 1).run();
  EXPECT_EQ(t.o(0, 1, 0, 0), 0);
  EXPECT_EQ(t.lse(0, 1, 0), 5000);
}

TEST(Oracle, FaultsOfMaskAndScoreAreTheFirstRealPair) {
  TestLaunch t(makeProblem(2, 1, 8), 2, 6, 6);
  t.tensor("bias", DType::F32, {4}, {0, 0, 0, 0});
  t.problem.score = add(s(), read("bias", ExprType::Float, {k()}));
  t.problem.mask = either(lt(k(), constant(4)), ge(q(), constant(3)));
  t.run();
  ASSERT_TRUE(t.reference.outOfRange);
  EXPECT_EQ(t.reference.outOfRange->b, 0);
  EXPECT_EQ(t.reference.outOfRange->h, 0);
  EXPECT_EQ(t.reference.outOfRange->q, 3);
  EXPECT_EQ(t.reference.outOfRange->k, 4);
  // The score of a masked pair is not reached.
  t.problem.mask = lt(k(), constant(4));
  t.run();
  EXPECT_FALSE(t.reference.outOfRange);
}

TEST(Oracle, PlainTwinIsOffByTheRoundingOfP) {
  TestLaunch t(makeProblem(4, 2, 64), 1, 40, 300);
  fillRandomly(t);
  t.problem.out = DType::F32;
  t.run();
  double worst = 0;
  for (const RowFacts &facts : t.reference.facts) {
    EXPECT_GT(facts.plainError, 1e-6);
    EXPECT_LT(facts.plainError, 4e-3 * facts.maxAbsV);
    worst = std::max(worst, facts.plainError);
  }
  t.problem.dtype = DType::F16; // Q's bits are still read as its view says
  t.run();
  double finer = 0;
  for (const RowFacts &facts : t.reference.facts)
    finer = std::max(finer, facts.plainError);
  EXPECT_LT(finer, worst / 4);
}

TEST(Oracle, PlainTwinOfFewRowsTakesTheWorstOfItsRoundings) {
  TestLaunch t(makeProblem(2, 1, 64), 1, 1, 300);
  fillRandomly(t);
  t.problem.out = DType::F32;
  t.run();
  for (const RowFacts &facts : t.reference.facts) {
    EXPECT_GT(facts.plainError, 1e-5);
    EXPECT_LT(facts.plainError, 4e-3 * facts.maxAbsV);
  }
}

TEST(Oracle, PlainTwinHoldsLogitsInF32) {
  // Logits of 2^20 and 2^20 + 1/32: the same number in f32.
  TestLaunch t(makeProblem(2, 1, 8), 1, 1, 2);
  t.problem.scale = 1;
  t.set(Q, [](int64_t, int64_t, int64_t, int64_t d) {
    return d == 0 ? 0x1p20 : d == 1 ? 0x1p-5 : 0;
  });
  t.set(K, [](int64_t, int64_t, int64_t s, int64_t d) {
    return d == 0 || (d == 1 && s == 1) ? 1 : 0;
  });
  t.fill(V, Fill::OneHot).run();
  EXPECT_NEAR(t.o(0, 0, 0, 1), 1 / (1 + std::exp(-1 / 32.0)), 1e-9);
  EXPECT_NEAR(t.reference.facts[0].plainError, 1 / 128.0, 1e-3);
}

TEST(Oracle, Refusals) {
  TestLaunch t(makeProblem(2, 1, 8), 1, 4, 4);
  EXPECT_THROW(computeReference(t.launch, {{0, 0, 4}}), std::runtime_error);
  EXPECT_THROW(computeReference(t.launch, {{0, 2, 0}}), std::runtime_error);
  EXPECT_THROW(computeReference(t.launch, {{1, 0, 0}}), std::runtime_error);
  t.problem.scaleParam = "temperature";
  EXPECT_THROW(t.run(), std::runtime_error);
  t.problem.params = {{"temperature", DType::F32, 0, -1, 0, 0}};
  EXPECT_THROW(t.run(), std::runtime_error);
}

} // namespace
