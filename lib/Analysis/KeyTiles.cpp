//===- KeyTiles.cpp - The key tiles of a work item ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/KeyTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static bool isZero(Value value) { return matchPattern(value, m_Zero()); }

Value KeyTileBuilder::constant(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                      value);
}
Value KeyTileBuilder::add(Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}
Value KeyTileBuilder::sub(Value lhs, Value rhs) {
  return builder.createOrFold<arith::SubIOp>(loc, lhs, rhs);
}

Value KeyTileBuilder::min(Value lhs, Value rhs) {
  if (isAtMost(lhs, rhs))
    return lhs;
  if (isAtMost(rhs, lhs))
    return rhs;
  return builder.createOrFold<arith::MinSIOp>(loc, lhs, rhs);
}

Value KeyTileBuilder::max(Value lhs, Value rhs) {
  if (isAtMost(lhs, rhs))
    return rhs;
  if (isAtMost(rhs, lhs))
    return lhs;
  return builder.createOrFold<arith::MaxSIOp>(loc, lhs, rhs);
}

/// The key tile boundary at or left of a key.
Value KeyTileBuilder::alignDown(Value key) {
  Value step = constant(tileKeys);
  Value tile = builder.createOrFold<arith::DivUIOp>(loc, key, step);
  return builder.createOrFold<arith::MulIOp>(loc, tile, step);
}
Value KeyTileBuilder::alignUp(Value key) {
  return alignDown(add(key, constant(tileKeys - 1)));
}

/// Whether lhs <= rhs for two keys or tile boundaries.
bool KeyTileBuilder::isAtMost(Value lhs, Value rhs) {
  return isZero(lhs) || isAtMostByCode(lhs, rhs);
}

/// As far as the code of two integers shows it: minima and maxima, sums with
/// constants and roundings of what is at most the other. Nothing wraps.
bool KeyTileBuilder::isAtMostByCode(Value lhs, Value rhs) {
  if (lhs == rhs || (lhs == firstRow && rhs == lastRow))
    return true;
  Operation *left = lhs.getDefiningOp(), *right = rhs.getDefiningOp();
  // min(a, b) <= min(c, d) if a <= c and b <= d; the other way round for max.
  auto pairwise = [&] {
    return isAtMostByCode(left->getOperand(0), right->getOperand(0)) &&
           isAtMostByCode(left->getOperand(1), right->getOperand(1));
  };
  bool isSameOp = left && right && left->getName() == right->getName();
  if (isSameOp && isa<arith::MinSIOp, arith::MaxSIOp, arith::AddIOp>(left) &&
      pairwise())
    return true;
  APInt lhsConstant, rhsConstant;
  if (matchPattern(lhs, m_ConstantInt(&lhsConstant)) &&
      matchPattern(rhs, m_ConstantInt(&rhsConstant)))
    return lhsConstant.sle(rhsConstant);
  // Multiples of the tile: a / n * n <= b / n * n if a <= b.
  if (isSameOp && isa<arith::MulIOp>(left)) {
    auto lhsTile = left->getOperand(0).getDefiningOp<arith::DivUIOp>();
    auto rhsTile = right->getOperand(0).getDefiningOp<arith::DivUIOp>();
    return lhsTile && rhsTile &&
           isAtMostByCode(lhsTile.getLhs(), rhsTile.getLhs());
  }
  // a <= b + c if a <= b.
  return isa_and_nonnull<arith::AddIOp>(right) &&
         matchPattern(right->getOperand(1), m_ConstantInt(&rhsConstant)) &&
         rhsConstant.isNonNegative() &&
         isAtMostByCode(lhs, right->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Classes of tiles
//===----------------------------------------------------------------------===//

/// The tiles that each interval of keys meets; of an empty one none.
SmallVector<TileRange> KeyTileBuilder::roundOut(ArrayRef<Value> pairs) {
  SmallVector<TileRange> ranges;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    Value begin = pairs[i], end = pairs[i + 1];
    TileRange range{alignDown(begin), alignUp(end)};
    if (!isZero(begin)) {
      Value any = builder.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::slt,
                                                      begin, end);
      range.end = builder.createOrFold<arith::SelectOp>(loc, any, range.end,
                                                        range.begin);
    }
    ranges.push_back(range);
  }
  return ranges;
}

/// By exchanges of neighbours; those from key 0 on stand first already.
void KeyTileBuilder::sortByBegin(MutableArrayRef<TileRange> ranges) {
  for (size_t sorted = ranges.size(); sorted > 1; --sorted)
    for (size_t i = 0; i + 1 < sorted; ++i) {
      TileRange &lhs = ranges[i], &rhs = ranges[i + 1];
      if (isAtMost(lhs.begin, rhs.begin))
        continue;
      Value inOrder = builder.createOrFold<arith::CmpIOp>(
          loc, CmpIPredicate::sle, lhs.begin, rhs.begin);
      auto pick = [&](Value a, Value b) {
        return builder.createOrFold<arith::SelectOp>(loc, inOrder, a, b);
      };
      TileRange first{pick(lhs.begin, rhs.begin), pick(lhs.end, rhs.end)};
      TileRange second{pick(rhs.begin, lhs.begin), pick(rhs.end, lhs.end)};
      lhs = first;
      rhs = second;
    }
}

