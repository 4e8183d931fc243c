//===- MaskAffine.cpp - Affine comparisons of a mask ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskAffine.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace attn;

using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Arguments before ops, each in order: independent of names and addresses.
static bool isBefore(Value lhs, Value rhs) {
  auto lhsArgument = dyn_cast<BlockArgument>(lhs);
  auto rhsArgument = dyn_cast<BlockArgument>(rhs);
  if (lhsArgument && rhsArgument)
    return lhsArgument.getArgNumber() < rhsArgument.getArgNumber();
  if (lhsArgument || rhsArgument)
    return static_cast<bool>(lhsArgument);
  return lhs.getDefiningOp()->isBeforeInBlock(rhs.getDefiningOp());
}

bool attn::addScaled(AffineForm &sum, const AffineForm &addend,
                     int64_t factor) {
  auto accumulate = [factor](int64_t &into, int64_t value) {
    int64_t product;
    return !llvm::MulOverflow(value, factor, product) &&
           !llvm::AddOverflow(into, product, into);
  };
  if (!accumulate(sum.q, addend.q) || !accumulate(sum.k, addend.k) ||
      !accumulate(sum.constant, addend.constant))
    return false;
  for (const AffineForm::Term &term : addend.terms) {
    auto *place = llvm::find_if(sum.terms, [&](const AffineForm::Term &other) {
      return !isBefore(other.first, term.first);
    });
    if (place == sum.terms.end() || place->first != term.first)
      place = sum.terms.insert(place, {term.first, 0});
    if (!accumulate(place->second, term.second))
      return false;
  }
  llvm::erase_if(sum.terms,
                 [](const AffineForm::Term &term) { return term.second == 0; });
  return true;
}

MaskAffine::MaskAffine(ir::KernelOp kernel, ir::MaskOp mask)
    : isBottomRight(kernel.getAlign() == ir::Align::BottomRight), mask(mask),
      ranges(kernel), directions(kernel, mask, ranges) {}

/// The form of a sum, difference, product by a constant or change of width,
/// if that step cannot wrap.
std::optional<AffineForm> MaskAffine::getSum(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                       arith::ExtSIOp, arith::TruncIOp>(op))
    return std::nullopt;
  Interval lhs = ranges.of(op->getOperand(0));
  Interval rhs = ranges.of(op->getOperand(op->getNumOperands() - 1));
  Interval ofType = Interval::ofSigned(value.getType().getIntOrFloatBitWidth());
  bool isExact = llvm::TypeSwitch<Operation *, bool>(op)
                     .Case([&](arith::AddIOp) {
                       return addIsExact(lhs, rhs) && (lhs + rhs).isIn(ofType);
                     })
                     .Case([&](arith::SubIOp) {
                       return subIsExact(lhs, rhs) && (lhs - rhs).isIn(ofType);
                     })
                     .Case([&](arith::MulIOp) {
                       return mulIsExact(lhs, rhs) &&
                              (lhs * rhs).isIn(ofType) &&
                              (lhs.isConstant() || rhs.isConstant());
                     })
                     .Default([&](Operation *) { return lhs.isIn(ofType); });
  if (!isExact)
    return std::nullopt;
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op))
    return getForm(op->getOperand(0));
  AffineForm sum;
  if (isa<arith::MulIOp>(op)) {
    unsigned variable = rhs.isConstant() ? 0 : 1;
    int64_t factor = rhs.isConstant() ? rhs.low : lhs.low;
    std::optional<AffineForm> form = getForm(op->getOperand(variable));
    if (!form || !addScaled(sum, *form, factor))
      return std::nullopt;
    return sum;
  }
  std::optional<AffineForm> first = getForm(op->getOperand(0));
  std::optional<AffineForm> second = getForm(op->getOperand(1));
  if (!first || !second || !addScaled(sum, *first, 1) ||
      !addScaled(sum, *second, isa<arith::SubIOp>(op) ? -1 : 1))
    return std::nullopt;
  return sum;
}

