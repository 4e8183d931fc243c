//===- BoundKeys.cpp - Which keys a row tile can see ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "KeyRanges.h"
#include "attn/Analysis/MaskAffine.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attn::ir {
#define GEN_PASS_DEF_BOUNDKEYS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn;
using namespace attn::ir;

using arith::CmpIPredicate;

namespace {

/// Emits the bounds of one mask.
class BoundsBuilder {
public:
  BoundsBuilder(KernelOp kernel, MaskOp mask, BoundsOp bounds,
                OpBuilder &builder)
      : affine(kernel, mask), bounds(bounds), builder(builder),
        loc(mask.getLoc()), keys(builder, loc, bounds.getArgument("k_len")) {
    for (StringRef shared : {"b", "h", "g", "q_len", "k_len"})
      mapping.map(mask.getArgument(shared), bounds.getArgument(shared));
  }

  /// The sets of a condition of the mask, or of its negation.
  KeySets analyze(Value condition, bool isNegated);

private:
  KeySets analyzeSelect(arith::SelectOp select, bool isNegated);
  KeySets analyzeComparison(const AffineComparison &comparison);
  KeySets analyzeKeys(const KeyComparison &comparison);
  KeySets analyzeRows(const AffineComparison &comparison);

  /// Least or greatest value of a form without k over the rows of the tile;
  /// null if it cannot be computed.
  Value extreme(AffineForm form, bool isGreatest, int64_t addend);
  Value truth(bool value);
  Value compareToZero(CmpIPredicate predicate, Value value);
  /// All keys where it holds for some row; where it holds for every row.
  KeySets ofRows(Value some, Value every);
  Value cloneInvariant(Value value);

  MaskAffine affine;
  BoundsOp bounds;
  OpBuilder &builder;
  Location loc;
  KeyRangeBuilder keys;
  IRMapping mapping;
};

struct BoundKeys : ir::impl::BoundKeysBase<BoundKeys> {
  void runOnOperation() override;
};

} // namespace

Value BoundsBuilder::truth(bool value) {
  return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(value));
}

