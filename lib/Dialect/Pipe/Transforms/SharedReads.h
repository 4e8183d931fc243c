//===- SharedReads.h - Who reads and fills shared tiles ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_PIPE_TRANSFORMS_SHAREDREADS_H
#define ATTN_LIB_DIALECT_PIPE_TRANSFORMS_SHAREDREADS_H

#include "attn/Dialect/Pipe/IR/Pipe.h"

namespace attn::pipe {

/// Whether the operation, not its regions, has a tile in shared memory as an
/// operand.
inline bool readsSharedTile(mlir::Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](mlir::Type type) {
    auto tile = llvm::dyn_cast<tile::ValType>(type);
    return tile && tile.isShared();
  });
}

/// Whether another role feeds what the loop takes: then nothing in it runs
/// ahead, since that role does.
inline bool takesFromOtherRole(tile::ForKeysOp keys) {
  return llvm::any_of(keys.getBody().getOps<TakeOp>(),
                      [](TakeOp take) { return isFed(take.getChannel()); });
}

} // namespace attn::pipe

#endif // ATTN_LIB_DIALECT_PIPE_TRANSFORMS_SHAREDREADS_H
