//===- NumbersTest.cpp - Element types --------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace attn;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr DType narrowTypes[] = {DType::BF16, DType::F16, DType::E4M3,
                                 DType::E5M2};

uint32_t codes(DType type) { return 1u << (8 * byteSize(type)); }

TEST(Numbers, EveryCodeSurvivesARoundTrip) {
  for (DType type : narrowTypes)
    for (uint32_t code = 0; code < codes(type); ++code) {
      double value = decode(type, code);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decode(type, encode(type, value))));
      else
        EXPECT_EQ(encode(type, value), code) << spelling(type);
    }
}

TEST(Numbers, RoundsToNearestTiesToEven) {
  for (DType type : narrowTypes)
    for (uint32_t code = 0; decode(type, code) < maxFinite(type); ++code) {
      double low = decode(type, code), high = decode(type, code + 1);
      double middle = (low + high) / 2;
      EXPECT_EQ(encode(type, middle), code + code % 2);
      EXPECT_EQ(encode(type, std::nextafter(middle, low)), code);
      EXPECT_EQ(encode(type, std::nextafter(middle, high)), code + 1);
      EXPECT_EQ(roundTo(type, -std::nextafter(middle, high)), -high);
    }
}

TEST(Numbers, OneRoundingOnly) {
  // Through f32 this would become a tie, and the tie would go down.
  double value = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(roundTo(DType::BF16, value), 1 + 0x1p-7);
  EXPECT_EQ(roundTo(DType::BF16, double(float(value))), 1);
}

TEST(Numbers, F32AgreesWithTheProcessor) {
  for (int step = -3000; step < 3000; ++step) {
    double value = std::ldexp(1.0 + step * 0.000123456789012345, step / 19);
    float expected = float(value);
    uint32_t bits;
    std::memcpy(&bits, &expected, sizeof bits);
    EXPECT_EQ(encode(DType::F32, value), bits);
    EXPECT_EQ(decode(DType::F32, bits), double(expected));
  }
}

TEST(Numbers, LargeValues) {
  EXPECT_EQ(maxFinite(DType::E4M3), 448);
  EXPECT_EQ(maxFinite(DType::E5M2), 57344);
  EXPECT_EQ(maxFinite(DType::F16), 65504);
  EXPECT_EQ(maxFinite(DType::F32), double(std::numeric_limits<float>::max()));
  // e4m3 has no infinity and saturates; the others overflow.
  EXPECT_EQ(roundTo(DType::E4M3, 1e9), 448);
  EXPECT_EQ(roundTo(DType::E4M3, -infinity), -448);
  EXPECT_EQ(roundTo(DType::E5M2, 61439), 57344);
  EXPECT_EQ(roundTo(DType::E5M2, 61440), infinity);
  EXPECT_EQ(roundTo(DType::F16, 65519.99), 65504);
  EXPECT_EQ(roundTo(DType::F16, 65520), infinity);
  EXPECT_EQ(roundTo(DType::BF16, 1e300), infinity);
  EXPECT_EQ(roundTo(DType::F32, -1e300), -infinity);
}

TEST(Numbers, NaNStaysNaNAndZeroKeepsItsSign) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  for (DType type : narrowTypes) {
    EXPECT_TRUE(std::isnan(roundTo(type, nan))) << spelling(type);
    EXPECT_TRUE(std::signbit(roundTo(type, -0.0)));
    EXPECT_EQ(roundTo(type, 1e-300), 0);
  }
  EXPECT_EQ(encode(DType::E4M3, nan) & 0x7f, 0x7fu);
}

TEST(Numbers, UlpIsTheSpacingOfTheBinade) {
  EXPECT_EQ(ulp(DType::BF16, 1), 0x1p-7);
  EXPECT_EQ(ulp(DType::BF16, -1.9), 0x1p-7);
  EXPECT_EQ(ulp(DType::BF16, 2), 0x1p-6);
  EXPECT_EQ(ulp(DType::F16, 1), 0x1p-10);
  EXPECT_EQ(ulp(DType::F16, 0), 0x1p-24);
  EXPECT_EQ(ulp(DType::F16, infinity), 32);
  EXPECT_EQ(ulp(DType::E4M3, 1000), 32);
  EXPECT_EQ(ulp(DType::F32, 1), 0x1p-23);
  EXPECT_TRUE(std::isnan(ulp(DType::F16, std::nan(""))));
}

TEST(Numbers, ArraysOfEveryType) {
  for (DType type :
       {DType::BF16, DType::F16, DType::F32, DType::E4M3, DType::E5M2,
        DType::I8, DType::U8, DType::I32, DType::I64, DType::Bool}) {
    std::vector<uint8_t> bytes(size_t(4 * byteSize(type)));
    const double values[] = {0, 1, 1, 0};
    for (int64_t at = 0; at < 4; ++at)
      storeElement(type, bytes.data(), at, values[at]);
    double loaded[3];
    loadElements(type, bytes.data(), 1, 3, loaded);
    for (int64_t at = 1; at < 4; ++at) {
      EXPECT_EQ(loadElement(type, bytes.data(), at), values[at]);
      EXPECT_EQ(loadInt(type, bytes.data(), at), int64_t(values[at]));
      EXPECT_EQ(loaded[at - 1], values[at]);
    }
  }
}

TEST(Numbers, BulkLoadsAgreeWithSingleOnes) {
  for (DType type : narrowTypes) {
    std::vector<uint16_t> all(codes(type));
    if (byteSize(type) == 1)
      for (uint32_t code = 0; code < codes(type); ++code)
        reinterpret_cast<uint8_t *>(all.data())[code] = uint8_t(code);
    else
      for (uint32_t code = 0; code < codes(type); ++code)
        all[code] = uint16_t(code);
    std::vector<double> values(codes(type));
    loadElements(type, all.data(), 0, codes(type), values.data());
    for (uint32_t code = 0; code < codes(type); ++code) {
      double expected = decode(type, code);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(values[code]));
      else
        EXPECT_EQ(values[code], expected);
    }
  }
}

TEST(Numbers, IntegersSaturate) {
  EXPECT_EQ(roundTo(DType::I8, 1000), 127);
  EXPECT_EQ(roundTo(DType::U8, -5), 0);
  EXPECT_EQ(roundTo(DType::I32, 2.5), 2);
  EXPECT_EQ(roundTo(DType::I32, std::nan("")), 0);
  int64_t value;
  storeElement(DType::I64, &value, 0, 1e30);
  EXPECT_EQ(value, std::numeric_limits<int64_t>::max());
}

} // namespace
