//===- Lower.cpp - A module from level to level ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Lower.h"

#include "attn/Dialect/Attn/Transforms/Alternatives.h"
#include "attn/Layout/GpuTarget.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Pipelines/Registration.h"
#include "attn/Target/Ptx.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace attn;

/// What PTX is emitted for when nobody says: every GPU since Ampere runs it.
static constexpr llvm::StringLiteral defaultTarget = "sm_80";

std::unique_ptr<MLIRContext> attn::makeContext() {
  DialectRegistry registry;
  registerDialects(registry);
  registerTargetTranslations(registry);
  // One small kernel: threads would only cost their start.
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  // Every level marks its module, also one in which nothing else is ours.
  context->loadDialect<ir::AttnDialect>();
  // An error names its place; the whole kernel behind it helps nobody.
  context->printOpOnDiagnostic(false);
  return context;
}

LogicalResult attn::setTarget(ModuleOp module, StringRef target) {
  StringRef present = ir::getTarget(module);
  if (target.empty())
    target = present.empty() ? StringRef(defaultTarget) : present;
  if (!layout::findGpuTarget(target))
    return module.emitError()
           << "unknown target '" << target << "'; expected one of "
           << layout::gpuTargetNames();
  bool isLowered = ir::getLevel(module) > ir::Level::Attn;
  if (isLowered && !present.empty() && target != present)
    return module.emitError() << "expected target " << present
                              << ", for which this module was already lowered, "
                                 "found "
                              << target;
  module->setAttr(ir::targetAttrName,
                  StringAttr::get(module.getContext(), target));
  return success();
}

namespace {
/// A step from one level to the next.
struct Phase {
  ir::Level result;
  void (*build)(OpPassManager &);
};
} // namespace

static constexpr Phase phases[] = {
    {ir::Level::Attn, buildAttnPipeline},
    {ir::Level::Tile, buildAttnToTilePipeline},
    {ir::Level::Pipe, buildTileToPipePipeline},
    {ir::Level::Warp, buildPipeToWarpPipeline},
    {ir::Level::Llvm, buildWarpToNvvmPipeline},
};

LogicalResult attn::lowerTo(ModuleOp module, ir::Level level,
                            ConfigurePasses configure) {
  ir::Level start = ir::getLevel(module);
  if (start > level)
    return module.emitError()
           << "expected a module at level " << ir::stringifyLevel(level)
           << " or before, found level " << ir::stringifyLevel(start);
  PassManager manager(module.getContext());
  if (configure && failed(configure(manager)))
    return failure();
  for (const Phase &phase : phases)
    if (phase.result > start && phase.result <= level)
      phase.build(manager);
  if (failed(manager.run(module)))
    return failure();
  ir::setLevel(module, level);
  return success();
}

gpu::GPUModuleOp attn::getGpuModule(ModuleOp module) {
  auto modules = module.getOps<gpu::GPUModuleOp>();
  if (llvm::hasSingleElement(modules))
    return *modules.begin();
  module.emitError() << "expected one gpu.module, found "
                     << std::distance(modules.begin(), modules.end());
  return nullptr;
}

std::optional<std::string> attn::lowerToPtx(ModuleOp module,
                                            ConfigurePasses configure) {
  if (failed(lowerTo(module, ir::Level::Llvm, configure)))
    return std::nullopt;
  gpu::GPUModuleOp gpuModule = getGpuModule(module);
  if (!gpuModule)
    return std::nullopt;
  TargetOptions options;
  options.chip = ir::getTarget(module).str();
  return emitPtx(gpuModule, options);
}

LogicalResult attn::selectSchedule(ModuleOp module, ConfigurePasses configure) {
  if (failed(lowerTo(module, ir::Level::Attn, configure)))
    return failure();
  PassManager manager(module.getContext());
  if (configure && failed(configure(manager)))
    return failure();
  buildSchedulePipeline(manager);
  return manager.run(module);
}

LogicalResult attn::takeAlternative(ModuleOp module, StringRef name,
                                    ConfigurePasses configure) {
  if (failed(selectSchedule(module, configure)))
    return failure();
  for (ir::KernelOp kernel : module.getOps<ir::KernelOp>())
    if (failed(ir::takeAlternative(kernel, name)))
      return failure();
  return success();
}
