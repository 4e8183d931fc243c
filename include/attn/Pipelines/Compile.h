//===- Compile.h - From a checked specification to a package ----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The compiler as a function. No MLIR in this header.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_COMPILE_H
#define ATTN_PIPELINES_COMPILE_H

#include "attn/Runtime/Package.h"

#include <optional>
#include <string>

namespace attn {

struct CompileOptions {
  std::string target = "sm_80"; ///< one of layout::gpuTargets()
  bool explain = false;         ///< remarks about decisions as well
  std::string alternative;      ///< the one to compile; empty: all of them
};

/// Lowers a problem through every level to PTX. `diagnostics` receives errors,
/// warnings and, if asked for, remarks, each as file:line:column with the line
/// of the specification. Nothing is returned if there is an error.
std::optional<Package> compile(const Problem &problem,
                               const CompileOptions &options,
                               std::string &diagnostics);

/// The compiler's name and version, as packages carry it.
std::string compilerVersion();

} // namespace attn

#endif // ATTN_PIPELINES_COMPILE_H