/// Of two ranges, one of which is empty, the other.
TileRange KeyTileBuilder::eitherOf(TileRange lhs, TileRange rhs) {
  Value isLeft = builder.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::slt,
                                                     lhs.begin, lhs.end);
  auto pick = [&](Value a, Value b) {
    return builder.createOrFold<arith::SelectOp>(loc, isLeft, a, b);
  };
  return {pick(lhs.begin, rhs.begin), pick(lhs.end, rhs.end)};
}

/// Cuts a visible range where hidden ones, in order of their begins, begin and
/// end: each cut at or right of the one before, none past the end. The piece
/// before or in the n-th hidden range goes to place `first + n`: if there is
/// one for an earlier visible range and a later hidden one, there is none for
/// a later visible and an earlier hidden range.
void KeyTileBuilder::cut(TileRange visible, ArrayRef<TileRange> hidden,
                         Value tail, size_t first, Pieces &pieces) {
  Value cursor = visible.begin;
  auto add = [&](Value end, size_t place, PieceList &list) {
    if (end == cursor)
      return;
    TileRange piece{std::exchange(cursor, end), end};
    list.resize(std::max(list.size(), place + 1));
    list[place] = list[place] ? eitherOf(*list[place], piece) : piece;
  };
  auto cutAt = [&](Value key) -> Value {
    if (isZero(key))
      return cursor;
    return builder.createOrFold<arith::MaxSIOp>(loc, min(key, visible.end),
                                                cursor);
  };
  size_t place = first;
  for (const TileRange &range : hidden) {
    add(cutAt(range.begin), place, pieces.full);
    add(cutAt(range.end), place, pieces.partial);
    ++place;
  }
  add(cutAt(tail), place, pieces.full);
  add(visible.end, place, pieces.partial);
}

KeyTileBuilder::Tiles KeyTileBuilder::classify(const Bounds &bounds) {
  firstRow = bounds.firstRow;
  lastRow = bounds.lastRow;
  SmallVector<TileRange> visible = roundOut(bounds.visible);
  SmallVector<TileRange> hidden = roundOut(bounds.hidden);
  Value tail = alignDown(bounds.tail);
  for (TileRange &range : hidden)
    range.begin = min(range.begin, tail);
  sortByBegin(visible);
  sortByBegin(hidden);
  Pieces pieces;
  Value done;
  for (auto [index, range] : llvm::enumerate(visible)) {
    if (done) {
      range.begin = max(range.begin, done);
      range.end = max(range.end, range.begin);
    }
    cut(range, hidden, tail, index, pieces);
    done = range.end;
  }
  auto collect = [](const PieceList &list) {
    SmallVector<TileRange> ranges;
    for (const std::optional<TileRange> &piece : list)
      if (piece)
        ranges.push_back(*piece);
    return ranges;
  };
  return {collect(pieces.partial), collect(pieces.full)};
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

KeyTileBuilder::Places KeyTileBuilder::place(const Tiles &tiles) {
  Places places;
  // From left to right: full ranges, partial ranges.
  SmallVector<TileRange> ranges = tiles.full;
  llvm::append_range(ranges, tiles.partial);
  if (ranges.empty()) {
    Value zero = constant(0);
    return {zero, zero, zero, {}, {zero}, 1, 1};
  }
  // The last full range stays where it is: in its tiles the place is the key,
  // and places are not negative.
  size_t anchor = tiles.full.empty() ? 0 : tiles.full.size() - 1;
  places.begin = ranges[anchor].begin;
  for (size_t i = 0; i < anchor; ++i)
    places.begin = sub(places.begin, sub(ranges[i].end, ranges[i].begin));
  Value cursor = places.begin;
  places.partial = places.full = 0;
  places.fullEnd = cursor;
  for (auto [index, range] : llvm::enumerate(ranges)) {
    bool isFull = index < tiles.full.size();
    if (index == anchor)
      cursor = range.begin;
    Value shift = sub(range.begin, cursor);
    // Ranges that adjoin and stay where they are count as one here.
    if (places.shifts.empty() ||
        !(isZero(shift) && isZero(places.shifts.back()))) {
      if (!places.shifts.empty())
        places.thresholds.push_back(cursor);
      places.shifts.push_back(shift);
      ++(isFull ? places.full : places.partial);
    } else if (!isFull && places.partial == 0) {
      places.partial = 1;
    }
    cursor = range.begin == cursor ? range.end
                                   : add(cursor, sub(range.end, range.begin));
    if (isFull)
      places.fullEnd = cursor;
  }
  places.end = cursor;
  // The first threshold is the rightmost.
  std::reverse(places.thresholds.begin(), places.thresholds.end());
  std::reverse(places.shifts.begin(), places.shifts.end());
  return places;
}

Value attn::emitKeyAt(OpBuilder &builder, Location loc, Value place,
                      ValueRange thresholds, ValueRange shifts) {
  Value shift = shifts.back();
  for (size_t range = thresholds.size(); range-- > 0;) {
    Value isThere = arith::CmpIOp::create(builder, loc, CmpIPredicate::sge,
                                          place, thresholds[range]);
    shift =
        arith::SelectOp::create(builder, loc, isThere, shifts[range], shift);
  }
  return arith::AddIOp::create(builder, loc, place, shift);
}
