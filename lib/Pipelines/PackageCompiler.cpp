//===- PackageCompiler.cpp - From a module to a package -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Alternatives.h"
#include "attn/Pipelines/Compile.h"
#include "attn/Pipelines/Lower.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <future>

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// One kernel
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
      << " warps, stages " << *schedule.getStages() << ", loader "
      << (schedule.usesTma() ? "tma" : "cp_async");
  if (schedule.getPersistent().value_or(false))
    kernel.grid = GridKind::Resident;
  if (failed(collectArguments(func, kernel)))
    return std::nullopt;
  return kernel;
}

/// The kernel of a module, which is lowered on the way.
static std::optional<Kernel> compileKernel(ModuleOp module,
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
  return kernel;
}

//===----------------------------------------------------------------------===//
// Alternatives
//===----------------------------------------------------------------------===//

namespace {
/// What came of an alternative: a kernel, or why there is none.
struct Compiled {
  std::optional<Kernel> kernel;
  std::string errors;
};
} // namespace

/// Compiles an alternative of the module that `bytecode` holds, with its
/// schedule selected. Shares nothing with other threads: a context is not safe
/// to share, and most of the time goes into LLVM.
static Compiled compileApart(const std::string &bytecode,
                             const std::string &name) {
  std::unique_ptr<MLIRContext> context = makeContext();
  Compiled result;
  // Decisions and warnings are those of the schedule, and were told there.
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      result.errors += (result.errors.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(bytecode, context.get());
  if (module && succeeded(takeAlternative(*module, name)))
    result.kernel = compileKernel(*module, nullptr);
  return result;
}

static std::string toBytecode(ModuleOp module) {
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  // Only an older version that was asked for cannot be written.
  (void)writeBytecodeToFile(module, stream);
  return bytecode;
}

/// The one kernel that all alternatives are of; null with an error.
static ir::KernelOp getKernel(ModuleOp module) {
  auto kernels = module.getOps<ir::KernelOp>();
  if (llvm::hasSingleElement(kernels))
    return *kernels.begin();
  module.emitError() << "expected one attn.kernel, found "
                     << std::distance(kernels.begin(), kernels.end());
  return nullptr;
}

/// The order in which a launch tries kernels: those that are better for some,
/// the main one, those that take what it cannot.
static std::vector<std::string> chooserOf(const std::vector<Kernel> &kernels) {
  std::vector<std::string> names;
  if (kernels.size() == 1)
    return names;
  auto addAll = [&](bool guarded) {
    for (const Kernel &kernel : llvm::drop_begin(kernels))
      if (kernel.guards.empty() != guarded)
        names.push_back(kernel.name);
  };
  addAll(/*guarded=*/true);
  names.push_back(kernels.front().name);
  addAll(/*guarded=*/false);
  return names;
}

/// The kernels of all alternatives, the main one first.
static std::optional<std::vector<Kernel>>
compileAll(ModuleOp module, ConfigurePasses configure) {
  if (failed(selectSchedule(module, configure)))
    return std::nullopt;
  ir::KernelOp op = getKernel(module);
  if (!op)
    return std::nullopt;
  SmallVector<ir::Alternative> alternatives = ir::getAlternatives(op);
  std::string bytecode = toBytecode(module);
  std::vector<std::future<Compiled>> others;
  for (const ir::Alternative &alternative : alternatives)
    others.push_back(std::async(compileApart, std::cref(bytecode),
                                std::cref(alternative.name)));
  std::optional<Kernel> main = compileKernel(module, configure);
  bool compiled = main.has_value();
  std::vector<Kernel> kernels;
  if (main)
    kernels.push_back(std::move(*main));
  // All threads end before their input goes.
  for (auto [alternative, other] : llvm::zip(alternatives, others)) {
    Compiled result = other.get();
    if (!result.kernel) {
      module.emitError() << "alternative '" << alternative.name
                         << "': " << result.errors;
      compiled = false;
      continue;
    }
    if (alternative.minQLen)
      result.kernel->guards.push_back(
          {{"q_len", 0, 0}, GuardOp::Ge, {"", alternative.minQLen, 0}});
    kernels.push_back(std::move(*result.kernel));
  }
  if (!compiled)
    return std::nullopt;
  return kernels;
}

std::optional<Package> attn::lowerToPackage(ModuleOp module,
                                            const Problem &problem,
                                            StringRef alternative,
                                            ConfigurePasses configure) {
  Package package;
  package.compiler = compilerVersion();
  package.problem = problem;
  if (alternative.empty()) {
    std::optional<std::vector<Kernel>> kernels = compileAll(module, configure);
    if (!kernels)
      return std::nullopt;
    package.kernels = std::move(*kernels);
    package.chooser = chooserOf(package.kernels);
    return package;
  }
  if (failed(takeAlternative(module, alternative, configure)))
    return std::nullopt;
  std::optional<Kernel> kernel = compileKernel(module, configure);
  if (!kernel)
    return std::nullopt;
  package.kernels = {std::move(*kernel)};
  return package;
}
