//===- PipeToWarp.h - Types, patterns of convert-pipe-to-warp ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_PIPETOWARP_PIPETOWARP_H
#define ATTN_LIB_CONVERSION_PIPETOWARP_PIPETOWARP_H

#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn {

/// How the values of a kernel are held whose tiles some warps compute:
/// - a tile in registers is one fragment, rows over warps;
/// - a tile in shared memory is its ring and its slot;
/// - a view is its first address, its row stride, its number of rows, its head
///   and its batch entry;
/// - a channel is its ring, and where another role feeds it the barriers that
///   say which slots are full and which are empty.
/// - a mail is its place and two such barriers.
/// With whole panels, the rows of a ring that products read are padded to the
/// width of the 128-byte swizzle, which wgmma and TMA need.
class WarpTypeConverter : public mlir::TypeConverter {
public:
  WarpTypeConverter(int64_t warps, bool wholePanels);
  int64_t getWarps() const { return warps; }

private:
  int64_t warps;
};

/// A pattern of this conversion: knows the role's warps.
template <typename Op>
class WarpPattern : public mlir::OpConversionPattern<Op> {
public:
  WarpPattern(const WarpTypeConverter &converter, mlir::MLIRContext *context)
      : mlir::OpConversionPattern<Op>(converter, context),
        warps(converter.getWarps()) {}

protected:
  /// Warps of the role around an operation.
  int64_t warpsAround(mlir::Operation *op) const {
    auto role = op->getParentOfType<warp::RoleOp>();
    return role ? static_cast<int64_t>(role.getWarps()) : warps;
  }

  int64_t warps; ///< that hold the tiles
};

/// Arithmetic on tiles.
void populateTileToWarp(mlir::RewritePatternSet &patterns,
                        const WarpTypeConverter &converter);
/// Channels, views and stores.
void populateChannelsToWarp(mlir::RewritePatternSet &patterns,
                            const WarpTypeConverter &converter);
/// Work loops.
void populateWorkToWarp(mlir::RewritePatternSet &patterns,
                        const WarpTypeConverter &converter);
/// Roles, turns, key loops and choices.
void populateLoopsToWarp(mlir::RewritePatternSet &patterns,
                         const WarpTypeConverter &converter);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_PIPETOWARP_PIPETOWARP_H
