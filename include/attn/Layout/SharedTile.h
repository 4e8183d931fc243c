//===- SharedTile.h - Where a tile's elements lie in shared memory -*- C++ -*-//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The swizzled layout that cp.async, ldmatrix, TMA and wgmma share. A row of
// the tile is cut into panels of 128 bytes and the rest into panels of 64, 32
// and 16 bytes, widest first. A panel holds all rows, one after the other;
// panels follow each other. Within a panel the 16-byte chunks of a row are
// permuted so that eight rows of the same chunk fall into eight different bank
// groups:
//
//   panel bytes  128        64             32             16
//   chunk index  ^ row % 8  ^ (row/2) % 4  ^ (row/4) % 2  as it is
//
// These are the 128-, 64- and 32-byte swizzles of the PTX ISA ("Swizzling
// modes"); a tile starts at a multiple of 1024 bytes, so that its address bits
// are its offset's.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LAYOUT_SHAREDTILE_H
#define ATTN_LAYOUT_SHAREDTILE_H

#include <cstdint>
#include <vector>

namespace attn::layout {

/// Bytes of one chunk: what one thread copies at once, and what a swizzle
/// moves.
constexpr int64_t chunkBytes = 16;
/// Alignment of a tile in bytes: the period of the widest swizzle (8 rows).
constexpr int64_t tileAlignment = 1024;

/// One panel of a tile: a range of its columns, of all its rows.
struct Panel {
  int64_t column;  ///< first column, in elements
  int64_t columns; ///< width in elements
  int64_t offset;  ///< first byte, from the start of the tile
  int64_t bytes;   ///< width in bytes: 128, 64, 32 or 16

  /// Chunks of a row.
  int64_t chunks() const { return bytes / chunkBytes; }
  /// The chunk index of row r is XORed with (r / swizzleRows) % chunks().
  int64_t swizzleRows() const { return 128 / bytes; }
};

/// A tile of `rows` x `columns` elements. `rows` is a multiple of 8, a row a
/// multiple of 16 bytes.
struct SharedTile {
  int64_t rows;
  int64_t columns;
  int64_t elementBytes;

  /// The panels from left to right.
  std::vector<Panel> panels() const;
  /// The panel that holds `column`.
  Panel panelOf(int64_t column) const;
  /// Byte offset of an element from the start of the tile.
  int64_t offset(int64_t row, int64_t column) const;
  /// Size in bytes, a multiple of `tileAlignment`.
  int64_t bytes() const;
};

} // namespace attn::layout

#endif // ATTN_LAYOUT_SHAREDTILE_H
