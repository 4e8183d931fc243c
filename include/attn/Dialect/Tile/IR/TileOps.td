//===- TileOps.td - Operations of the tile dialect -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILEOPS
#define ATTN_DIALECT_TILE_IR_TILEOPS

include "attn/Dialect/Tile/IR/TileTypes.td"
include "mlir/Dialect/LLVMIR/LLVMTypes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_GlobalPtr : LLVM_PointerInAddressSpace<1>;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

def Tile_ForWorkOp : Tile_Op<"for_work", [SingleBlockImplicitTerminator<"YieldOp">, AttrSizedOperandSegments]> {
  let summary = "visits work items";
  let description = [{
    Runs the body once for every (batch entry, head, first query row) with
    `b < batch`, `h < heads` and `m0` a multiple of `step` below `rows`. Items
    are independent and in any order, so any grid from one block up is legal;
    the lowering hands them out to blocks with the last rows of a head first,
    because under causal masks those are the longest. Heads come one after the
    other, or `together %n`: then n heads (of all batch entries in turn) are
    visited side by side, so that blocks get equal shares of long and short items
    while the keys and values of n heads stay in the L2 cache.

    A block takes every n-th item; or, with `claim`, whichever is next when it is
    free: a counter in memory that is 0 before the launch, and again after it,
    says which (its second element counts blocks that are done). Of several roles
    one claims and tells the others `through` a mail (pipe level).

    With `packed %starts`, batch entries are sequences of their own lengths, packed
    one behind the other: `rows` is their total, `starts` the first row of each
    in memory, i32[batch + 1], and `m0` counts from the first row of its
    sequence. No block needs to know all lengths: sequence b has the tiles from
    `starts[b] / step + b` on, which is enough of them, and at most one that lies
    past its end, at which the body has nothing to do.

    Values carried with `iter` go from item to item of one block: they may count
    what the block did, never change a result.

    Constraint: (T11) the body takes three i32 (b, h, m0) and the carried values,
    yields values of their types, and the step is positive.

    ```mlir
    tile.for_work (%b, %h, %m0) in (%batch, %heads, %rows) step 128 {
      %0 = arith.addi %m0, %h : i32
    }
    ```
  }];
  let arguments = (ins I32:$batch, I32:$heads, I32:$rows, I64Attr:$step, Optional<Tile_GlobalPtr>:$starts,
                       Optional<I32>:$together, Optional<Tile_GlobalPtr>:$claim, Optional<AnyType>:$mail, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getB() { return getBody().getArgument(0); }
    ::mlir::Value getH() { return getBody().getArgument(1); }
    ::mlir::Value getM0() { return getBody().getArgument(2); }
    ::mlir::Block::BlockArgListType getIterArgs() { return getBody().getArguments().drop_front(3); }
  }];
}

def Tile_RangeKind : I32EnumAttr<"RangeKind", "which key tiles a loop visits", [
    I32EnumAttrCase<"Mixed", 0, "mixed">,
    I32EnumAttrCase<"Partial", 1, "partial">,
    I32EnumAttrCase<"Full", 2, "full">]> {
  let cppNamespace = "::attn::tile";
}

def Tile_ForKeysOp : Tile_Op<"for_keys", [SingleBlock, AttrSizedOperandSegments]> {
  let summary = "visits key tiles";
  let description = [{
    The tiles to be visited lie side by side at places `begin, begin + step, ...`,
    multiples of `step`, up to `end`; the body runs for each place, from right to
    left. Which keys lie there says `tile.key_at`; where the visited keys are one
    range, a place is its first key.

    In tiles at places left of `full_end` every row of the work item sees every
    key: there `tile.mask` is the identity. So the tiles that need a mask come
    first; those, and then the full ones, in falling order of their keys. A `mixed` loop (the only kind before `attn-split-range`) says where
    those tiles are; a `partial` or `full` loop is one part of it and does not.

    A carried value that reaches neither a used result nor an effect is dropped,
    with all that computes it.

    Constraints: (T12) the end of the full tiles stands exactly on a `mixed` loop,
    and the step is positive; (T13) the body takes an i32 and the carried values,
    and initial, carried, yielded and result types are the same.

    ```mlir
    %sum = tile.for_keys mixed (%place) in (%begin, %end) full below %fe step 64 iter(%acc = %zero) : (f32) {
      %next = arith.addf %acc, %one : f32
      tile.yield %next : f32
    }
    ```
  }];
  let arguments = (ins Tile_RangeKind:$kind, I32:$begin, I32:$end, Optional<I32>:$fullEnd, I64Attr:$step,
                       Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getPlace() { return getBody().getArgument(0); }
    ::mlir::Block::BlockArgListType getIterArgs() { return getBody().getArguments().drop_front(1); }
  }];
}