std::optional<AffineForm> MaskAffine::getForm(Value value) {
  AffineForm form;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    form.constant = constant.getSExtValue();
    return form;
  }
  if (value == mask.getArgument("k")) {
    form.k = 1;
    return form;
  }
  if (value == mask.getArgument("q")) {
    form.q = 1;
    return form;
  }
  if (value == mask.getArgument("i")) { // q - (k_len - q_len), or q
    form.q = 1;
    if (isBottomRight)
      form.terms = {{mask.getArgument("q_len"), 1},
                    {mask.getArgument("k_len"), -1}};
    return form;
  }
  if (std::optional<AffineForm> sum = getSum(value))
    return sum;
  return getAtom(value);
}

/// A value that has no parts here.
std::optional<AffineForm> MaskAffine::getAtom(Value value) {
  AffineForm form;
  form.terms = {{value, 1}};
  if (directions.of(value) != Direction::Unknown ||
      (allowsQuotient && directions.isKeyFree(value)))
    return form;
  std::optional<FloorDivision> division = matchFloorDivision(value, ranges);
  bool isQuotient = allowsQuotient && division &&
                    division->dividend == mask.getArgument("k") &&
                    (!division->divisor || isInvariant(division->divisor)) &&
                    (!quotient || quotient == value);
  if (!isQuotient)
    return std::nullopt;
  quotient = value;
  return form;
}

AffineComparison attn::withoutCommonFactor(AffineComparison comparison) {
  AffineForm &form = comparison.form;
  uint64_t divisor =
      std::gcd(llvm::AbsoluteValue(form.q), llvm::AbsoluteValue(form.k));
  for (const AffineForm::Term &term : form.terms)
    divisor = std::gcd(divisor, llvm::AbsoluteValue(term.second));
  if (divisor < 2 || divisor > uint64_t(INT64_MAX))
    return comparison;
  auto factor = static_cast<int64_t>(divisor);
  switch (comparison.predicate) {
  case CmpIPredicate::sle:
    form.constant = llvm::divideCeilSigned(form.constant, factor);
    break;
  case CmpIPredicate::sge:
    form.constant = llvm::divideFloorSigned(form.constant, factor);
    break;
  default: // eq, ne
    if (form.constant % factor)
      return comparison; // never equal
    form.constant /= factor;
  }
  form.q /= factor;
  form.k /= factor;
  for (AffineForm::Term &term : form.terms)
    term.second /= factor;
  return comparison;
}

std::optional<AffineComparison> MaskAffine::get(arith::CmpIOp compare) {
  allowsQuotient = false;
  return getComparison(compare);
}

std::optional<QuotientComparison>
MaskAffine::getQuotient(arith::CmpIOp compare) {
  allowsQuotient = true;
  quotient = Value();
  std::optional<AffineComparison> comparison = getComparison(compare);
  if (!comparison || !quotient || comparison->form.k != 0)
    return std::nullopt;
  // The quotient in place of k.
  auto *place =
      llvm::find_if(comparison->form.terms, [&](AffineForm::Term term) {
        return term.first == quotient;
      });
  if (place == comparison->form.terms.end())
    return std::nullopt;
  comparison->form.k = place->second;
  comparison->form.terms.erase(place);
  std::optional<KeyComparison> solved = solveForKey(*comparison);
  if (!solved)
    return std::nullopt;
  return QuotientComparison{*matchFloorDivision(quotient, ranges),
                            solved->predicate, solved->bound};
}

std::optional<AffineComparison>
MaskAffine::getComparison(arith::CmpIOp compare) {
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  if (lhs.getType().isInteger(1))
    return std::nullopt;
  // Saturation at the ends of i32 changes nothing for what lies between.
  Interval open{int64_t(INT32_MIN) + 1, int64_t(INT32_MAX) - 1};
  if (ranges.of(lhs).isIn(open))
    rhs = stripSaturation(rhs);
  std::optional<AffineForm> left = getForm(lhs), right = getForm(rhs);
  if (!left || !right)
    return std::nullopt;
  AffineComparison result;
  if (!addScaled(result.form, *left, 1) || !addScaled(result.form, *right, -1))
    return std::nullopt;
  int64_t &constant = result.form.constant;
  switch (compare.getPredicate()) {
  case CmpIPredicate::slt: // x < 0: x + 1 <= 0
    result.predicate = CmpIPredicate::sle;
    if (llvm::AddOverflow<int64_t>(constant, 1, constant))
      return std::nullopt;
    return withoutCommonFactor(result);
  case CmpIPredicate::sgt:
    result.predicate = CmpIPredicate::sge;
    if (llvm::SubOverflow<int64_t>(constant, 1, constant))
      return std::nullopt;
    return withoutCommonFactor(result);
  case CmpIPredicate::eq:
  case CmpIPredicate::ne:
  case CmpIPredicate::sle:
  case CmpIPredicate::sge:
    result.predicate = compare.getPredicate();
    return withoutCommonFactor(result);
  default: // the language has no unsigned integers
    return std::nullopt;
  }
}

