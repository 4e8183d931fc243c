//===- RuleIntervals.cpp - What a mask can be over a tile -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleIntervals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t lanes = 32;
/// Elements of a tensor that one interval looks at; of more it knows nothing.
/// The pairs of a tile, one by one, are 8192 and more.
constexpr int64_t mostElements = 2048;

/// Emits operations on bounds.
struct BoundsBuilder {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value, unsigned bits = 64) {
    return arith::ConstantIntOp::create(builder, loc,
                                        builder.getIntegerType(bits), value);
  }
  template <typename Op> Value create(Value lhs, Value rhs) {
    return builder.createOrFold<Op>(loc, lhs, rhs);
  }
  Value compare(CmpIPredicate predicate, Value lhs, Value rhs) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, lhs, rhs);
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return builder.createOrFold<arith::SelectOp>(loc, condition, lhs, rhs);
  }
  Value min(Value lhs, Value rhs) {
    return lhs.getType().isInteger(1) ? create<arith::AndIOp>(lhs, rhs)
                                      : create<arith::MinSIOp>(lhs, rhs);
  }
  Value max(Value lhs, Value rhs) {
    return lhs.getType().isInteger(1) ? create<arith::OrIOp>(lhs, rhs)
                                      : create<arith::MaxSIOp>(lhs, rhs);
  }
  Value add(Value lhs, Value rhs) { return create<arith::AddIOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return create<arith::SubIOp>(lhs, rhs); }
  Value invert(Value condition) {
    return create<arith::XOrIOp>(condition, constant(1, 1));
  }
  Value widen(Value value) {
    return value.getType().isInteger(64)
               ? value
               : builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(),
                                                      value);
  }

  ValueBounds all(Interval range) {
    return {constant(range.low), constant(range.high)};
  }
  ValueBounds unknownCondition() { return {constant(0, 1), constant(1, 1)}; }
  ValueBounds hull(ValueBounds lhs, ValueBounds rhs) {
    return {min(lhs.low, rhs.low), max(lhs.high, rhs.high)};
  }
  ValueBounds select(ValueBounds condition, ValueBounds lhs, ValueBounds rhs) {
    ValueBounds both = hull(lhs, rhs);
    return {select(condition.low, lhs.low,
                   select(condition.high, both.low, rhs.low)),
            select(condition.low, lhs.high,
                   select(condition.high, both.high, rhs.high))};
  }

  ValueBounds product(ValueBounds lhs, ValueBounds rhs) {
    auto times = [&](Value x, Value y) { return create<arith::MulIOp>(x, y); };
    ValueBounds bounds;
    for (Value x : {lhs.low, lhs.high})
      for (Value y : {rhs.low, rhs.high}) {
        Value corner = times(x, y);
        bounds = bounds.low ? hull(bounds, {corner, corner})
                            : ValueBounds{corner, corner};
      }
    return bounds;
  }
  ValueBounds absolute(ValueBounds value) {
    Value zero = constant(0);
    Value below = sub(zero, value.high), above = sub(zero, value.low);
    return {max(zero, max(value.low, below)), max(value.high, above)};
  }

  /// floor(x / y) for one y, 0 for y = 0; `narrow` if i32 holds them all.
  Value quotient(Value x, Value y, bool narrow) {
    if (narrow) {
      x = create32(x);
      y = create32(y);
    }
    unsigned bits = narrow ? 32 : 64;
    Value isZero = compare(CmpIPredicate::eq, y, constant(0, bits));
    Value divisor = select(isZero, constant(1, bits), y);
    Value result = create<arith::FloorDivSIOp>(x, divisor);
    return widen(select(isZero, constant(0, bits), result));
  }
  Value create32(Value value) {
    return builder.createOrFold<arith::TruncIOp>(loc, builder.getI32Type(),
                                                 value);
  }

  ValueBounds compare(CmpIPredicate predicate, ValueBounds lhs,
                      ValueBounds rhs);
};

} // namespace

