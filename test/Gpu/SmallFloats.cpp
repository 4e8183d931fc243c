//===- SmallFloats.cpp - Float formats by name ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SmallFloats.h"

#include <cmath>

namespace attn::simtest {
namespace {

struct Format {
  unsigned exponentBits, mantissaBits;
  unsigned padding; ///< low bits that the format does not use
  bool hasInfinity;
};

Format formatOf(const std::string &type) {
  if (type == "f16")
    return {5, 10, 0, true};
  if (type == "bf16")
    return {8, 7, 0, true};
  if (type == "tf32")
    return {8, 10, 13, true};
  if (type == "e4m3")
    return {4, 3, 0, false};
  if (type == "e5m2")
    return {5, 2, 0, true};
  return {8, 23, 0, true};
}

double decodeMagnitude(const Format &format, uint32_t bits) {
  int bias = (1 << (format.exponentBits - 1)) - 1;
  uint32_t mantissa = bits & ((1u << format.mantissaBits) - 1);
  auto exponent = static_cast<int>(bits >> format.mantissaBits);
  int top = (1 << format.exponentBits) - 1;
  uint32_t full = (1u << format.mantissaBits) - 1;
  if (exponent == top && format.hasInfinity)
    return mantissa ? NAN : INFINITY;
  if (exponent == top && mantissa == full)
    return NAN;
  double fraction = std::ldexp(double(mantissa), -int(format.mantissaBits));
  return exponent ? std::ldexp(1 + fraction, exponent - bias)
                  : std::ldexp(fraction, 1 - bias);
}

} // namespace

double decodeFloat(const std::string &type, uint32_t bits) {
  Format format = formatOf(type);
  bits >>= format.padding;
  uint32_t sign = bits >> (format.exponentBits + format.mantissaBits) & 1;
  uint32_t rest =
      bits & ((uint64_t(1) << (format.exponentBits + format.mantissaBits)) - 1);
  double value = decodeMagnitude(format, rest);
  return sign ? -value : value;
}

uint32_t encodeFloat(const std::string &type, float value) {
  Format format = formatOf(type);
  int bias = (1 << (format.exponentBits - 1)) - 1;
  double size = std::fabs(double(value));
  uint32_t sign = std::signbit(value)
                      ? 1u << (format.exponentBits + format.mantissaBits)
                      : 0;
  int exponent = 0;
  std::frexp(size, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);
  // Rounded to nearest even in units of the last place.
  double units =
      std::nearbyint(std::ldexp(size, int(format.mantissaBits) - exponent));
  auto bits = static_cast<uint32_t>(
      units + std::ldexp(double(exponent + bias - 1), format.mantissaBits));
  uint32_t top = ((1u << format.exponentBits) - 1) << format.mantissaBits;
  uint32_t largest =
      format.hasInfinity ? top : top + (1u << format.mantissaBits) - 2;
  if (size != size)
    bits = top + (1u << format.mantissaBits) - 1;
  else if (bits > largest)
    bits = largest;
  return (bits | sign) << format.padding;
}

} // namespace attn::simtest
