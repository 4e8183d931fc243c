//===- Numbers.h - Element types as bits and as values -----------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions between the stored bits of every element type and double. All
// roundings are one rounding, to nearest, ties to even, straight from double:
// going through float first would round twice.
//
// e4m3 is the "fn" format of OCP 8-bit floating point (no infinity, largest
// value 448, one NaN code): what does not fit saturates, as PTX
// `cvt.rn.satfinite.e4m3x2` does. The types that have an infinity (bf16, f16,
// f32, e5m2) overflow to it. Integers saturate; NaN becomes 0.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_NUMBERS_H
#define ATTN_REFERENCE_NUMBERS_H

#include "attn/Reference/Problem.h"

#include <cstdint>
#include <string>

namespace attn {

/// True for BF16, F16, F32, E4M3, E5M2.
bool isFloat(DType type);

/// The bits of `value` in a floating-point type of at most 32 bits.
uint32_t encode(DType type, double value);
/// The value of such bits; the upper, unused bits are ignored.
double decode(DType type, uint32_t bits);

/// `value` rounded to `type` and back; any type.
double roundTo(DType type, double value);

/// The largest finite value of a floating-point type.
double maxFinite(DType type);
/// A number of a command line or a file that a floating-point type does not
/// hold: finite, but rounding leaves the type's finite values.
bool overflows(DType type, double value);
/// " is beyond the largest f32, 3.40282e+38", for messages about such a number.
std::string overflowText(DType type);

/// The distance between the two values of a floating-point type that enclose
/// |value| (the spacing of its binade; the smallest subnormal near 0). Past the
/// largest finite value: the spacing of the last binade. NaN for NaN.
double ulp(DType type, double value);

/// Element `index` of an array of `type`. I64 values beyond 2^53 lose bits in a
/// double; loadInt is exact. Bool elements count as 0 or 1.
double loadElement(DType type, const void *data, int64_t index);
int64_t loadInt(DType type, const void *data, int64_t index);
void storeElement(DType type, void *data, int64_t index, double value);

/// `count` consecutive elements from `index` on as doubles: loadElement, fast.
void loadElements(DType type, const void *data, int64_t index, int64_t count,
                  double *out);

/// A number in a message: six significant digits, as %g.
std::string spellNumber(double value);

} // namespace attn

#endif // ATTN_REFERENCE_NUMBERS_H
