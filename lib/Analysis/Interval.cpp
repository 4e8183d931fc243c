//===- Interval.cpp - Ranges of 64-bit integers ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/Interval.h"

#include <algorithm>

using namespace attn;

namespace {
/// Wide enough for the sum, difference and product of two 64-bit integers.
using Wide = __int128;
struct WideInterval {
  Wide low, high;
};
} // namespace

static bool fits(WideInterval wide) {
  return wide.low >= INT64_MIN && wide.high <= INT64_MAX;
}

static Interval narrow(WideInterval wide) {
  if (!fits(wide))
    return Interval::all();
  return {static_cast<int64_t>(wide.low), static_cast<int64_t>(wide.high)};
}

static WideInterval wideAdd(Interval lhs, Interval rhs) {
  return {Wide(lhs.low) + rhs.low, Wide(lhs.high) + rhs.high};
}

static WideInterval wideSub(Interval lhs, Interval rhs) {
  return {Wide(lhs.low) - rhs.high, Wide(lhs.high) - rhs.low};
}

static WideInterval wideMul(Interval lhs, Interval rhs) {
  Wide corners[] = {Wide(lhs.low) * rhs.low, Wide(lhs.low) * rhs.high,
                    Wide(lhs.high) * rhs.low, Wide(lhs.high) * rhs.high};
  return {*std::min_element(corners, corners + 4),
          *std::max_element(corners, corners + 4)};
}

Interval Interval::ofSigned(unsigned bits) {
  if (bits >= 64)
    return all();
  int64_t half = int64_t(1) << (bits - 1);
  return {-half, half - 1};
}

Interval Interval::ofUnsigned(unsigned bits) {
  return {0, static_cast<int64_t>((uint64_t(1) << bits) - 1)};
}

Interval Interval::hull(Interval other) const {
  return {std::min(low, other.low), std::max(high, other.high)};
}

Interval attn::operator+(Interval lhs, Interval rhs) {
  return narrow(wideAdd(lhs, rhs));
}
Interval attn::operator-(Interval lhs, Interval rhs) {
  return narrow(wideSub(lhs, rhs));
}
Interval attn::operator*(Interval lhs, Interval rhs) {
  return narrow(wideMul(lhs, rhs));
}
Interval attn::operator-(Interval value) { return Interval::of(0) - value; }

bool attn::addIsExact(Interval lhs, Interval rhs) {
  return fits(wideAdd(lhs, rhs));
}
bool attn::subIsExact(Interval lhs, Interval rhs) {
  return fits(wideSub(lhs, rhs));
}
bool attn::mulIsExact(Interval lhs, Interval rhs) {
  return fits(wideMul(lhs, rhs));
}

static Wide floorQuotient(int64_t dividend, int64_t divisor) {
  Wide quotient = Wide(dividend) / divisor;
  bool isInexact = Wide(dividend) % divisor != 0;
  return isInexact && (dividend < 0) != (divisor < 0) ? quotient - 1 : quotient;
}

Interval attn::floorDiv(Interval lhs, Interval rhs) {
  // Monotone in each argument on either side of the divisor 0: the extremes are
  // at the corners of the parts [low, -1] and [1, high]; a divisor 0 gives 0.
  WideInterval result{0, 0};
  bool isFirst = true;
  auto include = [&](Wide value) {
    result.low = isFirst ? value : std::min(result.low, value);
    result.high = isFirst ? value : std::max(result.high, value);
    isFirst = false;
  };
  auto includePart = [&](int64_t low, int64_t high) {
    if (low > high)
      return;
    for (int64_t divisor : {low, high}) {
      include(floorQuotient(lhs.low, divisor));
      include(floorQuotient(lhs.high, divisor));
    }
  };
  includePart(rhs.low, std::min<int64_t>(rhs.high, -1));
  includePart(std::max<int64_t>(rhs.low, 1), rhs.high);
  if (rhs.contains(0))
    include(0);
  return narrow(result);
}

Interval attn::floorMod(Interval lhs, Interval rhs) {
  // The remainder has the divisor's sign and is smaller than it.
  if (rhs.low > 0 && lhs.low >= 0 && lhs.high < rhs.low)
    return lhs;
  Interval result{rhs.low < 0 ? rhs.low + 1 : 0,
                  rhs.high > 0 ? rhs.high - 1 : 0};
  // Of a dividend that is not negative by a positive divisor: at most itself.
  if (lhs.low >= 0 && rhs.low >= 0)
    result.high = std::min(result.high, lhs.high);
  return result;
}

Interval attn::min(Interval lhs, Interval rhs) {
  return {std::min(lhs.low, rhs.low), std::min(lhs.high, rhs.high)};
}
Interval attn::max(Interval lhs, Interval rhs) {
  return {std::max(lhs.low, rhs.low), std::max(lhs.high, rhs.high)};
}
Interval attn::abs(Interval value) {
  Interval negated = -value;
  // |INT64_MIN| wraps to itself.
  if (value.low == INT64_MIN)
    return Interval::all();
  if (value.low >= 0)
    return value;
  if (value.high <= 0)
    return negated;
  return {0, std::max(value.high, negated.high)};
}
