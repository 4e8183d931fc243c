//===- AttnDialect.td - The attn dialect -------------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_ATTNDIALECT_TD
#define ATTN_DIALECT_ATTN_IR_ATTNDIALECT_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  // `::attn` holds the plain C++ types of the same things (Problem, Param,
  // Tensor); the dialect's classes live one namespace below.
  let cppNamespace = "::attn::ir";
  let summary = "Which attention is computed, typed; nothing about how";
  let description = [{
    Level 1. An `attn.kernel` holds the static facts of a problem (data types,
    heads, head dimensions, alignment, outputs, schedule), its run-time scalars
    and auxiliary tensors, and its rules as regions: `attn.mask`, `attn.score`
    and `attn.sink` from the specification, `attn.bounds` and `attn.factor` from
    analysis. There are no loops, no memory and no threads at this level.

    A rule is scalar code of the arith and math dialects plus `attn.get_param`
    and `attn.read`. Its block arguments are i32: positions and lengths stay
    within +-2^30 and the head and batch numbers below 2^31. Integers have
    64-bit meaning, so arithmetic is i32 only where the result provably fits.

    The dialect also owns two module attributes that every level uses:
    `attn.level` says how far the module was lowered, `attn.target` names the
    GPU architecture.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttrs();
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

#endif // ATTN_DIALECT_ATTN_IR_ATTNDIALECT_TD