ValueBounds BoundsBuilder::compare(CmpIPredicate predicate, ValueBounds lhs,
                                   ValueBounds rhs) {
  auto below = [&](Value x, Value y, bool orEqual) {
    return compare(orEqual ? CmpIPredicate::sle : CmpIPredicate::slt, x, y);
  };
  auto negated = [&](ValueBounds condition) -> ValueBounds {
    return {invert(condition.high), invert(condition.low)};
  };
  bool isCondition = lhs.low.getType().isInteger(1);
  switch (predicate) {
  case CmpIPredicate::eq: {
    if (isCondition) {
      ValueBounds notLhs = negated(lhs), notRhs = negated(rhs);
      return {max(min(lhs.low, rhs.low), min(notLhs.low, notRhs.low)),
              max(min(lhs.high, rhs.high), min(notLhs.high, notRhs.high))};
    }
    return {
        min(compare(CmpIPredicate::eq, lhs.low, rhs.high),
            compare(CmpIPredicate::eq, lhs.high, rhs.low)),
        min(below(lhs.low, rhs.high, true), below(rhs.low, lhs.high, true))};
  }
  case CmpIPredicate::ne:
    return negated(compare(CmpIPredicate::eq, lhs, rhs));
  case CmpIPredicate::slt:
  case CmpIPredicate::sle:
  case CmpIPredicate::sgt:
  case CmpIPredicate::sge: {
    if (isCondition)
      return unknownCondition();
    bool orEqual =
        predicate == CmpIPredicate::sle || predicate == CmpIPredicate::sge;
    if (predicate == CmpIPredicate::sgt || predicate == CmpIPredicate::sge)
      std::swap(lhs, rhs);
    return {below(lhs.high, rhs.low, orEqual),
            below(lhs.low, rhs.high, orEqual)};
  }
  default:
    return unknownCondition();
  }
}

//===----------------------------------------------------------------------===//
// Which operations are looked at
//===----------------------------------------------------------------------===//

RuleIntervals::RuleIntervals(ir::KernelOp kernel, ir::MaskOp mask,
                             RuleInliner &inliner, Value lane,
                             IRMapping invariants)
    : mask(mask), inliner(inliner), lane(lane),
      invariants(std::move(invariants)), ranges(kernel),
      directions(kernel, mask, ranges) {
  findNeeded();
}

void RuleIntervals::setArgument(StringRef name, ValueBounds bounds) {
  known[mask.getArgument(name)] = bounds;
}

/// Operations whose bounds follow from those of all their operands.
static bool isUnderstood(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp,
             arith::CmpIOp, math::AbsIOp, ir::ReadOp>(op);
}

void RuleIntervals::findNeeded() {
  auto need = [&](Value value) {
    if (value && value.getDefiningOp())
      needed.insert(value.getDefiningOp());
  };
  need(mask.getYield().getOperand(0));
  for (Operation &op : llvm::reverse(mask.getBody().front())) {
    if (!needed.contains(&op))
      continue;
    Value result = op.getResult(0);
    std::optional<FloorDivision> division;
    if (!directions.isInvariant(result)) {
      division = matchFloorDivision(result, ranges);
      if (!division)
        division = matchFloorRemainder(result, ranges);
    }
    if (division) {
      need(division->dividend);
      need(division->divisor);
    } else if (directions.isInvariant(result) || isUnderstood(&op)) {
      llvm::for_each(op.getOperands(), need);
    }
  }
}

//===----------------------------------------------------------------------===//
// Bounds of operations
//===----------------------------------------------------------------------===//

namespace {

/// Emits the bounds of one operation from those of its operands.
class OpBounds {
public:
  OpBounds(OpBuilder &builder, Operation *op, RuleRanges &ranges,
           RuleInliner &inliner, Value lane,
           llvm::function_ref<ValueBounds(Value)> get)
      : emitter{builder, op->getLoc()}, op(op), ranges(ranges),
        inliner(inliner), lane(lane), get(get) {}

  ValueBounds emit();

private:
  ValueBounds unknown();
  ValueBounds ofIntegers();
  ValueBounds ofConditions();
  ValueBounds ofQuotient(const FloorDivision &division, bool isRemainder);
  ValueBounds ofRead(ir::ReadOp read);
  ValueBounds ofElements(ir::ReadOp read, ArrayRef<Value> lows,
                         ArrayRef<Value> counts, Value volume);
  bool isExact();

