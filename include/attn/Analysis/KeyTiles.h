//===- KeyTiles.h - The key tiles of a work item ----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_KEYTILES_H
#define ATTN_ANALYSIS_KEYTILES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace attn {

/// Keys begin .. end - 1, both multiples of the tile's keys.
struct TileRange {
  mlir::Value begin, end;
};

/// Emits the scalar code that decides which key tiles are visited, and where in
/// the sequence of visits each lies.
class KeyTileBuilder {
public:
  KeyTileBuilder(mlir::OpBuilder &builder, mlir::Location loc, int64_t tileKeys)
      : builder(builder), loc(loc), tileKeys(tileKeys) {}

  /// What attn.bounds yields: pairs of keys, and the tail.
  struct Bounds {
    llvm::SmallVector<mlir::Value> visible, hidden;
    mlir::Value tail;
    mlir::Value firstRow, lastRow; ///< first <= last, for comparisons
  };
  /// Every tile in at most one range, ascending. A tile is in one exactly if it
  /// meets a visible interval: in a partial one if it meets a hidden interval
  /// too or holds keys from the tail on, else in a full one.
  struct Tiles {
    llvm::SmallVector<TileRange> partial, full;
  };
  Tiles classify(const Bounds &bounds);

  /// The ranges side by side: the full ones, then, to the right, the partial
  /// ones. See tile.for_keys and tile.key_at.
  struct Places {
    mlir::Value begin, fullEnd, end;
    llvm::SmallVector<mlir::Value> thresholds, shifts;
    int64_t partial, full;
  };
  Places place(const Tiles &tiles);

private:
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  mlir::Value alignDown(mlir::Value key);
  mlir::Value alignUp(mlir::Value key);

  bool isAtMost(mlir::Value lhs, mlir::Value rhs);
  bool isAtMostByCode(mlir::Value lhs, mlir::Value rhs);
  llvm::SmallVector<TileRange> roundOut(llvm::ArrayRef<mlir::Value> pairs);
  void sortByBegin(llvm::MutableArrayRef<TileRange> ranges);
  TileRange eitherOf(TileRange lhs, TileRange rhs);

  using PieceList = llvm::SmallVector<std::optional<TileRange>>;
  struct Pieces {
    PieceList partial, full;
  };
  void cut(TileRange visible, llvm::ArrayRef<TileRange> hidden,
           mlir::Value tail, size_t first, Pieces &pieces);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t tileKeys;
  mlir::Value firstRow, lastRow;
};

/// place + the shift of the first range whose threshold is at or left of the
/// place (tile.key_at).
mlir::Value emitKeyAt(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value place, mlir::ValueRange thresholds,
                      mlir::ValueRange shifts);

} // namespace attn

#endif // ATTN_ANALYSIS_KEYTILES_H
