//===- AssignRegisters.cpp - Registers from who loads to who computes -----===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/KnobRules.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Warp/IR/Warp.h"
#include "attn/Dialect/Warp/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNREGISTERS
#include "attn/Dialect/Warp/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

void setRegisters(warp::RoleOp role, int64_t count, bool grow) {
  OpBuilder builder = OpBuilder::atBlockBegin(&role.getBody().front());
  warp::SetRegistersOp::create(builder, role.getLoc(), count, grow);
}

/// A launch gives every thread the same; the sum over the roles stays inside
/// that, or a role waits for ever.
void assign(gpu::GPUFuncOp func) {
  auto roles = llvm::to_vector(func.getBody().front().getOps<warp::RoleOp>());
  if (roles.size() != 2)
    return;
  warp::RoleOp load = roles[0], compute = roles[1];
  // Registers change hands by warpgroups.
  constexpr int64_t groupWarps = 4;
  auto module = func->getParentOfType<ModuleOp>();
  const layout::GpuTarget *target =
      layout::findGpuTarget(module ? ir::getTarget(module) : StringRef());
  if ((target && !target->hasWgmma) || load.getWarps() % groupWarps != 0 ||
      compute.getWarps() % groupWarps != 0)
    return;
  RegisterShares shares = shareRegisters(load.getWarps(), compute.getWarps(),
                                         /*canShare=*/true);
  setRegisters(load, shares.loader, /*grow=*/false);
  setRegisters(compute, shares.computer,
               /*grow=*/shares.computer > shares.launched);
}

struct AssignRegisters : attn::impl::AssignRegistersBase<AssignRegisters> {
  void runOnOperation() override {
    getOperation()->walk([](gpu::GPUFuncOp func) { assign(func); });
  }
};

} // namespace
