//===- Options.h - attn-opt's command line ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_OPT_OPTIONS_H
#define ATTN_TOOLS_OPT_OPTIONS_H

#include "attn/Pipelines/Driver.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include <optional>
#include <string>

namespace attn {

struct OptOptions {
  DriverOptions driver;
  std::string output; ///< a file, or "-" for standard output
  mlir::MlirOptMainConfig mlir;
  /// A specification, or lowering to a level. Plain MLIR in and out is left to
  /// MlirOptMain, which has more options (splitting, verifying diagnostics).
  bool needsDriver = false;
};

/// Reads the command line into `options`; returns the error, in one line.
/// MLIR's options are registered with the dialects of `registry` in their help.
std::optional<std::string> parseOptions(int argc, char **argv,
                                        mlir::DialectRegistry &registry,
                                        OptOptions &options);

} // namespace attn

#endif // ATTN_TOOLS_OPT_OPTIONS_H
