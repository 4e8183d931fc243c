//===- NormalizeMask.cpp - One form for affine conditions -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "ScaledQuotient.h"
#include "StructureHash.h"
#include "attn/Analysis/FloorDivision.h"
#include "attn/Analysis/MaskAffine.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace attn::ir {
#define GEN_PASS_DEF_NORMALIZEMASK
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn;
using namespace attn::ir;

using arith::CmpIPredicate;

namespace {

/// Rebuilds the predicate of one mask in front of its yield.
class Normalizer {
public:
  Normalizer(KernelOp kernel, MaskOp mask)
      : affine(kernel, mask), mask(mask), builder(mask.getYield()) {}

  /// The value, or its negation, in normal form.
  Value normalize(Value value, bool negated);

private:
  Value normalizeNew(Value value, bool negated);
  Value normalizeChain(Value value, bool negated);
  Value normalizeComparison(arith::CmpIOp compare, bool negated);
  Value normalizeAbsolute(CmpIPredicate predicate, Value lhs, Value rhs,
                          Location loc);
  Value normalizeAffine(const AffineComparison &comparison, Location loc);
  Value normalizeMultiple(const AffineComparison &comparison, Location loc);
  Value normalizeQuotient(const QuotientComparison &comparison, Location loc);
  Value normalizeQuotientByValue(const QuotientComparison &comparison,
                                 Location loc);
  Value compareQuotient(CmpIPredicate predicate,
                        llvm::function_ref<Value(int64_t)> atMost,
                        llvm::function_ref<Value(int64_t)> atLeast,
                        Location loc);
  Value compareKey(CmpIPredicate predicate, const AffineForm &bound,
                   Location loc);
  Value compareKeyScaled(CmpIPredicate predicate,
                         const QuotientComparison &comparison, int64_t quotient,
                         int64_t addend, Location loc);
  Value negate(Value value);
  void collect(Value value, bool negated, bool isAnd,
               llvm::SetVector<Value> &operands);
  using SortKey = std::pair<unsigned, uint64_t>;
  SortKey sortKey(Value value);

  MaskAffine affine;
  MaskOp mask;
  OpBuilder builder;
  StructureHash structure;
  llvm::DenseMap<Value, Value> known[2]; ///< positive, negated
};

struct NormalizeMask : ir::impl::NormalizeMaskBase<NormalizeMask> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

Normalizer::SortKey Normalizer::sortKey(Value value) {
  // Upper bounds, lower bounds, other conditions on k alone, the rest.
  enum { Upper, Lower, Point, Rest };
  unsigned rank = Rest;
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  if (compare && compare.getLhs() == mask.getArgument("k"))
    rank = compare.getPredicate() == CmpIPredicate::sle   ? Upper
           : compare.getPredicate() == CmpIPredicate::sge ? Lower
                                                          : Point;
  return {rank, structure.of(value)};
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

Value Normalizer::normalize(Value value, bool negated) {
  auto found = known[negated].find(value);
  if (found != known[negated].end())
    return found->second;
  Value result = normalizeNew(value, negated);
  known[negated][value] = result;
  return result;
}

static bool isNot(Value value) {
  auto op = value.getDefiningOp<arith::XOrIOp>();
  return op && matchPattern(op.getRhs(), m_One());
}

Value Normalizer::normalizeNew(Value value, bool negated) {
  Operation *op = value.getDefiningOp();
  Location loc = value.getLoc();
  if (isNot(value))
    return normalize(op->getOperand(0), !negated);
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op))
    return normalizeChain(value, negated);
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
    return normalizeComparison(compare, negated);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return builder.createOrFold<arith::SelectOp>(
        loc, normalize(select.getCondition(), false),
        normalize(select.getTrueValue(), negated),
        normalize(select.getFalseValue(), negated));
  return negated ? negate(value) : value;
}

Value Normalizer::negate(Value value) {
  Value truth = arith::ConstantOp::create(builder, value.getLoc(),
                                          builder.getBoolAttr(true));
  return builder.createOrFold<arith::XOrIOp>(value.getLoc(), value, truth);
}

/// Adds the normalised operands of a chain of one operation, De Morgan's rules
/// applied.
void Normalizer::collect(Value value, bool negated, bool isAnd,
                         llvm::SetVector<Value> &operands) {
  Operation *op = value.getDefiningOp();
  if (isNot(value))
    return collect(op->getOperand(0), !negated, isAnd, operands);
  bool isSame = isAnd != negated ? isa_and_nonnull<arith::AndIOp>(op)
                                 : isa_and_nonnull<arith::OrIOp>(op);
  if (!isSame) {
    operands.insert(normalize(value, negated));
    return;
  }
  for (Value operand : op->getOperands())
    collect(operand, negated, isAnd, operands);
}

