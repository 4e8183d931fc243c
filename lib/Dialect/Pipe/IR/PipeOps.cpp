//===- PipeOps.cpp - The pipe dialect -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::pipe;

#include "attn/Dialect/Pipe/IR/PipeDialect.cpp.inc"
#include "attn/Dialect/Pipe/IR/PipeEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Pipe/IR/PipeAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Pipe/IR/PipeTypes.cpp.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/Pipe/IR/PipeOps.cpp.inc"

void PipeDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Pipe/IR/PipeAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Pipe/IR/PipeTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Pipe/IR/PipeOps.cpp.inc"
      >();
}

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  attn::tile::ValType tile) {
  if (!tile.isShared())
    return emitError() << "P1: expected a shared tile, found " << tile;
  return success();
}

LogicalResult RoleOp::verify() {
  constexpr uint64_t maxWarps = 32; // 1024 threads per block
  if (getWarps() < 1 || getWarps() > maxWarps)
    return emitOpError() << "P2: expected 1 to " << maxWarps << " warps, found "
                         << getWarps();
  return success();
}

LogicalResult PutOp::verify() {
  Type expected = getChannel().getType().getTile().getElementType();
  if (getView().getType().getElementType() != expected)
    return emitOpError() << "P3: expected a view of " << expected << ", found "
                         << getView().getType();
  return success();
}

LogicalResult TakeOp::verify() {
  if (getTile().getType() != getChannel().getType().getTile())
    return emitOpError() << "P3: expected " << getChannel().getType().getTile()
                         << ", found " << getTile().getType();
  return success();
}
