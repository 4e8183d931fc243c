//===- RowDirection.cpp - How values of a mask follow the row -------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/RowDirection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

Direction attn::reversed(Direction direction) {
  switch (direction) {
  case Direction::Rising:
    return Direction::Falling;
  case Direction::Falling:
    return Direction::Rising;
  default:
    return direction;
  }
}

Direction attn::combined(Direction lhs, Direction rhs) {
  if (lhs == Direction::Constant)
    return rhs;
  if (rhs == Direction::Constant || lhs == rhs)
    return lhs;
  return Direction::Unknown;
}

//===----------------------------------------------------------------------===//
// Dependences
//===----------------------------------------------------------------------===//

RowDirection::Dependence RowDirection::dependenceOf(Value value) {
  auto found = dependences.find(value);
  if (found != dependences.end())
    return found->second;
  Dependence result;
  if (Operation *op = value.getDefiningOp()) {
    for (Value operand : op->getOperands()) {
      Dependence part = dependenceOf(operand);
      result.onQuery |= part.onQuery;
      result.onKey |= part.onKey;
    }
  } else {
    result.onQuery =
        value == mask.getArgument("q") || value == mask.getArgument("i");
    result.onKey = value == mask.getArgument("k");
  }
  dependences[value] = result;
  return result;
}

bool RowDirection::isInvariant(Value value) {
  Dependence dependence = dependenceOf(value);
  return !dependence.onQuery && !dependence.onKey;
}

bool RowDirection::isKeyFree(Value value) { return !dependenceOf(value).onKey; }

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

Direction RowDirection::of(Value value) {
  if (isInvariant(value))
    return Direction::Constant;
  if (!isKeyFree(value) || !isa<IntegerType>(value.getType()) ||
      value.getType().isInteger(1))
    return Direction::Unknown;
  auto found = directions.find(value);
  if (found != directions.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  // q and i count the rows.
  Direction direction = op ? ofResult(op) : Direction::Rising;
  directions[value] = direction;
  return direction;
}

static Value withoutExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtSIOp>();
  return extension ? extension.getIn() : value;
}

/// A product by something that does not change its sign.
Direction RowDirection::ofProduct(Value lhs, Value rhs) {
  if (isInvariant(lhs))
    std::swap(lhs, rhs);
  if (!isInvariant(rhs))
    return Direction::Unknown;
  // y * floor(x / y) rises with x, whatever y is.
  std::optional<FloorDivision> division =
      matchFloorDivision(withoutExtension(lhs), ranges);
  if (division && division->divisor &&
      withoutExtension(division->divisor) == withoutExtension(rhs))
    return of(division->dividend);
  Interval factor = ranges.of(rhs);
  if (factor.low >= 0)
    return of(lhs);
  return factor.high <= 0 ? reversed(of(lhs)) : Direction::Unknown;
}

Direction RowDirection::ofQuotient(const FloorDivision &division) {
  Direction direction = of(division.dividend);
  if (!division.divisor)
    return direction;
  if (!isInvariant(division.divisor))
    return Direction::Unknown;
  Interval divisor = ranges.of(division.divisor);
  if (divisor.low >= 0)
    return direction;
  return divisor.high <= 0 ? reversed(direction) : Direction::Unknown;
}

/// An element of a tensor that promises not to decrease along its last axis.
Direction RowDirection::ofRead(ir::ReadOp read) {
  auto tensor = kernel.lookupSymbol<ir::TensorOp>(read.getTensor());
  auto indices = read.getIndices();
  if (!tensor || !tensor.getMonotone() ||
      !llvm::all_of(indices.drop_back(),
                    [&](Value index) { return isInvariant(index); }))
    return Direction::Unknown;
  return of(indices.back());
}

Direction RowDirection::ofResult(Operation *op) {
  if (std::optional<FloorDivision> division =
          matchFloorDivision(op->getResult(0), ranges))
    return ofQuotient(*division);
  auto operand = [&](unsigned index) { return of(op->getOperand(index)); };
  auto rangeOf = [&](unsigned index) {
    return ranges.of(op->getOperand(index));
  };
  Interval ofType =
      Interval::ofSigned(op->getResult(0).getType().getIntOrFloatBitWidth());
  // A step that may wrap has no direction.
  return llvm::TypeSwitch<Operation *, Direction>(op)
      .Case([&](arith::AddIOp) {
        return addIsExact(rangeOf(0), rangeOf(1)) &&
                       (rangeOf(0) + rangeOf(1)).isIn(ofType)
                   ? combined(operand(0), operand(1))
                   : Direction::Unknown;
      })
      .Case([&](arith::SubIOp) {
        return subIsExact(rangeOf(0), rangeOf(1)) &&
                       (rangeOf(0) - rangeOf(1)).isIn(ofType)
                   ? combined(operand(0), reversed(operand(1)))
                   : Direction::Unknown;
      })
      .Case([&](arith::MulIOp) {
        return mulIsExact(rangeOf(0), rangeOf(1)) &&
                       (rangeOf(0) * rangeOf(1)).isIn(ofType)
                   ? ofProduct(op->getOperand(0), op->getOperand(1))
                   : Direction::Unknown;
      })
      .Case<arith::MinSIOp, arith::MaxSIOp>(
          [&](auto) { return combined(operand(0), operand(1)); })
      .Case<arith::ExtSIOp, arith::TruncIOp>([&](auto) {
        return rangeOf(0).isIn(ofType) ? operand(0) : Direction::Unknown;
      })
      .Case([&](arith::DivSIOp division) { // towards zero
        return ofQuotient({division.getLhs(), division.getRhs()});
      })
      .Case([&](arith::SelectOp select) {
        return isInvariant(select.getCondition())
                   ? combined(operand(1), operand(2))
                   : Direction::Unknown;
      })
      .Case([&](ir::ReadOp read) { return ofRead(read); })
      .Default([](Operation *) { return Direction::Unknown; });
}
