//===- Alternatives.h - Schedules that one package holds --------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel's `schedule` serves launches of every length. Beside it there may be
// others, for launches that it is slow for or cannot take. attn-select-schedule
// leaves them on the kernel as `attn.alternatives`; a package holds a kernel
// for each.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_ALTERNATIVES_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_ALTERNATIVES_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include <string>

namespace attn::ir {

/// What a kernel's own schedule is called among its alternatives.
constexpr llvm::StringLiteral mainAlternativeName = "main";

/// Another schedule for a kernel, a complete one.
struct Alternative {
  std::string name; ///< follows the kernel's in its package: "cp_async"
  ScheduleAttr schedule;
  /// Query positions from which on it is preferred to the kernel's own; 0: only
  /// where that one cannot take a launch.
  int64_t minQLen = 0;
};

/// Writes `attn.alternatives`; without any there is no attribute.
void setAlternatives(KernelOp kernel, llvm::ArrayRef<Alternative> alternatives);
llvm::SmallVector<Alternative> getAlternatives(KernelOp kernel);

/// Makes the kernel that of the alternative, with no other left. Its symbol is
/// the old one, `_` and the name, but for `main`, which changes nothing else.
/// An error where there is no such alternative.
llvm::LogicalResult takeAlternative(KernelOp kernel, llvm::StringRef name);

} // namespace attn::ir

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_ALTERNATIVES_H
