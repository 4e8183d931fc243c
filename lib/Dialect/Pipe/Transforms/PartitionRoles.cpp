//===- PartitionRoles.cpp - A role that loads, one that computes ----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedReads.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_PARTITIONROLES
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

bool containsPut(Operation &op) {
  return op.walk([](pipe::PutOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether an operation, with all in it, only computes scalars and views from
/// what memory holds: both roles can do it.
bool isScalar(Operation &op) {
  return !op.walk([](Operation *inner) {
              bool touchesTiles = llvm::any_of(inner->getOperandTypes(),
                                               llvm::IsaPred<tile::ValType>) ||
                                  llvm::any_of(inner->getResultTypes(),
                                               llvm::IsaPred<tile::ValType>);
              bool writes =
                  !isMemoryEffectFree(inner) &&
                  !inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
                  !hasSingleEffect<MemoryEffects::Read>(inner);
              return touchesTiles || writes ? WalkResult::interrupt()
                                            : WalkResult::advance();
            }).wasInterrupted();
}

/// Copies what fills channels, and the loops around it, into a role of its own.
class LoadBuilder {
public:
  explicit LoadBuilder(OpBuilder &builder) : builder(builder) {}

  /// A role has no terminator.
  void emitRole(Block &source) {
    for (Operation &op : source)
      emit(op);
  }

private:
  void emit(Block &source) {
    for (Operation &op : source.without_terminator())
      emit(op);
  }

  void emit(Operation &op) {
    Location loc = op.getLoc();
    auto mapped = [&](Value value) { return mapping.lookupOrDefault(value); };
    if (isa<pipe::PutOp>(op) || (isScalar(op) && !containsPut(op))) {
      builder.clone(op, mapping);
      return;
    }
    if (!containsPut(op))
      return;
    OpBuilder::InsertionGuard guard(builder);
    if (auto work = dyn_cast<tile::ForWorkOp>(op)) {
      auto copy = tile::ForWorkOp::create(
          builder, loc, TypeRange(), mapped(work.getBatch()),
          mapped(work.getHeads()), mapped(work.getRows()), work.getStep(),
          work.getStarts(),
          work.getTogether() ? mapped(work.getTogether()) : Value(),
          work.getClaim(), work.getMail(), ValueRange());
      enter(copy.getBody(), work.getBody().getArguments().take_front(3));
      emit(work.getBody().front());
      tile::YieldOp::create(builder, loc);
    } else if (auto keys = dyn_cast<tile::ForKeysOp>(op)) {
      // Nothing is masked here, so the range need not be split.
      auto copy = tile::ForKeysOp::create(
          builder, loc, TypeRange(), tile::RangeKind::Partial,
          mapped(keys.getBegin()), mapped(keys.getEnd()), Value(),
          keys.getStep(), ValueRange());
      enter(copy.getBody(), keys.getBody().getArguments().take_front(1));
      emit(keys.getBody().front());
      tile::YieldOp::create(builder, loc);
    } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
      auto copy =
          scf::IfOp::create(builder, loc, mapped(choice.getCondition()));
      builder.setInsertionPoint(copy.thenYield());
      emit(*choice.thenBlock());
    }
  }

  /// Makes the body of a copied loop.
  void enter(Region &body, ValueRange arguments) {
    SmallVector<Location> locs(arguments.size(), builder.getUnknownLoc());
    Block *block = builder.createBlock(&body, {}, arguments.getTypes(), locs);
    mapping.map(arguments, block->getArguments());
  }

  OpBuilder &builder;
  IRMapping mapping;
};

void partition(pipe::RoleOp compute, int64_t producerWarps) {
  // The channels belong to both.
  for (auto open : llvm::to_vector(compute.getBody().getOps<pipe::OpenOp>()))
    open->moveBefore(compute);
  OpBuilder builder(compute);
  // Who loads is the first to need an item: that role claims it.
  compute.walk([&](tile::ForWorkOp work) {
    if (work.getClaim())
      work.getMailMutable().assign(pipe::OpenMailOp::create(
          builder, work.getLoc(), pipe::MailType::get(builder.getContext())));
  });
  auto load =
      pipe::RoleOp::create(builder, compute.getLoc(), "load", producerWarps);
  builder.createBlock(&load.getBody());
  LoadBuilder(builder).emitRole(compute.getBody().front());
  SmallVector<pipe::PutOp> puts;
  compute.walk([&](pipe::PutOp put) { puts.push_back(put); });
  for (pipe::PutOp put : puts)
    put.erase();
}

struct PartitionRoles : attn::impl::PartitionRolesBase<PartitionRoles> {
  void runOnOperation() override {
    getOperation()->walk([](gpu::GPUFuncOp func) {
      auto schedule = func->getAttrOfType<ir::ScheduleAttr>("attn.schedule");
      if (!schedule || !schedule.hasProducer())
        return;
      for (auto role :
           llvm::to_vector(func.getBody().front().getOps<pipe::RoleOp>()))
        partition(role, schedule.getProducerWarps());
    });
  }
};

} // namespace
