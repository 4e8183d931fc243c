//===- Roles.cpp - From roles to branches ---------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace attn::warp;

/// Moves the region of `op` into the first branch of a new `scf.if`.
static scf::IfOp branchOn(Emitter &emitter, Value condition, Region &region,
                          bool withElse) {
  auto branch = scf::IfOp::create(emitter.builder, emitter.loc, condition,
                                  /*withElseRegion=*/withElse);
  Block *target = branch.thenBlock();
  target->getOperations().splice(target->begin(),
                                 region.front().getOperations());
  return branch;
}

/// One thread of the role's first warp. Its election is the warp's, so that the
/// assembler knows the branch behind it to be taken by one thread.
static void lowerSingle(SingleOp op, ThreadPosition &position) {
  OpBuilder builder(op);
  Emitter emitter(builder, op.getLoc());
  Value isFirst = emitter.equal(position.warp(emitter), emitter.i32(0));
  auto firstWarp = scf::IfOp::create(builder, op.getLoc(), isFirst);
  builder.setInsertionPoint(firstWarp.thenYield());
  Value elected;
  if (hasAsyncProxy(op))
    elected = NVVM::ElectSyncOp::create(builder, op.getLoc(),
                                        builder.getI1Type(), Value());
  else
    elected = emitter.equal(position.lane(emitter), emitter.i32(0));
  branchOn(emitter, elected, op.getBody(), /*withElse=*/false);
  op.erase();
}

/// The roles that follow `first` with nothing between them that matters to
/// anybody; what is between them is moved in front.
static SmallVector<RoleOp> takeNeighbours(RoleOp first) {
  SmallVector<RoleOp> roles = {first};
  SmallVector<Operation *> between;
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    auto role = dyn_cast<RoleOp>(op);
    if (!role) {
      if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
        break;
      between.push_back(op);
      continue;
    }
    for (Operation *moved : between)
      moved->moveBefore(first);
    between.clear();
    roles.push_back(role);
  }
  return roles;
}

/// Neighbouring roles become one chain of branches, so that to the assembler
/// no path leads from one into another: each has registers of its own.
static void lowerNeighbours(ArrayRef<RoleOp> roles, ThreadPosition &position) {
  OpBuilder builder(roles.front());
  for (RoleOp role : roles) {
    Emitter emitter(builder, role.getLoc());
    auto first = static_cast<int64_t>(role.getFirst());
    Value index = position.blockWarp(emitter);
    if (first != 0)
      index = emitter.add(index, emitter.i32(-first));
    Value inside = arith::CmpIOp::create(
        builder, role.getLoc(), arith::CmpIPredicate::ult, index,
        emitter.i32(static_cast<int64_t>(role.getWarps())));
    bool isLast = role == roles.back();
    scf::IfOp branch = branchOn(emitter, inside, role.getBody(), !isLast);
    if (!isLast)
      builder.setInsertionPoint(branch.elseYield());
  }
  for (RoleOp role : roles)
    role.erase();
}

void attn::warp::lowerRoles(gpu::GPUModuleOp module, ThreadPosition &position) {
  SmallVector<SingleOp> singles;
  module.walk([&](SingleOp op) { singles.push_back(op); });
  for (SingleOp op : singles)
    lowerSingle(op, position);
  while (true) {
    RoleOp first;
    module.walk([&](RoleOp op) {
      first = op;
      return WalkResult::interrupt();
    });
    if (!first)
      return;
    lowerNeighbours(takeNeighbours(first), position);
  }
}
