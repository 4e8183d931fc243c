//===- EvaluateTest.cpp - Evaluating rules ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Evaluate.h"
#include "Build.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::build;

namespace {

/// A problem with one tensor of each kind and one param of each type.
struct Fixture {
  Fixture() {
    problem.heads = 4;
    problem.kvHeads = 2;
    problem.params = {{"left", DType::I32, 5, 0, 0, 0},
                      {"cap", DType::F32, 0, 0.1, 0, 0},
                      {"on", DType::Bool, 1, 0, 0, 0}};
    Tensor ints{"ids", DType::I32, {{DimKind::KLen, 0}}, false, 0, 0};
    Tensor floats{
        "bias", DType::F32, {{DimKind::Heads, 0}, {DimKind::Literal, 3}},
        false,  0,          0};
    Tensor flags{"flags", DType::Bool, {{DimKind::KLen, 0}}, false, 0, 0};
    Tensor ragged{"ragged", DType::I32, {{DimKind::TotalK, 0}}, false, 0, 0};
    problem.tensors = {ints, floats, flags, ragged};
    bindings.tensors["ids"] = {DType::I32, {8}, ids};
    bindings.tensors["bias"] = {DType::F32, {4, 3}, bias};
    bindings.tensors["flags"] = {DType::Bool, {8}, flagBytes};
    bindings.tensors["ragged"] = {DType::I32, {8}, ids};
    row.b = 1;
    row.h = 3;
    row.g = 1;
    row.i = 2;
    row.q = 6;
    row.sequence = {4, 8, 0, 0};
  }

  double at(const ExprPtr &expr, int64_t key, double logit = 0) {
    Rule rule(expr, problem, bindings);
    runner.emplace(rule);
    return runner->evaluateAt(row, key, logit);
  }

