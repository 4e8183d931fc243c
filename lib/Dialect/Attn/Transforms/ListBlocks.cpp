//===- ListBlocks.cpp - Which masks get lists of key tiles ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Analysis/MaskAffine.h"

#include "mlir/IR/Matchers.h"

namespace attn::ir {
#define GEN_PASS_DEF_LISTBLOCKS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn;
using namespace attn::ir;

using arith::CmpIPredicate;

/// Tiles have this many keys at least.
static constexpr int64_t leastTile = 16;

/// k, or its sum or difference with something free of k.
static bool isShiftedKey(Value value, MaskOp mask, RowDirection &directions) {
  Value key = mask.getArgument("k");
  if (value == key)
    return true;
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtSIOp>(op))
    return isShiftedKey(op->getOperand(0), mask, directions);
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return false;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  return (directions.isKeyFree(lhs) && isShiftedKey(rhs, mask, directions)) ||
         (directions.isKeyFree(rhs) && isShiftedKey(lhs, mask, directions));
}

/// `(k + x) % c` equal to, or different from, something free of k, for a c no
/// greater than a tile: true and false somewhere in each tile.
static bool isMixedInEveryTile(arith::CmpIOp compare, MaskOp mask,
                               MaskAffine &affine) {
  if (compare.getPredicate() != CmpIPredicate::eq &&
      compare.getPredicate() != CmpIPredicate::ne)
    return false;
  RowDirection &directions = affine.getDirections();
  for (auto [side, other] : {std::pair(compare.getLhs(), compare.getRhs()),
                             std::pair(compare.getRhs(), compare.getLhs())}) {
    std::optional<FloorDivision> remainder =
        matchFloorRemainder(side, affine.getRanges());
    std::optional<int64_t> period =
        remainder ? remainder->getConstantDivisor() : std::nullopt;
    if (period && *period >= 2 && *period <= leastTile &&
        directions.isKeyFree(other) &&
        isShiftedKey(remainder->dividend, mask, directions))
      return true;
  }
  return false;
}

namespace {
enum class Knowledge { Bounded, Mixed, Open };
} // namespace

/// What the bounds know of a condition: all that can be known, nothing since
/// there is nothing to know about tiles, or less than could be.
static Knowledge knowledgeOf(Operation &op, MaskOp mask, MaskAffine &affine) {
  if (affine.isInvariant(op.getResult(0)))
    return Knowledge::Bounded;
  if (isa<ReadOp, arith::CmpFOp>(op))
    return Knowledge::Open;
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || compare.getLhs().getType().isInteger(1))
    return Knowledge::Bounded; // of others, which are looked at themselves
  std::optional<AffineComparison> known = affine.get(compare);
  if (known && known->form.k >= -1 && known->form.k <= 1)
    return Knowledge::Bounded;
  return isMixedInEveryTile(compare, mask, affine) ? Knowledge::Mixed
                                                   : Knowledge::Open;
}

/// Whether a look at the tiles can find some empty or full that the bounds call
/// partial.
static bool canDecideTiles(KernelOp kernel, MaskOp mask) {
  MaskAffine affine(kernel, mask);
  bool anyMixed = false;
  for (Operation &op : mask.getBody().front().without_terminator()) {
    if (!op.getResult(0).getType().isInteger(1))
      continue;
    Knowledge knowledge = knowledgeOf(op, mask, affine);
    if (knowledge == Knowledge::Open)
      return true;
    anyMixed |= knowledge == Knowledge::Mixed;
  }
  // Without any, there were too many conditions to keep apart.
  return !anyMixed;
}

namespace {
struct ListBlocks : ir::impl::ListBlocksBase<ListBlocks> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    MaskOp mask = kernel.getMask();
    BoundsOp bounds = kernel.getBounds();
    if (!mask || !bounds || !bounds.getApproximate() || bounds.getListed() ||
        !canDecideTiles(kernel, mask))
      return;
    auto isUsed = [&](StringRef name) {
      return !mask.getArgument(name).use_empty();
    };
    SmallVector<Attribute> dims;
    auto add = [&](DimKind kind) {
      dims.push_back(DimAttr::get(&getContext(), kind, 0));
    };
    // Lengths, too, belong to a batch entry.
    if (isUsed("b") || kernel.getBatch() != Batch::Dense)
      add(DimKind::Batch);
    if (isUsed("h"))
      add(DimKind::Heads);
    else if (isUsed("g"))
      add(DimKind::KvHeads);
    bounds.setListedAttr(ArrayAttr::get(&getContext(), dims));
  }
};
} // namespace
