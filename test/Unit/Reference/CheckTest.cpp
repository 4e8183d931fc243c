//===- CheckTest.cpp - Judging ----------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Build.h"
#include "TestLaunch.h"
#include "attn/Reference/Numbers.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::build;

namespace {

constexpr auto Q = TestLaunch::Q, K = TestLaunch::K, V = TestLaunch::V;
constexpr int64_t dim = 16, qLen = 12;

/// A launch and outputs that a perfect kernel would write: o in bshd, lse in
/// [b, h, q].
struct Judged {
  explicit Judged(DType dtype = DType::BF16, int64_t batch = 2,
                  int64_t kLen = 50, DType out = DType::BF16)
      : t(makeProblem(4, 2, dim, dtype), batch, qLen, kLen) {
    t.problem.out = out;
    t.problem.mask = causal();
    t.fill(Q, Fill::Normal).fill(K, Fill::Normal).fill(V, Fill::Normal);
    run();
  }

  void run() {
    t.run();
    auto batch = int64_t(t.launch.sequences.size());
    o.assign(batch * qLen * 4 * dim * byteSize(t.problem.out), 0);
    lse.assign(batch * 4 * qLen, 0);
    for (size_t r = 0; r < t.reference.rows.size(); ++r) {
      const RowId &id = t.reference.rows[r];
      lse[(id.b * 4 + id.h) * qLen + id.i] = float(t.reference.facts[r].lse);
      for (int64_t d = 0; d < dim; ++d)
        set(id.b, id.h, id.i, d, t.reference.o[r * dim + d]);
    }
  }

  int64_t at(int64_t b, int64_t h, int64_t i, int64_t d) const {
    return ((b * qLen + i) * 4 + h) * dim + d;
  }
  void set(int64_t b, int64_t h, int64_t i, int64_t d, double value) {
    storeElement(t.problem.out, o.data(), at(b, h, i, d), value);
  }

  CheckReport judge() {
    Outputs outputs;
    outputs.o = {o.data(), t.problem.out, qLen * 4 * dim, dim, 4 * dim};
    outputs.lse = lse.data();
    outputs.lseStrideB = 4 * qLen;
    outputs.lseStrideH = qLen;
    outputs.lseStrideS = 1;
    return compare(t.launch, t.selection, t.reference, outputs);
  }

  TestLaunch t;
  std::vector<uint8_t> o;
  std::vector<float> lse;
};

TEST(Check, TheRoundedReferencePasses) {
  for (DType dtype : {DType::BF16, DType::F16, DType::E4M3})
    for (DType out : {DType::BF16, DType::F16, DType::F32}) {
      Judged judged(dtype, 2, 50, out);
      CheckReport report = judged.judge();
      EXPECT_TRUE(report.passed) << report.text();
      EXPECT_EQ(report.elements, 2 * 4 * qLen * dim);
      EXPECT_EQ(report.selection.description, "all 96 rows");
    }
}

TEST(Check, OneWrongElementIsFoundAndLocated) {
  Judged judged;
  judged.set(1, 3, 7, 9, 5);
  CheckReport report = judged.judge();
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.failures, 1);
  ASSERT_TRUE(report.worst);
  EXPECT_EQ(report.worst->b, 1);
  EXPECT_EQ(report.worst->h, 3);
  EXPECT_EQ(report.worst->i, 7);
  EXPECT_EQ(report.worst->q, 7 + 38);
  EXPECT_EQ(report.worst->d, 9);
  EXPECT_EQ(report.worst->got, 5);
  EXPECT_NE(report.text().find("o at b = 1, h = 3, row 7 (q = 45), d = 9: got "
                               "5, expected "),
            std::string::npos)
      << report.text();
}

TEST(Check, BoundIsHalfAnUlpAndAShareOfTheLargestV) {
  Judged judged;
  CheckReport report = judged.judge();
  size_t row =
      judged.t.rowOf(report.worst->b, report.worst->h, report.worst->i);
  double maxV = judged.t.reference.facts[row].maxAbsV;
  EXPECT_DOUBLE_EQ(report.worst->bound,
                   ulp(DType::BF16, report.worst->expected) / 2 + 4e-3 * maxV);
}

TEST(Check, NaNOnEitherSideFails) {
  Judged judged;
  judged.set(0, 0, 0, 0, std::nan(""));
  CheckReport report = judged.judge();
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.nanGot, 1);
  Judged reference;
  reference.t.tensor("bias", DType::F32, {1}, {std::nan("")});
  reference.t.problem.score =
      add(s(), read("bias", ExprType::Float, {constant(0)}));
  reference.run();
  report = reference.judge();
  EXPECT_FALSE(report.passed);
  EXPECT_GT(report.nanExpected, 0);
  EXPECT_NE(report.text().find("but the reference itself is nan there"),
            std::string::npos)
      << report.text();
}

TEST(Check, LseInBaseTwoFails) {
  Judged judged;
  for (float &value : judged.lse)
    value *= 1.442695f;
  CheckReport report = judged.judge();
  EXPECT_FALSE(report.passed);
  EXPECT_EQ(report.failures, 0);
  EXPECT_EQ(report.lseFailures, 96);
  EXPECT_EQ(report.worstLse->bound, 1e-3);
}

TEST(Check, LseBoundIsRelativeWhenLarge) {
  Judged judged;
  judged.t.set(Q, 64).set(K, 64);
  judged.run();
  EXPECT_TRUE(judged.judge().passed);
  EXPECT_NEAR(judged.judge().worstLse->bound, 1e-5 * 16384, 1e-3);
  judged.lse[3] += 0.2f;
  EXPECT_FALSE(judged.judge().passed);
}

