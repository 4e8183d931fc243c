//===- RuleRanges.h - Ranges of the integers of a rule ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_RULERANGES_H
#define ATTN_ANALYSIS_RULERANGES_H

#include "attn/Analysis/Interval.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "llvm/ADT/DenseMap.h"

namespace attn {

/// What the i32 and i64 values of a mask or bounds rule can be, read as signed,
/// for real pairs: 0 <= i < q_len and 0 <= k < k_len.
class RuleRanges {
public:
  explicit RuleRanges(ir::KernelOp kernel) : kernel(kernel) {}

  Interval of(mlir::Value value);
  /// The range of a block argument of this name.
  Interval ofArgument(llvm::StringRef name);

private:
  Interval ofBlockArgument(mlir::BlockArgument argument);
  Interval ofResult(mlir::Operation *op);

  ir::KernelOp kernel;
  llvm::DenseMap<mlir::Value, Interval> known;
};

} // namespace attn

#endif // ATTN_ANALYSIS_RULERANGES_H
