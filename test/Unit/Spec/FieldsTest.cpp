//===- FieldsTest.cpp - Fields, params and tensors of a problem -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecTesting.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::testing;

/// The problem of a block with `fields`; an empty one and a failure if it is
/// refused.
static Problem problemWith(llvm::StringRef fields) {
  Parsed parsed = parse(blockWith(fields));
  EXPECT_TRUE(parsed.problem) << parsed.text();
  return parsed.problem.value_or(Problem());
}

TEST(Fields, Defaults) {
  Problem problem = problemWith("");
  EXPECT_EQ(problem.name, "test");
  EXPECT_EQ(problem.file, "test.attn");
  EXPECT_EQ(problem.text, blockWith(""));
  EXPECT_EQ(problem.dtype, DType::BF16);
  EXPECT_EQ(problem.kvDtype, DType::BF16);
  EXPECT_EQ(problem.out, DType::BF16);
  EXPECT_EQ(problem.heads, 8);
  EXPECT_EQ(problem.kvHeads, 2);
  EXPECT_EQ(problem.headDimQK, 64);
  EXPECT_EQ(problem.headDimV, 64);
  EXPECT_FALSE(problem.scale);
  EXPECT_EQ(problem.scaleParam, "");
  EXPECT_EQ(problem.align, Alignment::BottomRight);
  EXPECT_EQ(problem.batch, BatchKind::Dense);
  EXPECT_EQ(problem.kv, KvKind::Contiguous);
  EXPECT_EQ(problem.split, SplitKind::Auto);
  EXPECT_TRUE(problem.outputO);
  EXPECT_TRUE(problem.outputLse);
  EXPECT_EQ(problem.schedule.kind, ScheduleKind::Auto);
  EXPECT_FALSE(problem.schedule.tileM);
  EXPECT_EQ(problem.mask, nullptr);
  EXPECT_EQ(problem.score, nullptr);
  EXPECT_EQ(problem.sink, nullptr);
}

TEST(Fields, EveryOne) {
  Problem problem = problemWith(
      "kv_dtype e5m2\nout f32\nscale 0.125\nalign top_left\nbatch varlen\n"
      "kv paged(page = 16, layout = vllm)\nsplit fixed(tokens = 1024)\n"
      "outputs lse\nschedule fa3 (tile = 128 x 176, stages = 2, consumers = 2,"
      " overlap = 1, turns = true, max = lazy, persistent, mma = sync,"
      " loader = tma, producer = false, store = tma)\n"
      "tensor k_scale : f32[kv_heads]\ntensor v_scale : f32[batch, kv_heads]");
  EXPECT_EQ(problem.kvDtype, DType::E5M2);
  EXPECT_EQ(problem.out, DType::F32);
  EXPECT_EQ(problem.scale, 0.125);
  EXPECT_EQ(problem.align, Alignment::TopLeft);
  EXPECT_EQ(problem.batch, BatchKind::Varlen);
  EXPECT_EQ(problem.kv, KvKind::Paged);
  EXPECT_EQ(problem.pageSize, 16);
  EXPECT_EQ(problem.pageLayout, PageLayout::Vllm);
  EXPECT_EQ(problem.split, SplitKind::Fixed);
  EXPECT_EQ(problem.splitValue, 1024);
  EXPECT_FALSE(problem.outputO);
  EXPECT_TRUE(problem.outputLse);
  EXPECT_EQ(problem.schedule.kind, ScheduleKind::Fa3);
  EXPECT_EQ(problem.schedule.tileM, 128);
  EXPECT_EQ(problem.schedule.tileN, 176);
  EXPECT_EQ(problem.schedule.stages, 2);
  EXPECT_EQ(problem.schedule.consumers, 2);
  EXPECT_EQ(problem.schedule.overlap, 1);
  EXPECT_EQ(problem.schedule.turns, true);
  EXPECT_EQ(problem.schedule.max, MaxMode::Lazy);
  EXPECT_EQ(problem.schedule.persistent, true);
  EXPECT_EQ(problem.schedule.mma, MmaKind::Sync);
  EXPECT_EQ(problem.schedule.loader, LoaderKind::Tma);
  EXPECT_EQ(problem.schedule.producer, false);
  EXPECT_EQ(problem.schedule.store, StoreKind::Tma);
}

TEST(Fields, SplitForms) {
  EXPECT_EQ(problemWith("split none").split, SplitKind::None);
  EXPECT_EQ(problemWith("split auto").split, SplitKind::Auto);
  Problem pieces = problemWith("split 4");
  EXPECT_EQ(pieces.split, SplitKind::Count);
  EXPECT_EQ(pieces.splitValue, 4);
}

TEST(Fields, TileWithAndWithoutSpaces) {
  for (llvm::StringRef tile : {"64x128", "64 x 128", "64x 128"}) {
    Problem problem = problemWith(("schedule fa2 (tile = " + tile + ")").str());
    EXPECT_EQ(problem.schedule.tileM, 64);
    EXPECT_EQ(problem.schedule.tileN, 128);
  }
}

TEST(Fields, EightBitInputs) {
  // S20, S22: out falls back to bf16, and the scales may be left out.
  Parsed parsed =
      parse("attention test { dtype e4m3 heads 4 head_dim 192 / 128 }");
  ASSERT_TRUE(parsed.problem) << parsed.text();
  EXPECT_EQ(parsed.problem->out, DType::BF16);
  EXPECT_EQ(parsed.problem->kvDtype, DType::E4M3);
  EXPECT_EQ(parsed.problem->headDimQK, 192);
  EXPECT_EQ(parsed.problem->headDimV, 128);
  EXPECT_EQ(parsed.problem->kvHeads, 4);
}

