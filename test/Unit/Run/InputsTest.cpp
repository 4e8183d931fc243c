//===- InputsTest.cpp - Inputs from options -------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bench.h"
#include "HostDevice.h"

#include "attn/Reference/Npy.h"
#include "attn/Reference/Numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>

using namespace attn;
using namespace attn::run;
using namespace attn::test;

namespace {

std::string messageOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "no exception";
}

double fillAt(const char *text, int64_t s, int64_t d) {
  return FillSpec::parse("--v-fill", text).at(s, d, 8);
}

TEST(FillSpec, Words) {
  EXPECT_EQ(fillAt("pattern", 63, 5), 2);
  EXPECT_EQ(fillAt("mod:2", 7, 0), 1);
  EXPECT_EQ(fillAt("onehot", 11, 3), 1);
  EXPECT_EQ(fillAt("onehot", 11, 4), 0);
  EXPECT_EQ(fillAt("onehot:5", 0, 5), 1);
  EXPECT_EQ(fillAt("onehot:5", 0, 4), 0);
  EXPECT_EQ(fillAt("iota:1000", 3, 7), 1007);
  EXPECT_EQ(fillAt("ones", 3, 7), 1);
  EXPECT_EQ(fillAt("-10.625", 3, 7), -10.625);
  EXPECT_EQ(fillAt("const:2", 3, 7), 2);
  EXPECT_EQ(fillAt("-inf", 3, 7), -INFINITY);
  EXPECT_EQ(fillAt("zeros,2..4=7,3=8", 2, 0), 7);
  EXPECT_EQ(fillAt("zeros,2..4=7,3=8", 3, 0), 8);
  EXPECT_EQ(fillAt("zeros,2..4=7,3=8", 5, 0), 0);
}

TEST(FillSpec, BadWords) {
  const std::string words =
      "expected random, normal[:FACTOR], pattern, mod:N, onehot[:DIM], "
      "iota[:OFFSET], ones, zeros or a number, found ";
  for (const char *bad : {"", "rnd", "mod", "ones:2", "1x", "pattern:7"})
    EXPECT_EQ(messageOf([&] { FillSpec::parse("--q-fill", bad); }),
              std::string("--q-fill=") + bad + ": " + words + "'" + bad + "'");
  EXPECT_EQ(messageOf([] { FillSpec::parse("--q-fill", "mod:0"); }),
            "--q-fill=mod:0: the modulus is a positive integer");
  EXPECT_EQ(messageOf([] { FillSpec::parse("--q-fill", "iota:x"); }),
            "--q-fill=iota:x: 'x' is not a number");
  for (const char *bad : {"3", "3=", "-1=2", "4..2=1", "1..=2", "a=2"})
    EXPECT_EQ(messageOf([&] {
                FillSpec::parse("--q-fill", std::string("ones,") + bad);
              }),
              std::string("--q-fill=ones,") + bad +
                  ": expected POSITION=NUMBER or FIRST..LAST=NUMBER, found '" +
                  bad + "'");
}

Problem problem() { return hostPackage(4, 2, 8).problem; }

TEST(Inputs, LayoutsHoldTheSameNumbers) {
  InputOptions options;
  options.lengths.qLen = 5;
  options.lengths.kLen = 7;
  Problem spec = problem();
  Inputs bshd = makeInputs(spec, options);
  options.layout = TensorLayout::Bhsd;
  options.tails = true;
  Inputs bhsd = makeInputs(spec, options);
  EXPECT_EQ(bshd.k.geometry.strideS, 16);
  EXPECT_EQ(bhsd.k.geometry.strideS, 8);
  EXPECT_GT(bhsd.k.geometry.capacity, 7);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t s = 0; s < 7; ++s)
        for (int64_t d = 0; d < 8; ++d)
          EXPECT_EQ(loadElement(DType::BF16, bshd.k.bytes.data(),
                                bshd.k.geometry.offset(b, h, s) + d),
                    loadElement(DType::BF16, bhsd.k.bytes.data(),
                                bhsd.k.geometry.offset(b, h, s) + d));
  // The tail is NaN.
  EXPECT_TRUE(std::isnan(loadElement(DType::BF16, bhsd.k.bytes.data(),
                                     bhsd.k.geometry.offset(0, 0, 7))));
}

