//===- SplitRange.cpp - Partial and full key tiles apart ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace attn {
#define GEN_PASS_DEF_SPLITRANGE
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using tile::RangeKind;

namespace {

/// Whether begin == end for every launch, as far as the IR shows it.
bool isEmpty(Value begin, Value end) {
  if (begin == end)
    return true;
  APInt first, last;
  return matchPattern(begin, m_ConstantInt(&first)) &&
         matchPattern(end, m_ConstantInt(&last)) && first == last;
}

/// Whether a place is that of the loop's body, or left of it.
bool isAtOrLeftOf(Value place, Value bodyPlace) {
  if (place == bodyPlace)
    return true;
  auto moved = place.getDefiningOp<arith::SubIOp>();
  APInt distance;
  return moved && moved.getLhs() == bodyPlace &&
         matchPattern(moved.getRhs(), m_ConstantInt(&distance)) &&
         distance.isNonNegative();
}

/// Leaves out the ranges of keys in which a place of the loop cannot lie.
void narrow(tile::KeyAtOp keyAt, tile::ForKeysOp keys) {
  size_t first = 0, last = keyAt.getShifts().size();
  Value place = keys.getPlace();
  if (keys.getKind() == RangeKind::Full &&
      isAtOrLeftOf(keyAt.getPlace(), place) && keyAt.getFull() > 0)
    first = last - keyAt.getFull();
  if (keys.getKind() == RangeKind::Partial && keyAt.getPlace() == place &&
      keyAt.getPartial() > 0)
    last = keyAt.getPartial();
  size_t kept = last - first;
  SmallVector<Value> thresholds(keyAt.getThresholds().slice(first, kept - 1));
  SmallVector<Value> shifts(keyAt.getShifts().slice(first, kept));
  keyAt.getThresholdsMutable().assign(thresholds);
  keyAt.getShiftsMutable().assign(shifts);
  keyAt.setPartial(std::min<size_t>(keyAt.getPartial(), kept));
  keyAt.setFull(std::min<size_t>(keyAt.getFull(), kept));
}

/// Whether keys are those of the loop's own place, and not of one to its right
/// (attn-overlap-gemms).
bool isAtPlace(Value key, tile::ForKeysOp keys) {
  auto keyAt = key.getDefiningOp<tile::KeyAtOp>();
  return (keyAt ? keyAt.getPlace() : key) == keys.getPlace();
}

/// Some of the places of the loop, as a loop of its own starting from `inits`.
ValueRange emitPart(IRRewriter &rewriter, tile::ForKeysOp keys, RangeKind kind,
                    Value begin, Value end, ValueRange inits) {
  if (isEmpty(begin, end))
    return inits;
  auto part =
      tile::ForKeysOp::create(rewriter, keys.getLoc(), keys.getResultTypes(),
                              kind, begin, end, Value(), keys.getStep(), inits);
  IRMapping mapping;
  keys.getBody().cloneInto(&part.getBody(), mapping);
  for (auto keyAt : part.getBody().getOps<tile::KeyAtOp>())
    narrow(keyAt, part);
  if (kind == RangeKind::Full) {
    SmallVector<tile::MaskOp> masks(part.getBody().getOps<tile::MaskOp>());
    for (tile::MaskOp mask : masks)
      rewriter.replaceOp(mask, mask.getInput());
    // Every row sees the whole tile, so its keys all exist.
    for (auto put : part.getBody().getOps<pipe::PutOp>())
      if (isAtPlace(put.getRow(), part))
        put.setWhole(true);
  }
  return part.getResults();
}

struct SplitRange : attn::impl::SplitRangeBase<SplitRange> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<tile::ForKeysOp> loops;
    getOperation()->walk([&](tile::ForKeysOp keys) {
      if (keys.getKind() == RangeKind::Mixed)
        loops.push_back(keys);
    });
    for (tile::ForKeysOp keys : loops) {
      rewriter.setInsertionPoint(keys);
      ValueRange values =
          emitPart(rewriter, keys, RangeKind::Partial, keys.getFullEnd(),
                   keys.getEnd(), keys.getInits());
      values = emitPart(rewriter, keys, RangeKind::Full, keys.getBegin(),
                        keys.getFullEnd(), values);
      rewriter.replaceOp(keys, values);
    }
  }
};

} // namespace
