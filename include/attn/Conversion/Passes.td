//===- Passes.td - Conversions between levels -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_PASSES
#define ATTN_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// attn -> tile
//===----------------------------------------------------------------------===//

def ConvertAttnToTile : Pass<"convert-attn-to-tile", "::mlir::ModuleOp"> {
  let summary = "Write a problem as an online softmax over key tiles";
  let description = [{
    Every `attn.kernel` becomes a `gpu.func` whose arguments carry their launch
    name in `attn.arg`: one work loop, inside it one key loop over the tiles that
    `attn.bounds` leaves, the rules inlined into `tile.map` and `tile.mask`.
    Keys at or past k_len are hidden here, for every mask (contract C8).
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// tile, pipe -> warp
//===----------------------------------------------------------------------===//

def ConvertPipeToWarp : Pass<"convert-pipe-to-warp"> {
  let summary = "Give tiles to fragments and channels to rings in shared memory";
  let description = [{
    Inside each role, tiles in registers become fragments spread over its warps
    by rows, channels become swizzled rings, puts become asynchronous copies,
    takes become waits, and the loops become loops of the block. A contraction
    becomes one `warp.mma` per 16 columns. The role itself disappears.
  }];
  let dependentDialects = ["::attn::warp::WarpDialect", "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // ATTN_CONVERSION_PASSES
