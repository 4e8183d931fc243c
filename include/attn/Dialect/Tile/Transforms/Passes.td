//===- Passes.td - Passes over the tile dialect -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_TRANSFORMS_PASSES
#define ATTN_DIALECT_TILE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ExpandSoftmaxStep : Pass<"attn-expand-softmax-step"> {
  let summary = "Opens the online softmax into elementwise maps and reductions";
  let description = [{
    `tile.softmax_step`, `tile.rescale` and `tile.finalize` are the only places
    where the softmax is written; every schedule derives its instructions from
    this expansion. Before:

    ```mlir
    %P, %m1, %l1, %alpha = tile.softmax_step %X, %m, %l factor %c : ...
    ```

    After: a `tile.reduce max`, the new row maximum, the shift
    `-factor * rowMax` (0 for a row that has seen no key), `alpha`, the weights
    `exp2(fma(x, factor, shift))`, a `tile.reduce add` into partial sums.

    A `held` step asks first (`early`: meanwhile) whether some weight would be too
    large, by `tile.any`: what is not needed otherwise, across rows and for O,
    stands under an `scf.if`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def VerifyTile : Pass<"attn-verify-tile"> {
  let summary = "Checks that a module is at the tile level and nothing else";
  let description = [{
    Ends the tile level: no operation of the attn dialect is left, every key
    loop is `mixed` and stands in a work loop, and every kernel has exactly one
    work loop.
  }];
}

#endif // ATTN_DIALECT_TILE_TRANSFORMS_PASSES
