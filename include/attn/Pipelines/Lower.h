//===- Lower.h - A module from level to level -------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_LOWER_H
#define ATTN_PIPELINES_LOWER_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Runtime/Package.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <optional>
#include <string>

namespace attn {

/// A context with every dialect and the translations to LLVM IR.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Gives the module its target. An error for a target nobody knows, or another
/// one than the module was already lowered for; empty keeps the module's, and
/// `sm_80` where it has none.
mlir::LogicalResult setTarget(mlir::ModuleOp module, llvm::StringRef target);

/// What a tool asks of the pass managers: printing, timing.
using ConfigurePasses =
    llvm::function_ref<mlir::LogicalResult(mlir::PassManager &)>;

/// Runs the phases from the module's level to `level`; an error if it is
/// already past it.
mlir::LogicalResult lowerTo(mlir::ModuleOp module, ir::Level level,
                            ConfigurePasses configure = nullptr);

/// The PTX of a module, which is lowered on the way.
std::optional<std::string> lowerToPtx(mlir::ModuleOp module,
                                      ConfigurePasses configure = nullptr);

/// The one gpu.module of a module at level warp or behind; null with an error.
mlir::gpu::GPUModuleOp getGpuModule(mlir::ModuleOp module);

/// Lowers to level attn and fills in the schedule, and what else a package may
/// hold (attn/Dialect/Attn/Transforms/Alternatives.h). An error past that
/// level.
mlir::LogicalResult selectSchedule(mlir::ModuleOp module,
                                   ConfigurePasses configure = nullptr);

/// Makes the kernel that of an alternative. `main` is the one that is lowered
/// when nobody says. An error, with their names, where there is no such one.
mlir::LogicalResult takeAlternative(mlir::ModuleOp module, llvm::StringRef name,
                                    ConfigurePasses configure = nullptr);

/// The package of the module that `problem` was imported as; the module is
/// lowered on the way. It holds a kernel for each alternative, or the one of
/// that name. `configure` is asked for the passes of `main` only: the others
/// are compiled at the same time, each in a context and a thread of its own.
std::optional<Package> lowerToPackage(mlir::ModuleOp module,
                                      const Problem &problem,
                                      llvm::StringRef alternative = "",
                                      ConfigurePasses configure = nullptr);

} // namespace attn

#endif // ATTN_PIPELINES_LOWER_H
