//===- RuleProgram.h - The compiled form of a rule --------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions work on registers of up to `laneCount` lanes, one lane a key. A
// register belongs to one of three banks by its type. Every instruction runs
// under an activity register of the Bool bank: short-circuit operators narrow
// it, faults are only recorded where it is set, and a region in which no lane
// is active is jumped over.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_RULEPROGRAM_H
#define ATTN_LIB_REFERENCE_RULEPROGRAM_H

#include "attn/Reference/Evaluate.h"

namespace attn {
namespace detail {

/// Keys a rule is evaluated for at a time: registers stay in the L1 cache.
constexpr int64_t laneCount = 256;

/// The two operations that have no place in the tree.
enum class Step {
  Evaluate,  ///< the operation `kind`
  AndMask,   ///< bool dst = a && b
  AndNot,    ///< bool dst = a && !b
  SkipIfNone ///< to instruction `target` when no lane of `a` is set
};

struct Instruction {
  Step step = Step::Evaluate;
  ExprKind kind = ExprKind::IntConst;
  ExprType type = ExprType::Int;        ///< of the result
  ExprType operandType = ExprType::Int; ///< of a and b
  int dst = 0, a = 0, b = 0, c = 0;     ///< registers
  int active = 0;                       ///< activity register
  int read = 0;                         ///< Read: index into reads
  size_t target = 0;                    ///< SkipIfNone
  IndexVar index = IndexVar::Q;
  int64_t intValue = 0;
  double floatValue = 0;
  unsigned line = 0, column = 0;
};

struct TensorRead {
  std::string name;
  HostTensor tensor;
  std::vector<DimKind> kinds;
  std::vector<int> indices; ///< Int registers, one per dim
};

struct RuleProgram {
  std::vector<Instruction> code;
  std::vector<TensorRead> reads;
  /// Register counts per bank. Bool register 0 is the keys asked for.
  int ints = 0, floats = 0, bools = 1;
  ExprType type = ExprType::Bool;
  int result = 0;
};

} // namespace detail
} // namespace attn

#endif // ATTN_LIB_REFERENCE_RULEPROGRAM_H
