//===- LoopsToWarp.cpp - Roles, key loops and choices -- ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipeToWarp.h"
#include "attn/Analysis/KeyTiles.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

bool attn::startsFromOneThread(pipe::RoleOp role) {
  bool onlyTma = true;
  role.walk([&](Operation *inner) {
    if (auto put = dyn_cast<pipe::PutOp>(inner))
      onlyTma &= pipe::viaOf(put.getChannel()) == pipe::Via::Tma;
    onlyTma &= !isa<pipe::TakeOp, pipe::SyncOp, pipe::DrainOp, pipe::AwaitOp,
                    tile::StoreOp>(inner);
  });
  return onlyTma;
}

namespace {

/// Barrier 0 is for all warps of a role.
constexpr int64_t firstTurnBarrier = 1;
constexpr int64_t warpsPerGroup = 4;
int64_t groupsOf(int64_t warps) { return warps / warpsPerGroup; }

struct RolePattern : WarpPattern<pipe::RoleOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(pipe::RoleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int64_t first = 0;
    for (Operation *before = op->getPrevNode(); before;
         before = before->getPrevNode())
      if (auto role = dyn_cast<warp::RoleOp>(before))
        first += role.getWarps();
    auto next = dyn_cast_or_null<pipe::RoleOp>(op->getNextNode());
    bool takesTurns = op.walk([](pipe::TurnWaitOp) {
                          return WalkResult::interrupt();
                        }).wasInterrupted();
    auto startTurns = [&] {
      if (takesTurns)
        warp::TurnStartOp::create(rewriter, op.getLoc(),
                                  groupsOf(op.getWarps()), firstTurnBarrier);
    };
    if (first == 0 && !next) {
      startTurns();
      rewriter.inlineBlockBefore(&op.getBody().front(), op);
      rewriter.eraseOp(op);
      return success();
    }
    auto role = warp::RoleOp::create(rewriter, op.getLoc(), op.getName(), first,
                                     op.getWarps());
    Block *body = rewriter.createBlock(&role.getBody());
    startTurns();
    if (startsFromOneThread(op)) {
      auto single = warp::SingleOp::create(rewriter, op.getLoc());
      body = rewriter.createBlock(&single.getBody());
    }
    rewriter.inlineBlockBefore(&op.getBody().front(), body, body->end());
    rewriter.eraseOp(op);
    return success();
  }
};

template <typename Turn, typename WarpTurn>
struct TurnPattern : WarpPattern<Turn> {
  using WarpPattern<Turn>::WarpPattern;

  LogicalResult
  matchAndRewrite(Turn op, typename WarpPattern<Turn>::OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<WarpTurn>(op, groupsOf(this->warpsAround(op)),
                                          firstTurnBarrier);
    return success();
  }
};

struct ForKeysPattern : WarpPattern<tile::ForKeysOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::ForKeysOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value step = arith::ConstantIntOp::create(
        rewriter, loc, rewriter.getI32Type(), op.getStep());
    // scf.for counts up: the place is begin + end - step - iv.
    Value sum =
        arith::AddIOp::create(rewriter, loc, op.getBegin(), op.getEnd());
    Value mirror = arith::SubIOp::create(rewriter, loc, sum, step);
    auto loop = scf::ForOp::create(rewriter, loc, op.getBegin(), op.getEnd(),
                                   step, adaptor.getInits());
    if (failed(rewriter.convertRegionTypes(&op.getBody(), *typeConverter)))
      return failure();
    Block *body = loop.getBody();
    // A loop without carried values was given its terminator already.
    if (!body->empty())
      rewriter.eraseOp(&body->back());
    rewriter.setInsertionPointToStart(body);
    SmallVector<Value> arguments = {
        arith::SubIOp::create(rewriter, loc, mirror, loop.getInductionVar())};
    llvm::append_range(arguments, loop.getRegionIterArgs());
    rewriter.inlineBlockBefore(&op.getBody().front(), body, body->end(),
                               arguments);
    rewriter.replaceOp(op, loop.getResults());
    return success();
  }
};

/// place + shift of the first range whose threshold is at or left of it, or the
/// element of the list that this stands for.
struct KeyAtPattern : WarpPattern<tile::KeyAtOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::KeyAtOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value key = emitKeyAt(rewriter, op.getLoc(), op.getPlace(),
                          op.getThresholds(), op.getShifts());
    if (op.getList())
      key = readList(op, key, rewriter);
    rewriter.replaceOp(op, key);
    return success();
  }

private:
  static Value readList(tile::KeyAtOp op, Value place, OpBuilder &builder) {
    Location loc = op.getLoc();
    Type i32 = builder.getI32Type();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(builder, loc, i32, value);
    };
    // Puts ahead of the last tile ask for places that no tile has.
    int64_t step = *op.getStep();
    Value first = arith::MaxSIOp::create(builder, loc, place, constant(-step));
    Value moved = arith::AddIOp::create(builder, loc, first, constant(step));
    Value index = arith::DivUIOp::create(builder, loc, moved, constant(step));
    auto element =
        LLVM::GEPOp::create(builder, loc, op.getList().getType(), i32,
                            op.getList(), ArrayRef<LLVM::GEPArg>{index});
    auto address = LLVM::GEPOp::create(builder, loc, element.getType(), i32,
                                       element, ArrayRef<LLVM::GEPArg>{-1});
    return LLVM::LoadOp::create(builder, loc, i32, address, /*alignment=*/0,
                                /*isVolatile=*/false, /*isNonTemporal=*/false,
                                /*isInvariant=*/true);
  }
};

struct YieldPattern : WarpPattern<tile::YieldOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::YieldOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<scf::ForOp>(op->getParentOp()))
      return failure();
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, adaptor.getValues());
    return success();
  }
};

/// An scf.if that chooses between tiles, from attn-skip-masked.
struct IfPattern : WarpPattern<scf::IfOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(scf::IfOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(typeConverter->convertTypes(op.getResultTypes(), types)))
      return failure();
    auto choice =
        scf::IfOp::create(rewriter, op.getLoc(), types, adaptor.getCondition(),
                          /*addThenBlock=*/false,
                          /*addElseBlock=*/false);
    rewriter.inlineRegionBefore(op.getThenRegion(), choice.getThenRegion(),
                                choice.getThenRegion().end());
    rewriter.inlineRegionBefore(op.getElseRegion(), choice.getElseRegion(),
                                choice.getElseRegion().end());
    rewriter.replaceOp(op, choice.getResults());
    return success();
  }
};

struct ScfYieldPattern : WarpPattern<scf::YieldOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(scf::YieldOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, adaptor.getOperands());
    return success();
  }
};

} // namespace

void attn::populateLoopsToWarp(RewritePatternSet &patterns,
                               const WarpTypeConverter &converter) {
  patterns.add<TurnPattern<pipe::TurnWaitOp, warp::TurnWaitOp>,
               TurnPattern<pipe::TurnPassOp, warp::TurnPassOp>, RolePattern,
               ForKeysPattern, KeyAtPattern, YieldPattern, IfPattern,
               ScfYieldPattern>(converter, patterns.getContext());
}
