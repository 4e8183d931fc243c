//===- FoldScore.cpp - Less arithmetic for each logit ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

namespace attn::ir {
#define GEN_PASS_DEF_FOLDSCORE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn::ir;

namespace {

/// A product with one factor that is linear in the key:
/// sign * (factors) * float(distance).
struct LinearTerm {
  SmallVector<Value> factors; ///< the same for all pairs of a head
  Value distance;             ///< i32, k or -k plus what is free of k
  int keySign = 1;            ///< k's coefficient in the distance
  bool isNegative = false;
};

class ScoreFolder {
public:
  ScoreFolder(KernelOp kernel, ScoreOp score) : kernel(kernel), score(score) {}

  void run() {
    gatherInvariants();
    if (std::optional<LinearTerm> term =
            removeTerm(score.getYield().getResultsMutable()[0],
                       /*isNegative=*/false))
      createRamp(*term);
    foldFactor();
    if (score.getYield().getResults()[0] == score.getArgument("s"))
      score.erase();
  }

private:
  /// What a value is computed from.
  enum Source : unsigned { Launch = 0, Head = 1, Row = 2, Key = 4, Dot = 8 };
  unsigned sourcesOf(Value value) {
    auto found = sources.find(value);
    if (found != sources.end())
      return found->second;
    unsigned result = Launch;
    if (auto argument = dyn_cast<BlockArgument>(value))
      result = llvm::StringSwitch<unsigned>(
                   ScoreOp::argumentNames()[argument.getArgNumber()])
                   .Case("s", Dot)
                   .Case("k", Key)
                   .Cases({"i", "q"}, Row)
                   .Default(Head);
    else
      for (Value operand : value.getDefiningOp()->getOperands())
        result |= sourcesOf(operand);
    return sources[value] = result;
  }
  /// The same for all pairs of a head.
  bool isInvariant(Value value) { return sourcesOf(value) <= Head; }

  /// x / c is x * (1 / c), and x * a * b is x * (a * b): what is the same for
  /// all pairs is computed before the key loop.
  void gatherInvariants() {
    Block &body = score.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(body)) {
      OpBuilder builder(&op);
      Location loc = op.getLoc();
      auto product = dyn_cast<arith::MulFOp>(op);
      if (auto division = dyn_cast<arith::DivFOp>(op);
          division && isInvariant(division.getRhs()) &&
          !isInvariant(division.getLhs())) {
        Value inverse =
            arith::DivFOp::create(builder, loc, constant(builder, loc, 1.0F),
                                  division.getRhs(), division.getFastmath());
        product =
            arith::MulFOp::create(builder, loc, division.getLhs(), inverse,
                                  arith::FastMathFlags::contract);
        division.replaceAllUsesWith(product.getResult());
        division.erase();
      }
      std::optional<Scaled> outer = product ? getScaled(product) : std::nullopt;
      auto before =
          outer ? outer->value.getDefiningOp<arith::MulFOp>() : nullptr;
      std::optional<Scaled> inner =
          before && before->hasOneUse() ? getScaled(before) : std::nullopt;
      if (!inner)
        continue;
      builder.setInsertionPoint(product);
      Value both =
          arith::MulFOp::create(builder, loc, inner->factor, outer->factor);
      product->setOperands({inner->value, both});
    }
  }

  /// A product of an invariant with what is none.
  struct Scaled {
    Value value, factor;
  };
  std::optional<Scaled> getScaled(arith::MulFOp product) {
    Value lhs = product.getLhs(), rhs = product.getRhs();
    if (isInvariant(lhs) == isInvariant(rhs))
      return std::nullopt;
    return isInvariant(rhs) ? Scaled{lhs, rhs} : Scaled{rhs, lhs};
  }

