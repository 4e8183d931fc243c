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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
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

/// One step, as maps and reductions.
class StepExpansion {
public:
  StepExpansion(SoftmaxStepOp op, IRRewriter &rewriter)
      : op(op), rewriter(rewriter), loc(op.getLoc()), factor(op.getFactor()),
        rows(op.getMax().getType()), classes(op.getSum().getType()),
        over(op.getLogits().getType().getAxes()[1].getValue()) {}

  /// Replaces the step. Returns whether its alpha may differ from 1 for some
  /// row; null where that is not asked.
  Value run() {
    rewriter.setInsertionPoint(op);
    addRamp();
    if (op.getHeld() && !isFirst())
      return expandHeld();
    Value ofTile = base ? tileMax(maximum(classes, logits, over))
                        : maximum(rows, logits, over);
    Value max = newMax(ofTile);
    Value shift = shiftOf(max);
    Value alpha = alphaOf(shift);
    replace(max, alpha, weightsOf(shift));
    return Value();
  }

private:
  using Body = function_ref<Value(OpBuilder &, Location, ValueRange)>;
  struct Weights {
    Value values, sums;
  };

  Value map(ValType type, ValueRange inputs, Body body) {
    return MapOp::create(rewriter, loc, type, inputs, ArrayRef<StringRef>{},
                         ValueRange{}, body);
  }
  Value maximum(ValType type, Value input, StringRef axis) {
    return ReduceOp::create(rewriter, loc, type, Combine::Max, input, axis);
  }

  void addRamp();
  bool isFirst();
  Value tileMax(Value ofClasses);
  Value newMax(Value ofTile);
  Value shiftOf(Value max);
  Value alphaOf(Value shift);
  Value exponent(OpBuilder &b, Location loc, ValueRange v);
  Value offsetOf(Value shift);
  Weights weightsOf(Value shift);
  Value excessOf(Value max, ValType type);
  Value followExcess(Value ofClasses, Value excess);
  Value expandHeld();
  void replace(Value max, Value alpha, Weights weights);

  SoftmaxStepOp op;
  IRRewriter &rewriter;
  Location loc;
  Value factor;
  ValType rows, classes;
  StringRef over;
  /// The logits, to which `base` (null without a ramp) is still to be added:
  /// one value for each row and class of keys.
  Value logits, base;
};

/// slope * key = slope * first(class) + slope * place: the former goes into the
/// base, so that the multiplier of the latter is a constant.
void StepExpansion::addRamp() {
  logits = op.getLogits();
  if (!op.getSlope())
    return;
  Value zero =
      arith::ConstantIntOp::create(rewriter, loc, rewriter.getI32Type(), 0);
  auto add = [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
    Value key = arith::SIToFPOp::create(b, loc, b.getF32Type(), v[1]);
    return math::FmaOp::create(b, loc, op.getSlope(), key, v[0]);
  };
  logits = MapOp::create(rewriter, loc, op.getLogits().getType(), logits,
                         ArrayRef<StringRef>{"k"}, zero, add, /*inClass=*/true);
  base = MapOp::create(rewriter, loc, classes, op.getBase(),
                       ArrayRef<StringRef>{"r"}, zero, add);
}

/// Whether no row has seen a key: there is no maximum to be held.
bool StepExpansion::isFirst() {
  auto fill = op.getMax().getDefiningOp<FillOp>();
  APFloat max(0.0f);
  return fill && matchPattern(fill.getScalar(), m_ConstantFloat(&max)) &&
         max.isInfinity() && max.isNegative();
}

/// The maximum of each row's logits in the tile, given that of each class of
/// keys.
Value StepExpansion::tileMax(Value ofClasses) {
  if (base)
    ofClasses = map(classes, {ofClasses, base},
                    [](OpBuilder &b, Location loc, ValueRange v) -> Value {
                      return arith::AddFOp::create(b, loc, v[0], v[1]);
                    });
  return maximum(rows, ofClasses, "r");
}