  BoundsBuilder emitter;
  Operation *op;
  RuleRanges &ranges;
  RuleInliner &inliner;
  Value lane;
  llvm::function_ref<ValueBounds(Value)> get;
};

} // namespace

ValueBounds OpBounds::unknown() {
  Value result = op->getResult(0);
  if (result.getType().isInteger(1))
    return emitter.unknownCondition();
  return emitter.all(ranges.of(result));
}

/// Whether no pair's result wraps, and so no sum of bounds either.
bool OpBounds::isExact() {
  auto type = cast<IntegerType>(op->getResult(0).getType());
  Interval whole = Interval::ofSigned(type.getWidth());
  auto of = [&](unsigned index) { return ranges.of(op->getOperand(index)); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](arith::AddIOp) {
        return addIsExact(of(0), of(1)) && (of(0) + of(1)).isIn(whole);
      })
      .Case([&](arith::SubIOp) {
        return subIsExact(of(0), of(1)) && (of(0) - of(1)).isIn(whole);
      })
      .Case([&](arith::MulIOp) {
        return mulIsExact(of(0), of(1)) && (of(0) * of(1)).isIn(whole);
      })
      .Case([&](arith::TruncIOp) { return of(0).isIn(whole); })
      .Case([&](math::AbsIOp) { return of(0).low > whole.low; })
      .Default([](Operation *) { return true; });
}

ValueBounds OpBounds::ofIntegers() {
  if (!isExact())
    return unknown();
  auto of = [&](unsigned index) { return get(op->getOperand(index)); };
  return llvm::TypeSwitch<Operation *, ValueBounds>(op)
      .Case([&](arith::AddIOp) -> ValueBounds {
        return {emitter.add(of(0).low, of(1).low),
                emitter.add(of(0).high, of(1).high)};
      })
      .Case([&](arith::SubIOp) -> ValueBounds {
        return {emitter.sub(of(0).low, of(1).high),
                emitter.sub(of(0).high, of(1).low)};
      })
      .Case([&](arith::MulIOp) { return emitter.product(of(0), of(1)); })
      .Case([&](arith::MinSIOp) -> ValueBounds {
        return {emitter.min(of(0).low, of(1).low),
                emitter.min(of(0).high, of(1).high)};
      })
      .Case([&](arith::MaxSIOp) -> ValueBounds {
        return {emitter.max(of(0).low, of(1).low),
                emitter.max(of(0).high, of(1).high)};
      })
      .Case([&](math::AbsIOp) { return emitter.absolute(of(0)); })
      .Case<arith::ExtSIOp, arith::TruncIOp>([&](auto) {
        // A condition that is extended with its sign is 0 or -1.
        return op->getOperand(0).getType().isInteger(1) ? unknown() : of(0);
      })
      .Case([&](arith::ExtUIOp) -> ValueBounds {
        if (!op->getOperand(0).getType().isInteger(1))
          return unknown();
        auto number = [&](Value condition) {
          return emitter.builder.createOrFold<arith::ExtUIOp>(
              emitter.loc, emitter.builder.getI64Type(), condition);
        };
        return {number(of(0).low), number(of(0).high)};
      })
      .Case(
          [&](arith::SelectOp) { return emitter.select(of(0), of(1), of(2)); })
      .Default([&](Operation *) { return unknown(); });
}

ValueBounds OpBounds::ofConditions() {
  auto of = [&](unsigned index) { return get(op->getOperand(index)); };
  return llvm::TypeSwitch<Operation *, ValueBounds>(op)
      .Case([&](arith::AndIOp) -> ValueBounds {
        return {emitter.min(of(0).low, of(1).low),
                emitter.min(of(0).high, of(1).high)};
      })
      .Case([&](arith::OrIOp) -> ValueBounds {
        return {emitter.max(of(0).low, of(1).low),
                emitter.max(of(0).high, of(1).high)};
      })
      .Case([&](arith::XOrIOp) {
        return emitter.compare(CmpIPredicate::ne, of(0), of(1));
      })
      .Case([&](arith::CmpIOp compare) {
        return emitter.compare(compare.getPredicate(), of(0), of(1));
      })
      .Case(
          [&](arith::SelectOp) { return emitter.select(of(0), of(1), of(2)); })
      .Default([&](Operation *) { return unknown(); });
}

