//===- Registration.cpp - Dialects and passes by name ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Registration.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "attn/Dialect/Tile/IR/Tile.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"
#include "attn/Dialect/Warp/IR/Warp.h"
#include "attn/Dialect/Warp/Transforms/Passes.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Target/Ptx.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void attn::registerDialects(DialectRegistry &registry) {
  registry.insert<ir::AttnDialect, tile::TileDialect, pipe::PipeDialect,
                  warp::WarpDialect>();
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, gpu::GPUDialect,
                  index::IndexDialect, LLVM::LLVMDialect, math::MathDialect,
                  NVVM::NVVMDialect, scf::SCFDialect>();
  // convert-gpu-to-nvvm asks the dialects for their patterns.
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  registerTargetTranslations(registry);
}

void attn::registerPasses() {
  registerTransformsPasses();
  ir::registerAttnAttnPasses();
  registerAttnConversionPasses();
  registerAttnTilePasses();
  registerAttnPipePasses();
  registerAttnWarpPasses();
  PassPipelineRegistration<>("attn-analyze-pipeline",
                             "What the mask and the scale mean",
                             buildAttnPipeline);
  PassPipelineRegistration<>("attn-attn-to-tile-pipeline",
                             "The online softmax over key tiles",
                             buildAttnToTilePipeline);
  PassPipelineRegistration<>("attn-tile-to-pipe-pipeline",
                             "Roles, channels and what runs ahead",
                             buildTileToPipePipeline);
  PassPipelineRegistration<>("attn-pipe-to-warp-pipeline",
                             "Fragments, rings and waits",
                             buildPipeToWarpPipeline);
  PassPipelineRegistration<>("attn-warp-to-nvvm-pipeline",
                             "Registers, addresses and instructions",
                             buildWarpToNvvmPipeline);
}
