//===- RelaxDivisions.cpp - Reciprocals in scores -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn::ir {
#define GEN_PASS_DEF_RELAXDIVISIONS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;

namespace {
struct RelaxDivisions : attn::ir::impl::RelaxDivisionsBase<RelaxDivisions> {
  void runOnOperation() override {
    attn::ir::ScoreOp score = getOperation().getScore();
    if (!score)
      return;
    for (auto division : score.getBody().getOps<arith::DivFOp>())
      division.setFastmath(division.getFastmath() | arith::FastMathFlags::arcp |
                           arith::FastMathFlags::afn);
  }
};
} // namespace