/// Copies the code of an invariant into the bounds.
Value BoundsBuilder::cloneInvariant(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneInvariant(operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

KeySets BoundsBuilder::ofRows(Value some, Value every) {
  return {keys.select(some, KeyRange::all(), KeyRange::none()),
          keys.select(every, KeyRange::all(), KeyRange::none())};
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

KeySets BoundsBuilder::analyze(Value condition, bool isNegated) {
  APInt constant;
  if (matchPattern(condition, m_ConstantInt(&constant))) {
    bool holds = constant.isOne() != isNegated;
    KeyRange range = holds ? KeyRange::all() : KeyRange::none();
    return {range, range};
  }
  if (affine.isInvariant(condition)) {
    Value holds = cloneInvariant(condition);
    if (isNegated)
      holds = builder.createOrFold<arith::XOrIOp>(loc, holds, truth(true));
    return ofRows(holds, holds);
  }
  Operation *op = condition.getDefiningOp();
  if (auto negation = dyn_cast_or_null<arith::XOrIOp>(op)) {
    if (matchPattern(negation.getRhs(), m_One()))
      return analyze(negation.getLhs(), !isNegated);
  }
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    KeySets lhs = analyze(op->getOperand(0), isNegated);
    KeySets rhs = analyze(op->getOperand(1), isNegated);
    bool isAnd = isa<arith::AndIOp>(op) != isNegated;
    return isAnd ? keys.intersect(lhs, rhs) : keys.unite(lhs, rhs);
  }
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return analyzeSelect(select, isNegated);
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    std::optional<AffineComparison> comparison = affine.get(compare);
    if (comparison && isNegated)
      comparison = negated(*comparison);
    if (comparison)
      return analyzeComparison(*comparison);
  }
  return {};
}

KeySets BoundsBuilder::analyzeSelect(arith::SelectOp select, bool isNegated) {
  KeySets lhs = analyze(select.getTrueValue(), isNegated);
  KeySets rhs = analyze(select.getFalseValue(), isNegated);
  Value condition = select.getCondition();
  if (affine.isInvariant(condition)) {
    Value holds = cloneInvariant(condition);
    return {keys.select(holds, lhs.visible, rhs.visible),
            keys.select(holds, lhs.full, rhs.full)};
  }
  // c ? x : y is (c && x) || (!c && y).
  return keys.unite(keys.intersect(analyze(condition, false), lhs),
                    keys.intersect(analyze(condition, true), rhs));
}

KeySets BoundsBuilder::analyzeComparison(const AffineComparison &comparison) {
  if (comparison.form.k == 0)
    return analyzeRows(comparison);
  std::optional<KeyComparison> solved = solveForKey(comparison);
  if (!solved)
    return {};
  switch (solved->predicate) {
  case CmpIPredicate::eq: // k <= x && k >= x
    return keys.intersect(analyzeKeys({CmpIPredicate::sle, solved->bound}),
                          analyzeKeys({CmpIPredicate::sge, solved->bound}));
  case CmpIPredicate::ne: { // k <= x - 1 || k >= x + 1
    AffineForm below = solved->bound, above = solved->bound;
    if (llvm::SubOverflow<int64_t>(below.constant, 1, below.constant) ||
        llvm::AddOverflow<int64_t>(above.constant, 1, above.constant))
      return {};
    return keys.unite(analyzeKeys({CmpIPredicate::sle, below}),
                      analyzeKeys({CmpIPredicate::sge, above}));
  }
  default:
    return analyzeKeys(*solved);
  }
}

/// k <= x(q), k >= x(q).
KeySets BoundsBuilder::analyzeKeys(const KeyComparison &comparison) {
  bool isUpper = comparison.predicate == CmpIPredicate::sle;
  // An upper bound is included, the end of a range is not.
  int64_t addend = isUpper ? 1 : 0;
  Value widest = extreme(comparison.bound, /*isGreatest=*/isUpper, addend);
  Value tightest = extreme(comparison.bound, /*isGreatest=*/!isUpper, addend);
  if (!widest || !tightest)
    return {};
  auto rangeTo = [&](Value value) {
    KeyRange range = KeyRange::all();
    (isUpper ? range.end : range.begin) = keys.clamp(value);
    return range;
  };
  return {rangeTo(widest), rangeTo(tightest)};
}

/// A condition on the row alone: the least and greatest value of its form say
/// whether some row and whether every row meets it.
KeySets BoundsBuilder::analyzeRows(const AffineComparison &comparison) {
  Value least = extreme(comparison.form, /*isGreatest=*/false, 0);
  Value greatest = extreme(comparison.form, /*isGreatest=*/true, 0);
  if (!least || !greatest)
    return {};
  auto both = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::AndIOp>(loc, lhs, rhs);
  };
  auto either = [&](Value lhs, Value rhs) {
    return builder.createOrFold<arith::OrIOp>(loc, lhs, rhs);
  };
  switch (comparison.predicate) {
  case CmpIPredicate::sle:
    return ofRows(compareToZero(CmpIPredicate::sle, least),
                  compareToZero(CmpIPredicate::sle, greatest));
  case CmpIPredicate::sge:
    return ofRows(compareToZero(CmpIPredicate::sge, greatest),
                  compareToZero(CmpIPredicate::sge, least));
  case CmpIPredicate::eq:
    return ofRows(both(compareToZero(CmpIPredicate::sle, least),
                       compareToZero(CmpIPredicate::sge, greatest)),
                  both(compareToZero(CmpIPredicate::eq, least),
                       compareToZero(CmpIPredicate::eq, greatest)));
  case CmpIPredicate::ne:
    return ofRows(either(compareToZero(CmpIPredicate::ne, least),
                         compareToZero(CmpIPredicate::ne, greatest)),
                  either(compareToZero(CmpIPredicate::sgt, least),
                         compareToZero(CmpIPredicate::slt, greatest)));
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value BoundsBuilder::compareToZero(CmpIPredicate predicate, Value value) {
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(value.getType(), 0));
  return builder.createOrFold<arith::CmpIOp>(loc, predicate, value, zero);
}

Value BoundsBuilder::extreme(AffineForm form, bool isGreatest, int64_t addend) {
  if (llvm::AddOverflow(form.constant, addend, form.constant))
    return {};
  RuleRanges &ranges = affine.getRanges();
  std::optional<LinearPlan> plan =
      planLinear(form, ranges.ofArgument("q"), ranges);
  if (!plan)
    return {};
  Value query =
      bounds.getArgument((form.q > 0) == isGreatest ? "q_last" : "q_first");
  return emitLinear(builder, loc, form, *plan, query,
                    [&](Value value) { return cloneInvariant(value); });
}

void ::BoundKeys::runOnOperation() {
  KernelOp kernel = getOperation();
  if (kernel.getBounds())
    return;
  MaskOp mask = kernel.getMask();
  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  Location loc = mask ? mask.getLoc() : kernel.getLoc();
  auto bounds = BoundsOp::create(builder, loc);
  Block &body = bounds.getBody().emplaceBlock();
  for (size_t i = 0; i < BoundsOp::argumentNames().size(); ++i)
    body.addArgument(builder.getI32Type(), loc);
  builder.setInsertionPointToStart(&body);

  KeySets sets{KeyRange::all(), KeyRange::all()};
  if (mask)
    sets = BoundsBuilder(kernel, mask, bounds, builder)
               .analyze(mask.getYield().getOperand(0), false);
  // In order, also where a range is empty.
  KeyRangeBuilder keys(builder, loc, bounds.getArgument("k_len"));
  KeyBound visibleBegin = sets.visible.begin;
  KeyBound visibleEnd = keys.max(sets.visible.end, visibleBegin);
  KeyBound fullBegin =
      keys.min(keys.max(sets.full.begin, visibleBegin), visibleEnd);
  KeyBound fullEnd = keys.max(keys.min(sets.full.end, visibleEnd), fullBegin);
  SmallVector<Value> results;
  for (KeyBound bound : {visibleBegin, visibleEnd, fullBegin, fullEnd})
    results.push_back(keys.materialize(bound));
  YieldOp::create(builder, loc, results);

  IRRewriter rewriter(&getContext());
  DominanceInfo dominance(bounds);
  (void)runRegionDCE(rewriter, bounds->getRegions());
  eliminateCommonSubExpressions(rewriter, dominance, bounds);
}
