//===- PtxEntry.h - The declaration of a kernel in PTX ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_PTXENTRY_H
#define ATTN_LIB_RUNTIME_PTXENTRY_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn {

/// The size in bytes of each parameter of `.entry kernel (...)`, 0 where it
/// cannot be told; nothing if the text declares no such kernel. A driver takes
/// as many arguments as the kernel has parameters, from whatever it is given
/// (PTX ISA, "Kernel and Function Directives: .entry").
std::optional<std::vector<int64_t>>
ptxParameterBytes(const std::string &ptx, const std::string &kernel);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_PTXENTRY_H