/// The opposite of `form predicate 0`: the predicate, and what is to be added
/// to the form, as x > 0 is x - 1 >= 0.
static std::pair<CmpIPredicate, int64_t> opposite(CmpIPredicate predicate) {
  switch (predicate) {
  case CmpIPredicate::sle:
    return {CmpIPredicate::sge, -1};
  case CmpIPredicate::sge:
    return {CmpIPredicate::sle, 1};
  default: // eq, ne
    return {arith::invertPredicate(predicate), 0};
  }
}

std::optional<AffineComparison> attn::negated(AffineComparison comparison) {
  auto [predicate, addend] = opposite(comparison.predicate);
  comparison.predicate = predicate;
  int64_t &constant = comparison.form.constant;
  if (llvm::AddOverflow(constant, addend, constant))
    return std::nullopt;
  return comparison;
}

/// x > bound is x >= bound + 1.
std::optional<QuotientComparison> attn::negated(QuotientComparison comparison) {
  auto [predicate, addend] = opposite(comparison.predicate);
  comparison.predicate = predicate;
  int64_t &constant = comparison.bound.constant;
  if (llvm::SubOverflow(constant, addend, constant))
    return std::nullopt;
  return comparison;
}

std::optional<KeyComparison>
attn::solveForKey(const AffineComparison &comparison) {
  int64_t k = comparison.form.k;
  if (k != 1 && k != -1)
    return std::nullopt;
  // k + rest <= 0: k <= -rest. -k + rest <= 0: k >= rest.
  AffineForm rest = comparison.form;
  rest.k = 0;
  KeyComparison solved{comparison.predicate, AffineForm()};
  if (!addScaled(solved.bound, rest, -k))
    return std::nullopt;
  bool isOrder = solved.predicate == CmpIPredicate::sle ||
                 solved.predicate == CmpIPredicate::sge;
  if (k == -1 && isOrder)
    solved.predicate = solved.predicate == CmpIPredicate::sle
                           ? CmpIPredicate::sge
                           : CmpIPredicate::sle;
  return solved;
}

//===----------------------------------------------------------------------===//
// From forms to code
//===----------------------------------------------------------------------===//

/// sum + coefficient * range, if it stays inside 64 bits.
static std::optional<Interval> accumulate(Interval sum, Interval range,
                                          int64_t coefficient) {
  Interval factor = Interval::of(coefficient);
  if (!mulIsExact(range, factor) || !addIsExact(sum, range * factor))
    return std::nullopt;
  return sum + range * factor;
}

/// The range of `form` without the term of `skipped`, if no step of the sum can
/// leave 64 bits.
static std::optional<Interval> rangeOfSum(const AffineForm &form,
                                          Interval query, RuleRanges &ranges,
                                          Value skipped) {
  std::optional<Interval> sum =
      accumulate(Interval::of(form.constant), query, form.q);
  for (const AffineForm::Term &term : form.terms)
    if (sum && term.first != skipped)
      sum = accumulate(*sum, ranges.of(term.first), term.second);
  return sum;
}

std::optional<Interval> attn::rangeOfForm(const AffineForm &form,
                                          Interval query, RuleRanges &ranges) {
  return rangeOfSum(form, query, ranges, Value());
}

std::optional<LinearPlan> attn::planLinear(const AffineForm &form,
                                           Interval query, RuleRanges &ranges) {
  LinearPlan plan;
  std::optional<Interval> sum = rangeOfSum(form, query, ranges, Value());
  if (!sum) {
    // Beyond its limit a clamped invariant must outweigh the rest of the sum
    // and any position.
    Interval rest{-wideLimit / 2, wideLimit / 2};
    for (const AffineForm::Term &term : form.terms)
      if (!plan.wide && !ranges.of(term.first).isIn(rest) &&
          (term.second == 1 || term.second == -1))
        plan.wide = term.first;
    if (plan.wide)
      sum = rangeOfSum(form, query, ranges, plan.wide);
    if (!sum || !sum->isIn(rest))
      return std::nullopt;
    sum = *sum + Interval{-wideLimit, wideLimit};
  }
  plan.range = *sum;
  plan.fitsI32 = sum->fitsI32();
  return plan;
}

