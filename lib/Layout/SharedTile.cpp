//===- SharedTile.cpp - Where a tile's elements lie in shared memory ------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Layout/SharedTile.h"

using namespace attn::layout;

/// Widest panel: one line of the shared-memory banks.
static constexpr int64_t lineBytes = 128;

std::vector<Panel> SharedTile::panels() const {
  std::vector<Panel> panels;
  int64_t column = 0;
  for (int64_t bytes = lineBytes; bytes >= chunkBytes; bytes /= 2)
    for (int64_t width = bytes / elementBytes; column + width <= columns;
         column += width)
      panels.push_back({column, width, column * elementBytes * rows, bytes});
  return panels;
}

Panel SharedTile::panelOf(int64_t column) const {
  for (const Panel &panel : panels())
    if (column < panel.column + panel.columns)
      return panel;
  return {};
}

int64_t SharedTile::offset(int64_t row, int64_t column) const {
  Panel panel = panelOf(column);
  int64_t byte = (column - panel.column) * elementBytes;
  int64_t swizzled =
      (byte / chunkBytes) ^ ((row / panel.swizzleRows()) % panel.chunks());
  return panel.offset + row * panel.bytes + swizzled * chunkBytes +
         byte % chunkBytes;
}

int64_t SharedTile::bytes() const {
  int64_t bytes = rows * columns * elementBytes;
  return (bytes + tileAlignment - 1) / tileAlignment * tileAlignment;
}
