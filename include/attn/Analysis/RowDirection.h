//===- RowDirection.h - How values of a mask follow the row -----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What the values of a mask depend on, and which of those that depend on the
// row never decrease, or never increase, from row to row: over rows q_first ..
// q_last such a value has its extremes at the ends, however it is computed.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_ROWDIRECTION_H
#define ATTN_ANALYSIS_ROWDIRECTION_H

#include "attn/Analysis/FloorDivision.h"
#include "attn/Analysis/RuleRanges.h"

namespace attn {

enum class Direction { Constant, Rising, Falling, Unknown };

/// That of x - y from those of x and y is that of x + y for reversed y.
Direction reversed(Direction direction);
/// The direction of a sum, of a minimum and of a maximum.
Direction combined(Direction lhs, Direction rhs);

class RowDirection {
public:
  RowDirection(ir::KernelOp kernel, ir::MaskOp mask, RuleRanges &ranges)
      : kernel(kernel), mask(mask), ranges(ranges) {}

  /// True when the value is the same for all pairs of a head.
  bool isInvariant(mlir::Value value);
  /// True when the value is the same for all keys of a row.
  bool isKeyFree(mlir::Value value);
  /// From one row to the next; Unknown for what depends on the key.
  Direction of(mlir::Value value);

private:
  struct Dependence {
    bool onQuery = false, onKey = false;
  };
  Dependence dependenceOf(mlir::Value value);
  Direction ofResult(mlir::Operation *op);
  Direction ofProduct(mlir::Value lhs, mlir::Value rhs);
  Direction ofQuotient(const FloorDivision &division);
  Direction ofRead(ir::ReadOp read);

  ir::KernelOp kernel;
  ir::MaskOp mask;
  RuleRanges &ranges;
  llvm::DenseMap<mlir::Value, Dependence> dependences;
  llvm::DenseMap<mlir::Value, Direction> directions;
};

} // namespace attn

#endif // ATTN_ANALYSIS_ROWDIRECTION_H
