//===- SplitRange.cpp - Partial, full and partial key ranges --------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
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

/// One range of the loop, as a loop of its own starting from `inits`.
ValueRange emitRange(IRRewriter &rewriter, tile::ForKeysOp keys, RangeKind kind,
                     Value begin, Value end, ValueRange inits) {
  if (isEmpty(begin, end))
    return inits;
  auto range = tile::ForKeysOp::create(rewriter, keys.getLoc(),
                                       keys.getResultTypes(), kind, begin, end,
                                       Value(), Value(), keys.getStep(), inits);
  IRMapping mapping;
  keys.getBody().cloneInto(&range.getBody(), mapping);
  if (kind == RangeKind::Full) {
    SmallVector<tile::MaskOp> masks(range.getBody().getOps<tile::MaskOp>());
    for (tile::MaskOp mask : masks)
      rewriter.replaceOp(mask, mask.getInput());
    // Every row sees the whole tile, so its keys all exist.
    for (auto put : range.getBody().getOps<pipe::PutOp>())
      put.setWhole(true);
  }
  return range.getResults();
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
      ValueRange values = keys.getInits();
      // Without a full range the two partial ones are one.
      bool hasFull = !isEmpty(keys.getFullBegin(), keys.getFullEnd());
      values = emitRange(rewriter, keys, RangeKind::Partial,
                         hasFull ? keys.getFullEnd() : keys.getBegin(),
                         keys.getEnd(), values);
      if (hasFull) {
        values = emitRange(rewriter, keys, RangeKind::Full, keys.getFullBegin(),
                           keys.getFullEnd(), values);
        values = emitRange(rewriter, keys, RangeKind::Partial, keys.getBegin(),
                           keys.getFullBegin(), values);
      }
      rewriter.replaceOp(keys, values);
    }
  }
};

} // namespace
