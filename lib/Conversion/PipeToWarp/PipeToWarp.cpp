//===- PipeToWarp.cpp - The conversion and its types -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipeToWarp.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTPIPETOWARP
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

static Type convertTile(tile::ValType type, int64_t warps) {
  ArrayRef<int64_t> sizes = type.getSizes();
  if (sizes.size() == 1)
    return warp::FragType::get(sizes[0], 1, type.getElementType(),
                               warp::FragKind::Row, warps);
  auto kind =
      type.findAxis("r") ? warp::FragKind::RowPartial : warp::FragKind::Acc;
  return warp::FragType::get(sizes[0], sizes[1], type.getElementType(), kind,
                             warps);
}

static Type ringOf(tile::ValType type) {
  return warp::BufferType::get(type.getSharedSlots(), type.getSizes()[0],
                               type.getSizes()[1], type.getElementType());
}

WarpTypeConverter::WarpTypeConverter(int64_t warps) : warps(warps) {
  addConversion([](Type type) { return type; });
  addConversion(
      [warps](tile::ValType type,
              SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        if (!type.isShared()) {
          results.push_back(convertTile(type, warps));
          return success();
        }
        results.push_back(ringOf(type));
        results.push_back(IntegerType::get(type.getContext(), 32));
        return success();
      });
  addConversion(
      [](tile::ViewType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        MLIRContext *context = type.getContext();
        results.push_back(LLVM::LLVMPointerType::get(context, 1));
        results.push_back(IntegerType::get(context, 64));
        results.push_back(IntegerType::get(context, 32));
        return success();
      });
  addConversion([](pipe::ChannelType type) { return ringOf(type.getTile()); });
}

namespace {

struct ConvertPipeToWarp
    : attn::impl::ConvertPipeToWarpBase<ConvertPipeToWarp> {
  void runOnOperation() override {
    SmallVector<pipe::RoleOp> roles;
    getOperation()->walk([&](pipe::RoleOp role) { roles.push_back(role); });
    for (pipe::RoleOp role : roles)
      if (failed(convert(role)))
        return signalPassFailure();
    getOperation()->walk(
        [](ModuleOp module) { ir::setLevel(module, ir::Level::Warp); });
  }

  LogicalResult convert(pipe::RoleOp role) {
    MLIRContext *context = &getContext();
    WarpTypeConverter converter(role.getWarps());
    RewritePatternSet patterns(context);
    populateTileToWarp(patterns, converter);
    populateChannelsToWarp(patterns, converter);
    populateLoopsToWarp(patterns, converter);
    ConversionTarget target(*context);
    target.addIllegalDialect<tile::TileDialect, pipe::PipeDialect>();
    // Choices between tiles change their types; all else is left alone.
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addDynamicallyLegalOp<scf::IfOp>(
        [&](scf::IfOp op) { return converter.isLegal(op.getResultTypes()); });
    target.addDynamicallyLegalOp<scf::YieldOp>([&](scf::YieldOp op) {
      return converter.isLegal(op.getOperandTypes());
    });
    return applyPartialConversion(role, target, std::move(patterns));
  }
};

} // namespace
