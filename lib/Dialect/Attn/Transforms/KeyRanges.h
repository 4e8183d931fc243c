//===- KeyRanges.h - Intervals of keys while bounds are built ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_KEYRANGES_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_KEYRANGES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

/// A key of [0, k_len]: one of the two ends, or an i32 value in between. The
/// ends are kept apart so that bounds of plain masks stay a few instructions.
struct KeyBound {
  enum Kind { Zero, KLen, Inside } kind = Zero;
  mlir::Value value; ///< Inside only

  bool operator==(const KeyBound &other) const {
    return kind == other.kind && value == other.value;
  }
};

/// A condition of the row tile, or its negation.
struct Guard {
  mlir::Value condition;
  bool isNegated = false;

  bool operator==(const Guard &other) const {
    return condition == other.condition && isNegated == other.isNegated;
  }
};

/// Keys from begin up to, not including, end; none when begin >= end or when a
/// guard does not hold.
struct KeyInterval {
  KeyBound begin{KeyBound::Zero, {}}, end{KeyBound::KLen, {}};
  llvm::SmallVector<Guard, 2> guards;
};
using KeyIntervals = llvm::SmallVector<KeyInterval, 4>;

/// Emits the arithmetic of key intervals.
class KeyRangeBuilder {
public:
  KeyRangeBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value kLen)
      : builder(builder), loc(loc), kLen(kLen) {}

  /// An i32 or i64 value, moved into [0, k_len].
  KeyBound clamp(mlir::Value value);
  KeyBound min(KeyBound lhs, KeyBound rhs);
  KeyBound max(KeyBound lhs, KeyBound rhs);
  mlir::Value materialize(KeyBound bound);

  /// Makes one interval of those that are one whatever the values are, and of
  /// the last ones as long as there are more than `limit`, with what lies
  /// between them.
  void merge(KeyIntervals &intervals, size_t limit);
  /// Whether that joined intervals which may have something between them.
  bool hasJoined() const { return joined; }
  /// The end, or begin, of an interval without guards: 0, or k_len, where one
  /// does not hold.
  KeyBound guardedEnd(const KeyInterval &interval);
  KeyBound guardedBegin(const KeyInterval &interval);

private:
  bool mergeOne(KeyIntervals &intervals);
  bool mergeInto(KeyInterval &into, const KeyInterval &other);
  bool mergeOpposite(KeyInterval &into, const KeyInterval &other);
  KeyInterval hull(const KeyInterval &lhs, const KeyInterval &rhs);
  KeyBound select(mlir::Value condition, KeyBound lhs, KeyBound rhs);
  KeyBound pick(llvm::ArrayRef<Guard> guards, KeyBound lhs, KeyBound rhs);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value kLen;
  bool joined = false;
  /// So that equal bounds are one value.
  using Pair = std::pair<mlir::Value, mlir::Value>;
  llvm::DenseMap<Pair, mlir::Value> minima, maxima;
  llvm::DenseMap<mlir::Value, mlir::Value> clamped;
};

} // namespace attn

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_KEYRANGES_H