/// Floor division and its remainder, by a divisor that is one value.
ValueBounds OpBounds::ofQuotient(const FloorDivision &division,
                                 bool isRemainder) {
  ValueBounds dividend = get(division.dividend);
  ValueBounds divisors;
  bool narrow = ranges.of(division.dividend).fitsI32();
  if (division.divisor) {
    divisors = get(division.divisor);
    // The least integer by -1 would overflow.
    if (ranges.of(division.dividend).low == INT64_MIN)
      return unknown();
    Interval range = ranges.of(division.divisor);
    narrow &= range.fitsI32() && ranges.of(division.dividend).low > INT32_MIN;
  } else {
    Value divisor = emitter.constant(int64_t(1) << division.shift);
    divisors = {divisor, divisor};
  }
  Value divisor = divisors.low;
  Value isOne = emitter.compare(CmpIPredicate::eq, divisors.low, divisors.high);
  Value first = emitter.quotient(dividend.low, divisor, narrow);
  Value last = emitter.quotient(dividend.high, divisor, narrow);
  ValueBounds result = {emitter.min(first, last), emitter.max(first, last)};
  if (isRemainder) {
    // Of one quotient the remainders rise with the dividend.
    Value zero = emitter.constant(0), one = emitter.constant(1);
    Value base = emitter.create<arith::MulIOp>(first, divisor);
    Value rising =
        emitter.min(emitter.compare(CmpIPredicate::eq, first, last),
                    emitter.compare(CmpIPredicate::ne, divisor, zero));
    result = {emitter.select(rising, emitter.sub(dividend.low, base),
                             emitter.min(zero, emitter.add(divisor, one))),
              emitter.select(rising, emitter.sub(dividend.high, base),
                             emitter.max(zero, emitter.sub(divisor, one)))};
  }
  ValueBounds anything = unknown();
  return {emitter.select(isOne, result.low, anything.low),
          emitter.select(isOne, result.high, anything.high)};
}

/// The least and greatest of the elements at lows .. lows + counts - 1.
ValueBounds OpBounds::ofElements(ir::ReadOp read, ArrayRef<Value> lows,
                                 ArrayRef<Value> counts, Value volume) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Type i32 = builder.getI32Type();
  auto loop = scf::ForOp::create(
      builder, loc, lane, volume, emitter.constant(lanes, 32),
      ValueRange{emitter.constant(INT32_MAX, 32),
                 emitter.constant(INT32_MIN, 32)},
      [&](OpBuilder &nested, Location, Value number, ValueRange extremes) {
        BoundsBuilder inner{nested, loc};
        SmallVector<Value> indices(lows);
        Value rest = number;
        size_t outermost =
            llvm::find_if(
                counts, [](Value count) { return static_cast<bool>(count); }) -
            counts.begin();
        for (size_t axis = lows.size(); axis-- > outermost;) {
          if (!counts[axis])
            continue;
          Value offset = rest;
          if (axis != outermost) {
            offset = inner.create<arith::RemUIOp>(rest, counts[axis]);
            rest = inner.create<arith::DivUIOp>(rest, counts[axis]);
          }
          indices[axis] = inner.add(lows[axis], inner.widen(offset));
        }
        Value element = inliner.emitLoad(nested, read, indices);
        if (element.getType().isInteger(1))
          element = arith::ExtUIOp::create(nested, loc, i32, element);
        scf::YieldOp::create(nested, loc,
                             ValueRange{inner.min(extremes[0], element),
                                        inner.max(extremes[1], element)});
      });
  Value everybody = emitter.constant(-1, 32);
  auto reduce = [&](Value value, NVVM::ReduxKind kind) -> Value {
    return NVVM::ReduxOp::create(builder, loc, i32, value, kind, everybody);
  };
  return {reduce(loop.getResult(0), NVVM::ReduxKind::MIN),
          reduce(loop.getResult(1), NVVM::ReduxKind::MAX)};
}