TEST(Inputs, SlicesAndSharedBatch) {
  Problem spec = problem();
  InputOptions options;
  options.lengths.batch = 3;
  options.lengths.qLen = options.lengths.kLen = 5;
  options.rowGap = 24;
  options.sharedKv = true;
  Inputs inputs = makeInputs(spec, options);
  EXPECT_EQ(inputs.q.geometry.strideS, 4 * 8 + 24);
  EXPECT_EQ(inputs.q.geometry.elements, 3 * 5 * 56);
  EXPECT_EQ(inputs.k.geometry.strideB, 0);
  EXPECT_EQ(inputs.k.bytes.size(), 5u * (2 * 8 + 24) * 2);
  EXPECT_EQ(inputs.o.strideS, 4 * 8 + 24);
  // Row 0 ends with gap.
  EXPECT_TRUE(std::isnan(loadElement(DType::BF16, inputs.q.bytes.data(), 32)));
  options.rowGap = 4;
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "--row-gap = 4: allowed multiples of 16 bytes");
}

TEST(Inputs, Lengths) {
  Problem spec = problem();
  InputOptions options;
  Inputs inputs = makeInputs(spec, options);
  EXPECT_EQ(inputs.lengths.batch, 2);
  EXPECT_EQ(inputs.lengths.qLen, 512);
  EXPECT_EQ(inputs.lengths.kLen, 512);
  options.lengths.qLen = (int64_t(1) << 30) + 1;
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "--q-len = 1073741825: allowed 0 .. 1073741824");
}

TEST(Inputs, Params) {
  Param left;
  left.name = "left";
  EXPECT_EQ(parseParam(left, "unbounded").intValue, INT32_MAX);
  EXPECT_EQ(parseParam(left, "-3").intValue, -3);
  EXPECT_EQ(messageOf([&] { parseParam(left, "1.5"); }),
            "--param left=1.5: expected an integer or unbounded");
  left.type = DType::F32;
  EXPECT_EQ(parseParam(left, "1.5").floatValue, 1.5);
  EXPECT_EQ(messageOf([&] { parseParam(left, "unbounded"); }),
            "--param left=unbounded: unbounded is for integer params, 'left' "
            "is f32");
  left.type = DType::Bool;
  EXPECT_EQ(parseParam(left, "true").intValue, 1);
  Problem spec = problem();
  InputOptions options;
  options.params = {{"left", "1"}};
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "--param left: the spec has no param of that name");
}

TEST(Inputs, Tensors) {
  Problem spec = problem();
  Tensor slope;
  slope.name = "slope";
  slope.dims = {{DimKind::Heads, 0}};
  spec.tensors = {slope};
  InputOptions options;
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "tensor 'slope' : f32[heads] is not bound: give --tensor "
            "slope=FILE.npy, random, zeros or a number");
  options.tensors = {{"slope", "1,2,3"}};
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "--tensor slope=1,2,3: 3 numbers, expected 1 or 4");
  options.tensors = {{"slope", "1,2,3,4"}};
  Inputs inputs = makeInputs(spec, options);
  EXPECT_EQ(loadElement(DType::F32, inputs.tensors["slope"].bytes.data(), 2),
            3);
  options.tensors = {{"slope", "0.5"}};
  inputs = makeInputs(spec, options);
  EXPECT_EQ(loadElement(DType::F32, inputs.tensors["slope"].bytes.data(), 3),
            0.5);
  options.tensors.push_back({"slope", "1"});
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "--tensor slope: given twice");
  options.tensors = {{"slope", "zeros"}, {"x", "1"}};
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "--tensor x: the spec has no tensor of that name (it has slope)");
}

TEST(Inputs, NumbersThatATypeDoesNotHold) {
  Problem spec = problem();
  Tensor slope;
  slope.name = "slope";
  slope.dims = {{DimKind::Heads, 0}};
  spec.tensors = {slope};
  InputOptions options;
  options.tensors = {{"slope", "1,2,3,-3e39"}};
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "--tensor slope=1,2,3,-3e39: -3e39 is beyond the largest f32, "
            "3.40282e+38");
  options.tensors = {{"slope", "inf"}};
  makeInputs(spec, options);
  for (DType type : {DType::BF16, DType::F16}) {
    spec.dtype = spec.kvDtype = type;
    std::string largest =
        type == DType::F16 ? "f16, 65504" : "bf16, 3.38953e+38";
    for (const char *fill : {"1e39", "normal:1e39", "iota:-1e39", "0,2=1e39"}) {
      options.v.fill = FillSpec::parse("--v-fill", fill);
      std::string message = messageOf([&] { makeInputs(spec, options); });
      EXPECT_NE(message.find("is beyond the largest " + largest),
                std::string::npos)
          << fill << ": " << message;
    }
    options.v.fill = FillSpec::parse("--v-fill", "-inf,2=nan");
    makeInputs(spec, options);
  }
  options.v.fill = FillSpec::parse("--v-fill", "65519.9");
  makeInputs(spec, options); // rounds to 65504
  options.v.fill = FillSpec::parse("--v-fill", "65520");
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "--v-fill: 65520 is beyond the largest f16, 65504");
  EXPECT_EQ(messageOf([] { FillSpec::parse("--q-fill", "mod:1e300"); }),
            "--q-fill=mod:1e300: the modulus is a positive integer");
}

