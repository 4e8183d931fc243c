//===- Turns.cpp - Lowering of what warpgroups do in turn -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace attn::warp;

namespace {

/// Threads that meet at a barrier: the warpgroup whose turn comes, and the one
/// whose turn was.
constexpr int64_t turnThreads = 2 * groupWarps * warpThreads;

void arrive(Emitter &emitter, Value barrier) {
  emitter.intrinsic("llvm.nvvm.barrier.cta.arrive.aligned.count", Type(),
                    {barrier, emitter.i32(turnThreads)});
}

struct TurnStartLowering : WarpPattern<TurnStartOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(TurnStartOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    auto last = static_cast<int64_t>(op.getGroups()) - 1;
    auto branch = scf::IfOp::create(
        rewriter, op.getLoc(),
        emitter.equal(position.warpgroup(emitter), emitter.i32(last)));
    rewriter.setInsertionPoint(branch.thenYield());
    arrive(emitter, emitter.i32(op.getBarrier()));
    rewriter.eraseOp(op);
    return success();
  }
};

struct TurnWaitLowering : WarpPattern<TurnWaitOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(TurnWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    Value barrier =
        emitter.add(position.warpgroup(emitter), emitter.i32(op.getBarrier()));
    NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange(), barrier,
                            emitter.i32(turnThreads),
                            NVVM::BarrierReductionAttr(), Value());
    rewriter.eraseOp(op);
    return success();
  }
};

struct TurnPassLowering : WarpPattern<TurnPassOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(TurnPassOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    auto last = static_cast<int64_t>(op.getGroups()) - 1;
    Value group = position.warpgroup(emitter);
    Value first = emitter.i32(op.getBarrier());
    Value next = arith::SelectOp::create(
        rewriter, op.getLoc(), emitter.equal(group, emitter.i32(last)), first,
        emitter.add(group, emitter.i32(op.getBarrier() + 1)));
    arrive(emitter, next);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void attn::warp::populateTurnPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      ThreadPosition &position) {
  patterns.add<TurnStartLowering, TurnWaitLowering, TurnPassLowering>(
      converter, patterns.getContext(), position);
}