def Tile_KeyAtOp : Tile_Op<"key_at", [Pure, AttrSizedOperandSegments]> {
  let summary = "the first key of the tile at a place";
  let description = [{
    Places of several ranges of keys lie side by side. Thresholds do not rise; a
    place at or right of the first one lies in the first range, else at or right
    of the second one in the second range, and so on; `shifts` say how far the keys
    of each range lie to the right of their places. Places of partial tiles are
    in the first `partial` ranges, of full tiles in the last `full` ones; the range
    on the border may count for both.

    With a list, the keys of each range are not consecutive: the sum of place and
    shift, a multiple of `step`, says which element of the list is the first key.
    One element left of the first may be read too, for places that no tile has.

    Constraint: (T24) there is one more shift than thresholds, neither part has
    more ranges than there are, and a list has a positive step.

    ```mlir
    %k0 = tile.key_at %place [%full_end] shifts [%far, %none] partial 1 full 1
    ```
  }];
  let arguments = (ins I32:$place, Variadic<I32>:$thresholds, Variadic<I32>:$shifts,
                       Optional<Tile_GlobalPtr>:$list, I64Attr:$partial, I64Attr:$full,
                       OptionalAttr<I64Attr>:$step);
  let results = (outs I32:$key);
  let assemblyFormat = [{$place `[` $thresholds `]` `shifts` `[` $shifts `]` (`in` $list^ `step` $step)?
                         `partial` $partial `full` $full attr-dict}];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region";
  let description = [{
    ```mlir
    tile.yield %next : f32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_MakeViewOp : Tile_Op<"make_view", [Pure]> {
  let summary = "a matrix at an offset from a pointer";
  let description = [{
    `rows` rows at `stride` elements from each other, the first one `offset`
    elements after `base`. All of it in 64 bits (contract C10). `at` says the same
    offset as the indices of the head and of the batch entry, for loads that
    compute the address themselves; of a `ragged` view, as the head and the row
    at which it begins among all rows of the tensor, `stride` elements apart.

    Constraint: (T23) a position is a head and a batch entry (or first row), and
    a ragged view has one.

    ```mlir
    %kv = tile.make_view "k" %k[%offset] stride %stride rows %k_len : !tile.view<72 x bf16>
    ```
  }];
  let arguments = (ins StrAttr:$name, Tile_GlobalPtr:$base, I64:$offset, I64:$stride, I32:$rows,
                       Variadic<I32>:$position, UnitAttr:$ragged);
  let results = (outs Tile_ViewType:$view);
  let assemblyFormat = [{$name $base `[` $offset `]` `stride` $stride `rows` $rows
                         (`at` `(` $position^ `)`)? (`ragged` $ragged^)? attr-dict `:` type($view)}];
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a tile of a view";
  let description = [{
    Rows `row ..` of the view and all its columns. Rows past the view's end and
    columns past its width read as zero: never the memory behind them
    (contract C8).

    Constraint T4: the tile has the view's element type, and its second axis is
    at least as long as the view has columns.

    ```mlir
    %K = tile.load %kv[%k0] : !tile.view<72 x bf16> -> !tile.val<[k:64, d:80] x bf16>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, I32:$row);
  let results = (outs Tile_ValType:$tile);
  let assemblyFormat = "$view `[` $row `]` attr-dict `:` type($view) `->` type($tile)";
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store"> {
  let summary = "writes a tile to a view";
  let description = [{
    Rows past the view's end and columns past its width are not written. An f32
    tile is rounded to the view's element type. A tile of one axis is one column.

    Constraint: (T14) the tile is at least as wide as the view, and is f32 or
    has the view's element type.

    ```mlir
    tile.store %O, %ov[%m0] : !tile.val<[q:128, v:128] x f32> -> !tile.view<128 x bf16>
    tile.store %lse, %lv[%m0] : !tile.val<[q:128] x f32> -> !tile.view<1 x f32>
    ```
  }];
  let arguments = (ins Tile_ValType:$tile, Tile_ViewType:$view, I32:$row);
  let assemblyFormat = "$tile `,` $view `[` $row `]` attr-dict `:` type($tile) `->` type($view)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Tile_FillOp : Tile_Op<"fill", [Pure]> {
  let summary = "a tile of one scalar";
  let description = [{
    Constraint: (T15) the tile has the scalar's type and lies in registers.

    ```mlir
    %l = tile.fill %zero : f32 -> !tile.val<[q:128, r:4] x f32>
    ```
  }];
  let arguments = (ins AnyFloat:$scalar);
  let results = (outs Tile_ValType:$tile);
  let assemblyFormat = "$scalar attr-dict `:` type($scalar) `->` type($tile)";
  let hasVerifier = 1;
}

def Tile_DotOp : Tile_Op<"dot", [Pure]> {
  let summary = "contracts two tiles over a common axis";
  let description = [{
    `result[x, y] = init[x, y] + sum over c of lhs[x, c] * rhs[y, c]`: axes are
    found by name, so `rhs` may have `c` as its first axis. Products are exact,
    sums are f32. An `async` dot is only started: its result, and operands in
    registers, belong to it until a `pipe.await` (pipe level).

    Constraints: (T5) both have two axes, one of them `over`, of one size; (T6) the result
    has the two other axes, lhs first, in f32; (T7) the element types of lhs and
    rhs are the same 16-bit float.

    ```mlir
    %S = tile.dot %Q, %K over "d" : !tile.val<[q:128, d:128] x bf16>, !tile.val<[k:64, d:128] x bf16> -> !tile.val<[q:128, k:64] x f32>
    ```
  }];
  let arguments = (ins Tile_ValType:$lhs, Tile_ValType:$rhs, Optional<Tile_ValType>:$init, StrAttr:$over,
                       UnitAttr:$async);
  let results = (outs Tile_ValType:$result);
  let assemblyFormat = [{$lhs `,` $rhs (`init` $init^ `:` type($init))? `over` $over (`async` $async^)? attr-dict `:`
                         type($lhs) `,` type($rhs) `->` type($result)}];
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [RecursiveMemoryEffects, SingleBlock, AttrSizedOperandSegments]> {
  let summary = "a scalar function of every element";
  let description = [{
    The region maps one element of each input, and the element's index along
    each axis of `index_axes` plus that axis' base, to an element of the result.
    Inputs that lack an axis of the result are repeated along it.

    An axis `r` splits the keys of a tile in classes, one for each of its
    elements: key = first(class) + place, by a rule that the layout chooses.
    Along `k`, an input with the axis `r` gives each key the element of its class.
    An index along `r` is first(class) plus the base; with `in_class` the one
    along `k` is the place in the class, without a base's or a class' part: a
    number known when registers are.

    Constraints: (T8) every axis of an input is one of the result, of the same
    size, or `r` where the result has `k`; (T9) block arguments are the inputs'
    element types, then one i32 per index, and an axis is indexed once; (T10) the
    region yields the result's element type; (T9b) `in_class` stands with an
    index along `k`.

    ```mlir
    %P = tile.map %S, %rowMax : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32> -> !tile.val<[q:128, k:64] x f32> {
    ^bb0(%s: f32, %m: f32):
      %0 = arith.subf %s, %m : f32
      tile.yield %0 : f32
    }
    %Y = tile.map %S index "k"(%k0) : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x f32> {
    ^bb0(%s: f32, %k: i32):
      %0 = arith.sitofp %k : i32 to f32
      tile.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_ValType>:$inputs, StrArrayAttr:$indexAxes, Variadic<I32>:$bases, UnitAttr:$in_class);
  let results = (outs Tile_ValType:$result);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "ValType":$result, "::mlir::ValueRange":$inputs,
      "::llvm::ArrayRef<::llvm::StringRef>":$indexAxes, "::mlir::ValueRange":$bases,
      "::llvm::function_ref<::mlir::Value(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body,
      CArg<"bool", "false">:$inClass)>];
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Tile_MaskOp : Tile_Op<"mask", [RecursiveMemoryEffects, SingleBlock, AllTypesMatch<["input", "result"]>]> {
  let summary = "hides the pairs that the rule does not allow";
  let description = [{
    Elements for which the region yields false become -inf, exactly (contract
    C2). The region sees the absolute query row and key of a pair:
    `rowBase + index along q`, `keyBase + index along k`.
    In the full tiles of a `tile.for_keys` it is the identity.

    Constraints: (T16) the tile is f32 with the axes q and k in this order; (T9)
    two i32 block arguments; (T10) the region yields one i1.

    ```mlir
    %X = tile.mask %S(%q0, %k0) : !tile.val<[q:128, k:64] x f32> {
    ^bb0(%i: i32, %k: i32):
      %0 = arith.cmpi sle, %k, %i : i32
      tile.yield %0 : i1
    }
    ```
  }];
  let arguments = (ins Tile_ValType:$input, I32:$rowBase, I32:$keyBase);
  let results = (outs Tile_ValType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$input `(` $rowBase `,` $keyBase `)` attr-dict `:` type($input) $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_AnyOp : Tile_Op<"any", [Pure]> {
  let summary = "whether a tile has an element that differs from a value";
  let description = [{
    False where every element equals `value`; a NaN differs from everything. The
    answer may be given per warp for that warp's rows: it is used to leave out
    work whose result is known, never to change one.

    ```mlir
    %any = tile.any %X ne 0xFF800000 : !tile.val<[q:128, k:64] x f32>
    ```
  }];
  let arguments = (ins Tile_ValType:$input, F32Attr:$value);
  let results = (outs I1:$result);
  let assemblyFormat = "$input `ne` $value attr-dict `:` type($input)";
}

def Tile_Combine : I32EnumAttr<"Combine", "how a reduction combines", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Add", 1, "add">]> {
  let cppNamespace = "::attn::tile";
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combines the elements along an axis";
  let description = [{
    The result lacks the axis `over`. If it has an axis `r` that the input
    lacks, it keeps that many partial results apart: each element of the input
    goes into one of them; a later reduction over `r` combines these.

    Constraint: (T17) the input has the axis `over`, the result lacks it, keeps
    every other one and adds at most `r`; both have one element type.

    ```mlir
    %part = tile.reduce add %P over "k" : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, r:4] x f32>
    %sum = tile.reduce add %part over "r" : !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128] x f32>
    ```
  }];
  let arguments = (ins Tile_Combine:$combine, Tile_ValType:$input, StrAttr:$over);
  let results = (outs Tile_ValType:$result);
  let assemblyFormat = "$combine $input `over` $over attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_CastOp : Tile_Op<"cast", [Pure]> {
  let summary = "rounds a tile to another element type (nearest even)";
  let description = [{
    Constraint: (T18) both have the same axes.

    ```mlir
    %P16 = tile.cast %P : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x bf16>
    ```
  }];
  let arguments = (ins Tile_ValType:$input);
  let results = (outs Tile_ValType:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Online softmax
//===----------------------------------------------------------------------===//

def Tile_SoftmaxStepOp : Tile_Op<"softmax_step", [Pure, AttrSizedOperandSegments]> {
  let summary = "one step of the online softmax: the one place it is written";
  let description = [{
    With x the new logits of a tile, m the running row maximum and l the running
    (partial) row sums, in the base-2 domain given by `factor > 0`:

        x       += slope * key in the tile + base           (where there is a ramp)
        rowMax   = max(m, max over k of x)                  (-inf where -1e30 or less, C2)
        P        = exp2(factor * x - factor * rowMax)      (0 where rowMax is -inf)
        alpha    = exp2(factor * m - factor * rowMax)
        rowSum   = l * alpha + (sums over k of P)

    `factor * rowMax` and `factor * m` are rounded products, the same in every
    step, and `factor * x - (...)` is fused: what the rounding of the shift does
    to P it does to all weights of the row alike, and alpha is exactly 1 while the
    maximum stays. A row that has seen no key yet keeps rowMax = -inf and l = 0
    (contract C5). Exact while |factor * x| < 2^29 (contract C13). P is left in f32; sums are
    taken before it is rounded. Milakov and Gimelshein 2018; Dao 2023.

    The ramp is one fused multiply-add per logit: `base`, one f32 per row, is added
    to the maximum and to the exponents' shift instead of to each logit.

    `held n`: rowMax is m, and alpha 1, as long as no weight of the tile would then
    exceed 2^n. Otherwise it is as above (for some rows or all): m is then a former
    maximum of the row, which all that was summed up is relative to. A row that
    has seen no key holds nothing. `early` weights do not wait for that test:
    where it fails, they are computed again from the logits.

    Constraint: (T19) x is an f32 tile of two axes, rows first; m has one f32 per
    row and l `r` of them; results have the types of x, m, l and m; a ramp has a
    slope and a base of m's type; 1 <= n < 127, and only a held step is early.

    ```mlir
    %P, %m1, %l1, %alpha = tile.softmax_step %X, %m, %l factor %c held 15 early
        : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>
        -> !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128] x f32>
    ```
  }];
  let arguments = (ins Tile_ValType:$logits, Tile_ValType:$max, Tile_ValType:$sum, F32:$factor,
                       Optional<F32>:$slope, Optional<Tile_ValType>:$base,
                       OptionalAttr<I64Attr>:$held, UnitAttr:$early);
  let results = (outs Tile_ValType:$weights, Tile_ValType:$newMax, Tile_ValType:$newSum, Tile_ValType:$alpha);
  let builders = [OpBuilder<(ins "::mlir::Value":$logits, "::mlir::Value":$max, "::mlir::Value":$sum, "::mlir::Value":$factor,
      "::mlir::Value":$slope, "::mlir::Value":$base, "::mlir::IntegerAttr":$held, "bool":$early)>];
  let assemblyFormat = [{$logits `,` $max `,` $sum `factor` $factor (`ramp` $slope^ `base` $base `:` type($base))?
                         (`held` $held^)? (`early` $early^)? attr-dict `:` type($logits) `,` type($max) `,` type($sum)
                         `->` type($weights) `,` type($newMax) `,` type($newSum) `,` type($alpha)}];
  let hasVerifier = 1;
}

def Tile_RescaleOp : Tile_Op<"rescale", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "multiplies each row of the accumulator by alpha";
  let description = [{
    Constraint: (T20) an f32 tile of two axes, and one f32 per row of it.

    ```mlir
    %O1 = tile.rescale %O, %alpha : !tile.val<[q:128, v:128] x f32>, !tile.val<[q:128] x f32>
    ```
  }];
  let arguments = (ins Tile_ValType:$input, Tile_ValType:$alpha);
  let results = (outs Tile_ValType:$result);
  let assemblyFormat = "$input `,` $alpha attr-dict `:` type($input) `,` type($alpha)";
  let hasVerifier = 1;
}

def Tile_FinalizeOp : Tile_Op<"finalize", [Pure, AttrSizedOperandSegments]> {
  let summary = "ends the online softmax: division, sink, log-sum-exp";
  let description = [{
    Adds the partial sums, adds the sink's `exp(sink)` once (contract C7), and
    gives `lse = ln(sum of exp of the logits)` (C6) and, of an accumulator, O / sum.
    A row without a visible key gives O = 0 and lse = -inf, or lse = sink (C5, C7).

    Constraint: (T21) max has one f32 per row and sum `r` of them; acc is an f32
    tile of two axes, rows first; lse has max's type and O acc's; there is an O iff
    there is an acc.

    ```mlir
    %lse, %o = tile.finalize %m, %l factor %c sink %s acc %O
        : !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128, v:128] x f32>
        -> !tile.val<[q:128] x f32>, !tile.val<[q:128, v:128] x f32>
    ```

    An O that nobody uses is dropped, and with it its acc.
  }];
  let arguments = (ins Tile_ValType:$max, Tile_ValType:$sum, F32:$factor, Optional<F32>:$sink,
                       Optional<Tile_ValType>:$acc);
  let results = (outs Tile_ValType:$lse, Optional<Tile_ValType>:$output);
  let assemblyFormat = [{$max `,` $sum `factor` $factor (`sink` $sink^)? (`acc` $acc^)? attr-dict `:`
                         type($max) `,` type($sum) (`,` type($acc)^)? `->` type($lse) (`,` type($output)^)?}];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILEOPS
