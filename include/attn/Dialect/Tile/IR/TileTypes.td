//===- TileTypes.td - Types of the tile dialect -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_TILE_IR_TILETYPES
#define ATTN_DIALECT_TILE_IR_TILETYPES

include "attn/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Tile_ValType : TypeDef<Tile_Dialect, "Val"> {
  let mnemonic = "val";
  let summary = "a tile with named axes";
  let description = [{
    `!tile.val<[q:128, k:64] x f32>`: a value with one element for every
    combination of its axes. Axis names are the field's: `q` query row, `k`
    key, `d` head dim of Q and K, `v` head dim of V, `r` the partial sums that a
    row keeps apart until they are added once.

    `shared 2` says that the tile lies in shared memory, in one of the two slots
    of a channel (pipe level); without it the tile is spread over the registers
    of a role.

    Constraints: (T1) one or two axes; (T2) names differ; (T3) sizes and slots
    are positive; (T22) the element type is a float.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr", "axis names">:$axes,
                        ArrayRefParameter<"int64_t", "axis sizes">:$sizes,
                        "::mlir::Type":$elementType,
                        DefaultValuedParameter<"int64_t", "0">:$sharedSlots);
  let builders = [
    TypeBuilder<(ins "::llvm::ArrayRef<::std::pair<::llvm::StringRef, int64_t>>":$axes,
                     "::mlir::Type":$elementType, CArg<"int64_t", "0">:$sharedSlots)>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Position of an axis; nullopt when the tile does not have it.
    std::optional<unsigned> findAxis(::llvm::StringRef name) const;
    /// Size of an axis that the tile has.
    int64_t getSize(::llvm::StringRef name) const;
    /// The same tile with another element type or place.
    ValType withElementType(::mlir::Type elementType) const;
    ValType withSharedSlots(int64_t slots) const;
    bool isShared() const { return getSharedSlots() > 0; }
  }];
}

def Tile_ViewType : TypeDef<Tile_Dialect, "View"> {
  let mnemonic = "view";
  let summary = "a matrix in global memory";
  let description = [{
    `!tile.view<128 x bf16>`: rows of 128 contiguous elements, a run-time number
    of them at a run-time stride. `!tile.view<1 x f32>` is a strided vector.

    Constraints: (T3) the number of columns is positive; (T22) the element type
    is a float.
  }];
  let parameters = (ins "int64_t":$columns, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $columns `x` $elementType `>`";
  let genVerifyDecl = 1;
}

#endif // ATTN_DIALECT_TILE_IR_TILETYPES
