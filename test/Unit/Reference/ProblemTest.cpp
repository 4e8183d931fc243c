//===- ProblemTest.cpp - Problems and their JSON ----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Problem.h"
#include "Build.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

using namespace attn;
using namespace attn::build;
using nlohmann::json;

namespace {

/// Every field away from its default.
Problem fullProblem() {
  Problem p;
  p.name = "everything";
  p.dtype = DType::F16;
  p.kvDtype = DType::E4M3;
  p.out = DType::F32;
  p.heads = 28;
  p.kvHeads = 4;
  p.headDimQK = 192;
  p.headDimV = 96;
  p.scale = 0.125;
  p.scaleParam = "temperature";
  p.align = Alignment::TopLeft;
  p.batch = BatchKind::Varlen;
  p.kv = KvKind::Paged;
  p.pageSize = 16;
  p.pageLayout = PageLayout::Vllm;
  p.split = SplitKind::Fixed;
  p.splitValue = 512;
  p.outputO = false;
  p.outputLse = false;
  p.schedule = {ScheduleKind::Fa3,
                128,
                176,
                2,
                3,
                1,
                true,
                false,
                true,
                MaxMode::Lazy,
                MmaKind::Sync,
                LoaderKind::Tma,
                StoreKind::Tma};
  double inf = std::numeric_limits<double>::infinity();
  p.params = {{"left", DType::I32, -4095, 0, 3, 4},
              {"big", DType::I64, int64_t(1) << 60, 0, 4, 4},
              {"temperature", DType::F32, 0, 0.1, 5, 4},
              {"limit", DType::F32, 0, -inf, 6, 4},
              {"on", DType::Bool, 1, 0, 7, 4}};
  p.tensors = {{"bias",
                DType::F32,
                {{DimKind::Batch, 0},
                 {DimKind::Heads, 0},
                 {DimKind::KvHeads, 0},
                 {DimKind::QLen, 0},
                 {DimKind::KLen, 0},
                 {DimKind::Literal, 77}},
                false,
                8,
                4},
               {"doc",
                DType::I64,
                {{DimKind::TotalQ, 0}, {DimKind::TotalK, 0}},
                true,
                9,
                4}};
  ExprPtr distance = sub(k(), q());
  p.mask = either(both(causal(), le(param("left", ExprType::Int), distance)),
                  ne(mod(div(distance, constant(3)), constant(-2)),
                     read("doc", ExprType::Int, {i(), k()})));
  p.score = select(param("on", ExprType::Bool),
                   add(softcap(s(), 30), toFloat(distance)), constant(inf));
  p.sink = unary(ExprKind::Sigmoid, toFloat(mul(h(), b())));
  p.locations = {{"heads", {2, 3}}, {"mask", {11, 3}}};
  p.file = "specs/\"everything\".attn";
  p.text = "attention everything {\n\ttab \xc3\xa9\n}\n";
  return p;
}

TEST(Problem, JsonKeepsEveryField) {
  Problem original = fullProblem();
  std::string text = toJson(original);
  Problem back = problemFromJson(text);
  EXPECT_EQ(toJson(back), text);
  EXPECT_EQ(back.kvDtype, DType::E4M3);
  EXPECT_EQ(back.headDimV, 96);
  EXPECT_EQ(back.scale, 0.125);
  EXPECT_EQ(back.pageLayout, PageLayout::Vllm);
  EXPECT_EQ(back.splitValue, 512);
  EXPECT_FALSE(back.outputLse);
  EXPECT_EQ(back.schedule.tileN, 176);
  EXPECT_EQ(back.schedule.max, MaxMode::Lazy);
  EXPECT_EQ(back.params[1].intDefault, int64_t(1) << 60);
  EXPECT_EQ(back.params[2].floatDefault, 0.1);
  EXPECT_EQ(back.params[3].floatDefault,
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(back.tensors[0].dims[5].literal, 77);
  EXPECT_EQ(back.tensors[1].dims[1].kind, DimKind::TotalK);
  EXPECT_TRUE(back.tensors[1].monotone);
  EXPECT_EQ(back.score->operands[2]->floatValue,
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(back.locations, original.locations);
  EXPECT_EQ(back.text, original.text);
  EXPECT_EQ(back.file, original.file);
}

TEST(Problem, JsonOfDefaults) {
  std::string text = toJson(Problem());
  Problem back = problemFromJson(text);
  EXPECT_EQ(toJson(back), text);
  EXPECT_FALSE(back.mask);
  EXPECT_FALSE(back.scale);
  EXPECT_FALSE(back.schedule.stages);
}

TEST(Problem, SharedSubtreesStayShared) {
  ExprPtr x = s();
  for (int level = 0; level < 200; ++level)
    x = add(x, x); // 2^200 nodes if written as a tree
  Problem problem;
  problem.score = x;
  Problem back = problemFromJson(toJson(problem));
  EXPECT_EQ(back.score->operands[0], back.score->operands[1]);
}

TEST(Problem, MalformedJsonIsRefusedWithOneLine) {
  auto expect = [](const std::string &text, const std::string &message) {
    try {
      problemFromJson(text);
      FAIL() << "expected: " << message;
    } catch (const std::runtime_error &error) {
      std::string found = error.what();
      EXPECT_NE(found.find(message), std::string::npos) << found;
      EXPECT_EQ(found.find('\n'), std::string::npos) << found;
    }
  };
  expect("", "malformed problem: ");
  expect("{}", "'name'");
  const json good = json::parse(toJson(fullProblem()));
  auto changed = [&](const char *pointer, const json &value) {
    json copy = good;
    copy[json::json_pointer(pointer)] = value;
    return copy.dump();
  };
  expect(changed("/dtype", "f64"), "dtype: unknown element type 'f64'");
  expect(changed("/align", "left"),
         "align: expected one of bottom_right, top_left, found 'left'");
  expect(changed("/kv_heads", 3), "heads: expected a positive multiple");
  expect(changed("/kv_heads", 0), "heads: expected a positive multiple");
  expect(changed("/head_dim_v", -8), "head_dim: expected positive");
  expect(changed("/params/0/type", "f16"), "param left: expected type");
  expect(changed("/mask/0/op", "shift"), "mask[0].op: expected one of");
  expect(changed("/mask/0/args", {99}), "operand 99 is not an earlier node");
  expect(changed("/mask/2/args", {0}), "do not fit op");
  expect(changed("/mask", json::array()), "mask: expected null or");
  expect(changed("/mask", good["score"]), "mask: the rule has another type");
  expect(changed("/heads", "4"), "heads: expected an integer");
  expect(changed("/heads", 1e300), "heads: expected an integer of 64 bits");
  expect(changed("/heads", uint64_t(1) << 63), "heads: expected an integer");
  expect(changed("/output_o", 1), "output_o: expected true or false");
  expect(changed("/name", nullptr), "name: expected a string, found null");
  expect(changed("/mask/1/args", {-1}), "operand -1 is not an earlier node");
  expect(changed("/mask/0/op", 3), "op: expected a string, found number");
  expect(changed("/params", 3), "params: expected a list, found number");
  expect(changed("/params/0/at", {1}), "at: expected [line, column]");
  expect(changed("/tensors/0", 7), "expected an object with 'name'");
  json without = good;
  without.erase("schedule");
  expect(without.dump(), "'schedule'");
}

TEST(Problem, Scale) {
  Problem problem;
  problem.headDimQK = 64;
  EXPECT_EQ(problem.staticScale(), 0.125);
  problem.scale = 0.5;
  EXPECT_EQ(problem.staticScale(), 0.5);
  problem.scaleParam = "t";
  EXPECT_EQ(problem.staticScale(), std::nullopt);
}

TEST(Problem, TypesHaveAWordAndASize) {
  EXPECT_STREQ(spelling(DType::BF16), "bf16");
  EXPECT_STREQ(spelling(DType::Bool), "bool");
  EXPECT_EQ(byteSize(DType::E5M2), 1);
  EXPECT_EQ(byteSize(DType::F16), 2);
  EXPECT_EQ(byteSize(DType::I64), 8);
}

} // namespace