TEST(Inputs, IntegerTensorsTakeIntegers) {
  Problem spec = problem();
  Tensor length;
  length.name = "length";
  length.type = DType::I32;
  length.dims = {{DimKind::Batch, 0}};
  spec.tensors = {length};
  InputOptions options;
  options.tensors = {{"length", "3,1.5"}};
  EXPECT_EQ(messageOf([&] { makeInputs(spec, options); }),
            "--tensor length=3,1.5: 1.5 is not a value of i32");
}

TEST(Inputs, FilesGiveLengths) {
  std::string path = ::testing::TempDir() + "attn_inputs_test_k.npy";
  std::vector<float> values(2 * 3 * 2 * 8);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  writeNpy(path, {2, 3, 2, 8}, values.data());
  Problem spec = problem();
  InputOptions options;
  options.lengths.qLen = 4;
  options.k.file = path;
  Inputs inputs = makeInputs(spec, options);
  EXPECT_EQ(inputs.lengths.kLen, 3);
  ASSERT_EQ(inputs.notes.size(), 1u); // rounded from f32
  EXPECT_EQ(loadElement(DType::BF16, inputs.k.bytes.data(),
                        inputs.k.geometry.offset(1, 1, 2) + 7),
            95);
  options.lengths.kLen = 5;
  EXPECT_NE(messageOf([&] { makeInputs(spec, options); }).find("(2, 3, 2, 8)"),
            std::string::npos);
  options.layout = TensorLayout::Bhsd;
  options.lengths.kLen.reset();
  EXPECT_NE(messageOf([&] { makeInputs(spec, options); }).find("(2, 3, 2, 8)"),
            std::string::npos);
  std::remove(path.c_str());
}

TEST(Inputs, PackedSequences) {
  Problem spec = problem();
  spec.batch = BatchKind::Varlen;
  InputOptions options;
  options.lengths.qLens = {2, 0, 3};
  options.lengths.kLens = {4, 5, 1};
  Inputs packed = makeInputs(spec, options);
  EXPECT_EQ(packed.lengths.totalQ, 5);
  EXPECT_EQ(packed.lengths.qLen, 3);
  EXPECT_EQ(packed.k.geometry.starts, (std::vector<int64_t>{0, 4, 9}));
  EXPECT_EQ(packed.k.geometry.elements, 10 * 2 * 8);
  EXPECT_EQ(packed.arguments().totalK, 10);
  EXPECT_EQ(packed.launch().sequences[2].kStart, 9);
  // The same numbers wherever a sequence lies.
  options.lengths.packing = KvPacking::Batch;
  Inputs apart = makeInputs(spec, options);
  EXPECT_EQ(apart.lengths.totalK, 0);
  options.lengths.packing = KvPacking::Gaps;
  Inputs gaps = makeInputs(spec, options);
  EXPECT_EQ(gaps.k.geometry.starts, (std::vector<int64_t>{0, 7, 15}));
  for (const Inputs *other : {&apart, &gaps})
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t s = 0; s < packed.k.geometry.rows(b); ++s)
        EXPECT_EQ(loadElement(DType::BF16, packed.k.bytes.data(),
                              packed.k.geometry.offset(b, 1, s) + 7),
                  loadElement(DType::BF16, other->k.bytes.data(),
                              other->k.geometry.offset(b, 1, s) + 7));
}

