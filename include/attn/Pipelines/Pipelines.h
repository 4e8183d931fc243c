//===- Pipelines.h - The phases of the compiler -----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_PIPELINES_H
#define ATTN_PIPELINES_PIPELINES_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace attn {

/// A problem as imported -> the attn level: mask normalised, bounds, factor.
void buildAttnPipeline(mlir::OpPassManager &manager);
/// Of attn -> tile the part that leaves the level: a schedule, and the
/// alternatives to it.
void buildSchedulePipeline(mlir::OpPassManager &manager);
/// attn -> tile: what cannot be lowered yet is refused, the schedule selected;
/// the online softmax.
void buildAttnToTilePipeline(mlir::OpPassManager &manager);
/// tile -> pipe: roles, channels, what runs ahead.
void buildTileToPipePipeline(mlir::OpPassManager &manager);
/// pipe -> warp: fragments, rings, waits.
void buildPipeToWarpPipeline(mlir::OpPassManager &manager);
/// warp -> nvvm: what `emitPtx` (attn/Target/Ptx.h) translates.
void buildWarpToNvvmPipeline(mlir::OpPassManager &manager);

} // namespace attn

#endif // ATTN_PIPELINES_PIPELINES_H
