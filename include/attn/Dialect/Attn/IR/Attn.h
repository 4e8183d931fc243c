//===- Attn.h - The attn dialect --------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Level 1 (docs/Dialects/Attn.md): which attention is computed, typed. The
// dialect also owns the module attributes `attn.level` and `attn.target`.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTN_H
#define ATTN_DIALECT_ATTN_IR_ATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "attn/Dialect/Attn/IR/AttnDialect.h.inc"
#include "attn/Dialect/Attn/IR/AttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttrs.h.inc"

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.h.inc"

namespace attn::ir {

/// Names of the module attributes.
constexpr llvm::StringLiteral levelAttrName = "attn.level";
constexpr llvm::StringLiteral targetAttrName = "attn.target";
/// #attn.block_list of a gpu.func that fills block lists.
constexpr llvm::StringLiteral blockListAttrName = "attn.block_list";

/// How far the module was lowered; a module without the attribute is `spec`.
Level getLevel(mlir::ModuleOp module);
void setLevel(mlir::ModuleOp module, Level level);

/// The architecture the module is compiled for ("sm_80"); empty when unset.
llvm::StringRef getTarget(mlir::ModuleOp module);

} // namespace attn::ir

#endif // ATTN_DIALECT_ATTN_IR_ATTN_H