Value StepExpansion::newMax(Value ofTile) {
  return map(rows, {op.getMax(), ofTile},
             [](OpBuilder &b, Location loc, ValueRange v) -> Value {
               Value max = arith::MaximumFOp::create(b, loc, v[0], v[1]);
               return hiddenToMinusInfinity(b, loc, max);
             });
}

/// A row that has seen no key keeps the maximum -inf; shifting by 0 instead
/// makes its weights exp2(-inf) = 0 and not exp2(-inf + inf) = NaN.
Value StepExpansion::shiftOf(Value max) {
  return map(rows, {max},
             [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
               Value safe = minusInfinityToZero(b, loc, v[0]);
               Value scaled = arith::MulFOp::create(b, loc, safe, factor);
               return arith::NegFOp::create(b, loc, scaled);
             });
}

/// Weights so far are relative to the rounded product of the old maximum, so
/// alpha is the difference of two rounded products: exactly 1 while the
/// maximum stays, however large it is. A fused product would leave its
/// rounding error in every tile's alpha.
Value StepExpansion::alphaOf(Value shift) {
  return map(rows, {op.getMax(), shift},
             [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
               Value old = arith::MulFOp::create(b, loc, v[0], factor);
               Value x = arith::AddFOp::create(b, loc, old, v[1]);
               return math::Exp2Op::create(b, loc, x);
             });
}

Value StepExpansion::exponent(OpBuilder &b, Location loc, ValueRange v) {
  return math::FmaOp::create(b, loc, v[0], factor, v[1]);
}

/// What is added to the products of factor and logits.
Value StepExpansion::offsetOf(Value shift) {
  if (!base)
    return shift;
  return map(classes, {base, shift},
             [&](OpBuilder &b, Location loc, ValueRange v) {
               return exponent(b, loc, v);
             });
}

StepExpansion::Weights StepExpansion::weightsOf(Value shift) {
  Value values = map(op.getWeights().getType(), {logits, offsetOf(shift)},
                     [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                       return math::Exp2Op::create(b, loc, exponent(b, loc, v));
                     });
  return {values,
          ReduceOp::create(rewriter, loc, classes, Combine::Add, values, over)};
}

void StepExpansion::replace(Value max, Value alpha, Weights weights) {
  Value sum = map(classes, {op.getSum(), alpha, weights.sums},
                  [](OpBuilder &b, Location loc, ValueRange v) -> Value {
                    return math::FmaOp::create(b, loc, v[0], v[1], v[2]);
                  });
  rewriter.replaceOp(op, {weights.values, max, sum, alpha});
}

/// 1 where some weight would exceed the limit if the old maximum was held, else
/// 0. The largest exponent is computed as weightsOf computes all, so that the
/// limit is one of the weights whatever was rounded. A row that has seen no key
/// is shifted by +inf here: by any key that it sees it grows, by none (NaN)
/// not.
Value StepExpansion::excessOf(Value max, ValType type) {
  Value shift = map(rows, {op.getMax()},
                    [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                      Value scaled =
                          arith::MulFOp::create(b, loc, v[0], factor);
                      return arith::NegFOp::create(b, loc, scaled);
                    });
  auto exceeds = [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
    auto limit = static_cast<double>(*op.getHeld());
    Value is =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                              exponent(b, loc, v), constantF32(b, loc, limit));
    return arith::SelectOp::create(b, loc, is, constantF32(b, loc, 1),
                                   constantF32(b, loc, 0));
  };
  return map(type, {max, offsetOf(shift)}, exceeds);
}

