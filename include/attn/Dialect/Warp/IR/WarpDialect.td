//===- WarpDialect.td - The warp dialect -------------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_WARP_IR_WARPDIALECT
#define ATTN_DIALECT_WARP_IR_WARPDIALECT

include "mlir/IR/DialectBase.td"

def Warp_Dialect : Dialect {
  let name = "warp";
  let cppNamespace = "::attn::warp";
  let summary = "Fragments, shared-memory rings and the copies between them";
  let description = [{
    The machine as a group of warps sees it. A value is a fragment held in
    registers (`!warp.frag`) or a ring of tiles in shared memory
    (`!warp.buffer`); the type says which thread or which byte holds an element.
    Waits, barriers and slots are explicit. Loops, branches and scalars are
    upstream's (`scf`, `arith`, `math`, `gpu`, `llvm`).
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // ATTN_DIALECT_WARP_IR_WARPDIALECT
