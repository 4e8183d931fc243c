//===- Numeric.cpp - Small floats and directed rounding -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numeric.h"

namespace attn::sim {
namespace {

/// Rounds a finite value to an integer.
double roundInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::TowardZero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::NearestAway:
    return std::round(value);
  }
  return value;
}

} // namespace

float toFloat(double value, Rounding rounding) {
  auto nearest = static_cast<float>(value);
  if (rounding == Rounding::Nearest || value != value || std::isinf(value))
    return nearest;
  double back = nearest;
  switch (rounding) {
  case Rounding::TowardZero:
    return std::fabs(back) > std::fabs(value) ? std::nextafter(nearest, 0.0f)
                                              : nearest;
  case Rounding::Down:
    return back > value ? std::nextafter(nearest, -INFINITY) : nearest;
  case Rounding::Up:
    return back < value ? std::nextafter(nearest, INFINITY) : nearest;
  default:
    return nearest;
  }
}

uint32_t toSmall(const SmallFormat &format, double value, Rounding rounding,
                 bool saturates) {
  unsigned mantissa = format.mantissaBits;
  uint32_t sign =
      std::signbit(value) ? uint32_t(1) << (format.exponentBits + mantissa) : 0;
  uint32_t nan = (uint32_t(1) << (format.exponentBits + mantissa)) - 1;
  if (value != value)
    return nan;
  uint32_t infinity = nan >> mantissa << mantissa;
  // Without infinities the largest finite number is just below NaN.
  uint32_t largest = format.hasInfinity ? infinity - 1 : nan - 1;
  uint32_t overflow = saturates ? largest : format.hasInfinity ? infinity : nan;
  if (std::isinf(value))
    return sign | overflow;

  int bias = (1 << (format.exponentBits - 1)) - 1;
  int lowest = 1 - bias;
  int exponent = value == 0 ? lowest : std::ilogb(value);
  if (exponent < lowest)
    exponent = lowest;
  // Round in units of the last place, with the sign on for Up and Down.
  double units = std::ldexp(value, static_cast<int>(mantissa) - exponent);
  double rounded = std::fabs(roundInteger(units, rounding));
  auto significand = static_cast<uint64_t>(rounded);
  uint64_t bits = significand;
  if (significand >> mantissa)
    bits += uint64_t(exponent - lowest) << mantissa;
  if (bits > largest) {
    bool inward = rounding == Rounding::TowardZero ||
                  (rounding == Rounding::Down && !sign) ||
                  (rounding == Rounding::Up && sign);
    return sign | (inward ? largest : overflow);
  }
  return sign | static_cast<uint32_t>(bits);
}

float fromSmall(const SmallFormat &format, uint32_t bits) {
  unsigned mantissa = format.mantissaBits;
  uint32_t magnitude =
      bits & ((uint32_t(1) << (format.exponentBits + mantissa)) - 1);
  bool negative = bits >> (format.exponentBits + mantissa) & 1;
  uint32_t exponent = magnitude >> mantissa;
  uint32_t fraction = magnitude & ((uint32_t(1) << mantissa) - 1);
  uint32_t top = (uint32_t(1) << format.exponentBits) - 1;
  bool special = exponent == top && (format.hasInfinity ||
                                     fraction == (uint32_t(1) << mantissa) - 1);
  float value;
  if (special) {
    value = format.hasInfinity && fraction == 0 ? INFINITY
                                                : bitCast<float>(canonicalNan);
  } else {
    int bias = (1 << (format.exponentBits - 1)) - 1;
    int scale = (exponent ? static_cast<int>(exponent) : 1) - bias -
                static_cast<int>(mantissa);
    uint32_t significand =
        exponent ? fraction | uint32_t(1) << mantissa : fraction;
    value = std::ldexp(static_cast<float>(significand), scale);
  }
  return negative ? -value : value;
}

} // namespace attn::sim
