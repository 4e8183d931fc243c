//===- BoundKeys.cpp - Which keys a row tile can see --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The rows q_first .. q_last see the keys that some term of the mask shows to
// some of them. A term is a conjunction of bounds on k, which depend on q or
// not, and of bounds on q. Where they are difference constraints,
//
//   first <= q <= last,   lower <= k <= upper,   low <= k - q <= high,
//
// the keys of the pairs that satisfy all of them are exactly
//
//   max(lower, first + low) <= k <= min(upper, last + high),
//
// and there are none if first > last or low > high: the shortest paths between
// 0, q and k. With bounds that rise or fall with q otherwise, no key is missed.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "KeyRanges.h"
#include "attn/Analysis/MaskTerms.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
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

/// The rows of the tile that a term leaves.
struct Rows {
  Value first, last;
};

/// Emits the bounds of one mask.
class BoundsBuilder {
public:
  BoundsBuilder(MaskTermBuilder &terms, MaskOp mask, BoundsOp bounds,
                OpBuilder &builder, KeyRangeBuilder &keys, bool isBottomRight)
      : affine(terms.getAffine()), mask(mask), bounds(bounds), builder(builder),
        loc(mask.getLoc()), keys(keys), isBottomRight(isBottomRight) {
    for (StringRef shared : {"b", "h", "g", "q_len", "k_len"})
      invariants.map(mask.getArgument(shared), bounds.getArgument(shared));
  }

  /// The keys of the pairs for which a term holds.
  KeyInterval project(const MaskTerm &term);

private:
  Rows restrictRows(const MaskTerm &term, KeyInterval &interval);
  void addBound(const AffineForm &bound, bool isUpper, Rows rows,
                KeyInterval &interval);
  void addMeeting(const AffineForm &lower, const AffineForm &upper, Rows rows,
                  KeyInterval &interval);
  /// The guard that a form is at least 0 for some row.
  void addGuard(const AffineForm &form, Rows rows, KeyInterval &interval);

  bool dependsOnRow(const AffineForm &form);
  /// Least or greatest value of a form without k over the rows; null if it
  /// cannot be computed.
  Value extreme(const AffineForm &form, bool isGreatest, Rows rows);
  Value emitExtreme(const AffineForm &form, bool isGreatest, Rows rows);
  Value toI32(Value value);
  Value evaluate(Value value, Value row);
  Value cloneAt(Value value, IRMapping &mapping);

  MaskAffine &affine;
  MaskOp mask;
  BoundsOp bounds;
  OpBuilder &builder;
  Location loc;
  KeyRangeBuilder &keys;
  bool isBottomRight;
  IRMapping invariants;
  /// What depends on the row, for each of them.
  llvm::DenseMap<Value, IRMapping> ofRow;
  struct Extreme {
    AffineForm form;
    bool isGreatest;
    Rows rows;
    Value value;
  };
  SmallVector<Extreme> extremes;
};

struct BoundKeys : ir::impl::BoundKeysBase<BoundKeys> {
  using BoundKeysBase::BoundKeysBase;
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Copies the code of a value into the bounds.
Value BoundsBuilder::cloneAt(Value value, IRMapping &mapping) {
  if (affine.isInvariant(value) && &mapping != &invariants)
    return cloneAt(value, invariants);
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, cloneAt(operand, mapping));
  mapping.map(value, builder.clone(*op, operands)->getResult(0));
  return mapping.lookup(value);
}

/// A value that is free of k, in a row.
Value BoundsBuilder::evaluate(Value value, Value row) {
  if (affine.isInvariant(value))
    return cloneAt(value, invariants);
  IRMapping &mapping = ofRow[row];
  if (!mapping.contains(mask.getArgument("q"))) {
    mapping.map(mask.getArgument("q"), row);
    Value index = row;
    if (isBottomRight) {
      Value offset = builder.createOrFold<arith::SubIOp>(
          loc, bounds.getArgument("k_len"), bounds.getArgument("q_len"));
      index = builder.createOrFold<arith::SubIOp>(loc, row, offset);
    }
    mapping.map(mask.getArgument("i"), index);
  }
  return cloneAt(value, mapping);
}

bool BoundsBuilder::dependsOnRow(const AffineForm &form) {
  return form.q != 0 ||
         llvm::any_of(form.terms, [&](const AffineForm::Term &term) {
           return !affine.isInvariant(term.first);
         });
}

