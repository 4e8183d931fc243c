//===- PipeToWarp.h - Types, patterns of convert-pipe-to-warp ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_PIPETOWARP_PIPETOWARP_H
#define ATTN_LIB_CONVERSION_PIPETOWARP_PIPETOWARP_H

#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn {

/// What the conversion must know of a kernel.
struct KernelFacts {
  int64_t warps;        ///< that hold the tiles in registers
  int64_t loadingWarps; ///< of the role that loads; 0: there is none
  bool oneLoads;        ///< one thread of that role does
  /// Products are asynchronous: they read shared memory through a proxy to
  /// which stores and cp.async have to be shown.
  bool asyncReads;
  /// The rows of rings that operands pass through are padded to the width of
  /// the 128-byte swizzle, which wgmma and TMA need.
  bool wholePanels;
};

/// Whether all that a role does is start copies that one thread can start.
bool startsFromOneThread(pipe::RoleOp role);

/// How the values of a kernel are held:
/// - a tile in registers is one fragment, rows over warps;
/// - a tile in shared memory is its ring and its slot;
/// - a view is its first address, its row stride, its number of rows, its head
///   and its batch entry;
/// - a channel is its ring, where slots are signalled the barriers that say
/// which
///   are full, and where another role fills them those that say which are
///   empty.
/// - a mail is its place and two such barriers.
class WarpTypeConverter : public mlir::TypeConverter {
public:
  explicit WarpTypeConverter(const KernelFacts &facts);
  const KernelFacts &getFacts() const { return facts; }

private:
  KernelFacts facts;
};

/// A pattern of this conversion: knows the kernel, and the role's warps.
template <typename Op>
class WarpPattern : public mlir::OpConversionPattern<Op> {
public:
  WarpPattern(const WarpTypeConverter &converter, mlir::MLIRContext *context)
      : mlir::OpConversionPattern<Op>(converter, context),
        facts(converter.getFacts()), warps(facts.warps) {}

protected:
  /// Warps of the role around an operation.
  int64_t warpsAround(mlir::Operation *op) const {
    auto role = op->getParentOfType<warp::RoleOp>();
    return role ? static_cast<int64_t>(role.getWarps()) : warps;
  }

  const KernelFacts &facts;
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
