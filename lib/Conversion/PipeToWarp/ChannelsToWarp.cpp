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

Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                      value);
}

Value slotOf(OpBuilder &builder, Location loc, pipe::ChannelType channel,
             Value ordinal) {
  return arith::RemUIOp::create(builder, loc, ordinal,
                                constant(builder, loc, channel.getDepth()));
}

/// The phase of a slot's barrier in which tile `ordinal` fills it: 0, 1, 0, ...
Value parityOf(OpBuilder &builder, Location loc, pipe::ChannelType channel,
               Value ordinal) {
  Value round = arith::DivUIOp::create(
      builder, loc, ordinal, constant(builder, loc, channel.getDepth()));
  return arith::AndIOp::create(builder, loc, round, constant(builder, loc, 1));
}

struct MakeViewPattern : WarpPattern<tile::MakeViewOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::MakeViewOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value first = LLVM::GEPOp::create(
        rewriter, op.getLoc(), op.getBase().getType(),
        op.getType().getElementType(), op.getBase(), op.getOffset());
    bool placed = !op.getPosition().empty();
    Value zero = placed ? Value() : constant(rewriter, op.getLoc(), 0);
    Value head = placed ? op.getPosition()[0] : zero;
    Value batch = placed ? op.getPosition()[1] : zero;
    rewriter.replaceOpWithMultiple(
        op,
        {SmallVector<Value>{first, op.getStride(), op.getRows(), head, batch}});
    return success();
  }
};

struct OpenPattern : WarpPattern<pipe::OpenOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::OpenOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(typeConverter->convertType(op.getType(), types)))
      return failure();
    auto alloc = warp::AllocOp::create(rewriter, op.getLoc(),
                                       cast<warp::BufferType>(types.front()),
                                       IntegerAttr());
    // Rings of one group share their bytes (attn-allocate-shared).
    auto root = op;
    while (root.getAlias())
      root = root.getAlias().getDefiningOp<pipe::OpenOp>();
    alloc->setAttr("warp.group", root.getNameAttr());
    SmallVector<Value> values = {alloc};
    if (op.getType().getFed()) {
      // One thread starts the copies that fill a slot; each warp that reads it
      // says that it is empty.
      values.push_back(makeBarriers(rewriter, op.getLoc(), types[1], 1));
      values.push_back(makeBarriers(rewriter, op.getLoc(), types[2], warps));
    }
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }

  static Value makeBarriers(OpBuilder &builder, Location loc, Type type,
                            int64_t arrivals) {
    auto barriers = warp::MbarAllocOp::create(
        builder, loc, cast<warp::BarriersType>(type), IntegerAttr());
    warp::MbarInitOp::create(builder, loc, barriers, arrivals);
    return barriers;
  }
};

/// One thread sends, each warp of the other role says that it has read.
struct OpenMailPattern : WarpPattern<pipe::OpenMailOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::OpenMailOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Type> types;
    if (failed(typeConverter->convertType(op.getType(), types)))
      return failure();
    auto mail =
        warp::MailAllocOp::create(rewriter, loc, types[0], IntegerAttr());
    Value full = OpenPattern::makeBarriers(rewriter, loc, types[1], 1);
    Value empty = OpenPattern::makeBarriers(rewriter, loc, types[2], warps);
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>{mail, full, empty}});
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
    if (op.getChannel().getType().getFed()) {
      feed(rewriter, op, adaptor);
      return success();
    }
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

  /// Waits until the slot is empty and starts the copy that makes it full. In
  /// the first round a slot is empty though nobody said so: the phase before
  /// the first counts as complete (PTX ISA, mbarrier.try_wait).
  static void feed(ConversionPatternRewriter &rewriter, pipe::PutOp op,
                   OneToNOpAdaptor adaptor) {
    Location loc = op.getLoc();
    pipe::ChannelType channel = op.getChannel().getType();
    Value ring = adaptor.getChannel()[0], full = adaptor.getChannel()[1];
    Value slot = slotOf(rewriter, loc, channel, op.getOrdinal());
    Value parity = parityOf(rewriter, loc, channel, op.getOrdinal());
    Value before = arith::XOrIOp::create(rewriter, loc, parity,
                                         constant(rewriter, loc, 1));
    warp::MbarWaitOp::create(rewriter, loc, adaptor.getChannel()[2], slot,
                             before);
    warp::MbarExpectOp::create(
        rewriter, loc, full, slot,
        cast<warp::BufferType>(ring.getType()).getSlotBytes());
    auto open = op.getChannel().getDefiningOp<pipe::OpenOp>();
    warp::TmaLoadOp::create(rewriter, loc, ring, slot, open.getMap(),
                            op.getRow(), adaptor.getView()[3],
                            adaptor.getView()[4], full, slot);
    rewriter.eraseOp(op);
  }
};

struct TakePattern : WarpPattern<pipe::TakeOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::TakeOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    pipe::ChannelType channel = op.getChannel().getType();
    Value slot = slotOf(rewriter, loc, channel, op.getOrdinal());
    if (channel.getFed()) {
      warp::MbarWaitOp::create(
          rewriter, loc, adaptor.getChannel()[1], slot,
          parityOf(rewriter, loc, channel, op.getOrdinal()));
    } else if (!op.getJoined()) {
      warp::CpAsyncWaitOp::create(rewriter, loc, op.getPending().value_or(0));
      warp::BarrierOp::create(rewriter, loc, warps);
    }
    rewriter.replaceOpWithMultiple(
        op, {SmallVector<Value>{adaptor.getChannel().front(), slot}});
    return success();
  }
};

struct ReleasePattern : WarpPattern<pipe::ReleaseOp> {
  using WarpPattern::WarpPattern;

  /// In a role that feeds itself, the barriers that attn-place-waits put say
  /// that a slot is free.
  LogicalResult
  matchAndRewrite(pipe::ReleaseOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    pipe::ChannelType channel = op.getChannel().getType();
    if (channel.getFed())
      warp::MbarArriveOp::create(
          rewriter, op.getLoc(), adaptor.getChannel()[2],
          slotOf(rewriter, op.getLoc(), channel, op.getOrdinal()));
    rewriter.eraseOp(op);
    return success();
  }
};

struct AwaitPattern : WarpPattern<pipe::AwaitOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::AwaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<warp::WgmmaWaitOp>(
        op, adaptor.getValues().getTypes(), adaptor.getValues(),
        op.getPending());
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
    Value slot = constant(rewriter, loc, 0);
    auto open = op.getChannel().getDefiningOp<pipe::OpenOp>();
    // A warp holds whole rows. In memory of its own it meets nobody there.
    bool ownRows = !open || !open.getAlias();
    auto meet = [&] {
      if (ownRows)
        warp::SyncWarpOp::create(rewriter, loc);
      else
        warp::BarrierOp::create(rewriter, loc, warps);
    };
    meet();
    warp::StoreSharedOp::create(rewriter, loc, adaptor.getTile().front(), ring,
                                slot);
    meet();
    warp::CopyOutOp::create(rewriter, loc, ring, slot, rows.address,
                            rows.stride, rows.count, view.getColumns(), warps,
                            ownRows);
    meet();
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
  patterns.add<MakeViewPattern, OpenPattern, OpenMailPattern, PutPattern,
               TakePattern, ReleasePattern, AwaitPattern, SyncPattern,
               DrainPattern, StorePattern>(converter, patterns.getContext());
}