  Problem problem;
  Bindings bindings;
  int32_t ids[8] = {10, 11, 12, 13, 14, 15, 16, 17};
  float bias[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  uint8_t flagBytes[8] = {0, 1, 0, 1, 0, 1, 0, 1};
  RowPosition row;
  std::optional<RuleRunner> runner;
};

TEST(Evaluate, IndexVariables) {
  Fixture f;
  EXPECT_EQ(f.at(index(IndexVar::B), 5), 1);
  EXPECT_EQ(f.at(index(IndexVar::H), 5), 3);
  EXPECT_EQ(f.at(index(IndexVar::G), 5), 1);
  EXPECT_EQ(f.at(index(IndexVar::I), 5), 2);
  EXPECT_EQ(f.at(index(IndexVar::Q), 5), 6);
  EXPECT_EQ(f.at(index(IndexVar::K), 5), 5);
  EXPECT_EQ(f.at(index(IndexVar::QLen), 5), 4);
  EXPECT_EQ(f.at(index(IndexVar::KLen), 5), 8);
  EXPECT_EQ(f.at(index(IndexVar::S), 5, 2.5), 2.5);
}

TEST(Evaluate, FloorDivisionAndRemainder) {
  Fixture f;
  for (int64_t a = -7; a <= 7; ++a)
    for (int64_t n : {-3, -1, 1, 2, 3}) {
      double quotient = std::floor(double(a) / double(n));
      EXPECT_EQ(f.at(div(constant(a), constant(n)), 0), quotient);
      EXPECT_EQ(f.at(mod(constant(a), constant(n)), 0),
                double(a) - quotient * double(n));
    }
  int64_t lowest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(f.at(div(constant(lowest), constant(-1)), 0), double(lowest));
  EXPECT_EQ(f.at(mod(constant(lowest), constant(-1)), 0), 0);
}

TEST(Evaluate, DivisionByZeroIsZeroAndReported) {
  Fixture f;
  EXPECT_EQ(f.at(div(constant(7), sub(k(), constant(5))), 5), 0);
  ASSERT_TRUE(f.runner->divisionByZero());
  EXPECT_EQ(f.runner->divisionByZero()->k, 5);
  EXPECT_EQ(f.runner->divisionByZero()->message(),
            "division by zero at b = 1, h = 3, q = 6, k = 5");
  EXPECT_EQ(f.at(mod(constant(7), constant(0)), 5), 0);
  EXPECT_TRUE(f.runner->divisionByZero());
  EXPECT_EQ(f.at(div(constant(7), constant(2)), 5), 3);
  EXPECT_FALSE(f.runner->divisionByZero());
}

TEST(Evaluate, FloatDivisionIsIeee) {
  Fixture f;
  EXPECT_EQ(f.at(div(constant(1.0), constant(0.0)), 0),
            std::numeric_limits<double>::infinity());
  EXPECT_FALSE(f.runner->divisionByZero());
}

TEST(Evaluate, Functions) {
  Fixture f;
  auto apply = [&](ExprKind kind, double x) {
    return f.at(unary(kind, constant(x)), 0);
  };
  EXPECT_DOUBLE_EQ(apply(ExprKind::Exp, 1.5), std::exp(1.5));
  EXPECT_DOUBLE_EQ(apply(ExprKind::Exp2, 1.5), std::exp2(1.5));
  EXPECT_DOUBLE_EQ(apply(ExprKind::Log, 1.5), std::log(1.5));
  EXPECT_DOUBLE_EQ(apply(ExprKind::Log2, 1.5), std::log2(1.5));
  EXPECT_DOUBLE_EQ(apply(ExprKind::Tanh, 1.5), std::tanh(1.5));
  EXPECT_DOUBLE_EQ(apply(ExprKind::Sigmoid, 1.5), 1 / (1 + std::exp(-1.5)));
  EXPECT_DOUBLE_EQ(apply(ExprKind::Sqrt, 1.5), std::sqrt(1.5));
  EXPECT_EQ(apply(ExprKind::Neg, 1.5), -1.5);
  EXPECT_EQ(apply(ExprKind::Abs, -1.5), 1.5);
  EXPECT_EQ(f.at(arithmetic(ExprKind::Min, constant(1.0), constant(2.0)), 0),
            1);
  EXPECT_EQ(f.at(arithmetic(ExprKind::Max, constant(-1), constant(2)), 0), 2);
  EXPECT_EQ(f.at(unary(ExprKind::Abs, constant(-3)), 0), 3);
  EXPECT_EQ(f.at(unary(ExprKind::Neg, constant(-3)), 0), 3);
  EXPECT_EQ(f.at(unary(ExprKind::Not, constant(true)), 0), 0);
}

TEST(Evaluate, Comparisons) {
  Fixture f;
  const ExprKind kinds[] = {ExprKind::Eq, ExprKind::Ne, ExprKind::Lt,
                            ExprKind::Le, ExprKind::Gt, ExprKind::Ge};
  const bool whenLess[] = {false, true, true, true, false, false};
  const bool whenEqual[] = {true, false, false, true, false, true};
  for (int kind = 0; kind < 6; ++kind) {
    EXPECT_EQ(f.at(logic(kinds[kind], constant(1), constant(2)), 0),
              whenLess[kind]);
    EXPECT_EQ(f.at(logic(kinds[kind], constant(2.0), constant(2.0)), 0),
              whenEqual[kind]);
  }
  EXPECT_EQ(f.at(eq(constant(true), constant(false)), 0), 0);
}

TEST(Evaluate, ParamsDefaultAndBound) {
  Fixture f;
  ExprPtr left = param("left", ExprType::Int);
  EXPECT_EQ(f.at(left, 0), 5);
  f.bindings.params["left"] = int64_t(9);
  EXPECT_EQ(f.at(left, 0), 9);
  // Stored as f32: the double 0.1 is another number.
  EXPECT_EQ(f.at(param("cap", ExprType::Float), 0), double(0.1f));
  EXPECT_EQ(f.at(constant(0.1), 0), double(0.1f));
  EXPECT_EQ(f.at(param("on", ExprType::Bool), 0), 1);
}

TEST(Evaluate, ReadsEveryTypeAndRank) {
  Fixture f;
  EXPECT_EQ(f.at(read("ids", ExprType::Int, {k()}), 4), 14);
  EXPECT_EQ(f.at(read("bias", ExprType::Float, {h(), constant(2)}), 0), 11);
  EXPECT_EQ(f.at(read("flags", ExprType::Bool, {k()}), 3), 1);
}

TEST(Evaluate, RaggedDimsStartAtTheSequence) {
  Fixture f;
  f.row.sequence = {2, 3, 5, 4};
  ExprPtr value = read("ragged", ExprType::Int, {k()});
  EXPECT_EQ(f.at(value, 2), 16);
  EXPECT_FALSE(f.runner->outOfRange());
  // Inside the tensor, outside the sequence.
  EXPECT_EQ(f.at(value, 3), 16);
  ASSERT_TRUE(f.runner->outOfRange());
  EXPECT_EQ(f.runner->outOfRange()->extents, std::vector<int64_t>{3});
}

TEST(Evaluate, ReadsOutOfRangeAreClampedAndReported) {
  Fixture f;
  ExprPtr value = read("ids", ExprType::Int, {add(k(), constant(3))});
  EXPECT_EQ(f.at(value, 4), 17);
  EXPECT_FALSE(f.runner->outOfRange());
  EXPECT_EQ(f.at(value, 7), 17);
  ASSERT_TRUE(f.runner->outOfRange());
  EXPECT_EQ(f.runner->outOfRange()->message(),
            "ids[10] is outside its extents [8] at b = 1, h = 3, q = 6, k = 7 "
            "(line 7, column 3 of the spec)");
  EXPECT_EQ(f.at(read("ids", ExprType::Int, {constant(-1)}), 0), 10);
  EXPECT_TRUE(f.runner->outOfRange());
}

TEST(Evaluate, ReadOfAnEmptyTensorIsZero) {
  Fixture f;
  f.bindings.tensors["ids"].dims = {0};
  f.bindings.tensors["ids"].data = nullptr;
  EXPECT_EQ(f.at(read("ids", ExprType::Int, {k()}), 0), 0);
  EXPECT_TRUE(f.runner->outOfRange());
}

TEST(Evaluate, ShortCircuitHidesFaults) {
  Fixture f;
  ExprPtr inside = lt(k(), constant(8));
  ExprPtr hit = eq(read("ids", ExprType::Int, {k()}), constant(17));
  EXPECT_EQ(f.at(both(inside, hit), 100), 0);
  EXPECT_FALSE(f.runner->outOfRange());
  EXPECT_EQ(f.at(either(unary(ExprKind::Not, inside), hit), 100), 1);
  EXPECT_FALSE(f.runner->outOfRange());
  ExprPtr guarded =
      select(inside, read("ids", ExprType::Int, {k()}), constant(-1));
  EXPECT_EQ(f.at(guarded, 100), -1);
  EXPECT_FALSE(f.runner->outOfRange());
  EXPECT_EQ(f.at(guarded, 7), 17);
  ExprPtr quotient = div(constant(6), sub(k(), constant(8)));
  EXPECT_EQ(f.at(select(inside, quotient, constant(1)), 8), 1);
  EXPECT_FALSE(f.runner->divisionByZero());
  ExprPtr zeroPast = div(constant(6), sub(constant(8), k()));
  Rule rule(both(inside, ge(zeroPast, constant(0))), f.problem, f.bindings);
  RuleRunner runner(rule);
  std::vector<uint8_t> seen(12);
  runner.evaluateBool(f.row, 0, 12, nullptr, seen.data());
  EXPECT_FALSE(runner.divisionByZero()); // only keys 0 .. 7 divide
  EXPECT_EQ(seen[7], 1);
  EXPECT_EQ(seen[8], 0);
  // The same conditions the other way round reach the read.
  EXPECT_EQ(f.at(both(hit, inside), 100), 0);
  EXPECT_TRUE(f.runner->outOfRange());
}

TEST(Evaluate, ShortCircuitIsPerKeyAndTheFirstFaultIsKept) {
  Fixture f;
  // Keys 0 .. 999; only keys from 600 on reach the read.
  ExprPtr expr = both(ge(k(), constant(600)),
                      eq(read("ids", ExprType::Int, {k()}), constant(17)));
  Rule rule(expr, f.problem, f.bindings);
  RuleRunner runner(rule);
  std::vector<uint8_t> seen(1000);
  runner.evaluateBool(f.row, 0, 1000, nullptr, seen.data());
  ASSERT_TRUE(runner.outOfRange());
  EXPECT_EQ(runner.outOfRange()->k, 600);
  EXPECT_EQ(runner.outOfRange()->index, std::vector<int64_t>{600});
  for (int64_t key = 0; key < 1000; ++key)
    EXPECT_EQ(seen[key], key >= 600); // clamped reads give the last element
}

TEST(Evaluate, SharedSubtreesAreEvaluatedWhereEachUserIsActive) {
  Fixture f;
  ExprPtr value = read("ids", ExprType::Int, {k()});
  ExprPtr small = lt(value, constant(12));
  // `value` is first needed inside a branch that is not taken for key 9.
  ExprPtr expr =
      both(either(both(lt(k(), constant(4)), small), ge(k(), constant(4))),
           ge(value, constant(0)));
  EXPECT_EQ(f.at(expr, 9), 1);
  ASSERT_TRUE(f.runner->outOfRange());
  EXPECT_EQ(f.runner->outOfRange()->k, 9);
  EXPECT_EQ(f.at(expr, 3), 0);
}

TEST(Evaluate, ManyKeysAgreeWithOneByOne) {
  Fixture f;
  ExprPtr expr =
      add(mul(s(), constant(0.5)),
          select(le(k(), q()),
                 toFloat(mod(sub(mul(q(), constant(3)), k()), constant(7))),
                 unary(ExprKind::Tanh, div(s(), constant(4.0)))));
  Rule rule(expr, f.problem, f.bindings);
  RuleRunner many(rule), one(rule);
  f.row.q = 300;
  std::vector<double> logits(700), out(700);
  for (int64_t key = 0; key < 700; ++key)
    logits[key] = double(key % 13) - 6;
  many.evaluateFloat(f.row, 10, 700, logits.data(), nullptr, out.data());
  for (int64_t key = 0; key < 700; ++key)
    EXPECT_EQ(out[key], one.evaluateAt(f.row, 10 + key, logits[key]));
}

TEST(Evaluate, InactiveKeysMeetNoFault) {
  Fixture f;
  Rule rule(toFloat(read("ids", ExprType::Int, {k()})), f.problem, f.bindings);
  RuleRunner runner(rule);
  std::vector<uint8_t> active(16, 0);
  std::fill_n(active.begin(), 8, uint8_t(1));
  std::vector<double> out(16);
  runner.evaluateFloat(f.row, 0, 16, nullptr, active.data(), out.data());
  EXPECT_FALSE(runner.outOfRange());
  EXPECT_EQ(out[7], 17);
}

void expectError(Fixture &f, const ExprPtr &expr, const std::string &message) {
  try {
    Rule rule(expr, f.problem, f.bindings);
    FAIL() << "expected: " << message;
  } catch (const std::runtime_error &error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(Evaluate, UnboundAndWronglyBoundNames) {
  Fixture f;
  expectError(f, param("nope", ExprType::Int), "param 'nope' is not declared");
  ExprPtr ids = read("ids", ExprType::Int, {k()});
  HostTensor right = f.bindings.tensors["ids"];
  f.bindings.tensors["ids"].type = DType::I64;
  expectError(f, ids, "tensor 'ids': expected i32, found i64");
  f.bindings.tensors["ids"] = {DType::I32, {2, 4}, right.data};
  expectError(f, ids, "tensor 'ids': expected 1 dims, found 2");
  f.bindings.tensors.erase("ids");
  expectError(f, ids, "tensor 'ids' is not bound");
  f.bindings.tensors["bias"].dims = {4, 2};
  expectError(f, read("bias", ExprType::Float, {h(), k()}),
              "tensor 'bias': expected extent 3 in dim 1, found 2");
  f.bindings.params["left"] = 1.5;
  expectError(f, param("left", ExprType::Int),
              "param 'left' is i32, but a float is bound to it");
}

} // namespace
