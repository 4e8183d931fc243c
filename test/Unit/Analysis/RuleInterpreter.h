//===- RuleInterpreter.h - Runs rules of the attn dialect -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_ANALYSIS_RULEINTERPRETER_H
#define ATTN_TEST_UNIT_ANALYSIS_RULEINTERPRETER_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <vector>

namespace attn::test {

/// An integer tensor.
struct TensorValue {
  std::vector<int64_t> dims, data;
};

/// What a rule reads besides its block arguments.
struct RuleInputs {
  llvm::StringMap<int64_t> params;
  llvm::StringMap<TensorValue> tensors;
};

/// The values a rule of integers and bools yields for these block arguments.
/// Arithmetic wraps in the width of its type; bools are 0 and 1.
std::vector<int64_t> interpret(mlir::Block &rule,
                               const std::vector<int64_t> &arguments,
                               const RuleInputs &inputs);

} // namespace attn::test

#endif // ATTN_TEST_UNIT_ANALYSIS_RULEINTERPRETER_H
