//===- PipeDialect.td - The pipe dialect -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_PIPE_IR_PIPEDIALECT
#define ATTN_DIALECT_PIPE_IR_PIPEDIALECT

include "mlir/IR/OpBase.td"

def Pipe_Dialect : Dialect {
  let name = "pipe";
  let cppNamespace = "::attn::pipe";
  let summary = "Who does what, when";
  let description = [{
    Level 3: roles, channels between memory and the roles, and how far each
    transfer runs ahead. Byte offsets, fragments, barrier indices and phases do
    not appear here.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::attn::tile::TileDialect"];
}

#endif // ATTN_DIALECT_PIPE_IR_PIPEDIALECT
