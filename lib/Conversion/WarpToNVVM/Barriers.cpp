//===- Barriers.cpp - Lowering of mbarriers and of tensor copies ----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Layout/RaggedMap.h"

using namespace mlir;
using namespace attn::warp;
using attn::layout::Panel;

namespace {

struct MbarInitLowering : WarpPattern<MbarInitOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(MbarInitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    Value arrivals = emitter.i32(op.getArrivals());
    auto branch = scf::IfOp::create(rewriter, op.getLoc(),
                                    position.firstOfBlock(emitter));
    rewriter.setInsertionPoint(branch.thenYield());
    for (int64_t slot = 0; slot < op.getBarriers().getType().getSlots(); ++slot)
      NVVM::MBarrierInitOp::create(
          rewriter, op.getLoc(),
          emitter.offset(adaptor.getBarriers().front(),
                         slot * BarriersType::barrierBytes),
          arrivals, /*predicate=*/Value());
    rewriter.eraseOp(op);
    return success();
  }
};

/// A generic access to shared memory before, an asynchronous one after.
void fenceAsync(Emitter &emitter) {
  MLIRContext *context = emitter.builder.getContext();
  NVVM::FenceProxyOp::create(
      emitter.builder, emitter.loc,
      NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

struct MbarPublishLowering : WarpPattern<MbarPublishOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(MbarPublishOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    auto branch = scf::IfOp::create(rewriter, op.getLoc(),
                                    position.firstOfBlock(emitter));
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(branch.thenYield());
      // Without asynchronous copies there is nobody else to show them to.
      if (hasAsyncProxy(op)) {
        NVVM::FenceMbarrierInitOp::create(rewriter, op.getLoc());
        fenceAsync(emitter);
      }
    }
    NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange(), emitter.i32(0),
                            emitter.i32(op.getWarps() * warpThreads),
                            NVVM::BarrierReductionAttr(), Value());
    rewriter.eraseOp(op);
    return success();
  }
};

/// A loop around `try_wait`, which gives up after a while, or where there is
/// none `test_wait`, which does at once. The intrinsic counts as an access to
/// all memory: nothing moves across it.
struct MbarWaitLowering : WarpPattern<MbarWaitOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(MbarWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    Value address = barrierAddress(emitter, op.getBarriers().getType(),
                                   adaptor.getBarriers().front(), op.getSlot());
    Value yes = arith::ConstantIntOp::create(rewriter, op.getLoc(), 1, 1);
    scf::WhileOp::create(
        rewriter, op.getLoc(), TypeRange(), ValueRange(),
        [&](OpBuilder &builder, Location loc, ValueRange) {
          Emitter inside(builder, loc);
          Value ended = hasAsyncProxy(op)
                            ? inside.intrinsic("llvm.nvvm.mbarrier.try.wait."
                                               "parity.scope.cta.space.cta",
                                               builder.getI1Type(),
                                               {address, op.getParity()})
                            : testPhase(inside, address, op.getParity());
          scf::ConditionOp::create(builder, loc, inside.exclusiveOr(ended, yes),
                                   ValueRange());
        },
        [](OpBuilder &builder, Location loc, ValueRange) {
          scf::YieldOp::create(builder, loc);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

struct MbarExpectLowering : WarpPattern<MbarExpectOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(MbarExpectOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    Value address = barrierAddress(emitter, op.getBarriers().getType(),
                                   adaptor.getBarriers().front(), op.getSlot());
    emitter.intrinsic("llvm.nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta",
                      rewriter.getI64Type(),
                      {address, emitter.i32(op.getBytes())});
    rewriter.eraseOp(op);
    return success();
  }
};

struct MbarSignalLowering : WarpPattern<MbarSignalOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(MbarSignalOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    Value address = barrierAddress(emitter, op.getBarriers().getType(),
                                   adaptor.getBarriers().front(), op.getSlot());
    if (hasAsyncProxy(op))
      emitter.intrinsic("llvm.nvvm.mbarrier.arrive.scope.cta.space.cta",
                        rewriter.getI64Type(), {address, emitter.i32(1)});
    else
      emitter.intrinsic("llvm.nvvm.mbarrier.arrive.shared",
                        rewriter.getI64Type(), address);
    rewriter.eraseOp(op);
    return success();
  }
};

struct MbarArriveLowering : WarpPattern<MbarArriveOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(MbarArriveOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    Value address = barrierAddress(emitter, op.getBarriers().getType(),
                                   adaptor.getBarriers().front(), op.getSlot());
    arriveFirstLane(emitter, address, position.lane(emitter));
    rewriter.eraseOp(op);
    return success();
  }
};