TEST(Fields, ScaleForms) {
  EXPECT_FALSE(problemWith("scale auto").scale);
  EXPECT_EQ(problemWith("scale 1").scale, 1.0);
  Problem problem = problemWith("scale temperature\n"
                                "param temperature : f32 = 0.5");
  EXPECT_FALSE(problem.scale);
  EXPECT_EQ(problem.scaleParam, "temperature");
}

TEST(Fields, Params) {
  Problem problem = problemWith(
      "param p1 : i32 = -2147483648\nparam p2 : i64 = 9223372036854775807\n"
      "param p3 : f32 = -0.5\nparam p4 : f32 = 3\nparam p5 : bool = true\n"
      "param p6 : f32 = -inf\nparam p7 : i64 = -9223372036854775808\n");
  ASSERT_EQ(problem.params.size(), 7u);
  EXPECT_EQ(problem.params[0].type, DType::I32);
  EXPECT_EQ(problem.params[0].intDefault, -2147483648LL);
  EXPECT_EQ(problem.params[1].type, DType::I64);
  EXPECT_EQ(problem.params[1].intDefault, INT64_MAX);
  EXPECT_EQ(problem.params[2].floatDefault, -0.5);
  EXPECT_EQ(problem.params[3].floatDefault, 3.0);
  EXPECT_EQ(problem.params[4].type, DType::Bool);
  EXPECT_EQ(problem.params[4].intDefault, 1);
  EXPECT_EQ(problem.params[5].floatDefault,
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(problem.params[6].intDefault, INT64_MIN);
  EXPECT_EQ(problem.params[1].line, 6u);
  EXPECT_EQ(problem.params[1].column, 7u);
}

TEST(Fields, Tensors) {
  Problem problem =
      problemWith("batch varlen\n"
                  "tensor t1 : i8[batch, heads, kv_heads, q_len, k_len, 7]\n"
                  "tensor t2 : i64[total_q, total_k] monotone\n");
  ASSERT_EQ(problem.tensors.size(), 2u);
  const Tensor &first = problem.tensors[0];
  EXPECT_EQ(first.type, DType::I8);
  EXPECT_FALSE(first.monotone);
  ASSERT_EQ(first.dims.size(), 6u);
  EXPECT_EQ(first.dims[0].kind, DimKind::Batch);
  EXPECT_EQ(first.dims[1].kind, DimKind::Heads);
  EXPECT_EQ(first.dims[2].kind, DimKind::KvHeads);
  EXPECT_EQ(first.dims[3].kind, DimKind::QLen);
  EXPECT_EQ(first.dims[4].kind, DimKind::KLen);
  EXPECT_EQ(first.dims[5].kind, DimKind::Literal);
  EXPECT_EQ(first.dims[5].literal, 7);
  EXPECT_TRUE(problem.tensors[1].monotone);
  EXPECT_EQ(problem.tensors[1].dims[0].kind, DimKind::TotalQ);
  EXPECT_EQ(problem.tensors[1].dims[1].kind, DimKind::TotalK);
  EXPECT_EQ(problem.tensors[1].line, 7u);
}

TEST(Fields, Locations) {
  Problem problem = problemWith("  batch varlen\n  schedule fa2 (stages = 3)\n"
                                "  mask (q, k) = k <= q");
  using Place = std::pair<unsigned, unsigned>;
  EXPECT_EQ(problem.locations["attention"], Place(1, 11));
  EXPECT_EQ(problem.locations["dtype"], Place(2, 3));
  EXPECT_EQ(problem.locations["batch"], Place(5, 3));
  EXPECT_EQ(problem.locations["schedule"], Place(6, 3));
  EXPECT_EQ(problem.locations["schedule.stages"], Place(6, 17));
  EXPECT_EQ(problem.locations["mask"], Place(7, 3));
  EXPECT_EQ(problem.locations.count("kv"), 0u);
}

TEST(Fields, UnusedDeclarationsAreWarnings) {
  // S33
  Parsed parsed = parse(blockWith("  param left : i32 = 4\n"
                                  "  tensor t : f32[heads]\n"
                                  "  def near(q, k) = q - k <= left"));
  EXPECT_TRUE(parsed.problem);
  EXPECT_EQ(parsed.text(),
            "test.attn:5:9: warning: param 'left' is never used\n"
            "test.attn:6:10: warning: tensor 't' is never used\n");
}

TEST(Fields, TheExampleOfTheManual) {
  Parsed parsed = parse(R"(import "std"
attention mistral {
  dtype     bf16
  heads     32 / 8                  // query heads / kv heads
  head_dim  128

  param  left  : i32 = 4095
  tensor slope : f32[heads]
  tensor sinks : f32[heads]

  mask  (q, k)       = causal && (q - k <= left || k < 4)
  score (s, h, q, k) = softcap(s + slope[h] * (k - q), 30.0)
  sink  (h)          = sinks[h]

  batch     varlen
  kv        paged(page = 16)
  outputs   o, lse
}
)");
  ASSERT_TRUE(parsed.problem) << parsed.text();
  EXPECT_EQ(parsed.text(), "");
  EXPECT_EQ(print(parsed.problem->mask),
            "(and (le k q) (or (le (sub q k) (param left)) (lt k 4)))");
  EXPECT_EQ(print(parsed.problem->score),
            "(mul 30f (tanh (div (add s (mul (read slope h) (tofloat (sub k "
            "q)))) 30f)))");
  EXPECT_EQ(print(parsed.problem->sink), "(read sinks h)");
}
