//===- TilePositions.cpp - Which tile a put is for ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TilePositions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace attn;
using namespace attn::pipe;

namespace {
/// A place: base + offset keys.
struct Position {
  Value base; ///< null: the offset itself
  int64_t offset = 0;

  bool operator==(const Position &other) const {
    return base == other.base && offset == other.offset;
  }
};
} // namespace

/// Looks through sums and differences with constants.
static Position positionOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return {Value(), constant.getSExtValue()};
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
    Position position = positionOf(op->getOperand(0));
    int64_t addend = constant.getSExtValue();
    position.offset += isa<arith::AddIOp>(op) ? addend : -addend;
    return position;
  }
  return {value, 0};
}

/// Whether `moved` is the value that `value` would have with `position` for the
/// `place`.
static bool isValueAt(Value moved, Value value, Value place,
                      Position position) {
  Position of = positionOf(value);
  if (of.base == place)
    return positionOf(moved) ==
           Position{position.base, position.offset + of.offset};
  if (moved == value || positionOf(moved) == of)
    return true;
  Operation *movedOp = moved.getDefiningOp(), *op = value.getDefiningOp();
  return movedOp && op && isPure(op) &&
         OperationEquivalence::isEquivalentTo(
             op, movedOp,
             [&](Value operand, Value movedOperand) {
               return success(
                   isValueAt(movedOperand, operand, place, position));
             },
             nullptr, OperationEquivalence::IgnoreLocations);
}

/// The place whose keys begin at `row`.
static Value placeOf(Value row) {
  auto keyAt = row.getDefiningOp<tile::KeyAtOp>();
  return keyAt ? keyAt.getPlace() : row;
}

/// How far the keys of each range lie from their places; null for those of a
/// row that is the place itself.
static SmallVector<Value> shiftsOf(Value row) {
  if (auto keyAt = row.getDefiningOp<tile::KeyAtOp>())
    return llvm::to_vector_of<Value>(keyAt.getShifts());
  return {Value()};
}

/// The list that the row is read from; null without one.
static Value listOf(Value row) {
  auto keyAt = row.getDefiningOp<tile::KeyAtOp>();
  return keyAt ? keyAt.getList() : Value();
}

static bool isSameShift(Value lhs, Value rhs) {
  auto isNone = [](Value shift) {
    return !shift || matchPattern(shift, m_Zero());
  };
  return lhs == rhs || (isNone(lhs) && isNone(rhs));
}

namespace {
/// The puts of one work loop, and the key loops that take what they put.
class PositionVerifier {
public:
  explicit PositionVerifier(tile::ForWorkOp work) : work(work) {}

  LogicalResult run() {
    SmallVector<tile::ForKeysOp> loops(
        work.getBody().front().getOps<tile::ForKeysOp>());
    // Key loops are parts of one row of places, right to left.
    for (unsigned i = 1; i < loops.size(); ++i)
      if (!(positionOf(loops[i].getEnd()) ==
            positionOf(loops[i - 1].getBegin())))
        return loops[i].emitError()
               << "V10: expected this key loop to end where the one before "
                  "begins";
    for (tile::ForKeysOp keys : loops)
      for (auto put : keys.getBody().front().getOps<PutOp>())
        if (failed(verify(put, keys, keys.getPlace(), put.getAhead())))
          return failure();
    if (loops.empty())
      return success();
    // Before the loops: counted from their first tile, the one left of the end.
    for (auto put : work.getBody().front().getOps<PutOp>())
      if (put->isBeforeInBlock(loops.front()) &&
          failed(verify(put, loops.front(), loops.front().getEnd(),
                        put.getAhead() + 1)))
        return failure();
    return success();
  }

private:
  /// The put is for the tile `tiles` left of `base`.
  LogicalResult verify(PutOp put, tile::ForKeysOp keys, Value base,
                       int64_t tiles) {
    TakeOp take = takeIn(keys, put.getChannel());
    if (!take)
      return success(); // taken outside of the key loops, as Q is
    Position expected = positionOf(base);
    expected.offset -= tiles * static_cast<int64_t>(keys.getStep());
    if (!(positionOf(placeOf(put.getRow())) == expected))
      return fail(put) << "to fetch the keys of the place "
                       << tiles * keys.getStep() << " left of "
                       << (base == keys.getPlace() ? "the loop's" : "its end");
    if (failed(verifyRanges(put)))
      return failure();
    // Those are counted instead (attn-number-tiles).
    if (isSignalled(put.getChannel()))
      return success();
    if (!isValueAt(put.getOrdinal(), take.getOrdinal(), keys.getPlace(),
                   expected))
      return fail(put) << "under the ordinal that its take has for this place";
    return success();
  }

  /// Puts of one work loop agree on where the keys of a place are: the ranges
  /// of one are those of the other, or some of them side by side.
  LogicalResult verifyRanges(PutOp put) {
    SmallVector<Value> shifts = shiftsOf(put.getRow());
    if (ranges.empty())
      list = listOf(put.getRow());
    if (list != listOf(put.getRow()))
      return fail(put) << "to find its keys in the list of the other puts";
    if (ranges.size() < shifts.size())
      std::swap(ranges, shifts);
    if (std::search(ranges.begin(), ranges.end(), shifts.begin(), shifts.end(),
                    isSameShift) != ranges.end())
      return success();
    return fail(put) << "to find its keys where the other puts do";
  }

  static TakeOp takeIn(tile::ForKeysOp keys, Value channel) {
    for (auto take : keys.getBody().front().getOps<TakeOp>())
      if (take.getChannel() == channel)
        return take;
    return {};
  }

  static InFlightDiagnostic fail(PutOp put) {
    return put.emitError() << "V10: expected a put " << put.getAhead()
                           << " tiles ahead ";
  }

  tile::ForWorkOp work;
  /// The shifts of the put with most ranges.
  SmallVector<Value> ranges;
  Value list;
};
} // namespace

LogicalResult attn::pipe::verifyTilePositions(RoleOp role) {
  for (auto work : role.getBody().front().getOps<tile::ForWorkOp>())
    if (failed(PositionVerifier(work).run()))
      return failure();
  return success();
}