  /// The coefficient of k in a sum; nothing where k is inside another function.
  std::optional<int> keyCoefficient(Value value) {
    if (value == score.getArgument("k"))
      return 1;
    if (!(sourcesOf(value) & Key))
      return 0;
    Operation *op = value.getDefiningOp();
    if (!isa<arith::AddIOp, arith::SubIOp>(op))
      return std::nullopt;
    std::optional<int> lhs = keyCoefficient(op->getOperand(0));
    std::optional<int> rhs = keyCoefficient(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    return isa<arith::AddIOp>(op) ? *lhs + *rhs : *lhs - *rhs;
  }

  /// Collects the factors of a product.
  bool matchProduct(Value value, LinearTerm &term) {
    if (isInvariant(value)) {
      term.factors.push_back(value);
      return true;
    }
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::MulFOp>(op))
      return matchProduct(op->getOperand(0), term) &&
             matchProduct(op->getOperand(1), term);
    if (isa_and_nonnull<arith::NegFOp>(op)) {
      term.isNegative = !term.isNegative;
      return matchProduct(op->getOperand(0), term);
    }
    if (!isa_and_nonnull<arith::SIToFPOp>(op) || term.distance)
      return false;
    Value distance = op->getOperand(0);
    std::optional<int> coefficient = keyCoefficient(distance);
    if (!distance.getType().isInteger(32) || !coefficient ||
        std::abs(*coefficient) != 1)
      return false;
    term.distance = distance;
    term.keySign = *coefficient;
    return true;
  }

