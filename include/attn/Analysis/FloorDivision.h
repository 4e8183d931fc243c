//===- FloorDivision.h - Floor divisions in rules ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_FLOORDIVISION_H
#define ATTN_ANALYSIS_FLOORDIVISION_H

#include "attn/Analysis/RuleRanges.h"

#include <optional>

namespace attn {

/// floor(dividend / divisor); 0 where the divisor is 0.
struct FloorDivision {
  mlir::Value dividend;
  mlir::Value divisor; ///< null: the constant 2 to the power of `shift`
  unsigned shift = 0;

  /// The divisor where it is a constant.
  std::optional<int64_t> getConstantDivisor() const;
};

/// The division whose result `value` is, in the forms that the import of `/`
/// gives it: a shift, or a division towards zero that is adjusted or exact.
std::optional<FloorDivision> matchFloorDivision(mlir::Value value,
                                                RuleRanges &ranges);
/// The same for the remainder, that of `%`: 0 where the divisor is 0.
std::optional<FloorDivision> matchFloorRemainder(mlir::Value value,
                                                 RuleRanges &ranges);

/// floor(dividend / divisor) for a divisor above 1, in the form that
/// matchFloorDivision knows.
mlir::Value emitFloorDivision(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value dividend, int64_t divisor);

} // namespace attn

#endif // ATTN_ANALYSIS_FLOORDIVISION_H