Value Normalizer::normalizeChain(Value value, bool negated) {
  bool isAnd = isa<arith::AndIOp>(value.getDefiningOp()) != negated;
  llvm::SetVector<Value> operands;
  collect(value, negated, isAnd, operands);
  // With the position last: equal keys keep their order.
  SmallVector<std::tuple<SortKey, size_t>> order;
  for (auto [position, operand] : llvm::enumerate(operands))
    order.emplace_back(sortKey(operand), position);
  llvm::sort(order);
  Value chain;
  for (auto [key, position] : order) {
    Value next = operands[position];
    if (!chain)
      chain = next;
    else if (isAnd)
      chain = builder.createOrFold<arith::AndIOp>(value.getLoc(), chain, next);
    else
      chain = builder.createOrFold<arith::OrIOp>(value.getLoc(), chain, next);
  }
  return chain;
}

Value Normalizer::normalizeComparison(arith::CmpIOp compare, bool isNegated) {
  CmpIPredicate predicate = compare.getPredicate();
  if (isNegated)
    predicate = arith::invertPredicate(predicate);
  if (std::optional<AffineComparison> comparison = affine.get(compare)) {
    if (isNegated)
      comparison = negated(*comparison);
    if (comparison)
      if (Value result = normalizeAffine(*comparison, compare.getLoc()))
        return result;
  }
  if (std::optional<QuotientComparison> comparison =
          affine.getQuotient(compare)) {
    if (isNegated)
      comparison = negated(*comparison);
    if (comparison)
      if (Value result = normalizeQuotient(*comparison, compare.getLoc()))
        return result;
  }
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  if (lhs.getType().isInteger(1)) {
    lhs = normalize(lhs, false);
    rhs = normalize(rhs, false);
  } else if (Value result =
                 normalizeAbsolute(predicate, lhs, rhs, compare.getLoc())) {
    return result;
  } else if (!isNegated) {
    return compare;
  }
  return builder.createOrFold<arith::CmpIOp>(compare.getLoc(), predicate, lhs,
                                             rhs);
}

/// x predicate y as y predicate x.
static CmpIPredicate mirrored(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::sle:
    return CmpIPredicate::sge;
  case CmpIPredicate::slt:
    return CmpIPredicate::sgt;
  case CmpIPredicate::sge:
    return CmpIPredicate::sle;
  case CmpIPredicate::sgt:
    return CmpIPredicate::slt;
  default:
    return predicate;
  }
}

/// |x| <= y is x <= y && x >= -y, and |x| >= y is x >= y || x <= -y; null for
/// anything else.
Value Normalizer::normalizeAbsolute(CmpIPredicate predicate, Value lhs,
                                    Value rhs, Location loc) {
  auto absoluteOf = [](Value value) {
    if (auto wide = value.getDefiningOp<arith::ExtSIOp>())
      value = wide.getIn();
    return value.getDefiningOp<math::AbsIOp>();
  };
  if (!absoluteOf(lhs)) {
    std::swap(lhs, rhs);
    predicate = mirrored(predicate);
  }
  math::AbsIOp absolute = absoluteOf(lhs);
  RuleRanges &ranges = affine.getRanges();
  bool isUpper =
      predicate == CmpIPredicate::sle || predicate == CmpIPredicate::slt;
  bool isLower =
      predicate == CmpIPredicate::sge || predicate == CmpIPredicate::sgt;
  if (!absolute || (!isUpper && !isLower) ||
      ranges.of(absolute.getOperand()).low == INT64_MIN)
    return {};
  auto widen = [&](Value value) {
    return builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(),
                                                value);
  };
  Value inner = absolute.getOperand();
  // The least i32 has no absolute value in i32.
  if (inner.getType().isInteger(32) && ranges.of(inner).low == INT32_MIN)
    return {};
  inner = inner.getType().isInteger(64) ? inner : widen(inner);
  Value bound = rhs.getType().isInteger(64) ? rhs : widen(rhs);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI64Type(),
                                        value);
  };
  // So that it has an opposite; no absolute value is near either.
  if (ranges.of(rhs).low == INT64_MIN)
    bound = arith::MaxSIOp::create(builder, loc, bound, constant(-INT64_MAX));
  Value zero = constant(0);
  Value opposite = arith::SubIOp::create(builder, loc, zero, bound);
  auto compare = [&](CmpIPredicate side, Value limit) {
    auto op = arith::CmpIOp::create(builder, loc, side, inner, limit);
    return normalizeComparison(op, /*isNegated=*/false);
  };
  Value direct = compare(predicate, bound);
  Value other = compare(mirrored(predicate), opposite);
  return isUpper ? builder.createOrFold<arith::AndIOp>(loc, direct, other)
                 : builder.createOrFold<arith::OrIOp>(loc, direct, other);
}

