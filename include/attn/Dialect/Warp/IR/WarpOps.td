//===- WarpOps.td - Operations of the warp dialect ---------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_WARP_IR_WARPOPS
#define ATTN_DIALECT_WARP_IR_WARPOPS

include "attn/Dialect/Warp/IR/WarpAsyncOps.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def Warp_AllocOp : Warp_Op<"alloc"> {
  let summary = "Reserve a ring of tiles in shared memory";
  let description = [{
    Names the bytes from `offset` on in the block's dynamic shared memory. Two
    allocations may overlap: then the barriers between their uses are the
    program's. The offset must be set before the lowering.

    ```mlir
    %k = warp.alloc {offset = 32768 : i64} : !warp.buffer<2x64x128xbf16>
    ```

    Constraint: (AL1) the offset is a multiple of 1024 bytes and not negative.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Res<Warp_Buffer, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Warp_CpAsyncOp : Warp_Op<"cp_async", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Start the copy of a tile from global to shared memory";
  let description = [{
    All `warps` x 32 threads together start the copy of the buffer's R x C tile
    into slot `slot`, 16 bytes at a time (`cp.async.cg`). Row r of the tile
    starts `r * stride` elements after `source`. Rows at or past `rows` (which
    may be negative or larger than R) and columns at or past `cols` are filled
    with zeros; their global addresses are never formed. With `predicate` false,
    nothing happens; it must be uniform over the warps.

    ```mlir
    warp.cp_async %k[%slot], %ptr, %stride, %rows, cols = 128, warps = 4 if %more : !warp.buffer<2x64x128xbf16>
    ```

    A constant `rows` of at least R costs no comparison.

    Constraint: (CP1) `cols` is a positive multiple of 16 bytes, at most the columns of the buffer.
  }];
  let arguments = (ins Warp_Buffer:$buffer, I32:$slot, Warp_GlobalPtr:$source, I64:$stride, I32:$rows,
                       Optional<I1>:$predicate, I64Attr:$cols, Warp_Warps:$warps);
  let assemblyFormat = [{
    $buffer `[` $slot `]` `,` $source `,` $stride `,` $rows `,` `cols` `=` $cols `,` `warps` `=` $warps
    (`if` $predicate^)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def Warp_CpAsyncCommitOp : Warp_Op<"cp_async_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Close the group of copies started since the last one";
  let description = [{
    ```mlir
    warp.cp_async_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Warp_CpAsyncWaitOp : Warp_Op<"cp_async_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait until at most `groups` groups of this thread's copies are pending";
  let description = [{
    What other threads copied is visible only after a barrier that follows.

    ```mlir
    warp.cp_async_wait {groups = 1 : i64}
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$groups);
  let assemblyFormat = "attr-dict";
}

def Warp_BarrierOp : Warp_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait for all threads of `warps` warps; shared memory is then the same for all";
  let description = [{
    ```mlir
    warp.barrier {warps = 4 : i64}
    warp.barrier {warps = 4 : i64, id = 1 : i64}
    ```

    Constraint: (BA1) the id names one of the 16 barriers of a block.
  }];
  let arguments = (ins Warp_Warps:$warps,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<15>]>, "0">:$id);
  let assemblyFormat = "attr-dict";
}

def Warp_LdmatrixOp : Warp_Op<"ldmatrix", [MemoryEffects<[MemRead]>]> {
  let summary = "Load an operand of an mma from shared memory";
  let description = [{
    * kind `a`: rows of the buffer are m, its columns `column` .. `column` + 15 are k;
    * kind `b`: rows of the buffer are n, its columns `column` .. `column` + 15 are k;
    * kind `b` with `row`: rows `row` .. `row` + 15 of the buffer are k, its columns
      are n (the tile is transposed on the way).

    ```mlir
    %q = warp.ldmatrix %qbuf[%c0] {column = 16 : i64} : !warp.buffer<1x128x128xbf16> -> !warp.frag<128x16xbf16, a, warps = 4>
    %k = warp.ldmatrix %kbuf[%slot] {column = 16 : i64} : !warp.buffer<2x64x128xbf16> -> !warp.frag<64x16xbf16, b, warps = 4>
    %v = warp.ldmatrix %vbuf[%slot] {row = 16 : i64} : !warp.buffer<2x64x128xbf16> -> !warp.frag<128x16xbf16, b, warps = 4>
    ```

    Constraints:
    * (LD1) exactly one of `column` and `row` is given, and `row` only for kind `b`;
    * (LD2) `column` / `row` is a multiple of 16 and the 16 columns / rows lie in the buffer;
    * (LD3) the fragment has the buffer's element type;
    * (LD4) its rows are the rows (with `row`, the first of the columns) of the buffer.
  }];
  let arguments = (ins Warp_Buffer:$buffer, I32:$slot, OptionalAttr<I64Attr>:$column, OptionalAttr<I64Attr>:$row);
  let results = (outs Warp_AOrB:$result);
  let assemblyFormat = "$buffer `[` $slot `]` attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def Warp_StoreSharedOp : Warp_Op<"store_shared", [MemoryEffects<[MemWrite]>]> {
  let summary = "Store an accumulator into a tile in shared memory";
  let description = [{
    Columns of the tile past the accumulator's keep what they hold.

    ```mlir
    warp.store_shared %o, %obuf[%c0] : !warp.frag<128x128xbf16, acc, warps = 4>, !warp.buffer<1x128x128xbf16>
    ```

    Constraint: (ST1) buffer and fragment agree in rows and element type, and the columns lie in the buffer.
  }];
  let arguments = (ins Warp_Acc:$value, Warp_Buffer:$buffer, I32:$slot);
  let assemblyFormat = "$value `,` $buffer `[` $slot `]` attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def Warp_CopyOutOp : Warp_Op<"copy_out", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Copy a tile from shared to global memory";
  let description = [{
    The reverse of `warp.cp_async`, at once and in whole 16-byte chunks: rows at
    or past `rows` and columns at or past `cols` are not written. With
    `own_rows`, a warp copies the rows that it holds of an accumulator of as
    many rows and warps: what it stored itself needs no more than
    `warp.sync_warp` before.

    ```mlir
    warp.copy_out %obuf[%c0], %ptr, %stride, %rows, cols = 128, warps = 4 : !warp.buffer<1x128x128xbf16>
    warp.copy_out %obuf[%c0], %ptr, %stride, %rows, cols = 128, warps = 8 {own_rows} : !warp.buffer<1x128x128xbf16>
    ```

    Constraints:
    * (CO1) `cols` is a positive multiple of 16 bytes, at most the columns of the buffer;
    * (CO2) with `own_rows`, the rows are a multiple of 16 x warps.
  }];
  let arguments = (ins Warp_Buffer:$buffer, I32:$slot, Warp_GlobalPtr:$destination, I64:$stride, I32:$rows,
                       I64Attr:$cols, Warp_Warps:$warps, UnitAttr:$own_rows);
  let assemblyFormat = [{
    $buffer `[` $slot `]` `,` $destination `,` $stride `,` $rows `,` `cols` `=` $cols `,` `warps` `=` $warps
    attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def Warp_MmaOp : Warp_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a . b^T over 16 columns, accumulated in f32";
  let description = [{
    `result[m, n] = acc[m, n] + sum over k of a[m, k] * b[n, k]`, by
    `mma.sync.m16n8k16`.

    ```mlir
    %s1 = warp.mma %s0, %q, %k : !warp.frag<128x64xf32, acc, warps = 4>, !warp.frag<128x16xbf16, a, warps = 4>, !warp.frag<64x16xbf16, b, warps = 4>
    ```

    Constraints:
    * (MM1) `acc` is f32;
    * (MM2) rows of `a` are the rows, rows of `b` the columns of `acc`;
    * (MM3) `a` and `b` have one element type;
    * (MM4) all have the same number of warps.
  }];
  let arguments = (ins Warp_AccF32:$acc, Warp_A:$a, Warp_B:$b);
  let results = (outs Warp_AccF32:$result);
  let assemblyFormat = "$acc `,` $a `,` $b attr-dict `:` type($acc) `,` type($a) `,` type($b)";
  let hasVerifier = 1;
}

def Warp_FillOp : Warp_Op<"fill", [Pure]> {
  let summary = "A fragment whose elements are all one scalar";
  let description = [{
    ```mlir
    %s = warp.fill %zero : !warp.frag<128x64xf32, acc, warps = 4>
    ```

    Constraint: (FI1) the fragment is f32.
  }];
  let arguments = (ins F32:$value);
  let results = (outs Warp_F32Frag:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Warp_CastOp : Warp_Op<"cast", [Pure]> {
  let summary = "Round an accumulator to a 16-bit type";
  let description = [{
    To nearest, ties to even.

    ```mlir
    %p16 = warp.cast %p : !warp.frag<128x64xf32, acc, warps = 4> -> !warp.frag<128x64xbf16, acc, warps = 4>
    ```

    Constraint: (CA1) both have the same rows, columns and warps.
  }];
  let arguments = (ins Warp_AccF32:$source);
  let results = (outs Warp_Acc16:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Warp_AsOperandOp : Warp_Op<"as_operand", [Pure]> {
  let summary = "16 columns of a 16-bit accumulator as A operand";
  let description = [{
    Renames registers: the accumulator's layout is that of the A operand.

    ```mlir
    %a = warp.as_operand %p16 {column = 16 : i64} : !warp.frag<128x64xbf16, acc, warps = 4> -> !warp.frag<128x16xbf16, a, warps = 4>
    ```

    Constraints:
    * (AO1) `column` is a multiple of 16 and the 16 columns lie in the source;
    * (AO2) rows, element type and warps are the source's.
  }];
  let arguments = (ins Warp_Acc16:$source, I64Attr:$column);
  let results = (outs Warp_A:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Warp_MapOp : Warp_Op<"map", [SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "Compute each element of a fragment from those of others";
  let description = [{
    The region maps one element of every input to one of the result. A `row`
    input is broadcast along the columns. With `row(%r0)` the region also
    receives the element's row plus r0, with `column(%c0)` its column plus c0.
    The lane's first column plus c0 is what a `row_partial` result receives; with
    `in_class` the column is counted from there and is a constant of each register.
    The region may use values from above; it runs once per register (`row`
    results are computed by all four lanes of a quad alike).

    ```mlir
    %p = warp.map %s, %m column(%k0) : !warp.frag<128x64xf32, acc, warps = 4>, !warp.frag<128x1xf32, row, warps = 4>
        -> !warp.frag<128x64xf32, acc, warps = 4> {
    ^bb0(%x: f32, %max: f32, %k: i32):
      %y = arith.subf %x, %max : f32
      %z = math.exp2 %y : f32
      warp.yield %z : f32
    }
    ```

    Constraints:
    * (MA1) there is an input, and all fragments are f32 and agree in rows and warps;
    * (MA2) a result of kind `acc` takes `acc` of its columns, `row` and `row_partial`; `row_partial` takes `row_partial` and `row`; `row` takes `row`; no other result;
    * (MA3) the region's arguments are an f32 per input, then an i32 for `row` and one for `column`, where given;
    * (MA4) `column` is given only for a result of kind `acc` or `row_partial`, `in_class` only with it for `acc`;
    * (MA5) the region yields one f32.
  }];
  let arguments = (ins Variadic<Warp_F32Frag>:$inputs, Optional<I32>:$rowOrigin, Optional<I32>:$columnOrigin,
                       UnitAttr:$in_class);
  let results = (outs Warp_F32Frag:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $inputs (`row` `(` $rowOrigin^ `)`)? (`column` `(` $columnOrigin^ `)`)? (`in_class` $in_class^)? attr-dict
    `:` type($inputs) `->` type($result) $body
  }];
  let hasVerifier = 1;
}

def Warp_AnyOp : Warp_Op<"any", [SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "Whether a predicate holds for any element of the warp's rows";
  let description = [{
    As `warp.map`, with a region that yields an i1; the result is the `or` over
    all elements that the warp holds, the same in all its lanes. Warps may
    differ from each other.

    ```mlir
    %some = warp.any %s column(%k0) : !warp.frag<128x64xf32, acc, warps = 4> {
    ^bb0(%x: f32, %k: i32):
      %visible = arith.cmpi slt, %k, %bound : i32
      warp.yield %visible : i1
    }
    ```

    Constraints:
    * (AN1) there is an input; all inputs are f32 and agree in rows and warps; those of kind `acc` in columns; `row_partial` does not go with `acc`;
    * (AN2) the region's arguments are an f32 per input, then an i32 for `row` and one for `column`, where given;
    * (AN3) `column` is given only with an input of kind `acc`;
    * (AN4) the region yields one i1.
  }];
  let arguments = (ins Variadic<Warp_F32Frag>:$inputs, Optional<I32>:$rowOrigin, Optional<I32>:$columnOrigin);
  let results = (outs I1:$result);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The type whose elements the region runs over.
    FragType getWidestInput();
  }];
  let assemblyFormat = [{
    $inputs (`row` `(` $rowOrigin^ `)`)? (`column` `(` $columnOrigin^ `)`)? attr-dict `:` type($inputs) $body
  }];
  let hasVerifier = 1;
}

def Warp_YieldOp : Warp_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["MapOp", "AnyOp"]>]> {
  let summary = "The result of a region";
  let description = [{
    ```mlir
    warp.yield %z : f32
    ```
  }];
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Warp_ReduceOp : Warp_Op<"reduce", [Pure]> {
  let summary = "Reduce over the columns of a fragment";
  let description = [{
    `acc` to `row`: in the thread, then over the quad. `acc` to `row_partial`: in
    the thread only. `row_partial` to `row`: over the quad only. `max` of a NaN
    and a number is NaN, which must reach the result; `add` adds in one fixed order.

    ```mlir
    %m = warp.reduce max %s : !warp.frag<128x64xf32, acc, warps = 4> -> !warp.frag<128x1xf32, row, warps = 4>
    ```

    Constraints:
    * (RE1) the kinds are one of the three pairs above, in f32;
    * (RE2) rows and warps are the source's.
  }];
  let arguments = (ins Warp_ReduceKind:$kind, Warp_F32Frag:$source);
  let results = (outs Warp_F32Frag:$result);
  let assemblyFormat = "$kind $source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Fragments to global memory
//===----------------------------------------------------------------------===//

def Warp_StoreGlobalOp : Warp_Op<"store_global", [MemoryEffects<[MemWrite]>]> {
  let summary = "Store an accumulator to global memory";
  let description = [{
    Row r starts `r * stride` elements after `destination`; rows at or past
    `rows` and columns at or past `cols` are not written. Where `cols` is a multiple
    of 32 of 16-bit elements, the lanes of a quad first exchange what they hold, and
    each stores 16 bytes at a time; `stride` and `destination` keep contract C14.

    ```mlir
    warp.store_global %o, %ptr, %stride, %rows, cols = 128 : !warp.frag<128x128xf32, acc, warps = 4>
    ```

    Constraint: (SG1) `cols` is a positive multiple of 8, at most the columns of the fragment.
  }];
  let arguments = (ins Warp_Acc:$value, Warp_GlobalPtr:$destination, I64:$stride, I32:$rows, I64Attr:$cols);
  let assemblyFormat = [{
    $value `,` $destination `,` $stride `,` $rows `,` `cols` `=` $cols attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Warp_StoreRowsOp : Warp_Op<"store_rows", [MemoryEffects<[MemWrite]>]> {
  let summary = "Store one value per row to global memory";
  let description = [{
    The value of row r goes `r * stride` elements after `destination`; rows at
    or past `rows` are not written.

    ```mlir
    warp.store_rows %lse, %ptr, %stride, %rows : !warp.frag<128x1xf32, row, warps = 4>
    ```
  }];
  let arguments = (ins Warp_Row:$value, Warp_GlobalPtr:$destination, I64:$stride, I32:$rows);
  let assemblyFormat = "$value `,` $destination `,` $stride `,` $rows attr-dict `:` type($value)";
}

#endif // ATTN_DIALECT_WARP_IR_WARPOPS
