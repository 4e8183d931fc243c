//===- WarpTypes.td - Types of the warp dialect ------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_WARP_IR_WARPTYPES
#define ATTN_DIALECT_WARP_IR_WARPTYPES

include "attn/Dialect/Warp/IR/WarpDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Warp_FragKind : I32EnumAttr<"FragKind", "which thread holds an element", [
    I32EnumAttrCase<"Acc", 0, "acc">,
    I32EnumAttrCase<"A", 1, "a">,
    I32EnumAttrCase<"B", 2, "b">,
    I32EnumAttrCase<"Row", 3, "row">,
    I32EnumAttrCase<"RowPartial", 4, "row_partial">]> {
  let cppNamespace = "::attn::warp";
}

def Warp_ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Add", 1, "add">]> {
  let cppNamespace = "::attn::warp";
}

def Warp_Frag : TypeDef<Warp_Dialect, "Frag"> {
  let mnemonic = "frag";
  let summary = "A tile distributed over the registers of a group of warps";
  let description = [{
    `!warp.frag<128x64xf32, acc, warps = 4>` is a 128 x 64 tile that four warps
    hold together. The warps split the rows: warp w owns the R/W rows from
    w * R/W on, as R/W/16 row tiles of 16 (`mt`). With `lane` the index in the
    warp and h, c in {0, 1}, a thread holds of each kind:

    | kind | elements of a thread | registers, in order |
    | --- | --- | --- |
    | `acc` | row mt*16 + lane/4 + 8h, column n8*8 + 2*(lane%4) + c | [mt][n8][2h + c]; a 16-bit pair (c = 0 low) is one register: [mt][n8][h] |
    | `a` | row mt*16 + lane/4 + 8h, columns 8*k8 + 2*(lane%4) + c of 16 | [mt][k8][h], pairs |
    | `b` | row (n) n8*8 + lane/4, columns (k) 8*k8 + 2*(lane%4) + c of 16 | [n8][k8], pairs; every warp holds all rows |
    | `row` | row mt*16 + lane/4 + 8h; all four lanes of a quad hold the same value | [mt][h] |
    | `row_partial` | as `row`, but the four lanes (the columns) hold values of their own, to be reduced later | [mt][h] |

    These are the C, A and B operands of `mma.sync.m16n8k16` (PTX ISA, "Matrix
    fragments for mma.m16n8k16").

    Constraints:
    * (F1) warps >= 1;
    * (F2) rows: a multiple of 16 x warps; for `b` a multiple of 8;
    * (F3) columns: `acc` a multiple of 8, `a` and `b` 16, `row` 1, `row_partial` 4;
    * (F4) element: `acc` f32, bf16 or f16; `a` and `b` bf16 or f16; `row` and `row_partial` f32.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType,
                        "::attn::warp::FragKind":$kind, "int64_t":$warps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "int64_t":$rows, "int64_t":$columns,
                      "::mlir::Type":$elementType, "::attn::warp::FragKind":$kind, "int64_t":$warps), [{
    return $_get(elementType.getContext(), rows, columns, elementType, kind, warps);
  }]>];
  let extraClassDeclaration = [{
    /// Whether the elements are 16 bits wide, two to a register.
    bool isPacked() const { return !getElementType().isF32(); }
    /// Row tiles of 16 that one warp holds (not for `b`).
    int64_t getRowTiles() const { return getRows() / getWarps() / 16; }
    /// Groups of 8 columns (`acc`) or of 8 rows (`b`).
    int64_t getN8Tiles() const { return (getKind() == FragKind::B ? getRows() : getColumns()) / 8; }
    /// Registers of 32 bits that a thread holds.
    int64_t getNumRegisters() const;
    /// Whether the kind is `row` or `row_partial`.
    bool isPerRow() const { return getKind() == FragKind::Row || getKind() == FragKind::RowPartial; }
  }];
}

def Warp_Buffer : TypeDef<Warp_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A ring of tiles in shared memory";
  let description = [{
    `!warp.buffer<2x64x128xbf16>` is a ring of two slots, each a tile of 64 rows
    x 128 columns, swizzled in panels as `attn/Layout/SharedTile.h` defines. A
    slot starts at a multiple of 1024 bytes.

    Constraints:
    * (B1) slots >= 1;
    * (B2) rows and columns are positive multiples of 8;
    * (B3) the element is bf16, f16 or f32.
  }];
  let parameters = (ins "int64_t":$slots, "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "int64_t":$slots, "int64_t":$rows, "int64_t":$columns,
                      "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), slots, rows, columns, elementType);
  }]>];
  let extraClassDeclaration = [{
    /// The layout of one slot.
    ::attn::layout::SharedTile getTile() const;
    /// Bytes from one slot to the next.
    int64_t getSlotBytes() const { return getTile().bytes(); }
    /// Bytes of the whole ring.
    int64_t getBytes() const { return getSlots() * getSlotBytes(); }
  }];
}

def Warp_Barriers : TypeDef<Warp_Dialect, "Barriers"> {
  let mnemonic = "barriers";
  let summary = "A ring of mbarriers in shared memory";
  let description = [{
    `!warp.barriers<2>` is a ring of two mbarriers of 8 bytes each (PTX ISA,
    "mbarrier"). A phase of a barrier ends when all its arrivals and all the
    bytes it expects have come; phases have parity 0, 1, 0, ...

    Constraint: (BR1) slots >= 1.
  }];
  let parameters = (ins "int64_t":$slots);
  let assemblyFormat = "`<` $slots `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of one mbarrier, which are also its alignment.
    static constexpr int64_t barrierBytes = 8;
    /// Bytes of the whole ring.
    int64_t getBytes() const { return getSlots() * barrierBytes; }
  }];
}

class Warp_HasKind<string kind> :
    CPred<"::llvm::cast<::attn::warp::FragType>($_self).getKind() == ::attn::warp::FragKind::" # kind>;
class Warp_FragWith<string description, Pred predicate> :
    Type<And<[CPred<"::llvm::isa<::attn::warp::FragType>($_self)">, predicate]>,
         description, "::attn::warp::FragType">;

def Warp_IsPacked : CPred<"::llvm::cast<::attn::warp::FragType>($_self).isPacked()">;
def Warp_AnyFrag : Warp_FragWith<"fragment", CPred<"true">>;
def Warp_F32Frag : Warp_FragWith<"f32 fragment", Neg<Warp_IsPacked>>;
def Warp_Acc : Warp_FragWith<"acc fragment", Warp_HasKind<"Acc">>;
def Warp_AccF32 : Warp_FragWith<"f32 acc fragment", And<[Warp_HasKind<"Acc">, Neg<Warp_IsPacked>]>>;
def Warp_Acc16 : Warp_FragWith<"16-bit acc fragment", And<[Warp_HasKind<"Acc">, Warp_IsPacked]>>;
def Warp_A : Warp_FragWith<"a fragment", Warp_HasKind<"A">>;
def Warp_B : Warp_FragWith<"b fragment", Warp_HasKind<"B">>;
def Warp_AOrB : Warp_FragWith<"a or b fragment", Or<[Warp_HasKind<"A">, Warp_HasKind<"B">]>>;
def Warp_Row : Warp_FragWith<"row fragment", Warp_HasKind<"Row">>;
def Warp_PerRow : Warp_FragWith<"row or row_partial fragment",
                                Or<[Warp_HasKind<"Row">, Warp_HasKind<"RowPartial">]>>;

#endif // ATTN_DIALECT_WARP_IR_WARPTYPES
