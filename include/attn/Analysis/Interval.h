//===- Interval.h - Ranges of 64-bit integers -------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Which values an integer expression of a rule can take. Integers of the
// language have 64-bit two's complement meaning: a result that may leave 64
// bits wraps, so its interval is everything. Plain C++: no MLIR, no LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_INTERVAL_H
#define ATTN_ANALYSIS_INTERVAL_H

#include <cstdint>

namespace attn {

/// All integers from low to high, both included.
struct Interval {
  int64_t low = INT64_MIN, high = INT64_MAX;

  static Interval all() { return {}; }
  static Interval of(int64_t value) { return {value, value}; }
  /// What a signed or unsigned integer of `bits` (1 to 64; unsigned to 63)
  /// holds.
  static Interval ofSigned(unsigned bits);
  static Interval ofUnsigned(unsigned bits);

  bool isConstant() const { return low == high; }
  bool contains(int64_t value) const { return low <= value && value <= high; }
  bool isIn(Interval other) const {
    return other.low <= low && high <= other.high;
  }
  bool fitsI32() const { return isIn(ofSigned(32)); }
  bool operator==(Interval other) const {
    return low == other.low && high == other.high;
  }

  /// The least interval that holds both.
  Interval hull(Interval other) const;
};

Interval operator+(Interval lhs, Interval rhs);
Interval operator-(Interval lhs, Interval rhs);
Interval operator*(Interval lhs, Interval rhs);
Interval operator-(Interval value);
/// Floor division and its remainder; by 0 they give 0.
Interval floorDiv(Interval lhs, Interval rhs);
Interval floorMod(Interval lhs, Interval rhs);
Interval min(Interval lhs, Interval rhs);
Interval max(Interval lhs, Interval rhs);
Interval abs(Interval value);

/// True when the operation cannot leave 64 bits.
bool addIsExact(Interval lhs, Interval rhs);
bool subIsExact(Interval lhs, Interval rhs);
bool mulIsExact(Interval lhs, Interval rhs);

/// What the index variables of rules can be. Sequences have at most 2^30
/// positions (Launch.h, maxSequenceLength), so with bottom-right alignment q is
/// in [-2^30, 2^30) and q - k in [-2^31, 2^31).
constexpr int64_t maxPositions = int64_t(1) << 30;
constexpr Interval lengthRange{0, maxPositions};
constexpr Interval keyRange{0, maxPositions - 1};
constexpr Interval rowRange{0, maxPositions - 1};
constexpr Interval queryRange{-maxPositions, maxPositions - 1};
constexpr Interval batchRange{0, INT32_MAX};

} // namespace attn

#endif // ATTN_ANALYSIS_INTERVAL_H
