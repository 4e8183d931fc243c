//===- AssignRegisters.cpp - Registers from who loads to who computes -----===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Warp/IR/Warp.h"
#include "attn/Dialect/Warp/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNREGISTERS
#include "attn/Dialect/Warp/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// CUDA C++ Programming Guide, compute capability 9.0: registers of a
/// multiprocessor, and what one thread can address. setmaxnreg counts in units
/// (PTX ISA).
constexpr int64_t registerFile = 65536, mostOfThread = 240, unit = 8;
/// What a thread that starts copies needs, and the most that it is left with.
constexpr int64_t leastOfLoader = 32, mostOfLoader = 56;
constexpr int64_t lanes = 32;

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
  int64_t loaders = load.getWarps() * lanes;
  int64_t computers = compute.getWarps() * lanes;
  int64_t launched =
      llvm::alignDown(registerFile / (loaders + computers), unit);
  int64_t pool = launched * (loaders + computers);
  int64_t grown = std::min<int64_t>(
      mostOfThread,
      llvm::alignDown((pool - leastOfLoader * loaders) / computers, unit));
  int64_t left = std::min<int64_t>(
      mostOfLoader,
      llvm::alignDown((pool - grown * computers) / loaders, unit));
  setRegisters(load, left, /*grow=*/false);
  setRegisters(compute, grown, /*grow=*/grown > launched);
}

struct AssignRegisters : attn::impl::AssignRegistersBase<AssignRegisters> {
  void runOnOperation() override {
    getOperation()->walk([](gpu::GPUFuncOp func) { assign(func); });
  }
};

} // namespace
