//===- RelaxScore.cpp - What a score may round otherwise ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn::ir {
#define GEN_PASS_DEF_RELAXSCORE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;

namespace {
struct RelaxScore : attn::ir::impl::RelaxScoreBase<RelaxScore> {
  template <typename Op> static void relax(Op op, arith::FastMathFlags flags) {
    op.setFastmath(op.getFastmath() | flags);
  }

  void runOnOperation() override {
    attn::ir::ScoreOp score = getOperation().getScore();
    if (!score)
      return;
    for (Operation &op : score.getBody().front()) {
      if (auto division = dyn_cast<arith::DivFOp>(op))
        relax(division, arith::FastMathFlags::arcp | arith::FastMathFlags::afn);
      else if (auto product = dyn_cast<arith::MulFOp>(op))
        relax(product, arith::FastMathFlags::contract);
      else if (auto sum = dyn_cast<arith::AddFOp>(op))
        relax(sum, arith::FastMathFlags::contract);
      else if (auto difference = dyn_cast<arith::SubFOp>(op))
        relax(difference, arith::FastMathFlags::contract);
    }
  }
};
} // namespace
