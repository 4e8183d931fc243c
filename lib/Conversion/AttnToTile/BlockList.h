//===- BlockList.h - Lists of the key tiles of query tiles ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Where the bounds of a mask are approximate, a kernel of its own looks at the
// key tiles that they call partial, and lists those that are not empty. Both
// kernels know where a list is:
//
//   i32 list[lists][2 + tiles]:  full, partial, then elements: first keys
//
// with one list for each query tile, of each head and batch entry where the
// mask differs between them, and as many elements as k has tiles. Partial tiles
// stand in the first `partial` elements, full ones in the last `full`, each in
// rising order: so the key loop visits them as it visits those of ranges.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOTILE_BLOCKLIST_H
#define ATTN_LIB_CONVERSION_ATTNTOTILE_BLOCKLIST_H

#include "RuleInliner.h"
#include "attn/Analysis/KeyTiles.h"

namespace attn {

/// The rows of one head of one batch entry that a work item has.
struct QueryTile {
  mlir::Value b, h, g, m0; ///< m0: the first row
  mlir::Value qLen, kLen;
  /// Of the longest sequences: how many tiles there may be.
  mlir::Value mostRows, mostKeys;
  mlir::Value offset; ///< what makes a row a position
  int64_t rows;
};

/// Which key tiles the rows of a query tile see as far as the bounds of the
/// kernel say so, and in which order.
KeyTileBuilder::Places placeKeyTiles(mlir::OpBuilder &builder,
                                     ir::KernelOp kernel, RuleInliner &inliner,
                                     const QueryTile &tile, int64_t tileKeys);

/// Where the list of a query tile is.
/// A tile past the end of its sequence has no key tiles either.
void dropBlankTiles(mlir::OpBuilder &builder, ir::KernelOp kernel,
                    const QueryTile &tile, KeyTileBuilder::Places &places);

class BlockListView {
public:
  BlockListView(mlir::OpBuilder &builder, ir::KernelOp kernel,
                mlir::Value memory, const QueryTile &tile, int64_t tileKeys);

  static constexpr int64_t headerWords = 2, full = 0, partial = 1;
  mlir::Value addressOf(int64_t word);
  mlir::Value load(int64_t word);
  mlir::Value getElements() { return addressOf(headerWords); }
  /// Elements of the list, i32.
  mlir::Value getTiles() { return tiles; }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value tiles, begin;
};

/// Writes the kernel that fills the lists, for query tiles of `tileRows` rows.
void buildBlockListKernel(mlir::OpBuilder &builder, ir::KernelOp kernel,
                          int64_t tileRows, int64_t tileKeys);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOTILE_BLOCKLIST_H
