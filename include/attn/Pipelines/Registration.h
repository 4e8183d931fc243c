//===- Registration.h - Dialects and passes by name -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_REGISTRATION_H
#define ATTN_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attn {

/// Every dialect that a module of any level may hold.
void registerDialects(mlir::DialectRegistry &registry);

/// Every pass and pipeline of the compiler, and upstream's general ones, under
/// their command-line names.
void registerPasses();

} // namespace attn

#endif // ATTN_PIPELINES_REGISTRATION_H
