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
    `attn.bounds` leaves, partial ones first, the rules inlined into `tile.map`
    and `tile.mask`.
    Keys at or past k_len are hidden here, for every mask (contract C8).

    Where the bounds are `listed`, the tiles are those of a list that is read
    (`tile.key_at ... in`), and a second `gpu.func`, `NAME_block_list`, writes the
    lists: for each key tile that the bounds call partial, first the mask in
    intervals over the tile, and only where that leaves it open, pair by pair.
  }];
  let dependentDialects = ["::attn::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect"];
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
  let dependentDialects = ["::attn::ir::AttnDialect", "::attn::warp::WarpDialect",
                           "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect", "::mlir::LLVM::LLVMDialect"];
}

//===----------------------------------------------------------------------===//
// warp -> nvvm
//===----------------------------------------------------------------------===//

def ConvertWarpToNVVM : Pass<"convert-warp-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower the warp dialect to nvvm, llvm, arith and scf";
  let description = [{
    A fragment becomes the registers of a thread, as so many scalars (f32, or a
    16-bit pair as i32) in the order that `!warp.frag` documents; no aggregate is
    formed, so that no later pass has to take one apart. A buffer becomes the
    address of its first slot. A kernel that uses shared memory receives
    `attn.shared_bytes`, the bytes to launch it with. A role becomes a branch on
    the warp's index; a kernel whose roles set their registers receives
    `nvvm.minctasm = 1`, without which the assembler ignores them. Before:

    ```mlir
    %s1 = warp.mma %s0, %a, %b : !warp.frag<16x8xf32, acc, warps = 1>, ...
    ```

    After:

    ```mlir
    %r = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%c0, %c1, %c2, %c3] ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect"];
}

def RestoreByValue : Pass<"attn-restore-by-value", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Kernel arguments that are passed by value stay so";
  let description = [{
    A tensor map is a kernel argument that is passed by value (`llvm.byval`), and
    that no thread writes (`nvvm.grid_constant`): so its address names the
    argument itself, not a copy in local memory, which no tensor copy could read.
    `convert-gpu-to-nvvm` drops the first, and NVVM knows the second on kernels of
    its own dialect only. `convert-warp-to-nvvm` records what is by value; this
    pass restores it. Before:

    ```mlir
    llvm.func @f(%map: !llvm.ptr {llvm.align = 64 : i64}) attributes {nvvm.kernel, warp.by_value = [!llvm.array<128 x i8>]}
    ```

    After:

    ```mlir
    llvm.func @f(%map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {nvvm.kernel}
    ```
  }];
}

def ConvertMathToNVVM : Pass<"convert-math-to-nvvm"> {
  let summary = "Lower functions to what the GPU has";
  let description = [{
    `exp2`, `exp`, `log2`, `log`, `tanh` and `sqrt` of f32 become one instruction
    of the special-function unit, `exp` and `log` with a multiplication. Without
    this pass they would become calls of libdevice, or `exp2` would be scaled to
    keep denormal results, which is two more instructions per weight of the
    softmax. Floor and ceiling division, which have no lowering of their own, are
    spelled out here too (and not by `arith-expand`, which would open maxima into
    comparisons). Before:

    ```mlir
    %y = math.exp2 %x : f32
    ```

    After:

    ```mlir
    %y = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"(%x) : (f32) -> f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // ATTN_CONVERSION_PASSES
