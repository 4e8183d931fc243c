//===- Pipe.h - The pipe dialect --------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_PIPE_IR_PIPE_H
#define ATTN_DIALECT_PIPE_IR_PIPE_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "attn/Dialect/Pipe/IR/PipeDialect.h.inc"
#include "attn/Dialect/Pipe/IR/PipeEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Pipe/IR/PipeAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Pipe/IR/PipeTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/Pipe/IR/PipeOps.h.inc"

namespace attn::pipe {

/// Whether a channel is filled by another role.
inline bool isFed(mlir::Value channel) {
  return llvm::cast<ChannelType>(channel.getType()).getFed();
}

/// What fills a channel. One that is not made here, but given, is filled by the
/// threads.
inline Via viaOf(mlir::Value channel) {
  auto open = channel.getDefiningOp<OpenOp>();
  return open ? open.getVia() : Via::CpAsync;
}

/// The tensor map by which tiles leave a channel; null where the threads copy
/// them out themselves.
inline mlir::Value drainMapOf(mlir::Value channel) {
  auto open = channel.getDefiningOp<OpenOp>();
  return open && open.getVia() == Via::Store ? open.getMap() : mlir::Value();
}

/// Whether a channel lies in the memory of another one.
inline bool isAlias(mlir::Value channel) {
  auto open = channel.getDefiningOp<OpenOp>();
  return open && open.getAlias();
}

/// Whether a slot says by a barrier in shared memory that it is full: where
/// another role fills it, or a copy that no group of a thread counts. Takes
/// then wait for their tile alone, no warp meets another, and tiles are
/// numbered in the order of their puts.
inline bool isSignalled(mlir::Value channel) {
  return isFed(channel) || viaOf(channel) == Via::Tma;
}

} // namespace attn::pipe

#endif // ATTN_DIALECT_PIPE_IR_PIPE_H
