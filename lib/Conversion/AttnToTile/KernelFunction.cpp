//===- KernelFunction.cpp - A kernel and its launch arguments -------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attn;

void KernelFunction::declareParam(ir::ParamOp param) {
  // A bool travels as an i32.
  Type type = param.getType();
  if (type.isInteger(1))
    type = IntegerType::get(param.getContext(), 32);
  declare(("param:" + param.getSymName()).str(), type);
}

void KernelFunction::declareTensor(ir::TensorOp tensor) {
  declare(("tensor:" + tensor.getSymName()).str(),
          LLVM::LLVMPointerType::get(tensor.getContext(), 1));
}

gpu::GPUFuncOp KernelFunction::create(OpBuilder &builder, Location loc,
                                      StringRef name, int64_t threads) {
  SmallVector<Type> types;
  for (auto &[argument, type] : declared)
    types.push_back(type);
  auto func = gpu::GPUFuncOp::create(builder, loc, name,
                                     builder.getFunctionType(types, {}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                builder.getUnitAttr());
  func.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  for (auto [index, argument] : llvm::enumerate(declared)) {
    StringRef bound = argument.first;
    func.setArgAttr(index, "attn.arg", builder.getStringAttr(bound));
    Value value = func.getArgument(index);
    if (bound.consume_front("param:"))
      params[bound] = value;
    else if (bound.consume_front("tensor:"))
      tensors[bound] = value;
    else
      arguments[bound] = value;
  }
  builder.setInsertionPointToStart(&func.getBody().front());
  gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(&func.getBody().front());
  return func;
}
