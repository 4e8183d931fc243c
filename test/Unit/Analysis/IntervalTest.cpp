//===- IntervalTest.cpp - Ranges of 64-bit integers -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Interval.h"

#include <gtest/gtest.h>

#include <random>

using namespace attn;

namespace {

int64_t floorDivide(int64_t x, int64_t y) {
  if (y == 0)
    return 0;
  int64_t quotient = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? quotient - 1 : quotient;
}

int64_t floorRemainder(int64_t x, int64_t y) {
  return y == 0 ? 0 : x - floorDivide(x, y) * y;
}

/// Every operation on every pair of small intervals holds every result.
TEST(Interval, HoldsEveryResult) {
  constexpr int64_t reach = 5;
  for (int64_t a = -reach; a <= reach; ++a)
    for (int64_t b = a; b <= reach; ++b)
      for (int64_t c = -reach; c <= reach; ++c)
        for (int64_t d = c; d <= reach; ++d) {
          Interval lhs{a, b}, rhs{c, d};
          for (int64_t x = a; x <= b; ++x)
            for (int64_t y = c; y <= d; ++y) {
              ASSERT_TRUE((lhs + rhs).contains(x + y));
              ASSERT_TRUE((lhs - rhs).contains(x - y));
              ASSERT_TRUE((lhs * rhs).contains(x * y));
              ASSERT_TRUE(min(lhs, rhs).contains(std::min(x, y)));
              ASSERT_TRUE(max(lhs, rhs).contains(std::max(x, y)));
              ASSERT_TRUE(abs(lhs).contains(std::abs(x)));
              ASSERT_TRUE(floorDiv(lhs, rhs).contains(floorDivide(x, y)))
                  << x << " / " << y;
              ASSERT_TRUE(floorMod(lhs, rhs).contains(floorRemainder(x, y)))
                  << x << " % " << y;
            }
        }
}

TEST(Interval, SumsAndProductsAreLeast) {
  EXPECT_EQ((Interval{-2, 3} + Interval{10, 20}), (Interval{8, 23}));
  EXPECT_EQ((Interval{-2, 3} - Interval{10, 20}), (Interval{-22, -7}));
  EXPECT_EQ((Interval{-2, 3} * Interval{10, 20}), (Interval{-40, 60}));
  EXPECT_EQ(floorDiv({-7, 7}, {2, 2}), (Interval{-4, 3}));
  EXPECT_EQ(floorMod({0, 100}, {8, 8}), (Interval{0, 7}));
  EXPECT_EQ(floorMod({2, 3}, {8, 8}), (Interval{2, 3}));
}

TEST(Interval, WrappingGivesEverything) {
  Interval most{0, INT64_MAX};
  EXPECT_EQ(most + Interval::of(1), Interval::all());
  EXPECT_EQ(most * Interval::of(2), Interval::all());
  EXPECT_EQ(-Interval::of(INT64_MIN), Interval::all());
  EXPECT_EQ(abs(Interval::of(INT64_MIN)), Interval::all());
  EXPECT_EQ(floorDiv(Interval::of(INT64_MIN), Interval::of(-1)),
            Interval::all());
  EXPECT_FALSE(addIsExact(most, Interval::of(1)));
  EXPECT_TRUE(addIsExact(most, Interval::of(0)));
}

TEST(Interval, PositionDifferencesFitI32) {
  EXPECT_TRUE((queryRange - keyRange).fitsI32());
  EXPECT_TRUE((keyRange - queryRange).fitsI32());
  EXPECT_FALSE((queryRange - Interval::ofSigned(32)).fitsI32());
}

} // namespace