static Value constantOf(OpBuilder &builder, Location loc, Type type,
                        int64_t value) {
  APInt bits(type.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
             /*implicitTrunc=*/true);
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, bits));
}

static Value clamp(OpBuilder &builder, Location loc, Value value, int64_t low,
                   int64_t high) {
  Type type = value.getType();
  Value atLeast = arith::MaxSIOp::create(builder, loc, value,
                                         constantOf(builder, loc, type, low));
  return arith::MinSIOp::create(builder, loc, atLeast,
                                constantOf(builder, loc, type, high));
}

namespace {
/// Adds up the parts of a form. Two's complement: the sum is right as soon as
/// the result fits, whatever the partial sums do.
struct Summation {
  OpBuilder &builder;
  Location loc;
  Type type;
  Value sum;

  Value convert(Value value) {
    unsigned from = value.getType().getIntOrFloatBitWidth();
    unsigned to = type.getIntOrFloatBitWidth();
    if (from == to)
      return value;
    if (from < to)
      return builder.createOrFold<arith::ExtSIOp>(loc, type, value);
    return builder.createOrFold<arith::TruncIOp>(loc, type, value);
  }

  void add(Value value, int64_t coefficient) {
    value = convert(value);
    bool subtracts = coefficient < 0 && coefficient != INT64_MIN && sum;
    int64_t factor = subtracts ? -coefficient : coefficient;
    if (factor == -1) {
      value = builder.createOrFold<arith::SubIOp>(
          loc, constantOf(builder, loc, type, 0), value);
    } else if (factor != 1) {
      value = builder.createOrFold<arith::MulIOp>(
          loc, value, constantOf(builder, loc, type, factor));
    }
    if (!sum)
      sum = value;
    else if (subtracts)
      sum = builder.createOrFold<arith::SubIOp>(loc, sum, value);
    else
      sum = builder.createOrFold<arith::AddIOp>(loc, sum, value);
  }
};
} // namespace

Value attn::emitLinear(OpBuilder &builder, Location loc, const AffineForm &form,
                       const LinearPlan &plan, Value query,
                       function_ref<Value(AffineForm::Term)> map) {
  Type type = builder.getIntegerType(plan.fitsI32 ? 32 : 64);
  Summation summation{builder, loc, type, Value()};
  // Positive parts first: `q - left`, not `-left + q`.
  for (bool isPositive : {true, false}) {
    if (form.q != 0 && (form.q > 0) == isPositive)
      summation.add(query, form.q);
    for (const AffineForm::Term &term : form.terms) {
      if ((term.second > 0) != isPositive)
        continue;
      Value value = map(term);
      if (term.first == plan.wide)
        value = clamp(builder, loc, value, -wideLimit, wideLimit);
      summation.add(value, term.second);
    }
  }
  if (!summation.sum)
    return constantOf(builder, loc, type, form.constant);
  if (form.constant != 0)
    summation.add(constantOf(builder, loc, type, form.constant), 1);
  return summation.sum;
}

Value attn::emitSaturation(OpBuilder &builder, Location loc, Value value) {
  Value clamped = clamp(builder, loc, value, INT32_MIN, INT32_MAX);
  return arith::TruncIOp::create(builder, loc, builder.getI32Type(), clamped);
}

Value attn::stripSaturation(Value value) {
  auto truncation = value.getDefiningOp<arith::TruncIOp>();
  if (!truncation)
    return value;
  auto atMost = truncation.getIn().getDefiningOp<arith::MinSIOp>();
  auto atLeast =
      atMost ? atMost.getLhs().getDefiningOp<arith::MaxSIOp>() : nullptr;
  APInt low, high;
  if (!atLeast || !matchPattern(atMost.getRhs(), m_ConstantInt(&high)) ||
      !matchPattern(atLeast.getRhs(), m_ConstantInt(&low)) ||
      low.getSExtValue() != INT32_MIN || high.getSExtValue() != INT32_MAX)
    return value;
  return atLeast.getLhs();
}
