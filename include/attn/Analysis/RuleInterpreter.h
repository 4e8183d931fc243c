//===- RuleInterpreter.h - Runs rules of the attn dialect -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_RULEINTERPRETER_H
#define ATTN_ANALYSIS_RULEINTERPRETER_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <vector>

namespace attn {

/// A tensor; floats are the bits of an f32.
struct TensorValue {
  std::vector<int64_t> dims, data;
};

/// What a rule reads besides its block arguments; an f32 param is its bits.
struct RuleInputs {
  llvm::StringMap<int64_t> params;
  llvm::StringMap<TensorValue> tensors;
};

/// The values that the scalar code of a rule yields for these block arguments,
/// which are integers. Arithmetic wraps in the width of its type; bools are 0
/// and 1, floats the bits of an f32. Every tensor that is read must be bound.
std::vector<int64_t> interpret(mlir::Block &rule,
                               const std::vector<int64_t> &arguments,
                               const RuleInputs &inputs);

} // namespace attn

#endif // ATTN_ANALYSIS_RULEINTERPRETER_H
