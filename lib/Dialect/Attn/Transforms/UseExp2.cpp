//===- UseExp2.cpp - The softmax in base 2 --------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace attn::ir {
#define GEN_PASS_DEF_USEEXP2
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn::ir;

namespace {
struct UseExp2 : attn::ir::impl::UseExp2Base<UseExp2> {
  void runOnOperation() override;
};
} // namespace

static Value emitConstant(OpBuilder &builder, Location loc, double value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

/// scale * multiplier, a constant where the scale is known.
static Value emitScale(OpBuilder &builder, Location loc, KernelOp kernel,
                       double multiplier) {
  if (std::optional<double> scale = kernel.getStaticScale())
    return emitConstant(builder, loc, *scale * multiplier);
  Value scale = GetParamOp::create(builder, loc, builder.getF32Type(),
                                   kernel.getScaleParam());
  if (multiplier == 1.0)
    return scale;
  return arith::MulFOp::create(builder, loc, scale,
                               emitConstant(builder, loc, multiplier));
}

/// The score's own multiplication by the scale.
static void moveScaleInto(ScoreOp score, KernelOp kernel) {
  OpBuilder builder = OpBuilder::atBlockBegin(&score.getBody().front());
  Value raw = score.getArgument("s");
  Location loc = kernel.getFieldLoc("scale");
  Value scale = emitScale(builder, loc, kernel, 1.0);
  Value scaled = arith::MulFOp::create(builder, loc, raw, scale);
  raw.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
  score.setRaw(true);
}

void ::UseExp2::runOnOperation() {
  KernelOp kernel = getOperation();
  if (kernel.getFactor())
    return;
  ScoreOp score = kernel.getScore();
  if (score && !score.getRaw())
    moveScaleInto(score, kernel);

  Location loc = kernel.getFieldLoc("scale");
  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  auto factor = FactorOp::create(builder, loc);
  builder.setInsertionPointToStart(&factor.getBody().emplaceBlock());
  Value value = score ? emitConstant(builder, loc, llvm::numbers::log2e)
                      : emitScale(builder, loc, kernel, llvm::numbers::log2e);
  YieldOp::create(builder, loc, value);
}
