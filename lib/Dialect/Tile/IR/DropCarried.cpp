//===- DropCarried.cpp - Carried values that reach nothing ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace attn::tile;

namespace {
/// What of a key loop's body reaches a used result or an effect.
class LiveBody {
public:
  explicit LiveBody(ForKeysOp keys)
      : keys(keys), block(keys.getBody().front()),
        carried(keys.getNumResults()) {
    for (Operation &op : block.without_terminator())
      if (!wouldOpBeTriviallyDead(&op))
        mark(&op);
    for (OpResult result : keys->getResults())
      if (!result.use_empty())
        markCarried(result.getResultNumber());
    while (!pending.empty())
      visit(pending.pop_back_val());
  }

  const llvm::BitVector &getCarried() const { return carried; }
  bool isLive(Operation *op) const { return ops.contains(op); }

private:
  void mark(Operation *op) {
    if (ops.insert(op).second)
      pending.push_back(op);
  }

  void mark(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      // The first is the place.
      if (argument.getOwner() == &block && argument.getArgNumber() > 0)
        markCarried(argument.getArgNumber() - 1);
    } else if (Operation *op =
                   block.findAncestorOpInBlock(*value.getDefiningOp())) {
      mark(op);
    }
  }

  void markCarried(unsigned index) {
    if (carried.test(index))
      return;
    carried.set(index);
    mark(block.getTerminator()->getOperand(index));
  }

  void visit(Operation *op) {
    op->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        mark(operand);
    });
  }

  ForKeysOp keys;
  Block &block;
  llvm::BitVector carried;
  llvm::SmallPtrSet<Operation *, 32> ops;
  SmallVector<Operation *> pending;
};
} // namespace

LogicalResult ForKeysOp::canonicalize(ForKeysOp keys,
                                      PatternRewriter &rewriter) {
  LiveBody live(keys);
  const llvm::BitVector &carried = live.getCarried();
  if (carried.all())
    return failure();
  Block &block = keys.getBody().front();
  llvm::BitVector dead = carried;
  dead.flip();
  rewriter.modifyOpInPlace(block.getTerminator(),
                           [&] { block.getTerminator()->eraseOperands(dead); });
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (!live.isLive(&op) && &op != block.getTerminator())
      rewriter.eraseOp(&op);
  SmallVector<Value> inits, results;
  for (unsigned index : carried.set_bits()) {
    inits.push_back(keys.getInits()[index]);
    results.push_back(keys.getResult(index));
  }
  auto kept = ForKeysOp::create(
      rewriter, keys.getLoc(), ValueRange(inits).getTypes(), keys.getKind(),
      keys.getBegin(), keys.getEnd(), keys.getFullEnd(), keys.getStep(), inits);
  llvm::BitVector deadArguments(1); // not the key position
  for (unsigned index = 0; index < dead.size(); ++index)
    deadArguments.push_back(dead.test(index));
  block.eraseArguments(deadArguments);
  rewriter.inlineRegionBefore(keys.getBody(), kept.getBody(),
                              kept.getBody().end());
  for (auto [from, to] : llvm::zip(results, kept.getResults()))
    rewriter.replaceAllUsesWith(from, to);
  rewriter.eraseOp(keys);
  return success();
}
