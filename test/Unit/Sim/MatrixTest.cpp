//===- MatrixTest.cpp - Fragments of ldmatrix, stmatrix, movmatrix, mma -===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimHarness.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace attn;
using namespace attn::simtest;

namespace {

/// Shared memory holds the 16-bit numbers 0, 1, 2, ... : element e of row r is
/// 8 * r + e when rows are 16 bytes apart. Each lane writes its share first.
const std::string fillShared =
    "mov.u32 %r20, sh; shl.b32 %r21, %t, 4; add.u32 %r20, %r20, %r21;"
    "mad.lo.u32 %r22, %t, 0x80008, 0x10000; add.u32 %r23, %r22, 0x20002;"
    "add.u32 %r24, %r22, 0x40004; add.u32 %r25, %r22, 0x60006;"
    "st.shared.v4.b32 [%r20], {%r22, %r23, %r24, %r25}; bar.warp.sync -1;";

std::vector<uint64_t> run(const std::string &body,
                          std::vector<uint64_t> in = {}) {
  Harness harness;
  std::vector<uint64_t> out = runBody(harness, body, in);
  EXPECT_EQ(harness.checks(), "");
  return out;
}

uint32_t pairOf(unsigned low, unsigned high) { return high << 16 | low; }

TEST(Matrix, LoadRowFragments) {
  auto out = run(fillShared +
                 "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, "
                 "%r3}, [%r20]; shl.b32 %r1, %r1, 0;"
                 "st.global.v2.u32 [%out], {%r0, %r3};");
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned at = 8 * (lane / 4) + 2 * (lane % 4);
    EXPECT_EQ(uint32_t(out[lane]), pairOf(at, at + 1));
    EXPECT_EQ(out[lane] >> 32, pairOf(192 + at, 193 + at));
  }
}

TEST(Matrix, LoadTransposed) {
  auto out = run(fillShared +
                 "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r0, "
                 "%r1}, [%r20]; st.global.v2.u32 [%out], {%r0, %r1};");
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned row = 2 * (lane % 4), column = lane / 4;
    EXPECT_EQ(uint32_t(out[lane]),
              pairOf(8 * row + column, 8 * row + 8 + column));
    EXPECT_EQ(out[lane] >> 32,
              pairOf(64 + 8 * row + column, 72 + 8 * row + column));
  }
}

TEST(Matrix, StoreIsTheInverseOfLoad) {
  for (const char *transposed : {"", ".trans"}) {
    std::string shape = "m8n8.x4" + std::string(transposed) + ".shared.b16";
    auto out = run(fillShared + "ldmatrix.sync.aligned." + shape +
                   " {%r0, %r1, %r2, %r3}, [%r20]; add.u32 %r5, %r20, 512;"
                   "stmatrix.sync.aligned." +
                   shape +
                   " [%r5], {%r0, %r1, %r2, %r3};"
                   "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];"
                   "st.global.v2.u32 [%out], {%r6, %r9};");
    for (unsigned lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(uint32_t(out[lane]), pairOf(8 * lane, 8 * lane + 1));
      EXPECT_EQ(out[lane] >> 32, pairOf(8 * lane + 6, 8 * lane + 7));
    }
  }
}

TEST(Matrix, MoveTransposes) {
  auto out =
      run(fillShared + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r20];"
                       "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;"
                       "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r2}, "
                       "[%r20]; st.global.v2.u32 [%out], {%r1, %r2};");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(uint32_t(out[lane]), out[lane] >> 32);
}

//===----------------------------------------------------------------------===//
// mma, against the fragment layouts of the PTX ISA, with small integers
//===----------------------------------------------------------------------===//

/// Small values, so that every sum is exact in each format.
int valueA(unsigned row, unsigned k) { return int(row * 3 + k * 5) % 7 - 3; }
int valueB(unsigned k, unsigned n) { return int(k * 2 + n * 3) % 5 - 2; }
int valueC(unsigned row, unsigned n) { return int(row + 2 * n) % 4; }

uint16_t encode(int value, bool bfloat) {
  uint32_t bits = bitsAs<uint32_t>(float(value));
  if (bfloat)
    return static_cast<uint16_t>(bits >> 16);
  if (value == 0)
    return 0;
  // A small integer in f16: exponent rebased, mantissa cut.
  return static_cast<uint16_t>((bits >> 16 & 0x8000) |
                               ((bits >> 23 & 255) - 112) << 10 |
                               (bits >> 13 & 1023));
}

