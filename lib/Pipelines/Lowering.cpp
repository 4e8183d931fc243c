//===- Lowering.cpp - From the problem to the machine, phase by phase -----===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "attn/Dialect/Warp/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// Bottom-up: each change puts the operations around it on the list again, and
/// to see whether one of those is dead all that is in it is looked at. So they
/// come after what is in them, and not once for each operation of a rule.
static void cleanUp(OpPassManager &manager) {
  GreedyRewriteConfig bottomUp;
  bottomUp.setUseTopDownTraversal(false);
  manager.addPass(createCanonicalizerPass(bottomUp));
  manager.addPass(createCSEPass());
}

//===----------------------------------------------------------------------===//
// spec -> attn
//===----------------------------------------------------------------------===//

void attn::buildAttnPipeline(OpPassManager &manager) {
  OpPassManager &kernel = manager.nest<ir::KernelOp>();
  // The bounds see only comparisons in normal form.
  kernel.addPass(ir::createNormalizeMask());
  kernel.addPass(ir::createBoundKeys());
  kernel.addPass(ir::createListBlocks());
  kernel.addPass(ir::createUseExp2());
  kernel.addPass(ir::createRelaxScore());
  kernel.addPass(ir::createFoldScore());
  manager.addPass(ir::createCloseAttn());
}

//===----------------------------------------------------------------------===//
// attn -> tile
//===----------------------------------------------------------------------===//

void attn::buildSchedulePipeline(OpPassManager &manager) {
  OpPassManager &kernel = manager.nest<ir::KernelOp>();
  // Every problem has an attn level; only some can be lowered yet.
  kernel.addPass(ir::createVerifyInput());
  kernel.addPass(ir::createSelectSchedule());
}

void attn::buildAttnToTilePipeline(OpPassManager &manager) {
  buildSchedulePipeline(manager);
  manager.addPass(createConvertAttnToTile());
  cleanUp(manager);
  manager.addPass(createVerifyTile());
}

//===----------------------------------------------------------------------===//
// tile -> pipe
//===----------------------------------------------------------------------===//

void attn::buildTileToPipePipeline(OpPassManager &manager) {
  manager.addPass(createInsertChannels());
  manager.addPass(createAssignStages());
  manager.addPass(createOverlapLoads());
  // Bounds that are equal are one value before they are clipped.
  cleanUp(manager);
  // Copies what puts stand in front of takes: the producer gets their order.
  manager.addPass(createOverlapGemms());
  manager.addPass(createPartitionRoles());
  // Needs the roles: each counts for itself.
  manager.addPass(createNumberTiles());
  // The first tile of a rotated loop has its own step by now.
  manager.addPass(createExpandSoftmaxStep());
  // The order of products is final.
  manager.addPass(createPlaceAwaits());
  // A turn ends at the first wait.
  manager.addPass(createInsertTurns());
  // Counts puts in their final order; ranges are split later, since each range
  // repeats the same order and continues the same channels.
  manager.addPass(createPlaceWaits());
  // Bounds that are equal become one value, so that the split sees empty
  // ranges.
  cleanUp(manager);
  manager.addPass(createSplitRange());
  // Needs the partial ranges, in which alone a mask is left.
  manager.addPass(createSkipMasked());
  cleanUp(manager);
  manager.addPass(createVerifyPipe());
}

//===----------------------------------------------------------------------===//
// pipe -> warp
//===----------------------------------------------------------------------===//

void attn::buildPipeToWarpPipeline(OpPassManager &manager) {
  manager.addPass(createConvertPipeToWarp());
  manager.addPass(createAllocateShared());
  manager.addPass(createAssignRegisters());
  cleanUp(manager);
  manager.addPass(createVerifyWarp());
}
