//===- KeyRanges.h - Sets of keys while bounds are built --------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_ATTN_TRANSFORMS_KEYRANGES_H
#define ATTN_LIB_DIALECT_ATTN_TRANSFORMS_KEYRANGES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace attn {

/// A key of [0, k_len]: one of the two ends, or an i32 value in between. The
/// ends are kept apart so that bounds of plain masks stay a few instructions.
struct KeyBound {
  enum Kind { Zero, KLen, Inside } kind = Zero;
  mlir::Value value; ///< Inside only
};

/// Keys from begin up to, not including, end; none when begin >= end.
struct KeyRange {
  KeyBound begin, end;

  static KeyRange all() { return {{KeyBound::Zero, {}}, {KeyBound::KLen, {}}}; }
  static KeyRange none() {
    return {{KeyBound::Zero, {}}, {KeyBound::Zero, {}}};
  }
};

/// What is known of a condition over the rows of a tile.
struct KeySets {
  KeyRange visible = KeyRange::all(); ///< outside it is false for every row
  KeyRange full = KeyRange::none();   ///< inside it is true for every row
};

/// Emits the arithmetic of key ranges.
class KeyRangeBuilder {
public:
  KeyRangeBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value kLen)
      : builder(builder), loc(loc), kLen(kLen) {}

  /// An i32 or i64 value, moved into [0, k_len].
  KeyBound clamp(mlir::Value value);
  KeyBound min(KeyBound lhs, KeyBound rhs);
  KeyBound max(KeyBound lhs, KeyBound rhs);
  KeyBound select(mlir::Value condition, KeyBound lhs, KeyBound rhs);
  KeyRange select(mlir::Value condition, KeyRange lhs, KeyRange rhs);

  KeySets intersect(const KeySets &lhs, const KeySets &rhs);
  KeySets unite(const KeySets &lhs, const KeySets &rhs);

  mlir::Value materialize(KeyBound bound);

private:
  KeyRange hull(KeyRange lhs, KeyRange rhs);
  KeyRange longer(KeyRange lhs, KeyRange rhs);
  KeyRange neutralIfEmpty(KeyRange range, KeyRange other);
  mlir::Value length(KeyRange range);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value kLen;
};

} // namespace attn

#endif // ATTN_LIB_DIALECT_ATTN_TRANSFORMS_KEYRANGES_H