struct MmaCase {
  const char *shape;
  unsigned k;
  bool bfloat, halfC;
};

class Mma : public ::testing::TestWithParam<MmaCase> {};

TEST_P(Mma, MatchesScalarModel) {
  MmaCase test = GetParam();
  // One 64-byte record per lane: A, B, C.
  std::vector<uint32_t> records(32 * 16);
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    uint32_t *record = &records[16 * lane];
    auto pack = [&](int low, int high, bool bfloat) {
      return pairOf(encode(low, bfloat), encode(high, bfloat));
    };
    for (unsigned i = 0; i < test.k / 4; ++i) {
      unsigned row = g + 8 * (i % 2), k = 2 * t + 8 * (i / 2);
      record[i] = pack(valueA(row, k), valueA(row, k + 1), test.bfloat);
    }
    for (unsigned i = 0; i < test.k / 8; ++i) {
      unsigned k = 2 * t + 8 * i;
      record[4 + i] = pack(valueB(k, g), valueB(k + 1, g), test.bfloat);
    }
    for (unsigned i = 0; i < 4; ++i) {
      int c = valueC(g + 8 * (i / 2), 2 * t + i % 2);
      if (!test.halfC)
        record[8 + i] = bitsAs<uint32_t>(float(c));
      else if (i % 2 == 0)
        record[8 + i / 2] = pack(c, valueC(g + 8 * (i / 2), 2 * t + 1), false);
    }
  }
  Harness harness;
  DevicePtr in = harness.upload(records);
  DevicePtr out = harness.upload(std::vector<uint32_t>(32 * 8));
  std::string type = test.bfloat ? "bf16" : "f16";
  std::string acc = test.halfC ? "f16" : "f32";
  std::string a = test.k == 16 ? "{%r0, %r1, %r2, %r3}" : "{%r0, %r1}";
  std::string b = test.k == 16 ? "{%r4, %r5}" : "{%r4}";
  std::string c = test.halfC ? "{%r8, %r9}" : "{%r8, %r9, %r10, %r11}";
  std::string d = test.halfC ? "{%r12, %r13}" : "{%r12, %r13, %r14, %r15}";
  std::string body = R"(
mul.lo.u64 %rd0, %offset, 7; add.u64 %rd1, %in, %rd0;
mul.lo.u64 %rd0, %offset, 3; add.u64 %rd2, %out, %rd0;
ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];
ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1+16];
ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd1+32];
mov.u32 %r14, 0; mov.u32 %r15, 0;
mma.sync.aligned.)" + std::string(test.shape) +
                     ".row.col." + acc + "." + type + "." + type + "." + acc +
                     " " + d + ", " + a + ", " + b + ", " + c +
                     "; st.global.v4.u32 [%rd2], {%r12, %r13, %r14, %r15};";
  LaunchConfig config;
  config.block[0] = 32;
  config.arguments = {argument(in), argument(out)};
  // Records are 64 bytes per lane in and 32 bytes out.
  ASSERT_EQ(harness.launch(module(body), "k", config), "");
  EXPECT_EQ(harness.checks(), "");
  auto got = harness.download<uint32_t>(out, 32 * 8);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = lane / 4 + 8 * (i / 2), n = 2 * (lane % 4) + i % 2;
      int expected = valueC(row, n);
      for (unsigned k = 0; k < test.k; ++k)
        expected += valueA(row, k) * valueB(k, n);
      const uint32_t *record = &got[8 * lane];
      if (test.halfC)
        EXPECT_EQ(record[i / 2] >> 16 * (i % 2) & 0xffff,
                  encode(expected, false));
      else
        EXPECT_EQ(bitsAs<float>(record[i]), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Mma,
                         ::testing::Values(MmaCase{"m16n8k16", 16, true, false},
                                           MmaCase{"m16n8k16", 16, false,
                                                   false},
                                           MmaCase{"m16n8k16", 16, false, true},
                                           MmaCase{"m16n8k8", 8, true, false},
                                           MmaCase{"m16n8k8", 8, false, false},
                                           MmaCase{"m16n8k8", 8, false, true}));

} // namespace
