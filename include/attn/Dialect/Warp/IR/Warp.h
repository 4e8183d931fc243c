//===- Warp.h - The warp dialect: types and operations ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Level 4 of the compiler: fragments in registers, rings in shared memory and
// the copies between them (docs/Dialects/Warp.md).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_WARP_IR_WARP_H
#define ATTN_DIALECT_WARP_IR_WARP_H

#include "attn/Layout/SharedTile.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "attn/Dialect/Warp/IR/WarpDialect.h.inc"
#include "attn/Dialect/Warp/IR/WarpEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Warp/IR/WarpTypes.h.inc"

#define GET_OP_CLASSES
#include "attn/Dialect/Warp/IR/WarpOps.h.inc"

namespace attn::warp {

/// A unit attribute of `llvm.inline_asm`: convergent, which the operation
/// itself cannot say. The translation to LLVM IR heeds it.
constexpr llvm::StringLiteral convergentAttrName = "warp.convergent";

} // namespace attn::warp

#endif // ATTN_DIALECT_WARP_IR_WARP_H
