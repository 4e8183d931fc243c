//===- TileDialect.td - The tile dialect -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEDIALECT
#define ATTN_DIALECT_TILE_IR_TILEDIALECT

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::attn::tile";
  let summary = "Attention as an algorithm over tiles";
  let description = [{
    Level 2: the online softmax over key tiles. A kernel is a loop over work
    items (`tile.for_work`), each holding one loop over key tiles
    (`tile.for_keys`). Values are tiles with *named axes*; operators combine
    them by axis name, so which axis lies in the rows of a matrix instruction
    is a later decision. Warps, pipeline stages, barriers and swizzles do not
    appear here.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // ATTN_DIALECT_TILE_IR_TILEDIALECT
