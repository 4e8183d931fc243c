//===- SoftmaxOps.cpp - Operations of the online softmax ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attn::tile;

/// Whether `tile` is f32 in registers with two axes.
static bool isMatrix(ValType tile) {
  return tile.getSizes().size() == 2 && tile.getElementType().isF32() &&
         !tile.isShared();
}

/// One f32 per row of a matrix.
static ValType perRow(ValType matrix) {
  return ValType::get(matrix.getContext(), matrix.getAxes().take_front(),
                      matrix.getSizes().take_front(), matrix.getElementType(),
                      0);
}

/// Whether `tile` holds partial sums `r` for each row of a matrix.
static bool isPartialSum(ValType tile, ValType matrix) {
  return isMatrix(tile) && tile.findAxis("r") == 1u &&
         perRow(tile) == perRow(matrix);
}

void SoftmaxStepOp::build(OpBuilder &builder, OperationState &state,
                          Value logits, Value max, Value sum, Value factor,
                          Value slope, Value base, IntegerAttr held,
                          bool early) {
  build(builder, state,
        {logits.getType(), max.getType(), sum.getType(), max.getType()}, logits,
        max, sum, factor, slope, base, held,
        early ? builder.getUnitAttr() : UnitAttr());
}

LogicalResult SoftmaxStepOp::verify() {
  ValType logits = getLogits().getType(), max = getMax().getType(),
          sum = getSum().getType();
  if (!isMatrix(logits))
    return emitOpError() << "T19: expected logits of two axes in f32, found "
                         << logits;
  if (max != perRow(logits))
    return emitOpError() << "T19: expected row maxima " << perRow(logits)
                         << ", found " << max;
  if (!isPartialSum(sum, logits))
    return emitOpError() << "T19: expected partial row sums 'r' for the rows "
                            "of "
                         << logits << ", found " << sum;
  if (!!getSlope() != !!getBase() || (getBase() && getBase().getType() != max))
    return emitOpError() << "T19: expected a ramp's slope with a base " << max;
  constexpr int64_t largest = 126; // 2^127 is still an f32
  if (getHeld() && (static_cast<int64_t>(*getHeld()) < 1 ||
                    static_cast<int64_t>(*getHeld()) > largest))
    return emitOpError() << "T19: expected to be held up to a power of two "
                            "from 1 to "
                         << largest << ", found "
                         << static_cast<int64_t>(*getHeld());
  if (getEarly() && !getHeld())
    return emitOpError() << "T19: expected early weights in a held step only";
  if (getResultTypes() != TypeRange({logits, max, sum, max}))
    return emitOpError() << "T19: expected results of types " << logits << ", "
                         << max << ", " << sum << ", " << max;
  return success();
}

LogicalResult RescaleOp::verify() {
  ValType input = getInput().getType(), alpha = getAlpha().getType();
  if (!isMatrix(input) || alpha != perRow(input))
    return emitOpError() << "T20: expected an f32 tile of two axes and one f32 "
                            "per row, found "
                         << input << " and " << alpha;
  return success();
}

LogicalResult FinalizeOp::verify() {
  ValType max = getMax().getType(), sum = getSum().getType();
  if (max.getSizes().size() != 1 || !max.getElementType().isF32() ||
      max.isShared())
    return emitOpError() << "T21: expected row maxima of one axis in f32, "
                            "found "
                         << max;
  if (!isMatrix(sum) || sum.findAxis("r") != 1u || perRow(sum) != max)
    return emitOpError() << "T21: expected partial row sums 'r' for the rows "
                            "of "
                         << max << ", found " << sum;
  SmallVector<Type> expected = {max};
  if (getAcc()) {
    ValType acc = getAcc().getType();
    if (!isMatrix(acc) || perRow(acc) != max)
      return emitOpError() << "T21: expected an accumulator of two axes in f32 "
                              "for the rows of "
                           << max << ", found " << acc;
    expected.push_back(acc);
  }
  if (getResultTypes() != TypeRange(expected))
    return emitOpError() << "T21: expected results of types (" << expected
                         << "), found (" << getResultTypes() << ")";
  return success();
}

LogicalResult FinalizeOp::canonicalize(FinalizeOp op,
                                       PatternRewriter &rewriter) {
  if (!op.getOutput() || !op.getOutput().use_empty())
    return failure();
  auto lse = FinalizeOp::create(rewriter, op.getLoc(), op.getLse().getType(),
                                Type(), op.getMax(), op.getSum(),
                                op.getFactor(), op.getSink(), Value());
  rewriter.replaceAllUsesWith(op.getLse(), lse.getLse());
  rewriter.eraseOp(op);
  return success();
}
