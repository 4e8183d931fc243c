//===- MathToNVVM.cpp - Functions to what the GPU has ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTMATHTONVVM
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

namespace {

/// `Op` is `after * intrinsic(before * x)`.
template <typename Op> struct Approximate : OpRewritePattern<Op> {
  Approximate(MLIRContext *context, StringRef intrinsic, double before = 1.0,
              double after = 1.0)
      : OpRewritePattern<Op>(context), intrinsic(intrinsic), before(before),
        after(after) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Location loc = op.getLoc();
    auto scale = [&](Value value, double factor) -> Value {
      if (factor == 1.0)
        return value;
      Value constant =
          arith::ConstantFloatOp::create(rewriter, loc, rewriter.getF32Type(),
                                         APFloat(static_cast<float>(factor)));
      return arith::MulFOp::create(rewriter, loc, value, constant);
    };
    auto call = LLVM::CallIntrinsicOp::create(
        rewriter, loc, op.getType(), rewriter.getStringAttr(intrinsic),
        ValueRange(scale(op.getOperand(), before)));
    rewriter.replaceOp(op, scale(call.getResults(), after));
    return success();
  }

  StringRef intrinsic;
  double before, after;
};

/// The only way to `tanh.approx`: LLVM's own intrinsic, allowed to approximate.
struct ApproximateTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    auto flags =
        LLVM::FastmathFlagsAttr::get(op.getContext(), LLVM::FastmathFlags::afn);
    rewriter.replaceOpWithNewOp<LLVM::TanhOp>(op, op.getType(), op.getOperand(),
                                              flags);
    return success();
  }
};

/// The float of an index plus a constant, as a sum of floats. Neighbouring
/// elements then share the conversion, which runs at a sixteenth of the rate of
/// a sum (CUDA C++ Programming Guide, arithmetic instructions). Exact up to
/// 2^24; beyond, both round, to within one unit in the last place.
struct ConvertIndexOnce : OpRewritePattern<arith::SIToFPOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SIToFPOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    auto difference = op.getIn().getDefiningOp<arith::SubIOp>();
    Value sum = difference ? difference.getLhs() : op.getIn();
    auto add = sum.getDefiningOp<arith::AddIOp>();
    APInt constant;
    if (!add || !matchPattern(add.getRhs(), m_ConstantInt(&constant)) ||
        !isExact(constant))
      return failure();
    Location loc = op.getLoc();
    Value index = add.getLhs();
    if (difference)
      index = arith::SubIOp::create(rewriter, loc, index, difference.getRhs());
    Value shared = arith::SIToFPOp::create(rewriter, loc, op.getType(), index);
    Value offset = arith::ConstantFloatOp::create(
        rewriter, loc, rewriter.getF32Type(),
        APFloat(static_cast<float>(constant.getSExtValue())));
    rewriter.replaceOpWithNewOp<arith::AddFOp>(op, shared, offset);
    return success();
  }

  static bool isExact(const APInt &constant) {
    constexpr unsigned floatPrecision = 24;
    return constant.getSignificantBits() <= floatPrecision;
  }
};

struct ConvertMathToNVVM
    : attn::impl::ConvertMathToNVVMBase<ConvertMathToNVVM> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    constexpr StringRef ex2 = "llvm.nvvm.ex2.approx.ftz.f32";
    constexpr StringRef lg2 = "llvm.nvvm.lg2.approx.ftz.f";
    constexpr double log2e = llvm::numbers::log2e, ln2 = llvm::numbers::ln2;
    patterns.add<Approximate<math::Exp2Op>>(context, ex2);
    patterns.add<Approximate<math::ExpOp>>(context, ex2, log2e);
    patterns.add<Approximate<math::Log2Op>>(context, lg2);
    patterns.add<Approximate<math::LogOp>>(context, lg2, 1.0, ln2);
    patterns.add<Approximate<math::SqrtOp>>(context,
                                            "llvm.nvvm.sqrt.approx.ftz.f");
    patterns.add<ApproximateTanh, ConvertIndexOnce>(context);
    // Exact, but convert-gpu-to-nvvm refuses LLVM's op for it.
    patterns.add<Approximate<math::AbsFOp>>(context, "llvm.fabs.f32");
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