/// `k predicate x`, or two of them; null where k does not occur.
Value Normalizer::normalizeAffine(const AffineComparison &comparison,
                                  Location loc) {
  std::optional<KeyComparison> solved = solveForKey(comparison);
  return solved ? compareKey(solved->predicate, solved->bound, loc)
                : normalizeMultiple(comparison, loc);
}

/// With c > 1, c * k <= x is k <= x / c, and c * k >= x is
/// k >= (x + c - 1) / c; null for a coefficient of 0.
Value Normalizer::normalizeMultiple(const AffineComparison &comparison,
                                    Location loc) {
  AffineForm rest = comparison.form, bound;
  int64_t k = std::exchange(rest.k, 0);
  // So that no bound is beyond 64 bits; far above any position.
  constexpr int64_t most = int64_t(1) << 31;
  if (k == 0 || k < -most || k > most ||
      !addScaled(bound, rest, k > 0 ? -1 : 1))
    return {};
  for (AffineForm::Term term : bound.terms)
    if (affine.getDirections().of(term.first) == Direction::Unknown)
      return {};
  int64_t factor = std::abs(k);
  auto compare = [&](CmpIPredicate predicate, int64_t addend) -> Value {
    AffineForm dividend = bound;
    RuleRanges &ranges = affine.getRanges();
    Interval query = ranges.ofArgument("q");
    if (llvm::AddOverflow(dividend.constant, addend, dividend.constant))
      return {};
    std::optional<LinearPlan> plan = planLinear(dividend, query, ranges);
    if (!plan || plan->wide) // a quotient of its limit outweighs nothing
      return {};
    Value value =
        emitLinear(builder, loc, dividend, *plan, mask.getArgument("q"),
                   [](AffineForm::Term term) { return term.first; });
    value = emitFloorDivision(builder, loc, value, factor);
    if (!plan->fitsI32)
      value = emitSaturation(builder, loc, value);
    return arith::CmpIOp::create(builder, loc, predicate, mask.getArgument("k"),
                                 value);
  };
  CmpIPredicate predicate = comparison.predicate;
  return compareQuotient(
      k > 0 ? predicate : mirrored(predicate),
      [&](int64_t n) { return compare(CmpIPredicate::sle, n); },
      [&](int64_t n) { return compare(CmpIPredicate::sge, n + factor - 1); },
      loc);
}

/// `k predicate bound`, or null where the bound cannot be computed.
Value Normalizer::compareKey(CmpIPredicate predicate, const AffineForm &bound,
                             Location loc) {
  RuleRanges &ranges = affine.getRanges();
  std::optional<LinearPlan> plan =
      planLinear(bound, ranges.ofArgument("q"), ranges);
  if (!plan)
    return {};
  Value value = emitLinear(builder, loc, bound, *plan, mask.getArgument("q"),
                           [](AffineForm::Term term) { return term.first; });
  if (!plan->fitsI32)
    value = emitSaturation(builder, loc, value);
  return arith::CmpIOp::create(builder, loc, predicate, mask.getArgument("k"),
                               value);
}

/// `k predicate divisor * (bound + quotient) + addend` for a constant divisor.
Value Normalizer::compareKeyScaled(CmpIPredicate predicate,
                                   const QuotientComparison &comparison,
                                   int64_t quotient, int64_t addend,
                                   Location loc) {
  AffineForm inner = comparison.bound, bound;
  bound.constant = addend;
  if (llvm::AddOverflow(inner.constant, quotient, inner.constant) ||
      !addScaled(bound, inner, *comparison.division.getConstantDivisor()))
    return {};
  return compareKey(predicate, bound, loc);
}

/// `quotient predicate x` from quotient <= x + n and quotient >= x + n, as far
/// as they can be had.
Value Normalizer::compareQuotient(CmpIPredicate predicate,
                                  llvm::function_ref<Value(int64_t)> atMost,
                                  llvm::function_ref<Value(int64_t)> atLeast,
                                  Location loc) {
  Value lhs, rhs;
  switch (predicate) {
  case CmpIPredicate::sle:
    return atMost(0);
  case CmpIPredicate::sge:
    return atLeast(0);
  case CmpIPredicate::eq:
    lhs = atMost(0);
    rhs = atLeast(0);
    return lhs && rhs ? builder.createOrFold<arith::AndIOp>(loc, lhs, rhs)
                      : Value();
  default: // ne
    lhs = atMost(-1);
    rhs = atLeast(1);
    return lhs && rhs ? builder.createOrFold<arith::OrIOp>(loc, lhs, rhs)
                      : Value();
  }
}

