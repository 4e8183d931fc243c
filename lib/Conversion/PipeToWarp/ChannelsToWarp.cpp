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
#include "mlir/Dialect/SCF/IR/SCF.h"

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

/// Of a ragged view, for tensor copies: how many rows there are. Null for
/// others, whose map knows it.
Value rowsOfSequence(Value view, ValueRange lowered) {
  auto make = view.getDefiningOp<tile::MakeViewOp>();
  return make && make.getRagged() ? lowered[2] : Value();
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
    if (failed(typeConverter->convertType(op.getChannel(), types)))
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
    // One thread starts the tensor copy that fills a slot; of cp.async, each
    // thread of the loading role says that its own have landed.
    bool byTma = op.getVia() == pipe::Via::Tma;
    constexpr int64_t warpThreads = 32;
    int64_t arrivals = byTma ? 1 : facts.loadingWarps * warpThreads;
    if (pipe::isSignalled(op.getChannel()))
      values.push_back(makeBarriers(rewriter, op.getLoc(), types[1], arrivals));
    // Each warp that reads a slot says that it is empty.
    if (pipe::isFed(op.getChannel()))
      values.push_back(makeBarriers(rewriter, op.getLoc(), types[2], warps));
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

/// One thread sends, each warp of the other role says that it has read, and of
/// its own role where more threads than that one load.
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
    int64_t readers = warps + (facts.oneLoads ? 0 : facts.loadingWarps);
    Value empty = OpenPattern::makeBarriers(rewriter, loc, types[2], readers);
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
    pipe::ChannelType channel = op.getChannel().getType();
    ValueRange values = adaptor.getChannel();
    bool fed = channel.getFed();
    bool byTma = pipe::viaOf(op.getChannel()) == pipe::Via::Tma;
    Rows rows = byTma ? Rows() : rowsOf(rewriter, op, adaptor);
    Value slot = slotOf(rewriter, loc, channel, op.getOrdinal());
    if (fed)
      awaitEmpty(rewriter, op, values[2], slot);
    if (!byTma) {
      warp::CpAsyncOp::create(rewriter, loc, values.front(), slot, rows.address,
                              rows.stride, rows.count, op.getWhen(),
                              op.getView().getType().getColumns(),
                              warpsAround(op));
      // Also when nothing is copied: takes count groups.
      if (fed)
        warp::CpAsyncArriveOp::create(rewriter, loc, values[1], slot);
      else
        warp::CpAsyncCommitOp::create(rewriter, loc);
    } else if (fed) {
      startTensorCopy(rewriter, op, adaptor, slot);
    } else {
      startAlone(rewriter, op, adaptor, slot);
    }
    rewriter.eraseOp(op);
    return success();
  }

  static Rows rowsOf(OpBuilder &builder, pipe::PutOp op,
                     OneToNOpAdaptor adaptor) {
    Location loc = op.getLoc();
    Rows rows = rowsFrom(builder, loc, op.getView().getType(),
                         adaptor.getView(), op.getRow());
    if (op.getWhole())
      rows.count = constant(builder, loc,
                            op.getChannel().getType().getTile().getSizes()[0]);
    return rows;
  }

  /// Waits until the slot is empty. In the first round it is, though nobody
  /// said so: the phase before the first counts as complete (PTX ISA,
  /// mbarrier.try_wait).
  static void awaitEmpty(OpBuilder &builder, pipe::PutOp op, Value empty,
                         Value slot) {
    Location loc = op.getLoc();
    Value parity =
        parityOf(builder, loc, op.getChannel().getType(), op.getOrdinal());
    Value before =
        arith::XOrIOp::create(builder, loc, parity, constant(builder, loc, 1));
    warp::MbarWaitOp::create(builder, loc, empty, slot, before);
  }

  /// One thread, that around, starts the copy that makes the slot full.
  static void startTensorCopy(OpBuilder &builder, pipe::PutOp op,
                              OneToNOpAdaptor adaptor, Value slot) {
    Location loc = op.getLoc();
    Value ring = adaptor.getChannel()[0], full = adaptor.getChannel()[1];
    warp::MbarExpectOp::create(
        builder, loc, full, slot,
        cast<warp::BufferType>(ring.getType()).getSlotBytes());
    auto open = op.getChannel().getDefiningOp<pipe::OpenOp>();
    ValueRange view = adaptor.getView();
    warp::TmaLoadOp::create(builder, loc, ring, slot, open.getMap(),
                            op.getRow(), view[3], view[4],
                            rowsOfSequence(op.getView(), view), full, slot);
  }

  /// One thread of a role that feeds itself starts the copy. A put that is
  /// switched off is no tile: its phase stays the next one's.
  static void startAlone(OpBuilder &builder, pipe::PutOp op,
                         OneToNOpAdaptor adaptor, Value slot) {
    OpBuilder::InsertionGuard guard(builder);
    if (op.getWhen()) {
      auto branch = scf::IfOp::create(builder, op.getLoc(), op.getWhen());
      builder.setInsertionPoint(branch.thenYield());
    }
    auto single = warp::SingleOp::create(builder, op.getLoc());
    builder.createBlock(&single.getBody());
    startTensorCopy(builder, op, adaptor, slot);
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
    // What cp.async wrote is shown to asynchronous products by whoever knows
    // that it has landed: the thread that waits for its own group, or, since
    // the loading role does not wait, each thread that waits for the phase (PTX
    // ISA, "Async proxy": the fence stands on the way from the store to the
    // read).
    bool fences =
        facts.asyncReads && pipe::viaOf(op.getChannel()) != pipe::Via::Tma;
    if (pipe::isSignalled(op.getChannel())) {
      warp::MbarWaitOp::create(
          rewriter, loc, adaptor.getChannel()[1], slot,
          parityOf(rewriter, loc, channel, op.getOrdinal()));
      if (fences)
        warp::FenceAsyncOp::create(rewriter, loc);
    } else if (!op.getJoined()) {
      warp::CpAsyncWaitOp::create(rewriter, loc, op.getPending().value_or(0));
      if (fences)
        warp::FenceAsyncOp::create(rewriter, loc);
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
    if (channel.getFed()) {
      // One lane arrives, for what all lanes have read.
      if (!facts.asyncReads)
        warp::SyncWarpOp::create(rewriter, op.getLoc());
      warp::MbarArriveOp::create(
          rewriter, op.getLoc(), adaptor.getChannel()[2],
          slotOf(rewriter, op.getLoc(), channel, op.getOrdinal()));
    }
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
    Value channel = op.getChannel(), map = pipe::drainMapOf(channel);
    tile::ViewType view = op.getView().getType();
    Rows rows =
        map ? Rows()
            : rowsFrom(rewriter, loc, view, adaptor.getView(), op.getRow());
    Value ring = adaptor.getChannel().front();
    Value slot = constant(rewriter, loc, 0);
    auto meet = [&] { meetAt(rewriter, loc, channel, warps); };
    meet();
    warp::StoreSharedOp::create(rewriter, loc, adaptor.getTile().front(), ring,
                                slot);
    if (isReachedAsync(channel))
      warp::FenceAsyncOp::create(rewriter, loc);
    meet();
    if (map) {
      ValueRange lowered = adaptor.getView();
      warp::TmaStoreOp::create(rewriter, loc, ring, slot, map, op.getRow(),
                               lowered[3], lowered[4],
                               rowsOfSequence(op.getView(), lowered), warps);
    } else {
      warp::CopyOutOp::create(rewriter, loc, ring, slot, rows.address,
                              rows.stride, rows.count, view.getColumns(), warps,
                              /*own_rows=*/!pipe::isAlias(channel));
      meet();
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// A warp holds whole rows. In memory of its own it meets nobody there.
  static void meetAt(OpBuilder &builder, Location loc, Value channel,
                     int64_t warps) {
    if (pipe::isAlias(channel))
      warp::BarrierOp::create(builder, loc, warps);
    else
      warp::SyncWarpOp::create(builder, loc);
  }

private:
  /// Whether copies or products reach the memory another way than stores.
  bool isReachedAsync(Value channel) const {
    if (pipe::drainMapOf(channel))
      return true;
    auto open = channel.getDefiningOp<pipe::OpenOp>();
    return open && open.getAlias() &&
           (facts.asyncReads || pipe::viaOf(open.getAlias()) == pipe::Via::Tma);
  }
};

struct DrainedPattern : WarpPattern<pipe::DrainedOp> {
  using WarpPattern::WarpPattern;

  /// Each warp waits for the copies that it started. The drain that follows
  /// begins with a meeting; in memory of another channel the next use does not.
  LogicalResult
  matchAndRewrite(pipe::DrainedOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    warp::TmaStoreWaitOp::create(rewriter, op.getLoc());
    if (pipe::isAlias(op.getChannel()))
      DrainPattern::meetAt(rewriter, op.getLoc(), op.getChannel(), warps);
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
               DrainPattern, DrainedPattern, StorePattern>(
      converter, patterns.getContext());
}
