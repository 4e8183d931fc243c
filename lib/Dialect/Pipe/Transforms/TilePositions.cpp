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
/// base + offset keys.
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

/// Whether `moved` is the value that `value` would have at `position` in place
/// of `key`.
static bool isValueAt(Value moved, Value value, Value key, Position position) {
  Position of = positionOf(value);
  if (of.base == key)
    return positionOf(moved) ==
           Position{position.base, position.offset + of.offset};
  if (moved == value || positionOf(moved) == of)
    return true;
  Operation *movedOp = moved.getDefiningOp(), *op = value.getDefiningOp();
  return movedOp && op && isPure(op) &&
         OperationEquivalence::isEquivalentTo(
             op, movedOp,
             [&](Value operand, Value movedOperand) {
               return success(isValueAt(movedOperand, operand, key, position));
             },
             nullptr, OperationEquivalence::IgnoreLocations);
}

namespace {
/// The puts of one work loop, and the key loops that take what they put.
class PositionVerifier {
public:
  explicit PositionVerifier(tile::ForWorkOp work) : work(work) {}

  LogicalResult run() {
    SmallVector<tile::ForKeysOp> loops(
        work.getBody().front().getOps<tile::ForKeysOp>());
    // Key loops are pieces of one range, right to left.
    for (unsigned i = 1; i < loops.size(); ++i)
      if (!(positionOf(loops[i].getEnd()) ==
            positionOf(loops[i - 1].getBegin())))
        return loops[i].emitError()
               << "V10: expected this key loop to end where the one before "
                  "begins";
    for (tile::ForKeysOp keys : loops)
      for (auto put : keys.getBody().front().getOps<PutOp>())
        if (failed(verify(put, keys, keys.getK0(), put.getAhead())))
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
    if (!(positionOf(put.getRow()) == expected))
      return fail(put) << "to fetch keys from " << tiles * keys.getStep()
                       << " left of "
                       << (base == keys.getK0() ? "k0" : "the range's end");
    if (!isValueAt(put.getOrdinal(), take.getOrdinal(), keys.getK0(), expected))
      return fail(put) << "under the ordinal that its take has for these keys";
    return success();
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
};
} // namespace

LogicalResult attn::pipe::verifyTilePositions(RoleOp role) {
  for (auto work : role.getBody().front().getOps<tile::ForWorkOp>())
    if (failed(PositionVerifier(work).run()))
      return failure();
  return success();
}
