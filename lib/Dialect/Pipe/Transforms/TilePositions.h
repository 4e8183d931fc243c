//===- TilePositions.h - Which tile a put is for ----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_PIPE_TRANSFORMS_TILEPOSITIONS_H
#define ATTN_LIB_DIALECT_PIPE_TRANSFORMS_TILEPOSITIONS_H

#include "attn/Dialect/Pipe/IR/Pipe.h"

namespace attn::pipe {

/// V10 of attn-verify-pipe: the tiles that puts fetch, by the values of the IR,
/// are those that `ahead` says, by which every other rule is judged.
mlir::LogicalResult verifyTilePositions(RoleOp role);

} // namespace attn::pipe

#endif // ATTN_LIB_DIALECT_PIPE_TRANSFORMS_TILEPOSITIONS_H
