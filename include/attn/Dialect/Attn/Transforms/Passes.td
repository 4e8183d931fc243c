//===- Passes.td - Passes over the attn dialect ------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD
#define ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

class Attn_KernelPass<string name> : Pass<name, "::attn::ir::KernelOp"> {
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NormalizeMask : Attn_KernelPass<"attn-normalize-mask"> {
  let summary = "Write every affine condition of a mask in one form";
  let description = [{
    `q >= k`, `!(k > q)` and `q - k >= 0` are one condition. This pass gives them
    one text, so that they become one kernel, and so that the bounds, and the
    loops below, only ever see a comparison of k with something free of k.

    A comparison that is affine in q, i and k (everything else is an invariant)
    with coefficient 1 or -1 for k becomes `k <= x`, `k >= x`, `k == x` or
    `k != x`. x is computed in i64 and saturated to i32, unless it provably is an
    i32. Negations are pushed down to comparisons, chains of `and` and `or` are
    flattened, sorted and freed of repetitions. Anything else stays.

    Before:

    ```mlir
    %0 = arith.subi %q, %k : i32
    %1 = arith.cmpi slt, %0, %zero : i32
    %2 = arith.xori %1, %true : i1
    ```

    After:

    ```mlir
    %0 = arith.cmpi sle, %k, %q : i32
    ```
  }];
}

def BoundKeys : Attn_KernelPass<"attn-bound-keys"> {
  let summary = "Add attn.bounds: which keys a row tile can see";
  let description = [{
    Key tiles that no row of a tile sees need not be loaded, and tiles that every
    row sees need no mask. This pass derives both as scalar code for rows
    q_first .. q_last: intervals of keys outside of which no row sees one, and
    intervals that hold every key that some row does not see.

    The mask, and its negation, become unions of conjunctions of affine
    conditions (attn/Analysis/MaskTerms.h). Each conjunction is projected onto k:
    exactly, if its conditions bound q, k and k - q by invariants. A condition that
    is not understood counts as met in both: slower, never wrong. A condition free
    of q and k makes an interval empty where it does not hold.

    - `k <= x(q)`: below max x + 1; `k >= x(q)`: from min x on, each over the
      rows. x may be a quotient `q / c` or a read of a `monotone` tensor by row:
      what rises or falls from row to row has its extremes at q_first and q_last.
    - intervals that begin or end together become one.

    More than `max-visible` or `max-hidden` intervals are joined.

    Before: `k <= q` (causal). After:

    ```mlir
    attn.bounds visible 1 {
    ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %0 = arith.addi %q_last, %one : i32
      %1 = arith.maxsi %0, %zero : i32
      %end = arith.minsi %1, %k_len : i32
      %2 = arith.addi %q_first, %one : i32
      %3 = arith.maxsi %2, %zero : i32
      %tail = arith.minsi %3, %k_len : i32
      attn.yield %zero, %end, %tail : i32, i32, i32
    }
    ```
  }];
  let options = [
    Option<"maxVisible", "max-visible", "unsigned", "3",
           "visible intervals at most">,
    Option<"maxHidden", "max-hidden", "unsigned", "2",
           "hidden intervals at most, without the tail">];
}

def ListBlocks : Attn_KernelPass<"attn-list-blocks"> {
  let summary = "Decide which masks get lists of key tiles";
  let description = [{
    Bounds that are approximate (document ids, tables of blocks, neighbourhoods
    in two dimensions) call tiles partial that are empty or full. This pass has
    those tiles looked at by a kernel of its own, before the attention kernel:
    it marks the bounds as `listed`, by the batch entries and heads between which
    the mask differs. `convert-attn-to-tile` writes that kernel.

    No list helps where all that the bounds do not know is a condition that
    holds for some keys of every tile, such as `k % 2 == 0`.

    Before: `attn.bounds visible 1 approximate {`. After, for a mask that reads a
    tensor by batch entry: `attn.bounds visible 1 approximate listed [batch] {`.
  }];
}

def UseExp2 : Attn_KernelPass<"attn-use-exp2"> {
  let summary = "Compute the softmax in base 2";
  let description = [{
    The hardware has exp2, not exp, and one multiply-add gives its argument. The
    pass adds `attn.factor`, the positive multiplier of the logits: weights are
    exp2(factor * (x - max x)). Without a score rule x is the raw q . k and the
    factor is scale * log2 e. A score rule receives the raw q . k as well: the
    multiplication by the scale moves into its region, and the factor is log2 e.
    A scale that is a param makes these run-time values.
  }];
}

def RelaxScore : Attn_KernelPass<"attn-relax-score"> {
  let summary = "Let scores fuse, and divide by a reciprocal";
  let description = [{
    A correctly rounded f32 division takes tens of instructions per logit, and
    the usual divisor (the cap of a soft cap) is the same for all of them. A score
    needs no last bit, since P is rounded to 16 bits or less: its divisions get
    `arcp` and `afn`, and the divisor's reciprocal leaves the key loop; its
    products, sums and differences get `contract`, so that a product and a sum
    are one instruction. Masks keep theirs, where a last bit can hide a key, and
    so does the sink, which is evaluated once per row tile.

    Before: `arith.divf %s, %cap : f32`. After:
    `arith.divf %s, %cap fastmath<arcp,afn> : f32`.
  }];
}

def FoldScore : Attn_KernelPass<"attn-fold-score"> {
  let summary = "Take out of a score what need not be computed for each logit";
  let description = [{
    A score rule runs once for each pair. What is linear in the key moves to
    `attn.ramp`, which costs one multiply-add, and a constant that multiplies
    the whole logit into `attn.factor`, which costs nothing. A score of which
    only q . k is left is gone. The order of the roundings changes, not the
    formula.

    Before (ALiBi with scale c):

    ```mlir
    %0 = arith.mulf %s, %c : f32
    %1 = arith.subi %k, %q : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.mulf %slope, %2 : f32
    %4 = arith.addf %0, %3 : f32
    attn.yield %4 : f32
    ```

    After: a factor of c * log2 e, and a ramp

    ```mlir
    %0 = arith.mulf %slope, %oneOverC : f32
    %1 = arith.subi %zero, %q : i32
    attn.yield %0, %1 : f32, i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::attn::ir::AttnDialect"];
}

def CloseAttn : Pass<"attn-close-attn", "::mlir::ModuleOp"> {
  let summary = "Close the attn level";
  let description = [{
    Checks that every kernel has what the levels below start from, attn.bounds
    and attn.factor, with a score rule that takes the raw q . k, and marks the
    module as being at level `attn`.
  }];
  let dependentDialects = ["::attn::ir::AttnDialect"];
}

def VerifyInput : Attn_KernelPass<"attn-verify-input"> {
  let summary = "Refuse what cannot be lowered yet, by name";
  let description = [{
    A specification may use fields whose lowering does not exist. Each gives one
    error where the specification writes it, with the field, its value and what
    is legal now; nothing is ignored or replaced.
  }];
  let dependentDialects = [];
}

def SelectSchedule : Attn_KernelPass<"attn-select-schedule"> {
  let summary = "Fill in the schedule from the tile table";
  let description = [{
    The one place where a kernel gets its tile, warps and stages: the row of the
    tile table (attn/Analysis/TileTable.h) for the head dimensions and the target,
    changed by the knobs that the specification sets. A remark says which row, and
    why. A choice that does not fit into shared memory is refused with the
    breakdown. Below this pass a schedule is only ever an attribute.

    Beside it the kernel may get `attn.alternatives`, other complete schedules for
    the same kernel, each with a remark: one for long launches, where the table
    has a row for them and the specification does not say which rows a work item
    has, and one without tensor maps, where the choice of TMA was not asked for.
  }];
  let dependentDialects = [];
}

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_PASSES_TD
