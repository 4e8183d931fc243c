//===- LengthChecks.cpp - Lengths of a batch and of its sequences ---------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchChecks.h"

using namespace attn;

static void checkRange(const std::string &field, int64_t value, int64_t high) {
  if (value < 0 || value > high)
    throw LaunchError(field + " = " + std::to_string(value) +
                      ": allowed 0 .. " + std::to_string(high));
}

bool attn::isEmptyLaunch(const LaunchArguments &arguments) {
  return arguments.batch == 0 || arguments.qLen == 0 ||
         (arguments.cuSeqlensQ && arguments.totalQ == 0);
}

void attn::checkLengths(const LaunchArguments &arguments) {
  checkRange("batch", arguments.batch, INT32_MAX);
  checkRange("q_len", arguments.qLen, maxSequenceLength);
  checkRange("k_len", arguments.kLen, maxSequenceLength);
  checkRange("total_q", arguments.totalQ, maxSequenceLength);
  checkRange("total_k", arguments.totalK, maxSequenceLength);
}

static const char *wordOf(BatchKind kind) {
  switch (kind) {
  case BatchKind::Dense:
    return "dense";
  case BatchKind::Padded:
    return "padded";
  case BatchKind::Varlen:
    return "varlen";
  }
  return "";
}

void attn::checkLengthArrays(const Problem &problem,
                             const LaunchArguments &args) {
  bool padded = problem.batch == BatchKind::Padded,
       varlen = problem.batch == BatchKind::Varlen;
  std::string kind = std::string("`batch ") + wordOf(problem.batch) + "`";
  struct Array {
    const char *name;
    DevicePtr data;
    bool isRequired, isAllowed;
    const char *extent;
  };
  for (const Array &array :
       {Array{"q_lens", args.qLens, padded, padded, "batch"},
        Array{"k_lens", args.kLens, padded, padded || varlen, "batch"},
        Array{"cu_seqlens_q", args.cuSeqlensQ, varlen, varlen, "batch + 1"},
        Array{"cu_seqlens_k", args.cuSeqlensK, false, varlen, "batch + 1"}}) {
    std::string name = array.name;
    if (array.isRequired && !array.data)
      throw LaunchError(name + ": not bound, expected i32[" + array.extent +
                        "] because the spec says " + kind);
    if (!array.isAllowed && array.data)
      throw LaunchError(name + ": bound, but the spec says " + kind);
    if (array.data % sizeof(int32_t))
      throw LaunchError(name + ": the address is not a multiple of 4 bytes");
  }
  if (varlen && !args.kLens && !args.cuSeqlensK)
    throw LaunchError("cu_seqlens_k and k_lens: neither is bound, expected at "
                      "least one because the spec says " +
                      kind);
  if (args.totalQ && !args.cuSeqlensQ)
    throw LaunchError("total_q = " + std::to_string(args.totalQ) +
                      ": expected 0 without cu_seqlens_q");
  if (args.totalK && !args.cuSeqlensK)
    throw LaunchError("total_k = " + std::to_string(args.totalK) +
                      ": expected 0 without cu_seqlens_k");
  if (args.qLen > args.totalQ && varlen)
    throw LaunchError("q_len = " + std::to_string(args.qLen) +
                      ": expected the length of the longest sequence, at most "
                      "total_q = " +
                      std::to_string(args.totalQ));
  if (args.cuSeqlensK)
    return;
  // Without starts there is no place for what is packed by them.
  for (const Tensor &tensor : problem.tensors)
    for (const Dim &dim : tensor.dims)
      if (varlen && dim.kind == DimKind::TotalK)
        throw LaunchError("tensor '" + tensor.name +
                          "' has a total_k dimension: cu_seqlens_k is not "
                          "bound, expected i32[batch + 1]");
}
