//===- KeyRanges.cpp - Intervals of keys while bounds are built
//----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

using arith::CmpIPredicate;

static constexpr auto zero = KeyBound::Zero;
static constexpr auto whole = KeyBound::KLen;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Value KeyRangeBuilder::materialize(KeyBound bound) {
  switch (bound.kind) {
  case KeyBound::Zero:
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(0));
  case KeyBound::KLen:
    return kLen;
  case KeyBound::Inside:
    return bound.value;
  }
  llvm_unreachable("all kinds are handled");
}

KeyBound KeyRangeBuilder::clamp(Value value) {
  Value &result = clamped[value];
  if (result)
    return {KeyBound::Inside, result};
  Type type = value.getType();
  Value low =
      arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0));
  Value high = kLen;
  if (!type.isInteger(32))
    high = arith::ExtSIOp::create(builder, loc, type, kLen);
  result = builder.createOrFold<arith::MaxSIOp>(loc, value, low);
  result = builder.createOrFold<arith::MinSIOp>(loc, result, high);
  if (!type.isInteger(32))
    result = builder.createOrFold<arith::TruncIOp>(loc, builder.getI32Type(),
                                                   result);
  return {KeyBound::Inside, result};
}

KeyBound KeyRangeBuilder::min(KeyBound lhs, KeyBound rhs) {
  if (lhs.kind == whole || rhs.kind == zero)
    return rhs;
  if (rhs.kind == whole || lhs.kind == zero)
    return lhs;
  Value &result = minima[{lhs.value, rhs.value}];
  if (!result)
    result = builder.createOrFold<arith::MinSIOp>(loc, lhs.value, rhs.value);
  return {KeyBound::Inside, result};
}

KeyBound KeyRangeBuilder::max(KeyBound lhs, KeyBound rhs) {
  if (lhs.kind == zero || rhs.kind == whole)
    return rhs;
  if (rhs.kind == zero || lhs.kind == whole)
    return lhs;
  Value &result = maxima[{lhs.value, rhs.value}];
  if (!result)
    result = builder.createOrFold<arith::MaxSIOp>(loc, lhs.value, rhs.value);
  return {KeyBound::Inside, result};
}

KeyBound KeyRangeBuilder::select(Value condition, KeyBound lhs, KeyBound rhs) {
  if (lhs == rhs)
    return lhs;
  return {KeyBound::Inside,
          builder.createOrFold<arith::SelectOp>(
              loc, condition, materialize(lhs), materialize(rhs))};
}

/// lhs where every guard holds.
KeyBound KeyRangeBuilder::pick(ArrayRef<Guard> guards, KeyBound lhs,
                               KeyBound rhs) {
  for (const Guard &guard : guards)
    lhs = guard.isNegated ? select(guard.condition, rhs, lhs)
                          : select(guard.condition, lhs, rhs);
  return lhs;
}

KeyBound KeyRangeBuilder::guardedEnd(const KeyInterval &interval) {
  return pick(interval.guards, interval.end, {zero, {}});
}

KeyBound KeyRangeBuilder::guardedBegin(const KeyInterval &interval) {
  return pick(interval.guards, interval.begin, {whole, {}});
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

/// One under a guard, one under its negation: either of the two.
bool KeyRangeBuilder::mergeOpposite(KeyInterval &into,
                                    const KeyInterval &other) {
  for (const Guard &guard : into.guards) {
    Guard opposite{guard.condition, !guard.isNegated};
    if (!llvm::is_contained(other.guards, opposite))
      continue;
    Value condition = guard.condition;
    KeyInterval holds = guard.isNegated ? other : into;
    KeyInterval fails = guard.isNegated ? into : other;
    for (KeyInterval *side : {&holds, &fails})
      llvm::erase_if(side->guards, [&](const Guard &left) {
        return left.condition == condition;
      });
    into.end = select(condition, guardedEnd(holds), guardedEnd(fails));
    into.begin = select(condition, holds.begin, fails.begin);
    into.guards.clear();
    return true;
  }
  return false;
}

/// Intervals that begin, or end, together are nested; an empty one ends before
/// it begins, or begins behind its end, and does not count.
bool KeyRangeBuilder::mergeInto(KeyInterval &into, const KeyInterval &other) {
  bool sameGuards = into.guards == other.guards;
  if (into.begin == other.begin) {
    into.end = sameGuards ? max(into.end, other.end)
                          : max(guardedEnd(into), guardedEnd(other));
  } else if (into.end == other.end) {
    into.begin = sameGuards ? min(into.begin, other.begin)
                            : min(guardedBegin(into), guardedBegin(other));
  } else {
    return mergeOpposite(into, other);
  }
  if (!sameGuards)
    into.guards.clear();
  return true;
}

bool KeyRangeBuilder::mergeOne(KeyIntervals &intervals) {
  for (size_t i = 0; i < intervals.size(); ++i)
    for (size_t j = i + 1; j < intervals.size(); ++j)
      if (mergeInto(intervals[i], intervals[j])) {
        intervals.erase(intervals.begin() + j);
        return true;
      }
  return false;
}

/// From the first to the last key of both; an empty interval becomes
/// [k_len, 0), which adds nothing.
KeyInterval KeyRangeBuilder::hull(const KeyInterval &lhs,
                                  const KeyInterval &rhs) {
  auto neutral = [&](KeyInterval interval) {
    Value begin = materialize(interval.begin), end = materialize(interval.end);
    interval.guards.push_back(
        {arith::CmpIOp::create(builder, loc, CmpIPredicate::slt, begin, end)});
    KeyInterval result;
    result.begin = guardedBegin(interval);
    result.end = guardedEnd(interval);
    return result;
  };
  KeyInterval a = neutral(lhs), b = neutral(rhs), result;
  result.begin = min(a.begin, b.begin);
  result.end = max(a.end, b.end);
  return result;
}

void KeyRangeBuilder::merge(KeyIntervals &intervals, size_t limit) {
  llvm::erase_if(intervals, [](const KeyInterval &interval) {
    return interval.end.kind == zero || interval.begin.kind == whole;
  });
  while (mergeOne(intervals))
    ;
  while (intervals.size() > limit) {
    KeyInterval last = intervals.pop_back_val();
    intervals.back() = hull(intervals.back(), last);
    joined = true;
  }
}
