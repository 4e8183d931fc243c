//===- RuleIntervals.h - What a mask can be over a tile ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOTILE_RULEINTERVALS_H
#define ATTN_LIB_CONVERSION_ATTNTOTILE_RULEINTERVALS_H

#include "RuleInliner.h"
#include "attn/Analysis/RowDirection.h"

namespace attn {

/// The least and the greatest value for the pairs of a tile, i64; of a
/// condition (i1) whether it holds for all pairs, and whether it may for one.
struct ValueBounds {
  mlir::Value low, high;
};

/// Emits code that evaluates a mask over a whole tile of pairs, in intervals.
/// A read of a tensor has the least and greatest of the elements that the
/// intervals of its indices reach, which a warp looks at together: so the code
/// is for whole warps. What is not understood can be anything.
class RuleIntervals {
public:
  /// `invariants` maps the block arguments that are the same for all pairs.
  RuleIntervals(ir::KernelOp kernel, ir::MaskOp mask, RuleInliner &inliner,
                mlir::Value lane, mlir::IRMapping invariants);

  void setArgument(llvm::StringRef name, ValueBounds bounds);

  /// Emits what does not depend on the key. Once, before emitTile.
  void emitRows(mlir::OpBuilder &builder) { emit(builder, /*ofKeys=*/false); }
  /// Emits the rest: what the mask is for the tile.
  ValueBounds emitTile(mlir::OpBuilder &builder) {
    emit(builder, /*ofKeys=*/true);
    return get(builder, mask.getYield().getOperand(0));
  }

private:
  void findNeeded();
  void emit(mlir::OpBuilder &builder, bool ofKeys);
  ValueBounds get(mlir::OpBuilder &builder, mlir::Value value);

  ir::MaskOp mask;
  RuleInliner &inliner;
  mlir::Value lane;
  mlir::IRMapping invariants;
  RuleRanges ranges;
  RowDirection directions;
  /// Ops whose bounds, or whose one value, is asked for.
  llvm::DenseSet<mlir::Operation *> needed;
  llvm::DenseMap<mlir::Value, ValueBounds> known;
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOTILE_RULEINTERVALS_H
