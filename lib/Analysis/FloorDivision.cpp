//===- FloorDivision.cpp - Floor divisions in rules ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/FloorDivision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

using arith::CmpIPredicate;

std::optional<int64_t> FloorDivision::getConstantDivisor() const {
  if (!divisor)
    return int64_t(1) << shift;
  APInt constant;
  if (matchPattern(divisor, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

/// Whether `condition` is `remainder != 0 && (remainder ^ divisor) < 0`: where
/// rounding towards zero and floor differ.
static bool isRoundedUp(Value condition, Value remainder, Value divisor) {
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both)
    return false;
  auto inexact = both.getLhs().getDefiningOp<arith::CmpIOp>();
  auto differ = both.getRhs().getDefiningOp<arith::CmpIOp>();
  auto signs =
      differ ? differ.getLhs().getDefiningOp<arith::XOrIOp>() : arith::XOrIOp();
  return inexact && signs && inexact.getPredicate() == CmpIPredicate::ne &&
         inexact.getLhs() == remainder &&
         matchPattern(inexact.getRhs(), m_Zero()) &&
         differ.getPredicate() == CmpIPredicate::slt &&
         matchPattern(differ.getRhs(), m_Zero()) &&
         signs.getLhs() == remainder && signs.getRhs() == divisor;
}

/// select(rounded up, x / y - 1, x / y).
static std::optional<FloorDivision> matchAdjusted(arith::SelectOp select) {
  auto quotient = select.getFalseValue().getDefiningOp<arith::DivSIOp>();
  auto less = select.getTrueValue().getDefiningOp<arith::SubIOp>();
  if (!quotient || !less || less.getLhs() != quotient.getResult() ||
      !matchPattern(less.getRhs(), m_One()))
    return std::nullopt;
  for (Operation *user : quotient.getLhs().getUsers())
    if (auto remainder = dyn_cast<arith::RemSIOp>(user);
        remainder && remainder.getLhs() == quotient.getLhs() &&
        remainder.getRhs() == quotient.getRhs() &&
        isRoundedUp(select.getCondition(), remainder, quotient.getRhs()))
      return FloorDivision{quotient.getLhs(), quotient.getRhs()};
  return std::nullopt;
}

/// The same for the remainder: select(rounded up, x % y + y, x % y).
static std::optional<FloorDivision>
matchAdjustedRemainder(arith::SelectOp select) {
  auto remainder = select.getFalseValue().getDefiningOp<arith::RemSIOp>();
  auto more = select.getTrueValue().getDefiningOp<arith::AddIOp>();
  if (!remainder || !more || more.getLhs() != remainder.getResult() ||
      more.getRhs() != remainder.getRhs() ||
      !isRoundedUp(select.getCondition(), remainder, remainder.getRhs()))
    return std::nullopt;
  return FloorDivision{remainder.getLhs(), remainder.getRhs()};
}

/// y == 0 ? 0 : x (by) (y == 0 ? 1 : y), where `match` knows the second part.
static std::optional<FloorDivision>
matchGuarded(arith::SelectOp select, RuleRanges &ranges,
             std::optional<FloorDivision> (*match)(Value, RuleRanges &)) {
  auto isZero = select.getCondition().getDefiningOp<arith::CmpIOp>();
  std::optional<FloorDivision> guarded =
      isZero && matchPattern(select.getTrueValue(), m_Zero())
          ? match(select.getFalseValue(), ranges)
          : std::nullopt;
  auto divisor = guarded && guarded->divisor
                     ? guarded->divisor.getDefiningOp<arith::SelectOp>()
                     : arith::SelectOp();
  if (!divisor || divisor.getCondition() != select.getCondition() ||
      isZero.getPredicate() != CmpIPredicate::eq ||
      isZero.getLhs() != divisor.getFalseValue() ||
      !matchPattern(isZero.getRhs(), m_Zero()) ||
      !matchPattern(divisor.getTrueValue(), m_One()))
    return std::nullopt;
  return FloorDivision{guarded->dividend, divisor.getFalseValue()};
}

std::optional<FloorDivision> attn::matchFloorRemainder(Value value,
                                                       RuleRanges &ranges) {
  Operation *op = value.getDefiningOp();
  APInt ones;
  if (auto bits = dyn_cast_or_null<arith::AndIOp>(op)) {
    if (!matchPattern(bits.getRhs(), m_ConstantInt(&ones)) || !ones.isMask() ||
        ones.isSignBitSet())
      return std::nullopt;
    return FloorDivision{bits.getLhs(), Value(), ones.countr_one()};
  }
  if (auto remainder = dyn_cast_or_null<arith::RemSIOp>(op)) {
    if (ranges.of(remainder.getLhs()).low < 0 ||
        ranges.of(remainder.getRhs()).low < 0)
      return std::nullopt;
    return FloorDivision{remainder.getLhs(), remainder.getRhs()};
  }
  auto select = dyn_cast_or_null<arith::SelectOp>(op);
  if (!select)
    return std::nullopt;
  if (std::optional<FloorDivision> adjusted = matchAdjustedRemainder(select))
    return adjusted;
  return matchGuarded(select, ranges, matchFloorRemainder);
}

std::optional<FloorDivision> attn::matchFloorDivision(Value value,
                                                      RuleRanges &ranges) {
  Operation *op = value.getDefiningOp();
  if (auto quotient = dyn_cast_or_null<arith::DivSIOp>(op)) {
    if (ranges.of(quotient.getLhs()).low < 0 ||
        ranges.of(quotient.getRhs()).low < 0)
      return std::nullopt;
    return FloorDivision{quotient.getLhs(), quotient.getRhs()};
  }
  APInt amount;
  if (auto shift = dyn_cast_or_null<arith::ShRSIOp>(op)) {
    if (!matchPattern(shift.getRhs(), m_ConstantInt(&amount)) ||
        amount.uge(amount.getBitWidth() - 1))
      return std::nullopt;
    return FloorDivision{shift.getLhs(), Value(),
                         static_cast<unsigned>(amount.getZExtValue())};
  }
  auto select = dyn_cast_or_null<arith::SelectOp>(op);
  if (!select)
    return std::nullopt;
  if (std::optional<FloorDivision> adjusted = matchAdjusted(select))
    return adjusted;
  return matchGuarded(select, ranges, matchFloorDivision);
}

Value attn::emitFloorDivision(OpBuilder &builder, Location loc, Value dividend,
                              int64_t divisor) {
  Type type = dividend.getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, type, value);
  };
  if (llvm::isPowerOf2_64(divisor))
    return builder.createOrFold<arith::ShRSIOp>(
        loc, dividend, constant(llvm::Log2_64(divisor)));
  Value zero = constant(0), by = constant(divisor);
  Value quotient = arith::DivSIOp::create(builder, loc, dividend, by);
  Value remainder = arith::RemSIOp::create(builder, loc, dividend, by);
  Value inexact =
      arith::CmpIOp::create(builder, loc, CmpIPredicate::ne, remainder, zero);
  Value signs = arith::XOrIOp::create(builder, loc, remainder, by);
  Value differ =
      arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, signs, zero);
  Value isUp = arith::AndIOp::create(builder, loc, inexact, differ);
  Value below = arith::SubIOp::create(builder, loc, quotient, constant(1));
  return arith::SelectOp::create(builder, loc, isUp, below, quotient);
}