Value BoundsBuilder::emitExtreme(const AffineForm &form, bool isGreatest,
                                 Rows rows) {
  RuleRanges &ranges = affine.getRanges();
  std::optional<LinearPlan> plan =
      planLinear(form, ranges.ofArgument("q"), ranges);
  if (!plan)
    return {};
  auto rowOf = [&](bool isRising) {
    return isRising == isGreatest ? rows.last : rows.first;
  };
  // Each part where it is extreme itself.
  return emitLinear(
      builder, loc, form, *plan, rowOf(form.q > 0), [&](AffineForm::Term term) {
        bool isRising =
            affine.getDirections().of(term.first) == Direction::Rising;
        return evaluate(term.first, rowOf(isRising == (term.second > 0)));
      });
}

Value BoundsBuilder::extreme(const AffineForm &form, bool isGreatest,
                             Rows rows) {
  for (const Extreme &known : extremes)
    if (known.form == form && known.isGreatest == isGreatest &&
        known.rows.first == rows.first && known.rows.last == rows.last)
      return known.value;
  Value value = emitExtreme(form, isGreatest, rows);
  extremes.push_back({form, isGreatest, rows, value});
  return value;
}

Value BoundsBuilder::toI32(Value value) {
  return value.getType().isInteger(32) ? value
                                       : emitSaturation(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

void BoundsBuilder::addGuard(const AffineForm &form, Rows rows,
                             KeyInterval &interval) {
  AffineForm least = withoutCommonFactor({form, CmpIPredicate::sge}).form;
  Value greatest = extreme(least, /*isGreatest=*/true, rows);
  if (!greatest)
    return;
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(greatest.getType(), 0));
  interval.guards.push_back({builder.createOrFold<arith::CmpIOp>(
      loc, CmpIPredicate::sge, greatest, zero)});
}

/// Bounds on q take rows away; other conditions of the row alone are met by
/// some row or by none.
Rows BoundsBuilder::restrictRows(const MaskTerm &term, KeyInterval &interval) {
  Rows all{bounds.getArgument("q_first"), bounds.getArgument("q_last")};
  Rows rows = all;
  SmallVector<AffineForm> others;
  for (const MaskLiteral &literal : term) {
    if (literal.condition || literal.form.k != 0)
      continue;
    // q + rest <= 0: q <= -rest; -q + rest <= 0: q >= rest.
    AffineForm rest = literal.form, bound;
    int64_t q = std::exchange(rest.q, 0);
    bool isBound = (q == 1 || q == -1) && !dependsOnRow(rest) &&
                   addScaled(bound, rest, -q);
    Value value = isBound ? extreme(bound, q == 1, all) : Value();
    if (!value) {
      others.push_back(literal.form);
    } else if (q == 1) {
      rows.last = arith::MinSIOp::create(builder, loc, rows.last, toI32(value));
    } else {
      rows.first =
          arith::MaxSIOp::create(builder, loc, rows.first, toI32(value));
    }
  }
  if (rows.first != all.first || rows.last != all.last)
    interval.guards.push_back({builder.createOrFold<arith::CmpIOp>(
        loc, CmpIPredicate::sle, rows.first, rows.last)});
  for (const AffineForm &form : others)
    if (AffineForm opposite; addScaled(opposite, form, -1))
      addGuard(opposite, rows, interval);
  return rows;
}

/// k <= bound(q), k >= bound(q).
void BoundsBuilder::addBound(const AffineForm &bound, bool isUpper, Rows rows,
                             KeyInterval &interval) {
  AffineForm form = bound;
  // An upper bound is included, the end of an interval is not.
  if (isUpper && llvm::AddOverflow<int64_t>(form.constant, 1, form.constant))
    return;
  Value value = extreme(form, /*isGreatest=*/isUpper, rows);
  if (!value)
    return;
  if (isUpper)
    interval.end = keys.min(interval.end, keys.clamp(value));
  else
    interval.begin = keys.max(interval.begin, keys.clamp(value));
}

/// Bounds that both depend on the row must meet in one.
void BoundsBuilder::addMeeting(const AffineForm &lower, const AffineForm &upper,
                               Rows rows, KeyInterval &interval) {
  AffineForm gap = upper;
  if (!dependsOnRow(lower) || !dependsOnRow(upper) ||
      !addScaled(gap, lower, -1))
    return;
  RuleRanges &ranges = affine.getRanges();
  std::optional<Interval> range =
      rangeOfForm(gap, ranges.ofArgument("q"), ranges);
  if (range && range->low >= 0)
    return;
  addGuard(gap, rows, interval);
}

KeyInterval BoundsBuilder::project(const MaskTerm &term) {
  KeyInterval interval;
  for (const MaskLiteral &literal : term)
    if (literal.condition)
      interval.guards.push_back(
          {cloneAt(literal.condition, invariants), literal.isNegated});
  Rows rows = restrictRows(term, interval);
  SmallVector<AffineForm> lowers, uppers;
  for (const MaskLiteral &literal : term) {
    if (literal.condition || literal.form.k == 0)
      continue;
    AffineForm rest = literal.form, bound;
    int64_t k = std::exchange(rest.k, 0);
    if (addScaled(bound, rest, -k))
      (k == 1 ? uppers : lowers).push_back(bound);
  }
  for (const AffineForm &upper : uppers)
    addBound(upper, /*isUpper=*/true, rows, interval);
  for (const AffineForm &lower : lowers)
    addBound(lower, /*isUpper=*/false, rows, interval);
  for (const AffineForm &lower : lowers)
    for (const AffineForm &upper : uppers)
      addMeeting(lower, upper, rows, interval);
  return interval;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Visible and hidden keys of a mask. The tail of the hidden ones is the first
/// key from which on, up to the end, some row misses each key or there is none.
static SmallVector<Value> emitBounds(KernelOp kernel, BoundsOp bounds,
                                     OpBuilder &builder, size_t maxVisible,
                                     size_t maxHidden) {
  MaskOp mask = kernel.getMask();
  KeyRangeBuilder keys(builder, bounds.getLoc(), bounds.getArgument("k_len"));
  KeyIntervals visible(1), hidden;
  if (mask) {
    MaskTermBuilder terms(kernel, mask);
    BoundsBuilder projection(terms, mask, bounds, builder, keys,
                             kernel.getAlign() == Align::BottomRight);
    auto project = [&](bool isNegated) {
      return llvm::map_to_vector<4>(
          terms.get(mask.getYield().getOperand(0), isNegated),
          [&](const MaskTerm &term) { return projection.project(term); });
    };
    visible = project(false);
    hidden = project(true);
    if (visible.empty())
      mask.emitWarning() << "no row sees a key, whatever params, tensors and "
                            "lengths are: o is 0 and lse -inf";
    bounds.setApproximate(!terms.isExact());
  }
  // Behind the last key there is none: hidden to the end is hidden for good.
  KeyBound tail{KeyBound::KLen, {}};
  keys.merge(visible, maxVisible);
  keys.merge(hidden, maxHidden + 1);
  KeyIntervals inner;
  for (const KeyInterval &interval : hidden) {
    if (interval.end.kind == KeyBound::KLen)
      tail = keys.min(tail, keys.guardedBegin(interval));
    else
      inner.push_back(interval);
  }
  keys.merge(inner, maxHidden);
  bounds.setVisible(visible.size());
  if (keys.hasJoined())
    bounds.setApproximate(true);
  SmallVector<Value> values;
  for (KeyIntervals *intervals : {&visible, &inner})
    // Those from key 0 on come first.
    for (bool isFirst : {true, false})
      for (const KeyInterval &interval : *intervals) {
        if ((interval.begin.kind == KeyBound::Zero) != isFirst)
          continue;
        values.push_back(keys.materialize(interval.begin));
        values.push_back(keys.materialize(keys.guardedEnd(interval)));
      }
  values.push_back(keys.materialize(tail));
  return values;
}

void ::BoundKeys::runOnOperation() {
  KernelOp kernel = getOperation();
  if (kernel.getBounds())
    return;
  MaskOp mask = kernel.getMask();
  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  Location loc = mask ? mask.getLoc() : kernel.getLoc();
  auto bounds = BoundsOp::create(builder, loc, /*visible=*/0,
                                 /*approximate=*/false, /*listed=*/ArrayAttr());
  Block &body = bounds.getBody().emplaceBlock();
  for (size_t i = 0; i < BoundsOp::argumentNames().size(); ++i)
    body.addArgument(builder.getI32Type(), loc);
  builder.setInsertionPointToStart(&body);
  YieldOp::create(builder, loc,
                  emitBounds(kernel, bounds, builder, maxVisible, maxHidden));

  IRRewriter rewriter(&getContext());
  DominanceInfo dominance(bounds);
  (void)runRegionDCE(rewriter, bounds->getRegions());
  eliminateCommonSubExpressions(rewriter, dominance, bounds);
}