TEST(Check, EmptyRowsAreExact) {
  // 12 queries, 5 keys: rows 0..6 see nothing.
  Judged judged(DType::BF16, 2, 5);
  CheckReport report = judged.judge();
  EXPECT_TRUE(report.passed) << report.text();
  EXPECT_EQ(report.emptyRows, 2 * 4 * 7);
  judged.set(1, 2, 6, 0, 1e-20);
  EXPECT_FALSE(judged.judge().passed);
  judged.set(1, 2, 6, 0, 0);
  judged.lse[qLen * 2 + 6] = -1e30f;
  EXPECT_FALSE(judged.judge().passed);
}

TEST(Check, AKernelWorseThanAPlainOneFailsInsideALooseBound) {
  Judged judged(DType::F16, 2, 50, DType::F32);
  // One in a thousand of max |V| is allowed to each element; all of them so
  // far off is no rounding of P.
  for (const RowId &id : judged.t.reference.rows)
    for (int64_t d = 0; d < dim; ++d)
      judged.set(id.b, id.h, id.i, d, judged.t.o(id.b, id.h, id.i, d) + 1e-3);
  CheckReport report = judged.judge();
  EXPECT_EQ(report.failures, 0) << report.text();
  EXPECT_TRUE(report.plainRuleFailed);
  EXPECT_FALSE(report.passed);
}

TEST(Check, LargeLogitsWarn) {
  Judged judged;
  judged.t.set(Q, 65536).set(K, 65536);
  judged.run();
  CheckReport report = judged.judge();
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].substr(0, 4), "C13:");
  EXPECT_TRUE(report.passed) << report.text();
}

TEST(Check, LogitsThatF32RoundsAreNamedWhereTheCheckFails) {
  Judged judged;
  judged.t.problem.score = add(s(), toFloat(constant(100000000)));
  judged.run();
  EXPECT_TRUE(judged.judge().warnings.empty()) << judged.judge().text();
  judged.set(0, 0, 3, 3, 100);
  CheckReport report = judged.judge();
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0],
            "C13: logits are f32, which has numbers 8 apart at the largest "
            "scaled logit, 1e+08: smaller differences between the keys of a "
            "row are lost");
}

TEST(Check, OverflowOfTheOutputTypeIsExpected) {
  Judged judged(DType::BF16, 2, 50, DType::F16);
  judged.t.set(V, 1e5);
  judged.run();
  EXPECT_TRUE(judged.judge().passed) << judged.judge().text();
  judged.set(0, 0, 3, 3, 65504);
  EXPECT_EQ(judged.judge().failures, 1);
  judged.set(0, 0, 3, 3, -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(judged.judge().passed);
}

TEST(Check, FaultsOfTheSpecAreReported) {
  Judged judged;
  judged.t.tensor("bias", DType::F32, {3}, {0, 0, 0});
  judged.t.problem.score = add(s(), read("bias", ExprType::Float, {k()}));
  judged.run();
  CheckReport report = judged.judge();
  EXPECT_FALSE(report.passed);
  EXPECT_NE(report.text().find("bias[3] is outside its extents [3] at b = 0, h "
                               "= 0, q = 38, k = 3"),
            std::string::npos)
      << report.text();
  // A division by zero has a meaning: it is told, and does not fail.
  Judged zero;
  zero.t.problem.score =
      add(s(), toFloat(div(constant(3), sub(k(), constant(2)))));
  zero.run();
  report = zero.judge();
  EXPECT_TRUE(report.passed) << report.text();
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(report.warnings[0].find("division by zero"), std::string::npos);
}

TEST(Check, BrokenMonotonePromises) {
  Judged judged;
  judged.t.tensor("doc", DType::I32, {2, 4}, {0, 1, 1, 2, 5, 5, 4, 6});
  judged.t.problem.tensors[0].monotone = true;
  CheckReport report = judged.judge();
  EXPECT_FALSE(report.passed);
  ASSERT_EQ(report.monotone.size(), 1u);
  EXPECT_EQ(report.monotone[0].index, (std::vector<int64_t>{1, 2}));
  EXPECT_NE(report.text().find("'doc' is declared monotone but decreases at "
                               "[1, 2], from 5 to 4"),
            std::string::npos);
}

TEST(Check, MonotoneIsInsideEachSequenceOfARaggedTensor) {
  Judged judged;
  judged.t.tensor("doc", DType::I32, {6}, {0, 1, 2, 0, 1, 1});
  Tensor &declared = judged.t.problem.tensors[0];
  declared.monotone = true;
  judged.t.launch.sequences = {{1, 3, 0, 0}, {1, 3, 1, 3}};
  EXPECT_EQ(checkMonotone(judged.t.launch).size(), 1u);
  declared.dims = {{DimKind::TotalK, 0}};
  EXPECT_TRUE(checkMonotone(judged.t.launch).empty());
}

TEST(Check, JsonHoldsWhatTheTextSays) {
  Judged judged;
  judged.set(1, 3, 7, 9, std::nan(""));
  nlohmann::json json = nlohmann::json::parse(judged.judge().json());
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["failures"], 1);
  EXPECT_EQ(json["worst"]["got"], "nan");
  EXPECT_EQ(json["worst"]["error"], "inf");
  EXPECT_EQ(json["worst"]["d"], 9);
  EXPECT_EQ(json["rows"], "all 96 rows");
  EXPECT_EQ(json["out_of_range"], nullptr);
}

} // namespace
