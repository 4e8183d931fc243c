//===- ChannelsToWarp.cpp - Channels, views and stores --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipeToWarp.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attn;

namespace {

/// A view from some row on: its address, row stride and remaining rows.
struct Rows {
  Value address, stride, count;
};

Rows rowsFrom(OpBuilder &builder, Location loc, tile::ViewType type,
              ValueRange view, Value row) {
  Value wide = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), row);
  Value offset = arith::MulIOp::create(builder, loc, wide, view[1]);
  Value address = LLVM::GEPOp::create(builder, loc, view[0].getType(),
                                      type.getElementType(), view[0], offset);
  Value count = arith::SubIOp::create(builder, loc, view[2], row);
  return {address, view[1], count};
}

Value slotOf(OpBuilder &builder, Location loc, pipe::ChannelType channel,
             Value ordinal) {
  Value depth = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                             channel.getDepth());
  return arith::RemUIOp::create(builder, loc, ordinal, depth);
}

struct MakeViewPattern : WarpPattern<tile::MakeViewOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::MakeViewOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value first = LLVM::GEPOp::create(
        rewriter, op.getLoc(), op.getBase().getType(),
        op.getType().getElementType(), op.getBase(), op.getOffset());
    rewriter.replaceOpWithMultiple(
        op, {SmallVector<Value>{first, op.getStride(), op.getRows()}});
    return success();
  }
};

struct OpenPattern : WarpPattern<pipe::OpenOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::OpenOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto alloc = warp::AllocOp::create(
        rewriter, op.getLoc(),
        cast<warp::BufferType>(typeConverter->convertType(op.getType())),
        IntegerAttr());
    // Rings of one group share their bytes (attn-allocate-shared).
    auto root = op;
    while (root.getAlias())
      root = root.getAlias().getDefiningOp<pipe::OpenOp>();
    alloc->setAttr("warp.group", root.getNameAttr());
    rewriter.replaceOp(op, alloc);
    return success();
  }
};

struct PutPattern : WarpPattern<pipe::PutOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::PutOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    tile::ViewType view = op.getView().getType();
    Rows rows = rowsFrom(rewriter, loc, view, adaptor.getView(), op.getRow());
    if (op.getWhole())
      rows.count = arith::ConstantIntOp::create(
          rewriter, loc, rewriter.getI32Type(),
          op.getChannel().getType().getTile().getSizes()[0]);
    Value slot =
        slotOf(rewriter, loc, op.getChannel().getType(), op.getOrdinal());
    warp::CpAsyncOp::create(rewriter, loc, adaptor.getChannel().front(), slot,
                            rows.address, rows.stride, rows.count, op.getWhen(),
                            view.getColumns(), warps);
    // Also when nothing is copied: takes count groups.
    warp::CpAsyncCommitOp::create(rewriter, loc);
    rewriter.eraseOp(op);
    return success();
  }
};

struct TakePattern : WarpPattern<pipe::TakeOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::TakeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!op.getJoined()) {
      warp::CpAsyncWaitOp::create(rewriter, loc, op.getPending().value_or(0));
      warp::BarrierOp::create(rewriter, loc, warps);
    }
    Value slot =
        slotOf(rewriter, loc, op.getChannel().getType(), op.getOrdinal());
    rewriter.replaceOpWithMultiple(
        op, {SmallVector<Value>{adaptor.getChannel(), slot}});
    return success();
  }
};

struct ReleasePattern : WarpPattern<pipe::ReleaseOp> {
  using WarpPattern::WarpPattern;

  /// In a role that feeds itself, the barriers that attn-place-waits put say
  /// that a slot is free.
  LogicalResult
  matchAndRewrite(pipe::ReleaseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

struct SyncPattern : WarpPattern<pipe::SyncOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::SyncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<warp::BarrierOp>(op, warps);
    return success();
  }
};

struct DrainPattern : WarpPattern<pipe::DrainOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::DrainOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    tile::ViewType view = op.getView().getType();
    Rows rows = rowsFrom(rewriter, loc, view, adaptor.getView(), op.getRow());
    Value ring = adaptor.getChannel().front();
    Value slot =
        arith::ConstantIntOp::create(rewriter, loc, rewriter.getI32Type(), 0);
    warp::BarrierOp::create(rewriter, loc, warps);
    warp::StoreSharedOp::create(rewriter, loc, adaptor.getTile().front(), ring,
                                slot);
    warp::BarrierOp::create(rewriter, loc, warps);
    warp::CopyOutOp::create(rewriter, loc, ring, slot, rows.address,
                            rows.stride, rows.count, view.getColumns(), warps);
    warp::BarrierOp::create(rewriter, loc, warps);
    rewriter.eraseOp(op);
    return success();
  }
};

struct StorePattern : WarpPattern<tile::StoreOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    tile::ViewType view = op.getView().getType();
    Rows rows = rowsFrom(rewriter, loc, view, adaptor.getView(), op.getRow());
    Value value = adaptor.getTile().front();
    if (cast<tile::ValType>(op.getTile().getType()).getSizes().size() == 1)
      warp::StoreRowsOp::create(rewriter, loc, value, rows.address, rows.stride,
                                rows.count);
    else
      warp::StoreGlobalOp::create(rewriter, loc, value, rows.address,
                                  rows.stride, rows.count, view.getColumns());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void attn::populateChannelsToWarp(RewritePatternSet &patterns,
                                  const WarpTypeConverter &converter) {
  patterns.add<MakeViewPattern, OpenPattern, PutPattern, TakePattern,
               ReleasePattern, SyncPattern, DrainPattern, StorePattern>(
      converter, patterns.getContext());
}
