//===- WarpToNvvm.cpp - The last level: warp to nvvm ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"

#include "attn/Conversion/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void attn::buildWarpToNvvmPipeline(OpPassManager &manager) {
  OpPassManager &module = manager.nest<gpu::GPUModuleOp>();
  module.addPass(createConvertWarpToNVVM());
  // Folds the address arithmetic while it is still in one block. Bottom-up, so
  // that loops come after their bodies: upstream's patterns compare all values
  // that a loop carries, here the registers of a thread, pair by pair each time
  // the loop is visited.
  GreedyRewriteConfig bottomUp;
  bottomUp.setUseTopDownTraversal(false);
  module.addPass(createCanonicalizerPass(bottomUp));
  module.addPass(createCSEPass());
  // Functions, maxima and remainders must be gone before convert-gpu-to-nvvm,
  // which would call libdevice for them.
  module.addPass(createConvertMathToNVVM());
  module.addPass(createConvertMathToLLVMPass());
  module.addPass(createSCFToControlFlowPass());
  module.addPass(createArithToLLVMConversionPass());
  module.addPass(createConvertGpuOpsToNVVMOps());
  module.addPass(createRestoreByValue());
  module.addPass(createReconcileUnrealizedCastsPass());
  module.addPass(createCanonicalizerPass());
  module.addPass(createCSEPass());
}