/// With C > 0, k / C <= x is k <= C * x + C - 1, and k / C >= x is k >= C * x.
Value Normalizer::normalizeQuotient(const QuotientComparison &comparison,
                                    Location loc) {
  std::optional<int64_t> divisor = comparison.division.getConstantDivisor();
  if (!divisor)
    return normalizeQuotientByValue(comparison, loc);
  bool hasDirection =
      llvm::all_of(comparison.bound.terms, [&](AffineForm::Term term) {
        return affine.getDirections().of(term.first) != Direction::Unknown;
      });
  if (*divisor <= 0 || !hasDirection)
    return {};
  auto atMost = [&](int64_t quotient) {
    return compareKeyScaled(CmpIPredicate::sle, comparison, quotient,
                            *divisor - 1, loc);
  };
  auto atLeast = [&](int64_t quotient) {
    return compareKeyScaled(CmpIPredicate::sge, comparison, quotient, 0, loc);
  };
  return compareQuotient(comparison.predicate, atMost, atLeast, loc);
}

/// k / C against x / C + n, for a C that is only known at run time. With C < 0,
/// k / C >= x is k <= C * x, and k / C <= x is k >= C * (x + 1) + 1; by 0 both
/// quotients are 0.
Value Normalizer::normalizeQuotientByValue(const QuotientComparison &comparison,
                                           Location loc) {
  const AffineForm &bound = comparison.bound;
  Value divisor = comparison.division.divisor;
  constexpr int64_t mostSteps = int64_t(1) << 20; // so that nothing wraps
  if (bound.q != 0 || bound.terms.size() != 1 ||
      bound.terms.front().second != 1 || bound.constant < -mostSteps ||
      bound.constant > mostSteps || !affine.getRanges().of(divisor).fitsI32())
    return {};
  Value quotient = bound.terms.front().first;
  std::optional<FloorDivision> division =
      matchFloorDivision(quotient, affine.getRanges());
  if (!division || division->divisor != divisor ||
      !affine.getRanges().of(division->dividend).fitsI32())
    return {};
  ScaledQuotient scaled(builder, loc, quotient, divisor, bound.constant);
  auto compare = [&](CmpIPredicate predicate, int64_t n, int64_t addend) {
    return [&, predicate, n, addend](int64_t steps) -> Value {
      return arith::CmpIOp::create(builder, loc, predicate,
                                   mask.getArgument("k"),
                                   scaled.get(steps + n, addend));
    };
  };
  Value rising =
      compareQuotient(comparison.predicate, compare(CmpIPredicate::sle, 1, -1),
                      compare(CmpIPredicate::sge, 0, 0), loc);
  Value falling =
      compareQuotient(comparison.predicate, compare(CmpIPredicate::sge, 1, 1),
                      compare(CmpIPredicate::sle, 0, 0), loc);
  Value ofZero = arith::ConstantOp::create(
      builder, loc,
      builder.getBoolAttr(arith::applyCmpPredicate(
          comparison.predicate, APInt(64, 0),
          APInt(64, bound.constant, /*isSigned=*/true))));
  Value otherwise = arith::SelectOp::create(
      builder, loc, scaled.isDivisor(CmpIPredicate::slt), falling, ofZero);
  return arith::SelectOp::create(
      builder, loc, scaled.isDivisor(CmpIPredicate::sgt), rising, otherwise);
}

void ::NormalizeMask::runOnOperation() {
  KernelOp kernel = getOperation();
  MaskOp mask = kernel.getMask();
  if (!mask)
    return;
  IRRewriter rewriter(&getContext());
  DominanceInfo dominance(mask);
  // Equal invariants must be one value before, equal conditions after.
  eliminateCommonSubExpressions(rewriter, dominance, mask);
  // What one round writes, the next one may read better.
  constexpr unsigned maxRounds = 4;
  uint64_t before = 0;
  for (unsigned round = 0; round < maxRounds; ++round) {
    YieldOp yield = mask.getYield();
    Value condition =
        Normalizer(kernel, mask).normalize(yield.getOperand(0), false);
    yield.setOperand(0, condition);
    (void)runRegionDCE(rewriter, mask->getRegions());
    eliminateCommonSubExpressions(rewriter, dominance, mask);
    uint64_t after = StructureHash().of(mask.getYield().getOperand(0));
    if (after == before)
      return;
    before = after;
  }
}
