//===- IntegerTest.cpp - Integer, logic and comparison instructions -----===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimHarness.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace attn;
using namespace attn::simtest;

namespace {

constexpr unsigned lanes = 32;

/// Random words and the corners of their range.
std::vector<uint64_t> operands() {
  std::mt19937_64 generator(3);
  std::vector<uint64_t> values = {0,
                                  1,
                                  0x100000000,
                                  0xffffffff00000000,
                                  0xffffffffffffffff,
                                  0x8000000080000000,
                                  0x7fffffff80000000,
                                  0xffffffff80000000,
                                  0x7fffffff7fffffff,
                                  0x1f00000005,
                                  0x2100000001,
                                  0x4000000040};
  while (values.size() < lanes)
    values.push_back(generator());
  return values;
}

/// Two 32-bit sources %r0 (low word of the input) and %r1 (high word), and
/// %r2 = 3 * %r0 + 7; result in %r3.
struct Case32 {
  const char *text;
  std::function<uint32_t(uint32_t, uint32_t, uint32_t)> expected;
};

const std::vector<Case32> &cases32() {
  using U = uint32_t;
  using S = int32_t;
  static const std::vector<Case32> cases = {
      {"add.s32 %r3, %r0, %r1;", [](U a, U b, U) { return a + b; }},
      {"sub.s32 %r3, %r0, %r1;", [](U a, U b, U) { return a - b; }},
      {"add.sat.s32 %r3, %r0, %r1;",
       [](U a, U b, U) {
         int64_t sum = int64_t(S(a)) + S(b);
         return U(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
       }},
      {"mul.lo.s32 %r3, %r0, %r1;", [](U a, U b, U) { return a * b; }},
      {"mul.hi.u32 %r3, %r0, %r1;",
       [](U a, U b, U) { return U(uint64_t(a) * b >> 32); }},
      {"mul.hi.s32 %r3, %r0, %r1;",
       [](U a, U b, U) { return U(int64_t(S(a)) * S(b) >> 32); }},
      {"mad.lo.s32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) { return a * b + c; }},
      {"mad.hi.u32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) { return U(uint64_t(a) * b >> 32) + c; }},
      {"div.u32 %r3, %r0, %r1;", [](U a, U b, U) { return b ? a / b : ~0u; }},
      {"div.s32 %r3, %r0, %r1;",
       [](U a, U b, U) { return b ? U(int64_t(S(a)) / S(b)) : ~0u; }},
      {"rem.u32 %r3, %r0, %r1;", [](U a, U b, U) { return b ? a % b : a; }},
      {"rem.s32 %r3, %r0, %r1;",
       [](U a, U b, U) { return b ? U(int64_t(S(a)) % S(b)) : a; }},
      {"min.s32 %r3, %r0, %r1;",
       [](U a, U b, U) { return U(std::min(S(a), S(b))); }},
      {"max.u32 %r3, %r0, %r1;", [](U a, U b, U) { return std::max(a, b); }},
      {"min.relu.s32 %r3, %r0, %r1;",
       [](U a, U b, U) { return U(std::max(S(0), std::min(S(a), S(b)))); }},
      {"max.relu.s32 %r3, %r0, %r1;",
       [](U a, U b, U) { return U(std::max(S(0), std::max(S(a), S(b)))); }},
      {"abs.s32 %r3, %r0;", [](U a, U, U) { return S(a) < 0 ? 0 - a : a; }},
      {"neg.s32 %r3, %r0;", [](U a, U, U) { return 0 - a; }},
      {"sad.u32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) { return (a < b ? b - a : a - b) + c; }},
      // Carries: the high words of sums, differences and products.
      {"add.cc.u32 %r4, %r0, %r1;\naddc.u32 %r3, %r2, 5;",
       [](U a, U b, U c) { return c + 5 + U((uint64_t(a) + b) >> 32); }},
      {"add.cc.s32 %r4, %r0, %r1;\naddc.cc.s32 %r4, %r4, %r0;\n"
       "addc.u32 %r3, 0, 0;",
       [](U a, U b, U) {
         uint64_t sum = uint64_t(a) + b;
         return U((uint64_t(U(sum)) + a + (sum >> 32)) >> 32);
       }},
      {"sub.cc.u32 %r4, %r0, %r1;\nsubc.u32 %r3, %r2, %r0;",
       [](U a, U b, U c) { return c - a - U(a < b); }},
      {"mad.lo.cc.u32 %r4, %r0, %r1, %r2;\nmadc.hi.u32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) {
         uint64_t product = uint64_t(a) * b;
         return U(product >> 32) + c + U((uint64_t(U(product)) + c) >> 32);
       }},
      {"mad.hi.cc.s32 %r4, %r0, %r1, %r2;\naddc.u32 %r3, 0, 0;",
       [](U a, U b, U c) {
         U high = U(int64_t(S(a)) * S(b) >> 32);
         return U((uint64_t(high) + c) >> 32);
       }},
      {"dp4a.u32.s32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) {
         for (int i = 0; i < 32; i += 8)
           c += U(int(a >> i & 255) * int(int8_t(b >> i)));
         return c;
       }},
      {"dp4a.s32.s32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) {
         for (int i = 0; i < 32; i += 8)
           c += U(int(int8_t(a >> i)) * int(int8_t(b >> i)));
         return c;
       }},
      {"dp2a.hi.s32.u32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) {
         return c + U(int(int16_t(a)) * int(b >> 16 & 255)) +
                U(int(int16_t(a >> 16)) * int(b >> 24));
       }},
      {"dp2a.lo.u32.u32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) {
         return c + (a & 0xffff) * (b & 255) + (a >> 16) * (b >> 8 & 255);
       }},
      {"bmsk.clamp.b32 %r3, %r0, %r1;",
       [](U a, U b, U) {
         uint64_t mask = (uint64_t(1) << std::min(b, 32u)) - 1;
         return U(mask << std::min(a, 32u));
       }},
      {"bmsk.wrap.b32 %r3, %r0, %r1;",
       [](U a, U b, U) { return ((U(1) << (b & 31)) - 1) << (a & 31); }},
      {"szext.wrap.s32 %r3, %r0, %r1;",
       [](U a, U b, U) {
         U n = b & 31;
         return n ? U(S(a << (32 - n)) >> (32 - n)) : 0;
       }},
      {"szext.clamp.u32 %r3, %r0, %r1;",
       [](U a, U b, U) { return b >= 32 ? a : a & ((U(1) << b) - 1); }},
      {"and.b32 %r3, %r0, %r1;", [](U a, U b, U) { return a & b; }},
      {"or.b32 %r3, %r0, 0xF0;", [](U a, U, U) { return a | 0xf0; }},
      {"xor.b32 %r3, %r0, -1;", [](U a, U, U) { return ~a; }},
      {"not.b32 %r3, %r0;", [](U a, U, U) { return ~a; }},
      {"cnot.b32 %r3, %r0;", [](U a, U, U) { return U(a == 0); }},
      {"shl.b32 %r3, %r0, %r1;",
       [](U a, U b, U) { return b < 32 ? a << b : 0; }},
      {"shr.u32 %r3, %r0, %r1;",
       [](U a, U b, U) { return b < 32 ? a >> b : 0; }},
      {"shr.s32 %r3, %r0, %r1;",
       [](U a, U b, U) { return U(S(a) >> (b < 32 ? b : 31)); }},
      {"shf.l.wrap.b32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) {
         return U((uint64_t(b) << 32 | a) << (c & 31) >> 32);
       }},
      {"shf.r.clamp.b32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) {
         return U((uint64_t(b) << 32 | a) >> std::min(c, 32u));
       }},
      {"bfe.u32 %r3, %r0, 5, 9;", [](U a, U, U) { return a >> 5 & 511; }},
      {"bfe.s32 %r3, %r0, 28, 9;", [](U a, U, U) { return U(S(a) >> 28); }},
      {"bfe.s32 %r3, %r0, 4, 4;",
       [](U a, U, U) { return U(S(a << 24) >> 28); }},
      {"bfe.u32 %r3, %r0, 0, 32;", [](U a, U, U) { return a; }},
      {"bfi.b32 %r3, %r0, %r1, 8, 8;",
       [](U a, U b, U) { return (b & ~0xff00u) | (a & 0xff) << 8; }},
      {"bfi.b32 %r3, %r0, %r1, 0, 32;", [](U a, U, U) { return a; }},
      {"prmt.b32 %r3, %r0, %r1, 0x5410;",
       [](U a, U b, U) { return b << 16 | (a & 0xffff); }},
      {"prmt.b32 %r3, %r0, %r1, 0x7632;",
       [](U a, U b, U) { return (b & 0xffff0000) | a >> 16; }},
      {"prmt.b32 %r3, %r0, %r1, 0xBA98;",
       [](U a, U, U) {
         U result = 0;
         for (int i = 0; i < 4; ++i)
           result |= (a >> 8 * i & 0x80 ? 0xffu : 0u) << 8 * i;
         return result;
       }},
      {"lop3.b32 %r3, %r0, %r1, %r2, 0xE8;",
       [](U a, U b, U c) { return (a & b) | (a & c) | (b & c); }},
      {"lop3.b32 %r3, %r0, %r1, %r2, 0x1E;",
       [](U a, U b, U c) { return a ^ (b | c); }},
      {"popc.b32 %r3, %r0;",
       [](U a, U, U) { return U(__builtin_popcount(a)); }},
      {"clz.b32 %r3, %r0;",
       [](U a, U, U) { return a ? U(__builtin_clz(a)) : 32; }},
      {"bfind.u32 %r3, %r0;",
       [](U a, U, U) { return a ? 31 - U(__builtin_clz(a)) : ~0u; }},
      {"brev.b32 %r3, %r0;",
       [](U a, U, U) {
         U result = 0;
         for (int i = 0; i < 32; ++i)
           result |= (a >> i & 1) << (31 - i);
         return result;
       }},
      {"setp.lt.s32 %p0, %r0, %r1; selp.b32 %r3, %r0, %r1, %p0;",
       [](U a, U b, U) { return S(a) < S(b) ? a : b; }},
      {"setp.hi.u32 %p0, %r0, %r1; selp.b32 %r3, 1, 0, %p0;",
       [](U a, U b, U) { return U(a > b); }},
      {"setp.ge.u32 %p0|%p1, %r0, %r1; selp.b32 %r3, 1, 0, %p1;",
       [](U a, U b, U) { return U(a < b); }},
      {"setp.eq.s32 %p1, %r0, 0; setp.ne.and.s32 %p0, %r1, 0, !%p1;"
       "selp.b32 %r3, 1, 0, %p0;",
       [](U a, U b, U) { return U(a != 0 && b != 0); }},
      {"set.lt.u32.s32 %r3, %r0, %r1;",
       [](U a, U b, U) { return S(a) < S(b) ? ~0u : 0; }},
      {"slct.b32.s32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) { return S(c) >= 0 ? a : b; }},
      {"setp.lt.s32 %p0, %r0, %r1; setp.lt.s32 %p1, %r1, %r2;"
       "xor.pred %p2, %p0, %p1; not.pred %p2, %p2; mov.b32 %r3, 0;"
       "@!%p2 mov.b32 %r3, 1;",
       [](U a, U b, U c) { return U((S(a) < S(b)) != (S(b) < S(c))); }},
      {"cvt.u16.u32 %h0, %r0; cvt.s32.s16 %r3, %h0;",
       [](U a, U, U) { return U(int16_t(a)); }},
      {"cvt.s32.s8 %r3, %r0;", [](U a, U, U) { return U(int8_t(a)); }},
      {"cvt.u8.u32 %h0, %r0; cvt.u32.u16 %r3, %h0;",
       [](U a, U, U) { return a & 0xff; }},
      {"cvt.sat.u8.s32 %r3, %r0;",
       [](U a, U, U) { return U(std::clamp<S>(S(a), 0, 255)); }},
      {"mov.b32 {%h0, %h1}, %r0; mov.b32 %r3, {%h1, %h0};",
       [](U a, U, U) { return a << 16 | a >> 16; }},
      {"mov.b32 {%h0, _}, %r0; mul.wide.s16 %r3, %h0, -3;",
       [](U a, U, U) { return U(int16_t(a) * -3); }},
      {"add.u16x2 %r3, %r0, %r1;",
       [](U a, U b, U) {
         return ((a & 0xffff0000) + (b & 0xffff0000)) | ((a + b) & 0xffff);
       }},
      {"max.s16x2 %r3, %r0, %r1;",
       [](U a, U b, U) {
         auto low = std::max(int16_t(a), int16_t(b));
         auto high = std::max(int16_t(a >> 16), int16_t(b >> 16));
         return U(uint16_t(high)) << 16 | uint16_t(low);
       }},
      {"mad24.lo.s32 %r3, %r0, %r1, %r2;",
       [](U a, U b, U c) { return U(S(a << 8) >> 8) * U(S(b << 8) >> 8) + c; }},
  };
  return cases;
}

