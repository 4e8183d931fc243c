//===- KeyRanges.cpp - Sets of keys while bounds are built ----------------===//
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

static bool isSame(KeyBound lhs, KeyBound rhs) {
  return lhs.kind == rhs.kind && lhs.value == rhs.value;
}

static bool isNone(KeyRange range) {
  return range.end.kind == KeyBound::Zero || range.begin.kind == KeyBound::KLen;
}

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
  Type type = value.getType();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0));
  Value end = kLen;
  if (!type.isInteger(32))
    end = arith::ExtSIOp::create(builder, loc, type, kLen);
  Value clamped = builder.createOrFold<arith::MaxSIOp>(loc, value, zero);
  clamped = builder.createOrFold<arith::MinSIOp>(loc, clamped, end);
  if (!type.isInteger(32))
    clamped = builder.createOrFold<arith::TruncIOp>(loc, builder.getI32Type(),
                                                    clamped);
  return {KeyBound::Inside, clamped};
}

KeyBound KeyRangeBuilder::min(KeyBound lhs, KeyBound rhs) {
  if (lhs.kind == KeyBound::KLen || rhs.kind == KeyBound::Zero)
    return rhs;
  if (rhs.kind == KeyBound::KLen || lhs.kind == KeyBound::Zero)
    return lhs;
  return {KeyBound::Inside,
          builder.createOrFold<arith::MinSIOp>(loc, lhs.value, rhs.value)};
}

KeyBound KeyRangeBuilder::max(KeyBound lhs, KeyBound rhs) {
  if (lhs.kind == KeyBound::Zero || rhs.kind == KeyBound::KLen)
    return rhs;
  if (rhs.kind == KeyBound::Zero || lhs.kind == KeyBound::KLen)
    return lhs;
  return {KeyBound::Inside,
          builder.createOrFold<arith::MaxSIOp>(loc, lhs.value, rhs.value)};
}

KeyBound KeyRangeBuilder::select(Value condition, KeyBound lhs, KeyBound rhs) {
  if (isSame(lhs, rhs))
    return lhs;
  return {KeyBound::Inside,
          builder.createOrFold<arith::SelectOp>(
              loc, condition, materialize(lhs), materialize(rhs))};
}

KeyRange KeyRangeBuilder::select(Value condition, KeyRange lhs, KeyRange rhs) {
  return {select(condition, lhs.begin, rhs.begin),
          select(condition, lhs.end, rhs.end)};
}

KeySets KeyRangeBuilder::intersect(const KeySets &lhs, const KeySets &rhs) {
  auto both = [&](KeyRange a, KeyRange b) {
    if (isNone(a) || isNone(b))
      return KeyRange::none();
    return KeyRange{max(a.begin, b.begin), min(a.end, b.end)};
  };
  return {both(lhs.visible, rhs.visible), both(lhs.full, rhs.full)};
}

KeySets KeyRangeBuilder::unite(const KeySets &lhs, const KeySets &rhs) {
  return {hull(lhs.visible, rhs.visible), longer(lhs.full, rhs.full)};
}

/// An empty range becomes [k_len, 0), which adds nothing to a hull. A bound is
/// left alone where the hull with `other` cannot depend on it.
KeyRange KeyRangeBuilder::neutralIfEmpty(KeyRange range, KeyRange other) {
  bool beginMatters =
      range.begin.kind != KeyBound::Zero || other.begin.kind != KeyBound::Zero;
  // [0, end) and [begin, k_len) with no keys have end = 0 and begin = k_len.
  bool fixBegin = beginMatters && range.end.kind != KeyBound::KLen;
  bool fixEnd =
      range.begin.kind != KeyBound::Zero &&
      !(range.end.kind == KeyBound::KLen && other.end.kind == KeyBound::KLen);
  if (!fixBegin && !fixEnd)
    return range;
  Value isEmpty =
      arith::CmpIOp::create(builder, loc, CmpIPredicate::sge,
                            materialize(range.begin), materialize(range.end));
  KeyRange result = range;
  if (fixBegin)
    result.begin = select(isEmpty, {KeyBound::KLen, {}}, range.begin);
  if (fixEnd)
    result.end = select(isEmpty, {KeyBound::Zero, {}}, range.end);
  return result;
}

KeyRange KeyRangeBuilder::hull(KeyRange lhs, KeyRange rhs) {
  if (isNone(lhs))
    return rhs;
  if (isNone(rhs))
    return lhs;
  KeyRange a = neutralIfEmpty(lhs, rhs), b = neutralIfEmpty(rhs, lhs);
  return {min(a.begin, b.begin), max(a.end, b.end)};
}

Value KeyRangeBuilder::length(KeyRange range) {
  return builder.createOrFold<arith::SubIOp>(loc, materialize(range.end),
                                             materialize(range.begin));
}

KeyRange KeyRangeBuilder::longer(KeyRange lhs, KeyRange rhs) {
  if (isNone(lhs))
    return rhs;
  if (isNone(rhs))
    return lhs;
  // Ranges that begin or end together are nested.
  if (isSame(lhs.begin, rhs.begin))
    return {lhs.begin, max(lhs.end, rhs.end)};
  if (isSame(lhs.end, rhs.end))
    return {min(lhs.begin, rhs.begin), lhs.end};
  Value isLonger = arith::CmpIOp::create(builder, loc, CmpIPredicate::sge,
                                         length(lhs), length(rhs));
  return select(isLonger, lhs, rhs);
}