TEST(Inputs, LengthsThatDoNotBelongTogether) {
  Problem spec = problem();
  auto message = [&](auto change) {
    InputOptions options;
    change(options.lengths);
    return messageOf([&] { makeInputs(spec, options); });
  };
  EXPECT_EQ(message([](LengthOptions &l) { l.qLens = {1}; }),
            "--q-lens, --k-lens: the spec has a dense batch, expected --q-len, "
            "--k-len; or `batch varlen` or `batch padded` in the spec");
  EXPECT_EQ(message([](LengthOptions &l) { l.packing = KvPacking::Gaps; }),
            "--kv-packing: the spec has no `batch varlen`");
  spec.batch = BatchKind::Varlen;
  EXPECT_EQ(message([](LengthOptions &l) {
              l.qLens = {1, 2};
              l.kLens = {1};
            }),
            "--k-lens: 1 lengths, expected 2, as many as --q-lens has");
  EXPECT_EQ(message([](LengthOptions &l) {
              l.qLens = {1, 2};
              l.batch = 3;
            }),
            "--batch = 3: expected 2, as many as there are lengths");
  EXPECT_EQ(message([](LengthOptions &l) {
              l.qLens = {1 << 30, 1};
              l.kLens = {1, 1};
            }),
            "the sum of --q-lens = 1073741825: allowed 0 .. 1073741824");
  EXPECT_EQ(messageOf([] { parseLengths("--q-lens", "1,,2"); }),
            "--q-lens=1,,2: expected lengths with commas between them, found "
            "''");
  EXPECT_EQ(messageOf([] { parseLengths("--q-lens", "-1"); }),
            "--q-lens = -1: allowed 0 .. 1073741824");
}

TEST(Bench, CountsVisiblePairs) {
  Problem spec = problem();
  InputOptions options;
  options.lengths.batch = 3;
  options.lengths.qLen = 10;
  options.lengths.kLen = 10;
  Inputs inputs = makeInputs(spec, options);
  PairCount count = countVisiblePairs(inputs.launch());
  EXPECT_TRUE(count.exact);
  EXPECT_EQ(count.pairs, 3 * 4 * 55);
  // Middle rows of equal stretches are exact for a triangle but for rounding.
  options.lengths.qLen = options.lengths.kLen = 4096;
  inputs = makeInputs(spec, options);
  count = countVisiblePairs(inputs.launch(), /*maxEvaluations=*/1 << 18);
  EXPECT_FALSE(count.exact);
  EXPECT_NEAR(count.pairs / (3 * 4 * 4096.0 * 4097 / 2), 1, 0.01);
}

TEST(Bench, ReportsTheRoofline) {
  Package package = hostPackage(4, 2, 8);
  InputOptions options;
  options.lengths.qLen = options.lengths.kLen = 16;
  Inputs inputs = makeInputs(package.problem, options);
  HostDevice device;
  LoadedPackage loaded(package, device);
  BenchResult result = benchRun(device, loaded, inputs, std::nullopt, 3);
  EXPECT_EQ(result.milliseconds, 2.0);
  EXPECT_EQ(result.launchesPerRepeat, 2); // a sample of 4 ms
  EXPECT_EQ(result.occupancy, 3);
  EXPECT_EQ(result.flops, 2.0 * 16 * 2 * 4 * 136);
  // q, k, v, o in bf16 and lse in f32.
  EXPECT_EQ(result.bytes, 2 * 16 * 8 * 2 * (4 + 2 + 2 + 4) + 2 * 4 * 16 * 4);
  EXPECT_DOUBLE_EQ(result.computeBound, result.flops / 1e9 * 1e3);
  EXPECT_EQ(result.roofline(), result.computeBound);
  EXPECT_NE(result.text().find("reached 1.7 %"), std::string::npos)
      << result.text();
}

TEST(Bench, TimesThePlanApart) {
  Package package = listPackage(4, 2, 8);
  InputOptions options;
  options.lengths.qLen = options.lengths.kLen = 16;
  Inputs inputs = makeInputs(package.problem, options);
  HostDevice device;
  LoadedPackage loaded(package, device);
  BenchResult result = benchRun(device, loaded, inputs, std::nullopt, 3);
  EXPECT_EQ(result.milliseconds, 2.0);
  ASSERT_TRUE(result.plan);
  EXPECT_EQ(result.plan->milliseconds, 2.0);
  // The first launch's, one to find out how many, three samples of two.
  EXPECT_EQ(device.builds, 1 + 1 + 3 * 2);
  EXPECT_NE(result.text().find("plan: 16 bytes by list, built in 2 ms (median; "
                               "once for many launches)"),
            std::string::npos)
      << result.text();
}

} // namespace