struct CpAsyncArriveLowering : WarpPattern<CpAsyncArriveOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(CpAsyncArriveOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    Value address = barrierAddress(emitter, op.getBarriers().getType(),
                                   adaptor.getBarriers().front(), op.getSlot());
    emitter.intrinsic("llvm.nvvm.cp.async.mbarrier.arrive.noinc.shared", Type(),
                      address);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Where a tensor copy begins that begins at `row`. The column comes first and
/// is left open.
template <typename Copy>
SmallVector<Value> coordinatesOf(Emitter &emitter, Copy op, Value row) {
  if (!op.getRows())
    return {Value(), row, op.getHead(), op.getBatch()};
  Value bound = emitter.i32(attn::layout::raggedBound);
  Value first =
      arith::SubIOp::create(emitter.builder, emitter.loc, bound, op.getRows());
  return {Value(), emitter.add(first, row), op.getHead(),
          emitter.add(op.getBatch(), op.getRows()), bound};
}

struct TmaLoadLowering : WarpPattern<TmaLoadOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(TmaLoadOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    BufferType type = op.getBuffer().getType();
    Value slot =
        slotAddress(emitter, type, adaptor.getBuffer().front(), op.getSlot());
    Value barrier =
        barrierAddress(emitter, op.getBarriers().getType(),
                       adaptor.getBarriers().front(), op.getBarrierSlot());
    SmallVector<Value> coordinates = coordinatesOf(emitter, op, op.getRow());
    for (const Panel &panel : type.getTile().panels()) {
      coordinates[0] = emitter.i32(panel.column);
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          rewriter, op.getLoc(),
          inCluster(emitter, emitter.offset(slot, panel.offset)), op.getMap(),
          coordinates, barrier, /*im2colOffsets=*/ValueRange(),
          /*multicastMask=*/Value(),
          /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
          /*isCTAOnly=*/false, /*group=*/nullptr, /*predicate=*/Value());
    }
    rewriter.eraseOp(op);
    return success();
  }

  /// The same address as one of the cluster's shared memory, of which the
  /// block's is a part (PTX ISA, "State Spaces: shared"). The form of the
  /// instruction that writes to the block's own needs a newer PTX.
  static Value inCluster(Emitter &emitter, Value pointer) {
    OpBuilder &builder = emitter.builder;
    auto type = LLVM::LLVMPointerType::get(
        builder.getContext(),
        static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
    Value address = LLVM::PtrToIntOp::create(builder, emitter.loc,
                                             builder.getI32Type(), pointer);
    return LLVM::IntToPtrOp::create(builder, emitter.loc, type, address);
  }
};

/// One thread of each warp starts the copies of the warp's rows. Its election
/// is the warp's, so that the assembler knows the branch to be taken by one.
struct TmaStoreLowering : WarpPattern<TmaStoreOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(TmaStoreOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    BufferType type = op.getBuffer().getType();
    Value slot =
        slotAddress(emitter, type, adaptor.getBuffer().front(), op.getSlot());
    int64_t rows = type.getRows() / static_cast<int64_t>(op.getWarps());
    Value first = emitter.mul(position.warp(emitter), emitter.i32(rows));
    Value elected = NVVM::ElectSyncOp::create(
        rewriter, op.getLoc(), rewriter.getI1Type(), /*membermask=*/Value());
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), elected);
    rewriter.setInsertionPoint(branch.thenYield());
    SmallVector<Value> coordinates =
        coordinatesOf(emitter, op, emitter.add(op.getRow(), first));
    for (const Panel &panel : type.getTile().panels()) {
      coordinates[0] = emitter.i32(panel.column);
      Value own = emitter.offset(emitter.offset(slot, panel.offset),
                                 emitter.mul(first, emitter.i32(panel.bytes)),
                                 rewriter.getI8Type());
      NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
          rewriter, op.getLoc(), op.getMap(), own, coordinates,
          /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE,
          /*predicate=*/Value());
    }
    NVVM::CpAsyncBulkCommitGroupOp::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

/// All lanes wait: those that started nothing have nothing to wait for.
struct TmaStoreWaitLowering : WarpPattern<TmaStoreWaitOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(TmaStoreWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncBulkWaitGroupOp>(
        op, /*group=*/0, /*read=*/rewriter.getUnitAttr());
    return success();
  }
};

struct FenceAsyncLowering : WarpPattern<FenceAsyncOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(FenceAsyncOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    fenceAsync(emitter);
    rewriter.eraseOp(op);
    return success();
  }
};

struct SyncWarpLowering : WarpPattern<SyncWarpOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(SyncWarpOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    rewriter.replaceOpWithNewOp<NVVM::SyncWarpOp>(op, emitter.i32(fullMask));
    return success();
  }
};

} // namespace

void attn::warp::populateBarrierPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         ThreadPosition &position) {
  patterns.add<PlaceLowering<MbarAllocOp>, MbarInitLowering,
               MbarPublishLowering, MbarWaitLowering, MbarExpectLowering,
               MbarArriveLowering, MbarSignalLowering, CpAsyncArriveLowering,
               PlaceLowering<MailAllocOp>, TmaLoadLowering, TmaStoreLowering,
               TmaStoreWaitLowering, FenceAsyncLowering, SyncWarpLowering>(
      converter, patterns.getContext(), position);
}
