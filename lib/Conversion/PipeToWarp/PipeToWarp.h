//===- PipeToWarp.h - Types, patterns of convert-pipe-to-warp ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_PIPETOWARP_PIPETOWARP_H
#define ATTN_LIB_CONVERSION_PIPETOWARP_PIPETOWARP_H

#include "mlir/Transforms/DialectConversion.h"

namespace attn {

/// How the values of a role with some warps are held:
/// - a tile in registers is one fragment, rows over warps;
/// - a tile in shared memory is its ring and its slot;
/// - a view is its first address, its row stride and its number of rows;
/// - a channel is its ring.
class WarpTypeConverter : public mlir::TypeConverter {
public:
  explicit WarpTypeConverter(int64_t warps);
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
  int64_t warps;
};

/// Arithmetic on tiles.
void populateTileToWarp(mlir::RewritePatternSet &patterns,
                        const WarpTypeConverter &converter);
/// Channels, views and stores.
void populateChannelsToWarp(mlir::RewritePatternSet &patterns,
                            const WarpTypeConverter &converter);
/// Roles, work loops and key loops.
void populateLoopsToWarp(mlir::RewritePatternSet &patterns,
                         const WarpTypeConverter &converter);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_PIPETOWARP_PIPETOWARP_H
