//===- VerifyProducts.cpp - Checks of products under way ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// W8 follows the registers of each warp.wgmma from use to use, also over the
// back edge of a loop, and counts the products issued since: a wait that leaves
// N pending covers what has at least N younger ones. What may not run (the
// bodies of loops and branches on the way) is not counted.
//
//===----------------------------------------------------------------------===//

#include "VerifyAsync.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn::warp;

/// Products in the block of `end`, from behind `begin` (null: the block's
/// start) to before `end`.
static int64_t countProducts(Operation *begin, Operation *end) {
  Operation *op = begin ? begin->getNextNode() : &end->getBlock()->front();
  int64_t count = 0;
  for (; op != end; op = op->getNextNode())
    count += isa<WgmmaOp>(op);
  return count;
}

namespace {

/// A value at a place of the program: behind `after` in `block`, or at its
/// start; `younger` products were issued since the one that is followed.
struct Place {
  Value value;
  Block *block;
  Operation *after;
  int64_t younger;
};

/// Follows the registers of one product.
class ProductVerifier {
public:
  explicit ProductVerifier(WgmmaOp product) : product(product) {}

  LogicalResult run() {
    pending.push_back({product.getResult(), product->getBlock(), product, 0});
    while (!pending.empty()) {
      Place place = pending.pop_back_val();
      if (failed(verifyUses(place)))
        return failure();
    }
    return success();
  }

private:
  /// Products since `place` before `user`, or nothing when `user` comes before.
  static std::optional<int64_t> countUntil(const Place &place,
                                           Operation *user) {
    Operation *ancestor = place.block->findAncestorOpInBlock(*user);
    if (!ancestor || (place.after && (ancestor == place.after ||
                                      ancestor->isBeforeInBlock(place.after))))
      return std::nullopt;
    int64_t count = place.younger + countProducts(place.after, ancestor);
    for (Operation *op = user; op != ancestor; op = op->getParentOp())
      count += countProducts(nullptr, op);
    return count;
  }

  LogicalResult verifyUses(const Place &place) {
    for (OpOperand &use : place.value.getUses()) {
      std::optional<int64_t> younger = countUntil(place, use.getOwner());
      if (younger && failed(verifyUse(use, *younger)))
        return failure();
    }
    return success();
  }

  /// A use of the accumulators while the product may be under way.
  LogicalResult verifyUse(OpOperand &use, int64_t younger) {
    Operation *op = use.getOwner();
    if (auto wait = dyn_cast<WgmmaWaitOp>(op)) {
      auto left = static_cast<int64_t>(wait.getPending());
      if (left <= younger)
        return success();
      return report(op) << "W8: expected at most " << younger
                        << " pending: with " << left
                        << " the product of this value may be under way";
    }
    // The next product of the chain is followed for itself.
    if (auto next = dyn_cast<WgmmaOp>(op); next && next.getAcc() == use.get())
      return success();
    if (enterLoop(use, younger) || leaveRegion(use, younger))
      return success();
    return report(op) << "W8: expected warp.wgmma_wait between a product and "
                         "the use of its result";
  }

  /// The initial value of a loop: what its body starts from, and what remains
  /// if it never runs.
  bool enterLoop(OpOperand &use, int64_t younger) {
    auto loop = dyn_cast<scf::ForOp>(use.getOwner());
    if (!loop || use.getOperandNumber() < loop.getNumControlOperands())
      return false;
    unsigned index = use.getOperandNumber() - loop.getNumControlOperands();
    follow({loop.getRegionIterArg(index), loop.getBody(), nullptr, younger});
    follow({loop.getResult(index), loop->getBlock(), loop, younger});
    return true;
  }

  /// What a body yields: a result of the operation, and of a loop also what the
  /// body starts from the next time.
  bool leaveRegion(OpOperand &use, int64_t younger) {
    auto yield = dyn_cast<scf::YieldOp>(use.getOwner());
    if (!yield)
      return false;
    Operation *parent = yield->getParentOp();
    unsigned index = use.getOperandNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      follow({loop.getRegionIterArg(index), loop.getBody(), nullptr, younger});
    else if (!isa<scf::IfOp>(parent))
      return false;
    follow({parent->getResult(index), parent->getBlock(), parent, younger});
    return true;
  }

  /// Once per value, again only with fewer products behind it.
  void follow(Place place) {
    auto [known, isNew] = seen.try_emplace(place.value, place.younger);
    if (!isNew && known->second <= place.younger)
      return;
    known->second = place.younger;
    pending.push_back(place);
  }

  InFlightDiagnostic report(Operation *op) {
    InFlightDiagnostic diagnostic = op->emitError();
    diagnostic.attachNote(product.getLoc()) << "the product";
    return diagnostic;
  }

  WgmmaOp product;
  SmallVector<Place> pending;
  llvm::DenseMap<Value, int64_t> seen;
};

} // namespace

LogicalResult attn::warp::verifyProducts(gpu::GPUFuncOp kernel) {
  WalkResult result = kernel.walk([](WgmmaOp product) {
    return failed(ProductVerifier(product).run()) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