/// The new maximum of rows with excess, the old one of all others: what becomes
/// of a row does not depend on its neighbours. Without a ramp a row's excess
/// follows from what is known by then, so that nothing is kept for it.
Value StepExpansion::followExcess(Value ofClasses, Value excess) {
  Value ofTile = tileMax(ofClasses);
  Value ofRow = base ? maximum(rows, excess, "r") : excessOf(ofTile, rows);
  return map(rows, {op.getMax(), newMax(ofTile), ofRow},
             [](OpBuilder &b, Location loc, ValueRange v) -> Value {
               Value follows =
                   arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                         v[2], constantF32(b, loc, 0));
               return arith::SelectOp::create(b, loc, follows, v[1], v[0]);
             });
}

/// Only where the old maximum is not held is the new one asked for across a
/// row. Early weights keep the logits until it is known that they are good.
Value StepExpansion::expandHeld() {
  Value ofClasses = maximum(classes, logits, over);
  Value excess = excessOf(ofClasses, classes);
  Value grown =
      AnyOp::create(rewriter, loc, excess, rewriter.getF32FloatAttr(0));
  Weights early;
  if (op.getEarly())
    early = weightsOf(shiftOf(op.getMax()));
  auto yield = [&](Value max, Value alpha, Weights weights) {
    SmallVector<Value> values = {max, alpha};
    if (op.getEarly())
      values.append({weights.values, weights.sums});
    scf::YieldOp::create(rewriter, loc, values);
  };
  auto follow = [&](OpBuilder &, Location) {
    Value max = followExcess(ofClasses, excess);
    Value shift = shiftOf(max);
    Value alpha = alphaOf(shift);
    yield(max, alpha, op.getEarly() ? weightsOf(shift) : Weights());
  };
  auto hold = [&](OpBuilder &, Location) {
    Value one = constantF32(rewriter, loc, 1);
    yield(op.getMax(), FillOp::create(rewriter, loc, rows, one), early);
  };
  auto choice = scf::IfOp::create(rewriter, loc, grown, follow, hold);
  Value max = choice.getResult(0), alpha = choice.getResult(1);
  replace(max, alpha,
          op.getEarly() ? Weights{choice.getResult(2), choice.getResult(3)}
                        : weightsOf(shiftOf(max)));
  return grown;
}

/// `differs` says whether some row's alpha is not 1. Where that is not asked,
/// all are rescaled: to ask for this alone splits the body in two, which costs
/// more than the products (bench/results).
void expandRescale(RescaleOp op, Value differs, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto product = [&]() -> Value {
    return MapOp::create(rewriter, loc, op.getResult().getType(),
                         ValueRange{op.getInput(), op.getAlpha()},
                         ArrayRef<StringRef>{}, ValueRange{},
                         [](OpBuilder &b, Location loc, ValueRange v) -> Value {
                           return arith::MulFOp::create(b, loc, v[0], v[1]);
                         });
  };
  if (!differs) {
    rewriter.replaceOp(op, product());
    return;
  }
  auto choice = scf::IfOp::create(
      rewriter, loc, differs,
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(rewriter, loc, product());
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(rewriter, loc, op.getInput());
      });
  rewriter.replaceOp(op, choice);
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

void expandStep(SoftmaxStepOp op, IRRewriter &rewriter,
                llvm::DenseMap<Value, Value> &differs) {
  SmallVector<Operation *> users(op.getAlpha().getUsers());
  Value grown = StepExpansion(op, rewriter).run();
  for (Operation *user : users)
    if (auto rescale = dyn_cast<RescaleOp>(user))
      differs[rescale.getAlpha()] = grown;
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
    // A step stands before what is rescaled by its alpha.
    llvm::DenseMap<Value, Value> differs;
    for (Operation *op : ops) {
      if (auto step = dyn_cast<SoftmaxStepOp>(op))
        expandStep(step, rewriter, differs);
      else if (auto rescale = dyn_cast<RescaleOp>(op))
        expandRescale(rescale, differs.lookup(rescale.getAlpha()), rewriter);
      else
        expandFinalize(cast<FinalizeOp>(op), rewriter);
    }
  }
};

} // namespace