  /// Takes the first linear term out of the sum at `use`. The sum must have no
  /// other use, or its terms would change elsewhere too.
  std::optional<LinearTerm> removeTerm(OpOperand &use, bool isNegative) {
    Operation *op = use.get().getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op) ||
        !use.get().hasOneUse())
      return std::nullopt;
    bool isDifference = isa<arith::SubFOp>(op);
    for (unsigned side : {1u, 0u}) {
      bool sign = isNegative != (isDifference && side == 1);
      LinearTerm term;
      term.isNegative = sign;
      if (matchProduct(op->getOperand(side), term) && term.distance) {
        Value rest = op->getOperand(1 - side);
        if (isDifference && side == 0) {
          OpBuilder builder(op);
          rest = arith::NegFOp::create(builder, op->getLoc(), rest);
        }
        use.set(rest);
        return term;
      }
      if (std::optional<LinearTerm> inner =
              removeTerm(op->getOpOperand(side), sign))
        return inner;
    }
    return std::nullopt;
  }

  /// Copies what `value` is computed from.
  Value cloneInto(OpBuilder &builder, Value value, IRMapping &mapping) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      cloneInto(builder, operand, mapping);
    builder.clone(*op, mapping);
    return mapping.lookup(value);
  }

  void createRamp(const LinearTerm &term) {
    Location loc = term.distance.getLoc();
    OpBuilder builder(score->getContext());
    builder.setInsertionPointAfter(score);
    ramp = RampOp::create(builder, loc);
    Block &body = ramp.getBody().emplaceBlock();
    builder.setInsertionPointToStart(&body);
    IRMapping mapping;
    Value none =
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    mapping.map(score.getArgument("k"), none);
    for (StringRef name : RampOp::argumentNames()) {
      BlockArgument from = score.getArgument(name);
      mapping.map(from, body.addArgument(from.getType(), from.getLoc()));
    }
    // slope * (shift - k) is -slope * (k - shift).
    Value shift = cloneInto(builder, term.distance, mapping);
    if (term.keySign < 0)
      shift = arith::SubIOp::create(builder, loc, none, shift);
    Value slope;
    for (Value factor : term.factors) {
      Value copy = cloneInto(builder, factor, mapping);
      slope = slope ? arith::MulFOp::create(builder, loc, slope, copy) : copy;
    }
    bool isNegative = term.isNegative != (term.keySign < 0);
    if (!slope)
      slope = constant(builder, loc, isNegative ? -1.0F : 1.0F);
    else if (isNegative)
      slope = arith::NegFOp::create(builder, loc, slope);
    YieldOp::create(builder, loc, ValueRange{slope, shift});
  }

  static Value constant(OpBuilder &builder, Location loc, float value) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getF32FloatAttr(value));
  }

  /// A factor of the whole logit goes into the factor of the exponent. Only of
  /// q . k and of a tanh: other terms may hold the -1e30 that stands for -inf
  /// (contract C2), which must not change its scale.
  void foldFactor() {
    OpOperand &logit = score.getYield().getResultsMutable()[0];
    auto product = logit.get().getDefiningOp<arith::MulFOp>();
    std::optional<Scaled> scaled = product ? getScaled(product) : std::nullopt;
    if (!scaled || sourcesOf(scaled->factor) != Launch)
      return;
    auto tanh = scaled->value.getDefiningOp<math::TanhOp>();
    if (!tanh && scaled->value != score.getArgument("s"))
      return;
    // Where the sign is not known, it goes into what tanh, an odd function, is
    // of. A sign inside q . k would cost what the factor saves.
    FloatAttr known;
    if (matchPattern(scaled->factor, m_Constant(&known))) {
      float value = known.getValue().convertToFloat();
      if (!(value >= least && value <= 1 / least))
        return;
    } else if (!tanh || !moveSign(tanh, scaled->factor)) {
      return;
    }
    logit.set(scaled->value);
    multiply(kernel.getFactor().getYield(), scaled->factor,
             /*isInverse=*/false);
    if (ramp)
      multiply(ramp.getYield(), scaled->factor, /*isInverse=*/true);
  }

  bool moveSign(math::TanhOp tanh, Value factor) {
    auto inside = tanh.getOperand().getDefiningOp<arith::MulFOp>();
    std::optional<Scaled> scaled = inside ? getScaled(inside) : std::nullopt;
    if (!scaled || !inside->hasOneUse() || !tanh->hasOneUse())
      return false;
    OpBuilder builder(inside);
    Location loc = inside.getLoc();
    IRMapping mapping;
    Value isNegative = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OLT,
        cloneInto(builder, factor, mapping), constant(builder, loc, 0.0F));
    Value opposite = arith::NegFOp::create(builder, loc, scaled->factor);
    Value inner = arith::SelectOp::create(builder, loc, isNegative, opposite,
                                          scaled->factor);
    inside->setOperands({scaled->value, inner});
    return true;
  }

  /// Multiplies the first value that a rule yields by |factor|, or divides it.
  /// A factor of 0 would make NaN of a hidden logit; with the least one all
  /// weights of the row are equal too.
  void multiply(YieldOp yield, Value factor, bool isInverse) {
    OpBuilder builder(yield);
    Location loc = yield.getLoc();
    IRMapping mapping;
    Value copy = cloneInto(builder, factor, mapping);
    FloatAttr known;
    if (!matchPattern(factor, m_Constant(&known))) {
      copy = math::AbsFOp::create(builder, loc, copy);
      copy = arith::MaximumFOp::create(builder, loc, copy,
                                       constant(builder, loc, least));
    }
    Value value = yield.getResults()[0];
    value = isInverse
                ? arith::DivFOp::create(builder, loc, value, copy,
                                        arith::FastMathFlags::arcp |
                                            arith::FastMathFlags::afn)
                      .getResult()
                : arith::MulFOp::create(builder, loc, value, copy).getResult();
    yield.getResultsMutable()[0].set(value);
  }

  /// The reciprocal of a smaller factor may be no number.
  static constexpr float least = 1e-30F;

  KernelOp kernel;
  ScoreOp score;
  RampOp ramp;
  DenseMap<Value, unsigned> sources;
};

struct FoldScore : attn::ir::impl::FoldScoreBase<FoldScore> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    ScoreOp score = kernel.getScore();
    if (score && score.getRaw() && !kernel.getRamp())
      ScoreFolder(kernel, score).run();
  }
};

} // namespace
