//===- Numbers.cpp - Element types as bits and as values --------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace attn {
namespace {

/// An IEEE-like binary format of at most 32 bits.
struct Format {
  int mantissaBits;
  int exponentBits;
  bool hasInfinity; ///< else the all-ones exponent holds numbers, and one NaN
  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr int minExponent() const { return 1 - bias(); }
  constexpr uint32_t signBit() const {
    return 1u << (mantissaBits + exponentBits);
  }
  /// Magnitude bits of the largest finite value.
  constexpr uint32_t maxCode() const {
    uint32_t exponentOnes = ((1u << exponentBits) - 1) << mantissaBits;
    return hasInfinity ? exponentOnes - 1
                       : (exponentOnes | ((1u << mantissaBits) - 1)) - 1;
  }
  constexpr uint32_t infinityCode() const { return maxCode() + 1; }
  constexpr uint32_t nanCode() const {
    return hasInfinity ? infinityCode() | (1u << (mantissaBits - 1))
                       : maxCode() + 1;
  }
};

constexpr Format bf16{7, 8, true}, f16{10, 5, true}, f32{23, 8, true},
    e4m3{3, 4, false}, e5m2{2, 5, true};

const Format &formatOf(DType type) {
  switch (type) {
  case DType::BF16:
    return bf16;
  case DType::F16:
    return f16;
  case DType::E4M3:
    return e4m3;
  case DType::E5M2:
    return e5m2;
  default:
    assert(type == DType::F32 && "not a floating-point type");
    return f32;
  }
}

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

constexpr int doubleMantissaBits = 52, doubleBias = 1023;

/// 2^exponent, for exponents of normal doubles.
double powerOfTwo(int exponent) {
  return bitCast<double>(uint64_t(exponent + doubleBias) << doubleMantissaBits);
}

/// floor(log2 |value|) of a normal double; less than any format's smallest
/// exponent for zeros and subnormals.
int exponentOf(double value) {
  return int((bitCast<uint64_t>(value) >> doubleMantissaBits) & 0x7ff) -
         doubleBias;
}

/// A template, so that the constants of the format are folded: this is what
/// making inputs spends its time in.
template <const Format &format> uint32_t encodeMagnitude(double magnitude) {
  int exponent = std::max(exponentOf(magnitude), format.minExponent());
  uint32_t overflow =
      format.hasInfinity ? format.infinityCode() : format.maxCode();
  if (exponent > format.bias() + 1)
    return overflow;
  // In units of the last place the mantissa is a number below 2^25; adding and
  // subtracting 2^52 rounds it to an integer, ties to even. A carry into the
  // next binade comes out right by itself.
  double units = magnitude * powerOfTwo(format.mantissaBits - exponent);
  constexpr double integersOnly = 0x1p52;
  units = (units + integersOnly) - integersOnly;
  uint32_t code =
      (uint32_t(exponent - format.minExponent()) << format.mantissaBits) +
      uint32_t(units);
  return code > format.maxCode() ? overflow : code;
}

template <const Format &format> uint32_t encodeAs(double value) {
  uint32_t sign = std::signbit(value) ? format.signBit() : 0;
  if (std::isnan(value))
    return sign | format.nanCode();
  return sign | encodeMagnitude<format>(std::fabs(value));
}

double decodeMagnitude(const Format &format, uint32_t code) {
  if (code > format.maxCode())
    return format.hasInfinity && code == format.infinityCode()
               ? std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  uint32_t exponent = code >> format.mantissaBits;
  uint32_t mantissa = code & ((1u << format.mantissaBits) - 1);
  if (exponent == 0)
    return mantissa * powerOfTwo(format.minExponent() - format.mantissaBits);
  return (mantissa + (1u << format.mantissaBits)) *
         powerOfTwo(int(exponent) - format.bias() - format.mantissaBits);
}

float decodeF16(uint16_t bits) {
  // Move exponent and mantissa to their f32 places and correct the bias by a
  // multiplication, which also normalizes subnormals.
  float magnitude = bitCast<float>(uint32_t(bits & 0x7fff) << 13) * 0x1p112f;
  uint32_t special = (bits & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  return bitCast<float>(bitCast<uint32_t>(magnitude) | special | sign);
}

std::array<double, 256> makeTable(const Format &format) {
  std::array<double, 256> table;
  for (uint32_t bits = 0; bits < table.size(); ++bits) {
    double magnitude = decodeMagnitude(format, bits & 0x7f);
    table[bits] = bits & 0x80 ? -magnitude : magnitude;
  }
  return table;
}

const std::array<double, 256> &tableOf(DType type) {
  static const std::array<double, 256> tables[] = {makeTable(e4m3),
                                                   makeTable(e5m2)};
  return tables[type == DType::E5M2];
}

template <typename T> T loadAs(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> void storeAs(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * sizeof(T), &value, sizeof(T));
}

template <typename T> T saturate(double value) {
  if (std::isnan(value))
    return 0;
  // The upper bound of int64_t is not a double: compare with 2^63 instead.
  double upper = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value >= upper)
    return std::numeric_limits<T>::max();
  if (value <= double(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  double nearest = std::nearbyint(value);
  return nearest >= upper ? std::numeric_limits<T>::max() : T(nearest);
}

} // namespace

bool isFloat(DType type) {
  switch (type) {
  case DType::BF16:
  case DType::F16:
  case DType::F32:
  case DType::E4M3:
  case DType::E5M2:
    return true;
  default:
    return false;
  }
}

uint32_t encode(DType type, double value) {
  switch (type) {
  case DType::BF16:
    return encodeAs<bf16>(value);
  case DType::F16:
    return encodeAs<f16>(value);
  case DType::E4M3:
    return encodeAs<e4m3>(value);
  case DType::E5M2:
    return encodeAs<e5m2>(value);
  default:
    assert(type == DType::F32 && "not a floating-point type");
    return encodeAs<f32>(value);
  }
}

double decode(DType type, uint32_t bits) {
  const Format &format = formatOf(type);
  double magnitude = decodeMagnitude(format, bits & (format.signBit() - 1));
  return bits & format.signBit() ? -magnitude : magnitude;
}

double roundTo(DType type, double value) {
  switch (type) {
  case DType::I8:
    return saturate<int8_t>(value);
  case DType::U8:
    return saturate<uint8_t>(value);
  case DType::I32:
    return saturate<int32_t>(value);
  case DType::I64:
    return double(saturate<int64_t>(value));
  case DType::Bool:
    return value != 0;
  default:
    return decode(type, encode(type, value));
  }
}

double maxFinite(DType type) {
  const Format &format = formatOf(type);
  return decodeMagnitude(format, format.maxCode());
}

bool overflows(DType type, double value) {
  double most = maxFinite(type);
  return std::isfinite(value) && std::fabs(value) >= most + ulp(type, most) / 2;
}

std::string overflowText(DType type) {
  return std::string(" is beyond the largest ") + spelling(type) + ", " +
         spellNumber(maxFinite(type));
}

double ulp(DType type, double value) {
  if (std::isnan(value))
    return value;
  const Format &format = formatOf(type);
  int exponent = exponentOf(std::min(std::fabs(value), maxFinite(type)));
  exponent = std::max(exponent, format.minExponent());
  return powerOfTwo(exponent - format.mantissaBits);
}

double loadElement(DType type, const void *data, int64_t index) {
  switch (type) {
  case DType::BF16:
    return bitCast<float>(uint32_t(loadAs<uint16_t>(data, index)) << 16);
  case DType::F16:
    return decodeF16(loadAs<uint16_t>(data, index));
  case DType::F32:
    return loadAs<float>(data, index);
  case DType::E4M3:
  case DType::E5M2:
    return tableOf(type)[loadAs<uint8_t>(data, index)];
  default:
    return double(loadInt(type, data, index));
  }
}

int64_t loadInt(DType type, const void *data, int64_t index) {
  switch (type) {
  case DType::I8:
    return loadAs<int8_t>(data, index);
  case DType::U8:
    return loadAs<uint8_t>(data, index);
  case DType::I32:
    return loadAs<int32_t>(data, index);
  case DType::I64:
    return loadAs<int64_t>(data, index);
  case DType::Bool:
    return loadAs<uint8_t>(data, index) != 0;
  default:
    return saturate<int64_t>(loadElement(type, data, index));
  }
}

void storeElement(DType type, void *data, int64_t index, double value) {
  switch (type) {
  case DType::BF16:
  case DType::F16:
    return storeAs(data, index, uint16_t(encode(type, value)));
  case DType::F32:
    return storeAs(data, index, encode(type, value));
  case DType::E4M3:
  case DType::E5M2:
    return storeAs(data, index, uint8_t(encode(type, value)));
  case DType::I8:
    return storeAs(data, index, saturate<int8_t>(value));
  case DType::U8:
    return storeAs(data, index, saturate<uint8_t>(value));
  case DType::I32:
    return storeAs(data, index, saturate<int32_t>(value));
  case DType::I64:
    return storeAs(data, index, saturate<int64_t>(value));
  case DType::Bool:
    return storeAs(data, index, uint8_t(value != 0));
  }
}

void loadElements(DType type, const void *data, int64_t index, int64_t count,
                  double *out) {
  // The two types that matter have their own loops, which vectorize.
  if (type == DType::BF16)
    for (int64_t j = 0; j < count; ++j)
      out[j] =
          bitCast<float>(uint32_t(loadAs<uint16_t>(data, index + j)) << 16);
  else if (type == DType::F16)
    for (int64_t j = 0; j < count; ++j)
      out[j] = decodeF16(loadAs<uint16_t>(data, index + j));
  else
    for (int64_t j = 0; j < count; ++j)
      out[j] = loadElement(type, data, index + j);
}

std::string spellNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

} // namespace attn
