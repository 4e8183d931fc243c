//===- ArgumentNames.h - Names a kernel argument may have -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The closed list of what a launcher can bind, shared by the reader of packages
// (which refuses other names) and the marshaller (which binds these).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_ARGUMENTNAMES_H
#define ATTN_LIB_RUNTIME_ARGUMENTNAMES_H

#include "attn/Runtime/Package.h"

#include <optional>
#include <string>

namespace attn {

/// "param:x" -> "x" for the prefix "param:"; empty when it has another prefix.
std::optional<std::string> afterPrefix(const std::string &text,
                                       const std::string &prefix);

/// "q", "k", "v", "o" or "lse".
std::optional<LaunchOperand> parseOperand(const std::string &name);
const char *spelling(LaunchOperand operand);

/// Operand and axis of a stride name: "k_stride_h" -> {K, 'h'}.
struct StrideName {
  LaunchOperand operand;
  char axis;
};
std::optional<StrideName> parseStrideName(const std::string &name);

/// What a launch passes as `name`; Unknown when no launch value or declaration
/// of `problem` has that name.
ArgumentSource findSource(const Problem &problem, const std::string &name);

/// The type of an argument from there.
ArgumentType typeOf(const Problem &problem, const ArgumentSource &source);

/// The declaration of a param or tensor, or null.
const Param *findParam(const Problem &problem, const std::string &name);
const Tensor *findTensor(const Problem &problem, const std::string &name);

/// A target's compute capability: "sm_90a" -> 9, 0, 'a'.
struct TargetName {
  int smMajor = 0, smMinor = 0;
  char suffix = 0; ///< 0, 'a' (architecture only) or 'f' (family)
};
std::optional<TargetName> parseTarget(const std::string &target);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_ARGUMENTNAMES_H
