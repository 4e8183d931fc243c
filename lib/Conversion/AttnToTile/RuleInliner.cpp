//===- RuleInliner.cpp - Rules of a kernel as scalar code -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuleInliner.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

SmallVector<Value> RuleInliner::inlineRule(OpBuilder &builder, Region &rule,
                                           ValueRange arguments, Scope scope) {
  Block &block = rule.front();
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator())
    inlineOp(builder, op, mapping, scope);
  SmallVector<Value> results;
  for (Value result : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  return results;
}

void RuleInliner::inlineOp(OpBuilder &builder, Operation &op,
                           IRMapping &mapping, Scope scope) {
  if (auto param = dyn_cast<ir::GetParamOp>(op)) {
    mapping.map(param.getResult(), emitParam(builder, param));
  } else if (auto read = dyn_cast<ir::ReadOp>(op)) {
    SmallVector<Value> indices;
    for (Value index : read.getIndices())
      indices.push_back(mapping.lookup(index));
    mapping.map(read.getResult(), emitRead(builder, read, indices, scope));
  } else {
    builder.clone(op, mapping);
  }
}

Value RuleInliner::emitParam(OpBuilder &builder, ir::GetParamOp op) {
  Value argument = function.params.lookup(op.getParam());
  if (!op.getType().isInteger(1))
    return argument;
  // A bool travels as an i32, 0 or 1.
  Value zero =
      arith::ConstantIntOp::create(builder, op.getLoc(), argument.getType(), 0);
  return arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::ne,
                               argument, zero);
}

Value RuleInliner::extent(OpBuilder &builder, Location loc, ir::DimAttr dim) {
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, i64, value);
  };
  auto argument = [&](StringRef name) -> Value {
    return arith::ExtSIOp::create(builder, loc, i64,
                                  function.arguments.lookup(name));
  };
  switch (dim.getKind()) {
  case ir::DimKind::Literal:
    return constant(dim.getSize());
  case ir::DimKind::Batch:
    return argument("batch");
  case ir::DimKind::Heads:
    return constant(kernel.getHeads());
  case ir::DimKind::KvHeads:
    return constant(kernel.getKvHeads());
  case ir::DimKind::QLen:
    return argument("q_len");
  case ir::DimKind::KLen:
    return argument("k_len");
  case ir::DimKind::TotalQ:
    return argument("total_q");
  case ir::DimKind::TotalK:
    return argument("total_k");
  }
  llvm_unreachable("all kinds are covered");
}

/// Indices stay in their own sequence, whatever the tensor holds for others.
Value RuleInliner::inSequence(OpBuilder &builder, Location loc,
                              ir::DimKind kind, Value index) {
  bool isQuery = kind == ir::DimKind::TotalQ;
  if (!isQuery && kind != ir::DimKind::TotalK)
    return index;
  auto widen = [&](Value value) -> Value {
    return arith::ExtSIOp::create(builder, loc, builder.getI64Type(), value);
  };
  Type i64 = builder.getI64Type();
  Value one = arith::ConstantIntOp::create(builder, loc, i64, 1);
  Value zero = arith::ConstantIntOp::create(builder, loc, i64, 0);
  Value last = arith::SubIOp::create(
      builder, loc, widen(isQuery ? sequence.qLen : sequence.kLen), one);
  index = arith::MinSIOp::create(builder, loc, index, last);
  index = arith::MaxSIOp::create(builder, loc, index, zero);
  return arith::AddIOp::create(
      builder, loc, index, widen(isQuery ? sequence.qStart : sequence.kStart));
}

/// Brings an element as stored to the type that attn.read gives.
static Value widenElement(OpBuilder &builder, Location loc, Value value,
                          Type stored, Type result) {
  if (value.getType() == result)
    return value;
  if (result.isInteger(1)) {
    Value zero = arith::ConstantIntOp::create(builder, loc, value.getType(), 0);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 zero);
  }
  if (isa<FloatType>(result))
    return arith::ExtFOp::create(builder, loc, result, value);
  if (stored.isUnsignedInteger())
    return arith::ExtUIOp::create(builder, loc, result, value);
  return arith::ExtSIOp::create(builder, loc, result, value);
}

Value RuleInliner::emitRead(OpBuilder &builder, ir::ReadOp op,
                            ValueRange indices, Scope scope) {
  Location loc = op.getLoc();
  ir::TensorOp tensor = tensorOf(op);
  // Without a batch entry or a query row nothing is launched, so that k_len and
  // total_k are the only extents of 0. Such a tensor has no address; its
  // elements are 0.
  Value keys;
  for (unsigned axis = 0; axis < tensor.getDims().size(); ++axis) {
    ir::DimKind kind = tensor.getDim(axis).getKind();
    if (kind == ir::DimKind::KLen || kind == ir::DimKind::TotalK)
      keys = function.arguments.lookup(kind == ir::DimKind::KLen ? "k_len"
                                                                 : "total_k");
  }
  if (!keys || scope == Scope::Key)
    return emitLoad(builder, op, indices);
  Value none =
      arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  Value hasKeys = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                        keys, none);
  auto guarded = scf::IfOp::create(
      builder, loc, hasKeys,
      [&](OpBuilder &nested, Location) {
        scf::YieldOp::create(nested, loc, emitLoad(nested, op, indices));
      },
      [&](OpBuilder &nested, Location) {
        Value zero = arith::ConstantOp::create(
            nested, loc, cast<TypedAttr>(nested.getZeroAttr(op.getType())));
        scf::YieldOp::create(nested, loc, zero);
      });
  return guarded.getResult(0);
}

ir::TensorOp RuleInliner::tensorOf(ir::ReadOp op) {
  return cast<ir::TensorOp>(
      SymbolTable::lookupSymbolIn(kernel, op.getTensorAttr()));
}

Value RuleInliner::emitLoad(OpBuilder &builder, ir::ReadOp op,
                            ValueRange indices) {
  Location loc = op.getLoc();
  ir::TensorOp tensor = tensorOf(op);
  Type i64 = builder.getI64Type();
  Value zero = arith::ConstantIntOp::create(builder, loc, i64, 0);
  Value one = arith::ConstantIntOp::create(builder, loc, i64, 1);
  Value offset = zero;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value size = extent(builder, loc, tensor.getDim(axis));
    if (index.getType() != i64)
      index = arith::ExtSIOp::create(builder, loc, i64, index);
    index = inSequence(builder, loc, tensor.getDim(axis).getKind(), index);
    // Also of a ragged dimension: behind an empty sequence there may be no row.
    Value last = arith::SubIOp::create(builder, loc, size, one);
    index = arith::MinSIOp::create(builder, loc, index, last);
    index = arith::MaxSIOp::create(builder, loc, index, zero);
    offset = arith::MulIOp::create(builder, loc, offset, size);
    offset = arith::AddIOp::create(builder, loc, offset, index);
  }
  Type stored = tensor.getElementType();
  // A bool takes a byte; unsigned types are signless in LLVM.
  Type memory = stored;
  if (stored.isInteger())
    memory = builder.getIntegerType(
        stored.isInteger(1) ? 8 : stored.getIntOrFloatBitWidth());
  Value base = function.tensors.lookup(op.getTensor());
  Value address =
      LLVM::GEPOp::create(builder, loc, base.getType(), memory, base, offset);
  auto load = LLVM::LoadOp::create(
      builder, loc, memory, address, /*alignment=*/0, /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/true);
  return widenElement(builder, loc, load, stored, op.getType());
}
