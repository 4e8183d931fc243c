//===- RuleRanges.cpp - Ranges of the integers of a rule ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/RuleRanges.h"

#include "attn/Analysis/FloorDivision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

Interval RuleRanges::ofArgument(StringRef name) {
  Interval query =
      kernel.getAlign() == ir::Align::TopLeft ? rowRange : queryRange;
  return llvm::StringSwitch<Interval>(name)
      .Case("b", batchRange)
      .Case("h", Interval{0, static_cast<int64_t>(kernel.getHeads()) - 1})
      .Case("g", Interval{0, static_cast<int64_t>(kernel.getKvHeads()) - 1})
      .Case("i", rowRange)
      .Cases({"q", "q_first", "q_last"}, query)
      .Case("k", keyRange)
      .Cases({"q_len", "k_len"}, lengthRange)
      .Default(Interval::ofSigned(32));
}

Interval RuleRanges::ofBlockArgument(BlockArgument argument) {
  Operation *rule = argument.getOwner()->getParentOp();
  ArrayRef<StringLiteral> names =
      llvm::TypeSwitch<Operation *, ArrayRef<StringLiteral>>(rule)
          .Case<ir::MaskOp, ir::BoundsOp>(
              [](auto op) { return decltype(op)::argumentNames(); })
          .Default(ArrayRef<StringLiteral>());
  unsigned number = argument.getArgNumber();
  return ofArgument(number < names.size() ? StringRef(names[number]) : "");
}

static Interval ofShift(arith::ShRSIOp shift, Interval value) {
  APInt amount;
  if (!matchPattern(shift.getRhs(), m_ConstantInt(&amount)) ||
      amount.uge(amount.getBitWidth() - 1))
    return Interval::all();
  return floorDiv(value, Interval::of(int64_t(1) << amount.getZExtValue()));
}

/// Of a bit-wise and with a value that is not negative: at most that value.
static Interval ofAnd(Interval lhs, Interval rhs) {
  Interval result = Interval::all();
  for (Interval side : {lhs, rhs})
    if (side.low >= 0)
      result = {0, std::min(result.high, side.high)};
  return result;
}

/// Towards zero, by a positive divisor: floor or one above it.
static Interval ofQuotient(Interval lhs, Interval rhs) {
  if (rhs.low <= 0)
    return Interval::all();
  Interval floor = floorDiv(lhs, rhs);
  return lhs.low < 0 ? floor.hull(floor + Interval::of(1)) : floor;
}

Interval RuleRanges::ofResult(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    if (std::optional<FloorDivision> division =
            matchFloorDivision(select.getResult(), *this))
      return floorDiv(of(division->dividend), of(division->divisor));
  auto operand = [&](unsigned index) { return of(op->getOperand(index)); };
  return llvm::TypeSwitch<Operation *, Interval>(op)
      .Case([](arith::ConstantOp constant) {
        auto value = dyn_cast<IntegerAttr>(constant.getValue());
        return value ? Interval::of(value.getValue().getSExtValue())
                     : Interval::all();
      })
      .Case([&](arith::AddIOp) { return operand(0) + operand(1); })
      .Case([&](arith::SubIOp) { return operand(0) - operand(1); })
      .Case([&](arith::MulIOp) { return operand(0) * operand(1); })
      .Case([&](arith::MinSIOp) { return min(operand(0), operand(1)); })
      .Case([&](arith::MaxSIOp) { return max(operand(0), operand(1)); })
      .Case([&](math::AbsIOp) { return abs(operand(0)); })
      .Case([&](arith::AndIOp) { return ofAnd(operand(0), operand(1)); })
      .Case([&](arith::ShRSIOp shift) { return ofShift(shift, operand(0)); })
      .Case([&](arith::SelectOp) { return operand(1).hull(operand(2)); })
      .Case<arith::ExtSIOp, arith::TruncIOp>([&](auto) { return operand(0); })
      .Case([&](arith::DivSIOp) { return ofQuotient(operand(0), operand(1)); })
      .Case([&](arith::RemSIOp) {
        Interval lhs = operand(0), rhs = operand(1);
        // Otherwise rounding towards zero is not floor.
        return lhs.low < 0 || rhs.low <= 0 ? Interval::all()
                                           : floorMod(lhs, rhs);
      })
      .Case([&](ir::ReadOp read) {
        auto tensor = kernel.lookupSymbol<ir::TensorOp>(read.getTensor());
        auto type = dyn_cast<IntegerType>(tensor.getElementType());
        if (!type)
          return Interval::all();
        return type.isUnsigned() ? Interval::ofUnsigned(type.getWidth())
                                 : Interval::ofSigned(type.getWidth());
      })
      .Default([](Operation *) { return Interval::all(); });
}

Interval RuleRanges::of(Value value) {
  auto type = dyn_cast<IntegerType>(value.getType());
  if (!type)
    return Interval::all();
  auto found = known.find(value);
  if (found != known.end())
    return found->second;
  Interval ofType = Interval::ofSigned(type.getWidth());
  auto argument = dyn_cast<BlockArgument>(value);
  Interval range =
      argument ? ofBlockArgument(argument) : ofResult(value.getDefiningOp());
  // Outside its type a value wraps.
  if (!range.isIn(ofType))
    range = ofType;
  known[value] = range;
  return range;
}
