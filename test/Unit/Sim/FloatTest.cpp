//===- FloatTest.cpp - Floating-point arithmetic and conversions --------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimHarness.h"

#include <cfenv>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace attn;
using namespace attn::simtest;

namespace {

constexpr uint32_t canonicalNan = 0x7fffffff;

uint32_t word(float value) { return bitsAs<uint32_t>(value); }
float single(uint32_t bits) { return bitsAs<float>(bits); }

/// One thread's %f3 (or %r3) after `text`, with %f0, %f1, %f2 given.
uint32_t eval(const std::string &text, uint32_t a, uint32_t b = 0,
              uint32_t c = 0) {
  auto load = [](const char *to, uint32_t bits) {
    return "mov.b32 " + std::string(to) + ", " + std::to_string(bits) + ";";
  };
  std::string body = load("%r0", a) + load("%r1", b) + load("%r2", c) +
                     "mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.b32 %f2, %r2;"
                     "mov.b32 %r3, 0; mov.b32 %f3, 0f00000000;"
                     "mov.b32 %f4, 0f00000000;" +
                     text;
  body += text.find("%r3,") == std::string::npos ? "mov.b32 %r3, %f3;" : "";
  return static_cast<uint32_t>(
      evaluate(body + "cvt.u64.u32 %rd0, %r3; st.global.u64 [%out], %rd0;"));
}
uint32_t evalF(const std::string &text, float a, float b = 0, float c = 0) {
  return eval(text, word(a), word(b), word(c));
}

const std::vector<float> &samples() {
  static const std::vector<float> values = [] {
    std::vector<float> all = {
        0.0f,      -0.0f,       1.0f,       -1.0f,   INFINITY,        -INFINITY,
        0x1p-126f, 0x1.8p-130f, -0x1p-149f, 3.4e38f, 0x1.fffffep127f, 1.5f};
    std::mt19937 generator(11);
    while (all.size() < 24) {
      float value = single(static_cast<uint32_t>(generator()));
      if (value == value)
        all.push_back(value);
    }
    return all;
  }();
  return values;
}

uint32_t canonical(float value) {
  return value != value ? canonicalNan : word(value);
}

TEST(Float, Nearest) {
  for (float a : samples())
    for (float b : {1.1f, -0.3f, 0x1p-140f, INFINITY, 7e30f}) {
      EXPECT_EQ(evalF("add.rn.f32 %f3, %f0, %f1;", a, b), canonical(a + b));
      EXPECT_EQ(evalF("sub.f32 %f3, %f0, %f1;", a, b), canonical(a - b));
      EXPECT_EQ(evalF("mul.f32 %f3, %f0, %f1;", a, b), canonical(a * b));
      EXPECT_EQ(evalF("div.rn.f32 %f3, %f0, %f1;", a, b), canonical(a / b));
      EXPECT_EQ(evalF("fma.rn.f32 %f3, %f0, %f1, %f2;", a, b, -a),
                canonical(std::fma(a, b, -a)))
          << a << " " << b;
    }
}

/// Every direction against the host's own rounding modes.
TEST(Float, DirectedRounding) {
  struct Mode {
    const char *name;
    int host;
  };
  for (Mode mode : {Mode{"rz", FE_TOWARDZERO}, Mode{"rm", FE_DOWNWARD},
                    Mode{"rp", FE_UPWARD}})
    for (float x : samples())
      for (float y : {1.1f, -0.7f, 0x1p-140f, 3e38f}) {
        volatile float a = x, b = y;
        std::fesetround(mode.host);
        volatile float sum = a + b, product = a * b, quotient = a / b;
        volatile float fused = std::fma(x, y, 0.1f);
        std::fesetround(FE_TONEAREST);
        std::string rounding = std::string(".") + mode.name + ".f32 ";
        EXPECT_EQ(evalF("add" + rounding + "%f3, %f0, %f1;", a, b),
                  canonical(sum))
            << mode.name << " " << x << " + " << y;
        EXPECT_EQ(evalF("mul" + rounding + "%f3, %f0, %f1;", a, b),
                  canonical(product))
            << mode.name << " " << x << " * " << y;
        EXPECT_EQ(evalF("div" + rounding + "%f3, %f0, %f1;", a, b),
                  canonical(quotient))
            << mode.name << " " << x << " / " << y;
        EXPECT_EQ(evalF("fma" + rounding + "%f3, %f0, %f1, 0f3DCCCCCD;", a, b),
                  canonical(fused))
            << mode.name << " fma " << x << " " << y;
      }
}

TEST(Float, FlushAndSaturate) {
  EXPECT_EQ(evalF("add.ftz.f32 %f3, %f0, %f1;", -0x1p-140f, 0.0f), word(0.0f));
  EXPECT_EQ(evalF("mul.ftz.f32 %f3, %f0, %f1;", -0x1p-100f, 0x1p-40f),
            word(-0.0f));
  EXPECT_EQ(evalF("add.sat.f32 %f3, %f0, %f1;", 0.75f, 0.5f), word(1.0f));
  EXPECT_EQ(evalF("add.sat.f32 %f3, %f0, %f1;", NAN, 0.5f), word(0.0f));
  EXPECT_EQ(evalF("fma.rn.ftz.sat.f32 %f3, %f0, %f1, %f2;", -2, 3, 1),
            word(0.0f));
}

TEST(Float, MinMax) {
  EXPECT_EQ(evalF("min.f32 %f3, %f0, %f1;", 0.0f, -0.0f), word(-0.0f));
  EXPECT_EQ(evalF("max.f32 %f3, %f0, %f1;", -0.0f, 0.0f), word(0.0f));
  EXPECT_EQ(evalF("max.f32 %f3, %f0, %f1;", NAN, -3.0f), word(-3.0f));
  EXPECT_EQ(evalF("min.f32 %f3, %f0, %f1;", 2.0f, NAN), word(2.0f));
  EXPECT_EQ(evalF("max.NaN.f32 %f3, %f0, %f1;", 2.0f, NAN), canonicalNan);
  EXPECT_EQ(evalF("max.f32 %f3, %f0, %f1;", NAN, NAN), canonicalNan);
  EXPECT_EQ(evalF("abs.f32 %f3, %f0;", -3.0f), word(3.0f));
  EXPECT_EQ(evalF("neg.f32 %f3, %f0;", 0.0f), word(-0.0f));
  EXPECT_EQ(evalF("copysign.f32 %f3, %f0, %f1;", -1.0f, 5.0f), word(-5.0f));
}

TEST(Float, ComparisonsWithNan) {
  struct Case {
    const char *name;
    bool less, equal, greater, unordered;
  };
  for (Case test : {Case{"eq", false, true, false, false},
                    Case{"ne", true, false, true, false},
                    Case{"lt", true, false, false, false},
                    Case{"le", true, true, false, false},
                    Case{"gt", false, false, true, false},
                    Case{"ge", false, true, true, false},
                    Case{"equ", false, true, false, true},
                    Case{"neu", true, false, true, true},
                    Case{"ltu", true, false, false, true},
                    Case{"leu", true, true, false, true},
                    Case{"gtu", false, false, true, true},
                    Case{"geu", false, true, true, true},
                    Case{"num", true, true, true, false},
                    Case{"nan", false, false, false, true}}) {
    std::string text = std::string("setp.") + test.name +
                       ".f32 %p0, %f0, %f1; selp.u32 %r3, 1, 0, %p0;";
    EXPECT_EQ(evalF(text, 1, 2), test.less) << test.name;
    EXPECT_EQ(evalF(text, 2, 2), test.equal) << test.name;
    EXPECT_EQ(evalF(text, 3, 2), test.greater) << test.name;
    EXPECT_EQ(evalF(text, NAN, 2), test.unordered) << test.name;
  }
}

/// The errors that the PTX ISA states, over a sweep.
TEST(Float, Approximations) {
  auto near = [](uint32_t got, double want, double relative) {
    double value = single(got);
    EXPECT_LE(std::fabs(value - want), relative * std::fabs(want)) << want;
  };
  for (double x = -20; x < 20; x += 1.37) {
    auto a = static_cast<float>(x);
    auto positive = static_cast<float>(std::exp(x / 3));
    near(evalF("ex2.approx.ftz.f32 %f3, %f0;", a), std::exp2(a), 0x1p-22);
    near(evalF("rcp.approx.ftz.f32 %f3, %f0;", a), 1.0 / a, 0x1p-23);
    near(evalF("sqrt.approx.f32 %f3, %f0;", positive),
         std::sqrt(double(positive)), 0x1p-23);
    near(evalF("rsqrt.approx.f32 %f3, %f0;", positive),
         1 / std::sqrt(double(positive)), 0x1p-22);
    near(evalF("lg2.approx.ftz.f32 %f3, %f0;", positive),
         std::log2(double(positive)), 0x1p-22);
    near(evalF("tanh.approx.f32 %f3, %f0;", a), std::tanh(double(a)), 0x1p-11);
    near(evalF("div.full.f32 %f3, %f0, %f1;", a, 3.0f), a / 3.0, 0x1p-22);
  }
  EXPECT_EQ(evalF("ex2.approx.ftz.f32 %f3, %f0;", -INFINITY), word(0.0f));
  EXPECT_EQ(evalF("lg2.approx.f32 %f3, %f0;", 0.0f), word(-INFINITY));
  EXPECT_EQ(evalF("rcp.approx.ftz.f32 %f3, %f0;", -0.0f), word(-INFINITY));
  EXPECT_EQ(evalF("rcp.rn.f32 %f3, %f0;", 3.0f), word(1.0f / 3.0f));
  EXPECT_EQ(evalF("sqrt.rn.f32 %f3, %f0;", 2.0f), word(std::sqrt(2.0f)));
  EXPECT_EQ(evalF("sqrt.rn.f32 %f3, %f0;", -1.0f), canonicalNan);
}

TEST(Float, Double) {
  auto run = [](const std::string &text) {
    return bitsAs<double>(evaluate("mov.f64 %d0, 0d3FF8000000000000;"
                                   "mov.f64 %d1, 0d4008CCCCCCCCCCCD;" +
                                   text + "st.global.f64 [%out], %d2;"));
  };
  EXPECT_EQ(run("add.f64 %d2, %d0, %d1;"), 1.5 + 3.1);
  EXPECT_EQ(run("fma.rn.f64 %d2, %d0, %d1, %d1;"), std::fma(1.5, 3.1, 3.1));
  EXPECT_EQ(run("div.rn.f64 %d2, %d0, %d1;"), 1.5 / 3.1);
  EXPECT_EQ(run("cvt.rn.f32.f64 %f0, %d1; cvt.f64.f32 %d2, %f0;"),
            double(3.1f));
  EXPECT_EQ(run("cvt.rni.s32.f64 %r0, %d1; cvt.rn.f64.s32 %d2, %r0;"), 3.0);
}

TEST(Convert, FloatToInteger) {
  EXPECT_EQ(evalF("cvt.rzi.s32.f32 %r3, %f0;", -2.9f), uint32_t(-2));
  EXPECT_EQ(evalF("cvt.rni.s32.f32 %r3, %f0;", 2.5f), 2u);
  EXPECT_EQ(evalF("cvt.rmi.s32.f32 %r3, %f0;", -2.1f), uint32_t(-3));
  EXPECT_EQ(evalF("cvt.rpi.u32.f32 %r3, %f0;", 2.1f), 3u);
  EXPECT_EQ(evalF("cvt.rzi.s32.f32 %r3, %f0;", 3e9f), 0x7fffffffu);
  EXPECT_EQ(evalF("cvt.rzi.u32.f32 %r3, %f0;", -3.0f), 0u);
  EXPECT_EQ(evalF("cvt.rzi.u32.f32 %r3, %f0;", 5e9f), 0xffffffffu);
  EXPECT_EQ(evalF("cvt.rzi.s32.f32 %r3, %f0;", NAN), 0u);
  EXPECT_EQ(evalF("cvt.rmi.f32.f32 %f3, %f0;", -2.1f), word(-3.0f));
  EXPECT_EQ(evalF("cvt.sat.f32.f32 %f3, %f0;", 2.1f), word(1.0f));
}

TEST(Convert, IntegerToFloat) {
  EXPECT_EQ(eval("cvt.rn.f32.s32 %f3, %r0;", uint32_t(-7)), word(-7.0f));
  EXPECT_EQ(eval("cvt.rn.f32.u32 %f3, %r0;", 0xffffffff), word(0x1p32f));
  EXPECT_EQ(eval("cvt.rz.f32.u32 %f3, %r0;", 0xffffffff), word(0x1.fffffep31f));
  EXPECT_EQ(
      eval("mov.b64 %rd1, 0x2000002000000001; cvt.rn.f32.s64 %f3, %rd1;", 0),
      word(0x1.000002p61f));
}

/// Every half and bfloat survives the trip, and ties go to even.
TEST(Convert, SmallFloats) {
  for (const char *type : {"f16", "bf16"}) {
    bool half = type[0] == 'f';
    std::string text = "ld.global.u16 %h0, [%in]; cvt.f32." +
                       std::string(type) + " %f0, %h0; cvt.rn." + type +
                       ".f32 %h1, %f0; mov.b32 %r0, %f0;"
                       "cvt.u32.u16 %r1, %h1; st.global.v2.u32 [%out], "
                       "{%r0, %r1};";
    for (uint32_t first = 0; first < 0x10000; first += 1024) {
      Harness harness(/*sanitize=*/false);
      std::vector<uint64_t> in;
      for (uint32_t i = 0; i < 1024; ++i)
        in.push_back(first + i);
      std::vector<uint64_t> out = runBody(harness, text, in, 1024);
      for (uint32_t i = 0; i < 1024; ++i) {
        uint32_t bits = first + i, back = uint32_t(out[i] >> 32);
        float value = single(static_cast<uint32_t>(out[i]));
        if (value != value) {
          EXPECT_EQ(back, 0x7fffu) << type << bits;
          continue;
        }
        EXPECT_EQ(back, bits) << type;
        if (half && (bits & 0x7c00) != 0x7c00) {
          int exponent = bits >> 10 & 31;
          double magnitude =
              exponent ? std::ldexp(1024 + (bits & 1023), exponent - 25)
                       : std::ldexp(bits & 1023, -24);
          EXPECT_EQ(value, bits & 0x8000 ? -magnitude : magnitude) << bits;
        }
      }
    }
  }
}

TEST(Convert, Rounding16) {
  auto half = [](float value) {
    return evalF("cvt.rn.f16.f32 %h0, %f0; cvt.u32.u16 %r3, %h0;", value);
  };
  auto bfloat = [](float value) {
    return evalF("cvt.rn.bf16.f32 %h0, %f0; cvt.u32.u16 %r3, %h0;", value);
  };
  EXPECT_EQ(half(1.0f + 0x1p-11f), 0x3c00u); // tie to even
  EXPECT_EQ(half(1.0f + 0x3p-11f), 0x3c02u);
  EXPECT_EQ(half(65519.0f), 0x7bffu);
  EXPECT_EQ(half(65520.0f), 0x7c00u);
  EXPECT_EQ(half(0x1p-25f), 0u);
  EXPECT_EQ(half(0x1.8p-25f), 1u);
  EXPECT_EQ(bfloat(1.0f + 0x1p-8f), 0x3f80u);
  EXPECT_EQ(bfloat(1.0f + 0x3p-8f), 0x3f82u);
  EXPECT_EQ(bfloat(3.4e38f), 0x7f80u);
  EXPECT_EQ(evalF("cvt.rz.f16.f32 %h0, %f0; cvt.u32.u16 %r3, %h0;", 65535.0f),
            0x7bffu);
  EXPECT_EQ(evalF("cvt.rn.relu.f16.f32 %h0, %f0; cvt.u32.u16 %r3, %h0;", -2),
            0u);
}

TEST(Convert, Pairs) {
  EXPECT_EQ(evalF("cvt.rn.bf16x2.f32 %r3, %f0, %f1;", 1.0f, -2.0f),
            0x3f80c000u);
  EXPECT_EQ(evalF("cvt.rn.f16x2.f32 %r3, %f0, %f1;", 1.0f, -2.0f), 0x3c00c000u);
  EXPECT_EQ(evalF("cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;"
                  "cvt.u32.u16 %r3, %h0;",
                  1000.0f, 1.0f),
            0x7e38u);
  EXPECT_EQ(evalF("cvt.rn.satfinite.e5m2x2.f32 %h0, %f0, %f1;"
                  "cvt.u32.u16 %r3, %h0;",
                  -1.0f, 0.5f),
            0xbc38u);
  EXPECT_EQ(eval("mov.b16 %h0, 0x38B8; cvt.rn.f16x2.e4m3x2 %r3, %h0;", 0),
            0x3c00bc00u);
  EXPECT_EQ(evalF("cvt.rna.tf32.f32 %r3, %f0;", 1.0f + 0x1p-11f),
            word(1.0f + 0x1p-10f));
}

TEST(Half, Arithmetic) {
  // {1.5, -2} and {0.25, 4}
  EXPECT_EQ(eval("add.f16x2 %r3, %r0, %r1;", 0x3e00c000, 0x34004400),
            0x3f004000u);
  EXPECT_EQ(eval("mul.f16x2 %r3, %r0, %r1;", 0x3e00c000, 0x34004400),
            0x3600c800u);
  EXPECT_EQ(eval("fma.rn.bf16x2 %r3, %r0, %r1, %r2;", 0x3fc0c000, 0x40004000,
                 0x3f803f80),
            0x4080c040u);
  EXPECT_EQ(eval("max.NaN.bf16x2 %r3, %r0, %r1;", 0x3f807fc0, 0xbf803f80),
            0x3f807fffu);
  EXPECT_EQ(eval("min.f16x2 %r3, %r0, %r1;", 0x3c007e00, 0xbc003c00),
            0xbc003c00u);
  EXPECT_EQ(eval("set.lt.f16x2.f16x2 %r3, %r0, %r1;", 0x3c004000, 0x40003c00),
            0x3c000000u);
  EXPECT_EQ(eval("set.geu.u32.bf16x2 %r3, %r0, %r1;", 0x3f807fff, 0x40003f80),
            0x0000ffffu);
  EXPECT_EQ(eval("setp.gt.f16x2 %p0|%p1, %r0, %r1; selp.u32 %r4, 1, 0, %p0;"
                 "selp.u32 %r5, 2, 0, %p1; or.b32 %r3, %r4, %r5;",
                 0x3c004000, 0x40003c00),
            1u);
  EXPECT_EQ(eval("neg.bf16x2 %r3, %r0;", 0x3f80bf80), 0xbf803f80u);
  EXPECT_EQ(
      eval("fma.rn.relu.f16x2 %r3, %r0, %r1, %r2;", 0xbc003c00, 0x3c003c00, 0),
      0x00003c00u);
  EXPECT_EQ(eval("ex2.approx.ftz.bf16x2 %r3, %r0;", 0x40003f80), 0x40804000u);
  EXPECT_EQ(eval("mov.b32 {%h0, %h1}, %r0; sub.f16 %h2, %h0, %h1;"
                 "cvt.u32.u16 %r3, %h2;",
                 0x3c004400),
            0x4200u);
}

} // namespace
