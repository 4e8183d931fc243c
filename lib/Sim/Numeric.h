//===- Numeric.h - Small floats and directed rounding -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_NUMERIC_H
#define ATTN_LIB_SIM_NUMERIC_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace attn::sim {

enum class Rounding : uint8_t {
  Nearest,     ///< .rn: ties to even
  TowardZero,  ///< .rz
  Down,        ///< .rm
  Up,          ///< .rp
  NearestAway, ///< .rna: ties away from zero
};

template <class To, class From> inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

/// The NaN that arithmetic in single precision returns on these GPUs.
constexpr uint32_t canonicalNan = 0x7fffffff;

inline float canonical(float value) {
  return value != value ? bitCast<float>(canonicalNan) : value;
}

/// .ftz: subnormals become zero of the same sign.
inline float flush(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  uint32_t kept = (bits & 0x7f800000) ? bits : bits & 0x80000000;
  return bitCast<float>(kept);
}

/// .sat: clamps to [0, 1], NaN to 0.
inline float saturateUnit(float value) {
  return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f;
}

/// `sum` + `error` exactly, made odd in its last place when inexact: rounding
/// the result to a format of at most 51 bits is then as if from the exact value
/// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums").
inline double roundToOdd(double sum, double error) {
  int64_t bits = bitCast<int64_t>(sum);
  bool even = (bits & 1) == 0;
  // Toward the error: away from zero when the signs agree.
  int64_t step = (sum > 0) == (error > 0) ? 1 : -1;
  bool inexact = error != 0 && error == error && std::isfinite(sum);
  return bitCast<double>(inexact && even ? bits + step : bits);
}

/// a * b + c of floats, as a double that rounds correctly to float or less.
inline double exactFma(double a, double b, double c) {
  double product = a * b; // exact: 24 + 24 bits
  double sum = product + c;
  double virtualC = sum - product;
  double error = (product - (sum - virtualC)) + (c - virtualC);
  return roundToOdd(sum, error);
}

/// Rounds a double to float; exact ties and directions, overflow included.
float toFloat(double value, Rounding rounding);

/// A binary format below single precision.
struct SmallFormat {
  unsigned exponentBits, mantissaBits;
  bool hasInfinity;
};
constexpr SmallFormat halfFormat{5, 10, true};
constexpr SmallFormat bfloatFormat{8, 7, true};
constexpr SmallFormat e4m3Format{4, 3, false};
constexpr SmallFormat e5m2Format{5, 2, true};

/// Rounds to a small format; values past the largest finite one become
/// infinity, or that value when `saturates`. NaN gives the format's canonical
/// NaN (all ones but the sign).
uint32_t toSmall(const SmallFormat &format, double value, Rounding rounding,
                 bool saturates = false);
float fromSmall(const SmallFormat &format, uint32_t bits);

/// The common cases of the two above, in a form that vectorises.
inline uint16_t toBfloat(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>(value != value ? 0x7fff : rounded);
}
inline float fromBfloat(uint16_t bits) {
  return bitCast<float>(uint32_t(bits) << 16);
}
/// By magic numbers: scaling by 2^112 puts a half's exponent where a float has
/// it, subnormals included.
inline float fromHalf(uint16_t bits) {
  uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
  float scaled = bitCast<float>(magnitude) * 0x1p112f;
  uint32_t special = (magnitude | 0x7f800000);
  uint32_t value =
      (bits & 0x7c00) == 0x7c00 ? special : bitCast<uint32_t>(scaled);
  return bitCast<float>(value | uint32_t(bits & 0x8000) << 16);
}
inline uint16_t toHalf(float value) {
  uint32_t bits = bitCast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  // Below 2^-14 the sum with 0.5 leaves the rounded subnormal in its low bits.
  uint32_t small =
      bitCast<uint32_t>(bitCast<float>(magnitude) + 0.5f) - 0x3f000000;
  uint32_t normal =
      (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  uint32_t result = magnitude < 0x38800000 ? small : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;
  result = magnitude > 0x7f800000 ? 0x7fff : (result | sign);
  return static_cast<uint16_t>(result);
}

} // namespace attn::sim

#endif // ATTN_LIB_SIM_NUMERIC_H
