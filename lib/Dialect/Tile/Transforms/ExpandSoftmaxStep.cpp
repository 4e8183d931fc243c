//===- ExpandSoftmaxStep.cpp - The softmax as maps and reductions ---------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <limits>

namespace attn {
#define GEN_PASS_DEF_EXPANDSOFTMAXSTEP
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn::tile;

namespace {

constexpr double ln2 = 0.693147180559945309417;
constexpr double log2e = 1.44269504088896340736;

Value constantF32(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

/// value, or `other` where value equals `special`.
Value replaceWhere(OpBuilder &builder, Location loc, Value value,
                   double special, double other) {
  Value is = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                   value, constantF32(builder, loc, special));
  return arith::SelectOp::create(builder, loc, is,
                                 constantF32(builder, loc, other), value);
}

/// A logit that counts as -inf (contract C2). Where a row has a larger one, its
/// weight is 0 anyway; so the row maximum is the one place to test.
/// A sink is a logit of its own.
Value hiddenToMinusInfinity(OpBuilder &builder, Location loc, Value logit) {
  Value hidden = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE,
                                       logit, constantF32(builder, loc, -1e30));
  Value lowest =
      constantF32(builder, loc, -std::numeric_limits<double>::infinity());
  return arith::SelectOp::create(builder, loc, hidden, lowest, logit);
}

Value minusInfinityToZero(OpBuilder &builder, Location loc, Value value) {
  return replaceWhere(builder, loc, value,
                      -std::numeric_limits<double>::infinity(), 0.0);
}

/// The logits of a step, of which `base` (null without a ramp) is still to be
/// added: one value for each row and class of keys.
struct Logits {
  Value values, base;
};

/// slope * key = slope * first(class) + slope * place: the former goes into the
/// base, so that the multiplier of the latter is a constant.
Logits addRamp(SoftmaxStepOp op, IRRewriter &rewriter) {
  if (!op.getSlope())
    return {op.getLogits(), Value()};
  Location loc = op.getLoc();
  Value zero =
      arith::ConstantIntOp::create(rewriter, loc, rewriter.getI32Type(), 0);
  auto add = [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
    Value key = arith::SIToFPOp::create(b, loc, b.getF32Type(), v[1]);
    return math::FmaOp::create(b, loc, op.getSlope(), key, v[0]);
  };
  Value values =
      MapOp::create(rewriter, loc, op.getLogits().getType(), op.getLogits(),
                    ArrayRef<StringRef>{"k"}, zero, add, /*inClass=*/true);
  Value base = MapOp::create(rewriter, loc, op.getSum().getType(), op.getBase(),
                             ArrayRef<StringRef>{"r"}, zero, add);
  return {values, base};
}

void expandStep(SoftmaxStepOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value factor = op.getFactor();
  ValType rows = op.getMax().getType();
  auto map = [&](ValType type, ValueRange inputs,
                 function_ref<Value(OpBuilder &, Location, ValueRange)> body)
      -> Value {
    return MapOp::create(rewriter, loc, type, inputs, ArrayRef<StringRef>{},
                         ValueRange{}, body);
  };
  auto maximum = [&](ValType type, Value input, StringRef over) -> Value {
    return ReduceOp::create(rewriter, loc, type, Combine::Max, input, over);
  };

  StringRef over = op.getLogits().getType().getAxes()[1].getValue();
  Logits logits = addRamp(op, rewriter);
  ValType classes = op.getSum().getType();
  Value tileMax = maximum(logits.base ? classes : rows, logits.values, over);
  if (logits.base) {
    tileMax = map(classes, {tileMax, logits.base},
                  [](OpBuilder &b, Location loc, ValueRange v) -> Value {
                    return arith::AddFOp::create(b, loc, v[0], v[1]);
                  });
    tileMax = maximum(rows, tileMax, "r");
  }
  Value newMax = map(rows, {op.getMax(), tileMax},
                     [](OpBuilder &b, Location loc, ValueRange v) -> Value {
                       Value max =
                           arith::MaximumFOp::create(b, loc, v[0], v[1]);
                       return hiddenToMinusInfinity(b, loc, max);
                     });
  // A row that has seen no key keeps the maximum -inf; shifting by 0 instead
  // makes its weights exp2(-inf) = 0 and not exp2(-inf + inf) = NaN.
  Value shift = map(
      rows, {newMax}, [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
        Value safe = minusInfinityToZero(b, loc, v[0]);
        Value scaled = arith::MulFOp::create(b, loc, safe, factor);
        return arith::NegFOp::create(b, loc, scaled);
      });
  // Weights so far are relative to the rounded product of the old maximum, so
  // alpha is the difference of two rounded products: exactly 1 while the
  // maximum stays, however large it is. A fused product would leave its
  // rounding error in every tile's alpha.
  Value alpha = map(rows, {op.getMax(), shift},
                    [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                      Value old = arith::MulFOp::create(b, loc, v[0], factor);
                      Value x = arith::AddFOp::create(b, loc, old, v[1]);
                      return math::Exp2Op::create(b, loc, x);
                    });
  auto weight = [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
    Value x = math::FmaOp::create(b, loc, v[0], factor, v[1]);
    return math::Exp2Op::create(b, loc, x);
  };
  Value offset = shift;
  if (logits.base)
    offset = map(classes, {logits.base, shift},
                 [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                   return math::FmaOp::create(b, loc, v[0], factor, v[1]);
                 });
  Value weights =
      map(op.getWeights().getType(), {logits.values, offset}, weight);
  Value partial = ReduceOp::create(rewriter, loc, op.getSum().getType(),
                                   Combine::Add, weights, over);
  Value newSum = map(op.getSum().getType(), {op.getSum(), alpha, partial},
                     [](OpBuilder &b, Location loc, ValueRange v) -> Value {
                       return math::FmaOp::create(b, loc, v[0], v[1], v[2]);
                     });
  rewriter.replaceOp(op, {weights, newMax, newSum, alpha});
}

/// Unconditionally: leaving it out where no row's maximum has grown (alpha is
/// exactly 1 there) splits the body in two, which costs more than the products
/// (bench/results).
void expandRescale(RescaleOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<MapOp>(
      op, op.getResult().getType(), ValueRange{op.getInput(), op.getAlpha()},
      ArrayRef<StringRef>{}, ValueRange{},
      [](OpBuilder &b, Location loc, ValueRange v) -> Value {
        return arith::MulFOp::create(b, loc, v[0], v[1]);
      });
}

/// With m2 = factor * rowMax, the exact shift that the weights were given:
/// and a sink of -1e30 or less taken as -inf (C2):
///   base  = max(m2, sink * log2 e)        (m2 without a sink; 0 where -inf)
///   keep  = exp2(m2 - base)
///   total = sum * keep + exp2(sink * log2 e - base)
///   O     = acc * keep / total            (0 where total is 0)
///   lse   = (base + log2 total) * ln 2
void expandFinalize(FinalizeOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  ValType rows = op.getMax().getType();
  Value factor = op.getFactor(), sink = op.getSink();
  auto map = [&](ValType type, ValueRange inputs,
                 function_ref<Value(OpBuilder &, Location, ValueRange)> body)
      -> Value {
    return MapOp::create(rewriter, loc, type, inputs, ArrayRef<StringRef>{},
                         ValueRange{}, body);
  };
  Value sum =
      ReduceOp::create(rewriter, loc, rows, Combine::Add, op.getSum(), "r");
  Value sinkBase2;
  if (sink)
    sinkBase2 = arith::MulFOp::create(
        rewriter, loc, hiddenToMinusInfinity(rewriter, loc, sink),
        constantF32(rewriter, loc, log2e));

  // The parts that more than one result needs, as scalar code per row.
  struct Parts {
    Value base, keep, total;
  };
  auto parts = [&](OpBuilder &b, Location loc, Value max, Value sum) -> Parts {
    Value m2 = arith::MulFOp::create(b, loc, max, factor);
    if (!sink)
      return {m2, Value(), sum};
    Value base = arith::MaxNumFOp::create(b, loc, m2, sinkBase2);
    base = minusInfinityToZero(b, loc, base);
    auto power = [&](Value x) -> Value {
      return math::Exp2Op::create(b, loc,
                                  arith::SubFOp::create(b, loc, x, base));
    };
    Value keep = power(m2);
    Value total = math::FmaOp::create(b, loc, sum, keep, power(sinkBase2));
    return {base, keep, total};
  };

  Value scale;
  if (op.getOutput())
    scale = map(rows, {op.getMax(), sum},
                [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                  Parts p = parts(b, loc, v[0], v[1]);
                  Value one = constantF32(b, loc, 1.0);
                  // The GPU's reciprocal is good to one ulp; an exact division
                  // is a call.
                  Value inverse = arith::DivFOp::create(
                      b, loc, one, p.total,
                      arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
                  Value empty =
                      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                            p.total, constantF32(b, loc, 0.0));
                  inverse = arith::SelectOp::create(
                      b, loc, empty, constantF32(b, loc, 0.0), inverse);
                  return p.keep ? arith::MulFOp::create(b, loc, p.keep, inverse)
                                      .getResult()
                                : inverse;
                });
  Value lse =
      map(op.getLse().getType(), {op.getMax(), sum},
          [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
            Parts p = parts(b, loc, v[0], v[1]);
            Value log = math::Log2Op::create(b, loc, p.total);
            Value all = arith::AddFOp::create(b, loc, p.base, log);
            return arith::MulFOp::create(b, loc, all, constantF32(b, loc, ln2));
          });
  if (!op.getOutput()) {
    rewriter.replaceOp(op, lse);
    return;
  }
  Value output = map(op.getOutput().getType(), {op.getAcc(), scale},
                     [](OpBuilder &b, Location loc, ValueRange v) -> Value {
                       return arith::MulFOp::create(b, loc, v[0], v[1]);
                     });
  rewriter.replaceOp(op, {lse, output});
}

struct ExpandSoftmaxStep
    : attn::impl::ExpandSoftmaxStepBase<ExpandSoftmaxStep> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<SoftmaxStepOp, RescaleOp, FinalizeOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto step = dyn_cast<SoftmaxStepOp>(op))
        expandStep(step, rewriter);
      else if (auto rescale = dyn_cast<RescaleOp>(op))
        expandRescale(rescale, rewriter);
      else
        expandFinalize(cast<FinalizeOp>(op), rewriter);
    }
  }
};

} // namespace
