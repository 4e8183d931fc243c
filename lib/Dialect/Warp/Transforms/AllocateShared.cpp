//===- AllocateShared.cpp - Places in shared memory -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Warp/IR/Warp.h"
#include "attn/Dialect/Warp/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_ALLOCATESHARED
#include "attn/Dialect/Warp/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// An atom of the 128-byte swizzle: 8 rows of 128 bytes.
constexpr int64_t ringAlignment = 1024;

void allocate(gpu::GPUFuncOp func) {
  // A ring without a group is a group of its own.
  llvm::MapVector<Attribute, SmallVector<warp::AllocOp>> groups;
  int64_t alone = 0;
  OpBuilder builder(func);
  func.walk([&](warp::AllocOp alloc) {
    Attribute group = alloc->getAttr("warp.group");
    if (!group)
      group = builder.getI64IntegerAttr(alone++);
    groups[group].push_back(alloc);
  });
  int64_t next = 0;
  for (auto &[group, allocs] : groups) {
    int64_t size = 0;
    for (warp::AllocOp alloc : allocs) {
      alloc.setOffset(next);
      alloc->removeAttr("warp.group");
      size = std::max(size, alloc.getType().getBytes());
    }
    next = llvm::alignTo(next + size, ringAlignment);
  }
  func.walk([&](warp::MbarAllocOp barriers) {
    barriers.setOffset(next);
    next += barriers.getType().getBytes();
  });
  func.walk([&](warp::MailAllocOp mail) {
    mail.setOffset(next);
    next += warp::MailAllocOp::mailBytes;
  });
  func->setAttr("attn.shared_bytes", builder.getI64IntegerAttr(next));
}

struct AllocateShared : attn::impl::AllocateSharedBase<AllocateShared> {
  void runOnOperation() override {
    getOperation()->walk([](gpu::GPUFuncOp func) { allocate(func); });
  }
};

} // namespace
