//===- ThreadPosition.cpp - Address arithmetic of the lowering ------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Layout/GpuTarget.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn::warp;

//===----------------------------------------------------------------------===//
// Emitter
//===----------------------------------------------------------------------===//

Value Emitter::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}
Value Emitter::i64(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}
Value Emitter::add(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}
Value Emitter::mul(Value a, Value b) {
  return arith::MulIOp::create(builder, loc, a, b);
}
Value Emitter::exclusiveOr(Value a, Value b) {
  return arith::XOrIOp::create(builder, loc, a, b);
}
Value Emitter::divide(Value a, int64_t divisor) {
  return arith::DivUIOp::create(builder, loc, a, i32(divisor));
}
Value Emitter::remainder(Value a, int64_t divisor) {
  return arith::RemUIOp::create(builder, loc, a, i32(divisor));
}
Value Emitter::less(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}
Value Emitter::extend(Value i32Value) {
  return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), i32Value);
}
Value Emitter::offset(Value base, Value elements, Type type) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), type, base,
                             elements);
}
Value Emitter::offset(Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(),
                             base, LLVM::GEPArg(static_cast<int32_t>(bytes)));
}
Value Emitter::bitcast(Value value, Type type) {
  return LLVM::BitcastOp::create(builder, loc, type, value);
}
Value Emitter::equal(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b);
}
Value Emitter::intrinsic(StringRef name, Type result, ValueRange arguments) {
  StringAttr attr = builder.getStringAttr(name);
  if (!result) {
    LLVM::CallIntrinsicOp::create(builder, loc, attr, arguments);
    return Value();
  }
  return LLVM::CallIntrinsicOp::create(builder, loc, result, attr, arguments)
      .getResults();
}

bool attn::warp::hasAsyncProxy(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  const attn::layout::GpuTarget *target =
      attn::layout::findGpuTarget(module ? ir::getTarget(module) : StringRef());
  return !target || target->hasWgmma;
}

bool attn::warp::isConstantAtLeast(Value value, int64_t bound) {
  APInt constant;
  return matchPattern(value, m_ConstantInt(&constant)) &&
         constant.getSExtValue() >= bound;
}

//===----------------------------------------------------------------------===//
// ThreadPosition
//===----------------------------------------------------------------------===//

/// The loops around the insertion point, innermost first.
static SmallVector<Operation *> enclosingLoops(OpBuilder &builder) {
  SmallVector<Operation *> loops;
  for (Operation *op = builder.getInsertionBlock()->getParentOp();
       op && !isa<gpu::GPUFuncOp>(op); op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op))
      loops.push_back(op);
  return loops;
}

/// The role around the insertion point, or null.
static RoleOp enclosingRole(OpBuilder &builder) {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  if (auto role = dyn_cast<RoleOp>(parent))
    return role;
  return parent->getParentOfType<RoleOp>();
}

/// The thread's index among those of its role.
static Value readRoleThread(Emitter &emitter) {
  Value thread = readThreadIndex(emitter);
  RoleOp role = enclosingRole(emitter.builder);
  if (!role || role.getFirst() == 0)
    return thread;
  auto before = static_cast<int64_t>(role.getFirst()) * warpThreads;
  return emitter.add(thread, emitter.i32(-before));
}

Value ThreadPosition::thread(Emitter &emitter) {
  SmallVector<Operation *> loops = enclosingLoops(emitter.builder);
  if (loops.size() < 2)
    return readRoleThread(emitter);
  // Second from outside: the key loop in the work loop.
  Operation *keyLoop = loops[loops.size() - 2];
  Value &thread = loopThreads[keyLoop];
  if (!thread) {
    OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPoint(keyLoop);
    thread = readRoleThread(emitter);
  }
  return thread;
}

Value ThreadPosition::lane(Emitter &emitter) {
  return emitter.remainder(thread(emitter), warpThreads);
}

Value ThreadPosition::atKernelStart(Emitter &emitter,
                                    DenseMap<Operation *, Value> &cache,
                                    function_ref<Value(Value)> make) {
  OpBuilder &builder = emitter.builder;
  Operation *kernel = builder.getInsertionBlock()->getParentOp();
  if (!isa<gpu::GPUFuncOp>(kernel))
    kernel = kernel->getParentOfType<gpu::GPUFuncOp>();
  Value &value = cache[kernel];
  if (!value) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&kernel->getRegion(0).front());
    value = make(
        NVVM::ThreadIdXOp::create(builder, emitter.loc, builder.getI32Type()));
  }
  return value;
}

Value ThreadPosition::blockWarp(Emitter &emitter) {
  return atKernelStart(emitter, blockWarps, [&](Value index) -> Value {
    return NVVM::ReduxOp::create(emitter.builder, emitter.loc,
                                 emitter.builder.getI32Type(),
                                 emitter.divide(index, warpThreads),
                                 NVVM::ReduxKind::UMIN, emitter.i32(fullMask));
  });
}

Value ThreadPosition::firstOfBlock(Emitter &emitter) {
  return atKernelStart(emitter, firstThreads, [&](Value index) {
    return emitter.equal(index, emitter.i32(0));
  });
}

Value ThreadPosition::warp(Emitter &emitter) {
  RoleOp role = enclosingRole(emitter.builder);
  if (!role || role.getFirst() == 0)
    return blockWarp(emitter);
  Value &warp = roleWarps[role];
  if (!warp) {
    OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPointToStart(&role.getBody().front());
    auto first = static_cast<int64_t>(role.getFirst());
    warp = emitter.add(blockWarp(emitter), emitter.i32(-first));
  }
  return warp;
}

Value ThreadPosition::warpgroup(Emitter &emitter) {
  return emitter.divide(warp(emitter), groupWarps);
}

Value ThreadPosition::firstRow(Emitter &emitter, FragType type) {
  if (type.getWarps() == 1)
    return emitter.i32(0);
  return emitter.mul(warp(emitter),
                     emitter.i32(type.getRows() / type.getWarps()));
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Value attn::warp::swizzledOffset(Emitter &emitter, const layout::Panel &panel,
                                 Value row, Value chunk) {
  Value key = emitter.remainder(emitter.divide(row, panel.swizzleRows()),
                                panel.chunks());
  Value swizzled = emitter.exclusiveOr(chunk, key);
  return emitter.add(emitter.mul(row, emitter.i32(panel.bytes)),
                     emitter.mul(swizzled, emitter.i32(layout::chunkBytes)));
}

Value attn::warp::slotAddress(Emitter &emitter, BufferType type, Value buffer,
                              Value slot) {
  if (type.getSlots() == 1)
    return buffer;
  return emitter.offset(buffer,
                        emitter.mul(slot, emitter.i32(type.getSlotBytes())),
                        emitter.builder.getI8Type());
}

Value attn::warp::barrierAddress(Emitter &emitter, BarriersType type,
                                 Value barriers, Value slot) {
  if (type.getSlots() == 1)
    return barriers;
  return emitter.offset(
      barriers, emitter.mul(slot, emitter.i32(BarriersType::barrierBytes)),
      emitter.builder.getI8Type());
}

Value attn::warp::sharedPointer(Emitter &emitter, Value slot, Value offset,
                                int64_t chunks, int64_t bytes) {
  if (chunks != 0)
    offset =
        emitter.exclusiveOr(offset, emitter.i32(chunks * layout::chunkBytes));
  return emitter.offset(
      emitter.offset(slot, offset, emitter.builder.getI8Type()), bytes);
}