ValueBounds OpBounds::ofRead(ir::ReadOp read) {
  Type type = read.getType();
  if (!type.isInteger(1) && !type.isInteger(32))
    return unknown();
  ir::TensorOp tensor = inliner.tensorOf(read);
  OpBuilder &builder = emitter.builder;
  SmallVector<Value> lows, counts;
  Value volume = emitter.constant(1);
  Value fits = emitter.constant(1, 1);
  Value limit = emitter.constant(mostElements);
  for (auto [axis, index] : llvm::enumerate(read.getIndices())) {
    Value last =
        emitter.sub(inliner.extent(builder, emitter.loc, tensor.getDim(axis)),
                    emitter.constant(1));
    auto clamp = [&](Value value) {
      return emitter.max(emitter.min(value, last), emitter.constant(0));
    };
    ValueBounds bounds = get(index);
    Value low = clamp(bounds.low);
    lows.push_back(low);
    if (bounds.low == bounds.high) {
      counts.push_back({});
      continue;
    }
    Value count =
        emitter.add(emitter.sub(clamp(bounds.high), low), emitter.constant(1));
    // So that the product of a few cannot wrap.
    count = emitter.min(count, emitter.constant(mostElements + 1));
    volume = emitter.create<arith::MulIOp>(volume, count);
    volume = emitter.min(volume, emitter.constant(mostElements + 1));
    counts.push_back(emitter.create32(count));
  }
  fits = emitter.compare(CmpIPredicate::sle, volume, limit);
  Value visited =
      emitter.create32(emitter.select(fits, volume, emitter.constant(0)));
  ValueBounds elements = ofElements(read, lows, counts, visited);
  ValueBounds anything = unknown();
  ValueBounds result;
  if (type.isInteger(1)) {
    Value zero = emitter.constant(0, 32);
    result = {emitter.compare(CmpIPredicate::ne, elements.low, zero),
              emitter.compare(CmpIPredicate::ne, elements.high, zero)};
  } else {
    result = {emitter.widen(elements.low), emitter.widen(elements.high)};
  }
  return {emitter.select(fits, result.low, anything.low),
          emitter.select(fits, result.high, anything.high)};
}

ValueBounds OpBounds::emit() {
  Value result = op->getResult(0);
  if (std::optional<FloorDivision> division =
          matchFloorDivision(result, ranges))
    return ofQuotient(*division, /*isRemainder=*/false);
  if (std::optional<FloorDivision> division =
          matchFloorRemainder(result, ranges))
    return ofQuotient(*division, /*isRemainder=*/true);
  if (!isUnderstood(op))
    return unknown();
  if (auto read = dyn_cast<ir::ReadOp>(op))
    return ofRead(read);
  return result.getType().isInteger(1) ? ofConditions() : ofIntegers();
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// Of an argument of the mask, a result that was visited, or an invariant.
ValueBounds RuleIntervals::get(OpBuilder &builder, Value value) {
  if (Value one = invariants.lookupOrNull(value)) {
    BoundsBuilder emitter{builder, value.getLoc()};
    Value wide = one.getType().isInteger(1) ? one : emitter.widen(one);
    return {wide, wide};
  }
  return known.lookup(value);
}

void RuleIntervals::emit(OpBuilder &builder, bool ofKeys) {
  for (Operation &op : mask.getBody().front().without_terminator()) {
    Value result = op.getResult(0);
    if (!needed.contains(&op) || directions.isKeyFree(result) == ofKeys)
      continue;
    if (directions.isInvariant(result))
      inliner.inlineOp(builder, op, invariants, RuleInliner::Scope::Key);
    else if (isa<IntegerType>(result.getType()))
      known[result] =
          OpBounds(builder, &op, ranges, inliner, lane, [&](Value value) {
            return get(builder, value);
          }).emit();
  }
}