TEST(Integer, ThirtyTwoBits) {
  for (const Case32 &test : cases32()) {
    Harness harness;
    std::string body = "ld.global.v2.u32 {%r0, %r1}, [%in];"
                       "mad.lo.u32 %r2, %r0, 3, 7;" +
                       std::string(test.text) +
                       "cvt.u64.u32 %rd0, %r3; st.global.u64 [%out], %rd0;";
    std::vector<uint64_t> in = operands();
    std::vector<uint64_t> out = runBody(harness, body, in);
    for (unsigned i = 0; i < lanes; ++i) {
      auto a = static_cast<uint32_t>(in[i]);
      auto b = static_cast<uint32_t>(in[i] >> 32);
      EXPECT_EQ(out[i], test.expected(a, b, 3 * a + 7))
          << test.text << " of " << a << ", " << b;
    }
    EXPECT_EQ(harness.checks(), "") << test.text;
  }
}

/// %rd0 is the input, %rd1 = %rd0 * 0x9e3779b97f4a7c15 + 1; result in %rd2.
struct Case64 {
  const char *text;
  std::function<uint64_t(uint64_t, uint64_t)> expected;
};

TEST(Integer, SixtyFourBits) {
  using U = uint64_t;
  using S = int64_t;
  const std::vector<Case64> cases = {
      {"add.s64 %rd2, %rd0, %rd1;", [](U a, U b) { return a + b; }},
      {"sub.u64 %rd2, %rd0, 5;", [](U a, U) { return a - 5; }},
      {"mul.lo.s64 %rd2, %rd0, %rd1;", [](U a, U b) { return a * b; }},
      {"mul.hi.u64 %rd2, %rd0, %rd1;",
       [](U a, U b) { return U((unsigned __int128)a * b >> 64); }},
      {"mul.hi.s64 %rd2, %rd0, %rd1;",
       [](U a, U b) { return U((__int128)S(a) * S(b) >> 64); }},
      {"div.s64 %rd2, %rd0, 7;", [](U a, U) { return U(S(a) / 7); }},
      {"rem.u64 %rd2, %rd0, 1000;", [](U a, U) { return a % 1000; }},
      {"min.s64 %rd2, %rd0, %rd1;",
       [](U a, U b) { return U(std::min(S(a), S(b))); }},
      {"shl.b64 %rd2, %rd0, 33;", [](U a, U) { return a << 33; }},
      {"shr.s64 %rd2, %rd0, 60;", [](U a, U) { return U(S(a) >> 60); }},
      {"and.b64 %rd2, %rd0, %rd1;", [](U a, U b) { return a & b; }},
      {"bfe.u64 %rd2, %rd0, 30, 20;", [](U a, U) { return a >> 30 & 0xfffff; }},
      {"bfi.b64 %rd2, %rd0, %rd1, 60, 10;",
       [](U a, U b) { return (b & ~(U(15) << 60)) | a << 60; }},
      {"popc.b64 %r0, %rd0; cvt.u64.u32 %rd2, %r0;",
       [](U a, U) { return U(__builtin_popcountll(a)); }},
      {"clz.b64 %r0, %rd0; cvt.u64.u32 %rd2, %r0;",
       [](U a, U) { return a ? U(__builtin_clzll(a)) : 64; }},
      {"setp.gt.s64 %p0, %rd0, %rd1; selp.b64 %rd2, %rd0, %rd1, %p0;",
       [](U a, U b) { return U(std::max(S(a), S(b))); }},
      {"cvt.u32.u64 %r0, %rd0; cvt.s64.s32 %rd2, %r0;",
       [](U a, U) { return U(S(int32_t(a))); }},
      {"mov.b64 {%r0, %r1}, %rd0; mov.b64 %rd2, {%r1, %r0};",
       [](U a, U) { return a << 32 | a >> 32; }},
      {"mov.b64 {%h0, %h1, %h2, %h3}, %rd0; mov.b64 %rd2, {%h3, %h2, %h1, "
       "%h0};",
       [](U a, U) {
         return a << 48 | (a << 16 & 0xffff00000000) | (a >> 16 & 0xffff0000) |
                a >> 48;
       }},
      {"cvt.u32.u64 %r0, %rd0; cvt.u32.u64 %r1, %rd1;"
       "mad.wide.s32 %rd2, %r0, %r1, %rd0;",
       [](U a, U b) { return U(S(int32_t(a)) * int32_t(b)) + a; }},
      {"cvt.u32.u64 %r0, %rd0; mul.wide.u32 %rd2, %r0, 0xFFFFFFFF;",
       [](U a, U) { return U(uint32_t(a)) * 0xffffffff; }},
  };
  for (const Case64 &test : cases) {
    Harness harness;
    std::string body = "ld.global.u64 %rd0, [%in];"
                       "mad.lo.u64 %rd1, %rd0, 0x9e3779b97f4a7c15, 1;" +
                       std::string(test.text) + "st.global.u64 [%out], %rd2;";
    std::vector<uint64_t> in = operands();
    std::vector<uint64_t> out = runBody(harness, body, in);
    for (unsigned i = 0; i < lanes; ++i)
      EXPECT_EQ(out[i], test.expected(in[i], in[i] * 0x9e3779b97f4a7c15 + 1))
          << test.text << " of " << in[i];
    EXPECT_EQ(harness.checks(), "") << test.text;
  }
}

TEST(Integer, DivisionCorners) {
  EXPECT_EQ(evaluate("mov.b32 %r0, 0x80000000; div.s32 %r1, %r0, -1;"
                     "cvt.u64.u32 %rd0, %r1; st.global.u64 [%out], %rd0;"),
            0x80000000u);
  EXPECT_EQ(evaluate("ld.global.u64 %rd0, [%in]; mov.b64 %rd1, 0;"
                     "div.u64 %rd2, %rd0, %rd1; st.global.u64 [%out], %rd2;"),
            ~uint64_t(0));
}

} // namespace
