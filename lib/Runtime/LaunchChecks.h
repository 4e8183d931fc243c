//===- LaunchChecks.h - What a launch may bind ------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of planning a launch: values by name, checks, the size of things.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_LAUNCHCHECKS_H
#define ATTN_LIB_RUNTIME_LAUNCHCHECKS_H

#include "attn/Runtime/Launch.h"

namespace attn {

/// Throws LaunchError unless every value, pointer and stride is legal for the
/// problem (contract C9, C14).
void checkLaunch(const Problem &problem, const LaunchArguments &arguments);

/// The part of checkLaunch that sizes of things rely on.
void checkLengths(const LaunchArguments &arguments);

/// Throws LaunchError unless the arrays and totals are those that the kind of
/// batch has.
void checkLengthArrays(const Problem &problem,
                       const LaunchArguments &arguments);

/// True when the launch has no output element at all.
bool isEmptyLaunch(const LaunchArguments &arguments);

const TensorView &operandView(const LaunchArguments &arguments,
                              LaunchOperand operand);
int64_t strideOf(const TensorView &view, char axis);

/// Extents of an operand, and the type of an element. Packed sequences are one
/// batch entry, in which they lie one behind the other.
struct OperandShape {
  int64_t batch = 0, heads = 0, positions = 0, headDim = 0;
  DType type = DType::BF16;
  bool isPacked = false;
};
OperandShape operandShape(const Problem &problem,
                          const LaunchArguments &arguments,
                          LaunchOperand operand);

/// The stride that a kernel is passed.
int64_t passedStride(const Problem &problem, const LaunchArguments &arguments,
                     LaunchOperand operand, char axis);

/// batch, heads, kv_heads, q_len, k_len or total_q.
int64_t workExtent(const Problem &problem, const LaunchArguments &arguments,
                   const std::string &name);

int64_t factorValue(const WorkFactor &factor, const Problem &problem,
                    const LaunchArguments &arguments);

/// Bytes of workspace for a launch of `kernel`; 0 when it uses none.
int64_t kernelWorkspaceBytes(const Package &package, const Kernel &kernel,
                             int64_t workItems);

/// The product of a kernel's work factors; at most maxGrid, else LaunchError.
int64_t workItemCount(const Kernel &kernel, const Problem &problem,
                      const LaunchArguments &arguments);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_LAUNCHCHECKS_H
