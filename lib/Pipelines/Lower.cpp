//===- Lower.cpp - A module from level to level ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Lower.h"

#include "attn/Layout/GpuTarget.h"
#include "attn/Pipelines/Compile.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/Pipelines/Registration.h"
#include "attn/Target/Ptx.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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

/// The one gpu.module, or null with an error.
static gpu::GPUModuleOp getGpuModule(ModuleOp module) {
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

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

static std::optional<ArgumentType> argumentType(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return ArgumentType::Ptr;
  if (type.isInteger(64))
    return ArgumentType::I64;
  if (type.isInteger(32))
    return ArgumentType::I32;
  if (type.isF32())
    return ArgumentType::F32;
  return std::nullopt;
}

/// The box that copies through a tensor-map argument move.
static TensorBox boxOf(DictionaryAttr map) {
  auto number = [&](StringRef name) {
    return cast<IntegerAttr>(map.get(name)).getInt();
  };
  return {number("box_rows"), number("box_columns"), number("swizzle")};
}

static LogicalResult collectArguments(gpu::GPUFuncOp func, Kernel &kernel) {
  for (unsigned index = 0; index < func.getNumArguments(); ++index) {
    if (auto map = func.getArgAttrOfType<DictionaryAttr>(index, "attn.map")) {
      auto name = func.getArgAttrOfType<StringAttr>(index, "attn.arg");
      if (!name || !map.get("box_rows") || !map.get("box_columns") ||
          !map.get("swizzle"))
        return func.emitError()
               << "argument #" << index
               << ": expected attn.arg, and box_rows, box_columns and swizzle "
                  "in attn.map";
      kernel.arguments.push_back(
          {name.str(), ArgumentType::TensorMap, boxOf(map)});
      continue;
    }
    auto name = func.getArgAttrOfType<StringAttr>(index, "attn.arg");
    std::optional<ArgumentType> type =
        argumentType(func.getArgument(index).getType());
    if (!name || !type)
      return func.emitError() << "argument #" << index
                              << " has no attn.arg or a type that no launch "
                                 "can pass";
    kernel.arguments.push_back({name.str(), *type});
  }
  return success();
}

/// What a launch must know of a kernel, from a module at level warp.
static std::optional<Kernel> describeKernel(ModuleOp module) {
  gpu::GPUModuleOp gpuModule = getGpuModule(module);
  if (!gpuModule)
    return std::nullopt;
  auto funcs = gpuModule.getOps<gpu::GPUFuncOp>();
  if (!llvm::hasSingleElement(funcs)) {
    gpuModule.emitError("expected one gpu.func");
    return std::nullopt;
  }
  gpu::GPUFuncOp func = *funcs.begin();
  auto schedule = func->getAttrOfType<ir::ScheduleAttr>("attn.schedule");
  auto shared = func->getAttrOfType<IntegerAttr>("attn.shared_bytes");
  std::optional<ArrayRef<int32_t>> block = func.getKnownBlockSize();
  if (!schedule || !schedule.isSelected() || !shared || !block) {
    func.emitError("expected attn.schedule, attn.shared_bytes and "
                   "known_block_size");
    return std::nullopt;
  }
  Kernel kernel;
  kernel.name = func.getName().str();
  kernel.target = ir::getTarget(module).str();
  kernel.block = block->front();
  kernel.sharedBytes = shared.getInt();
  kernel.tileM = *schedule.getTileM();
  kernel.tileN = *schedule.getTileN();
  // tile.for_work: every row tile of every head of every batch entry.
  kernel.workItems = {{"batch", 1}, {"heads", 1}, {"q_len", kernel.tileM}};
  llvm::raw_string_ostream(kernel.schedule)
      << ir::stringifyScheduleKind(schedule.getKind()) << " tile "
      << kernel.tileM << " x " << kernel.tileN << ", " << *schedule.getWarps()
      << " warps, stages " << *schedule.getStages();
  if (schedule.getPersistent().value_or(false))
    kernel.grid = GridKind::Resident;
  if (failed(collectArguments(func, kernel)))
    return std::nullopt;
  return kernel;
}

std::optional<Package> attn::lowerToPackage(ModuleOp module,
                                            const Problem &problem,
                                            ConfigurePasses configure) {
  if (failed(lowerTo(module, ir::Level::Warp, configure)))
    return std::nullopt;
  std::optional<Kernel> kernel = describeKernel(module);
  if (!kernel)
    return std::nullopt;
  std::optional<std::string> ptx = lowerToPtx(module, configure);
  if (!ptx)
    return std::nullopt;
  kernel->ptx = std::move(*ptx);
  Package package;
  package.compiler = compilerVersion();
  package.problem = problem;
  package.kernels = {std::move(*kernel)};
  return package;
}
