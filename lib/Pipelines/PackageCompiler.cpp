//===- PackageCompiler.cpp - From a module to a package -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Alternatives.h"
#include "attn/Pipelines/Compile.h"
#include "attn/Pipelines/Lower.h"
#include "attn/Target/Ptx.h"

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
  return {number("box_rows"), number("box_columns"), number("swizzle"),
          map.contains("ragged")};
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

static std::optional<WorkFactor> factorOf(ir::DimKind kind) {
  switch (kind) {
  case ir::DimKind::Batch:
    return WorkFactor{"batch", 1};
  case ir::DimKind::Heads:
    return WorkFactor{"heads", 1};
  case ir::DimKind::KvHeads:
    return WorkFactor{"kv_heads", 1};
  default:
    return std::nullopt;
  }
}

/// A kernel that lists the key tiles of query tiles: so many counts and so many
/// first keys for each (lib/Conversion/AttnToTile/BlockList.h).
static LogicalResult describeBlockList(gpu::GPUFuncOp func,
                                       ir::BlockListAttr list, Kernel &kernel) {
  constexpr int64_t wordBytes = 4, counts = 2;
  kernel.role = KernelRole::BlockList;
  kernel.tileM = list.getRows();
  kernel.tileN = list.getKeys();
  for (auto dim : list.getDims().getAsRange<ir::DimAttr>()) {
    std::optional<WorkFactor> factor = factorOf(dim.getKind());
    if (!factor)
      return func.emitError() << "expected lists by batch, heads or kv_heads, "
                                 "found "
                              << ir::stringifyDimKind(dim.getKind());
    kernel.workItems.push_back(*factor);
  }
  kernel.workItems.push_back({"q_len", kernel.tileM});
  BufferTerm heads{counts * wordBytes, kernel.workItems};
  BufferTerm tiles{wordBytes, kernel.workItems};
  tiles.factors.push_back({"k_len", kernel.tileN});
  kernel.bufferBytes = {heads, tiles};
  llvm::raw_string_ostream(kernel.schedule)
      << "block lists, tile " << kernel.tileM << " x " << kernel.tileN;
  return success();
}

static bool hasArgument(gpu::GPUFuncOp func, StringRef name) {
  for (unsigned index = 0; index < func.getNumArguments(); ++index)
    if (auto bound = func.getArgAttrOfType<StringAttr>(index, "attn.arg"))
      if (bound == name)
        return true;
  return false;
}

static LogicalResult describeAttention(gpu::GPUFuncOp func, Kernel &kernel) {
  auto schedule = func->getAttrOfType<ir::ScheduleAttr>("attn.schedule");
  if (!schedule || !schedule.isSelected())
    return func.emitError("expected attn.schedule");
  kernel.tileM = *schedule.getTileM();
  kernel.tileN = *schedule.getTileN();
  // tile.for_work: every row tile of every head of every batch entry.
  kernel.workItems = {{"batch", 1}, {"heads", 1}, {"q_len", kernel.tileM}};
  // Of packed sequences: enough for whatever lengths (docs/Runtime.md).
  if (hasArgument(func, "cu_seqlens_q"))
    kernel.workItems = {{"heads", 1}, {"total_q", kernel.tileM, "batch"}};
  llvm::raw_string_ostream(kernel.schedule)
      << ir::stringifyScheduleKind(schedule.getKind()) << " tile "
      << kernel.tileM << " x " << kernel.tileN << ", " << *schedule.getWarps()
      << " warps, stages " << *schedule.getStages() << ", loader "
      << (schedule.usesTma() ? "tma" : "cp_async")
      << (schedule.storesByTma() ? ", store tma" : "");
  if (schedule.getPersistent().value_or(false))
    kernel.grid = GridKind::Resident;
  return success();
}

/// What a launch must know of a kernel, from a module at level warp.
static std::optional<Kernel> describeKernel(gpu::GPUFuncOp func) {
  auto shared = func->getAttrOfType<IntegerAttr>("attn.shared_bytes");
  std::optional<ArrayRef<int32_t>> block = func.getKnownBlockSize();
  if (!shared || !block) {
    func.emitError("expected attn.shared_bytes and known_block_size");
    return std::nullopt;
  }
  Kernel kernel;
  kernel.name = func.getName().str();
  kernel.target = ir::getTarget(func->getParentOfType<ModuleOp>()).str();
  kernel.block = block->front();
  kernel.sharedBytes = shared.getInt();
  auto list = func->getAttrOfType<ir::BlockListAttr>(ir::blockListAttrName);
  if (failed(list ? describeBlockList(func, list, kernel)
                  : describeAttention(func, kernel)) ||
      failed(collectArguments(func, kernel)))
    return std::nullopt;
  return kernel;
}

namespace {
/// An attention kernel, and the kernels whose buffers it reads.
struct KernelGroup {
  Kernel kernel;
  std::vector<Kernel> auxiliaries;
};
} // namespace

static std::optional<KernelGroup> describeKernels(gpu::GPUModuleOp module) {
  KernelGroup group;
  for (auto func : module.getOps<gpu::GPUFuncOp>()) {
    std::optional<Kernel> kernel = describeKernel(func);
    if (!kernel)
      return std::nullopt;
    if (kernel->role != KernelRole::Attention) {
      group.auxiliaries.push_back(std::move(*kernel));
    } else if (group.kernel.name.empty()) {
      group.kernel = std::move(*kernel);
    } else {
      func.emitError("expected one attention kernel");
      return std::nullopt;
    }
  }
  if (group.kernel.name.empty()) {
    module.emitError("expected an attention kernel");
    return std::nullopt;
  }
  return group;
}

/// PTX with one kernel of the module.
static std::optional<std::string>
emitKernel(gpu::GPUModuleOp module, StringRef name,
           const attn::TargetOptions &options) {
  OwningOpRef<gpu::GPUModuleOp> alone = module.clone();
  SmallVector<Operation *> others;
  for (Operation &op : *alone->getBody())
    if (auto func = dyn_cast<LLVM::LLVMFuncOp>(op);
        func && func->hasAttr(gpu::GPUDialect::getKernelFuncAttrName()) &&
        func.getName() != name)
      others.push_back(func);
  for (Operation *other : others)
    other->erase();
  return emitPtx(*alone, options);
}

/// The kernels of a module, which is lowered on the way.
static std::optional<KernelGroup> compileKernels(ModuleOp module,
                                                 ConfigurePasses configure) {
  if (failed(lowerTo(module, ir::Level::Warp, configure)))
    return std::nullopt;
  gpu::GPUModuleOp gpuModule = getGpuModule(module);
  if (!gpuModule)
    return std::nullopt;
  std::optional<KernelGroup> group = describeKernels(gpuModule);
  if (!group || failed(lowerTo(module, ir::Level::Llvm, configure)))
    return std::nullopt;
  attn::TargetOptions options;
  options.chip = ir::getTarget(module).str();
  auto emit = [&](Kernel &kernel) {
    std::optional<std::string> ptx =
        emitKernel(getGpuModule(module), kernel.name, options);
    if (ptx)
      kernel.ptx = std::move(*ptx);
    return ptx.has_value();
  };
  if (!emit(group->kernel) || !llvm::all_of(group->auxiliaries, emit))
    return std::nullopt;
  return group;
}

//===----------------------------------------------------------------------===//
// Alternatives
//===----------------------------------------------------------------------===//

namespace {
/// What came of an alternative: kernels, or why there are none.
struct Compiled {
  std::optional<KernelGroup> group;
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
    result.group = compileKernels(*module, nullptr);
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
  auto isAttention = [](const Kernel &kernel) {
    return kernel.role == KernelRole::Attention;
  };
  if (llvm::count_if(kernels, isAttention) == 1)
    return names;
  auto addAll = [&](bool guarded) {
    for (const Kernel &kernel : llvm::drop_begin(kernels))
      if (isAttention(kernel) && kernel.guards.empty() != guarded)
        names.push_back(kernel.name);
  };
  addAll(/*guarded=*/true);
  names.push_back(kernels.front().name);
  addAll(/*guarded=*/false);
  return names;
}

/// The groups of all alternatives, the main one first; none with an error.
static std::vector<KernelGroup> compileAll(ModuleOp module,
                                           ConfigurePasses configure) {
  if (failed(selectSchedule(module, configure)))
    return {};
  ir::KernelOp op = getKernel(module);
  if (!op)
    return {};
  SmallVector<ir::Alternative> alternatives = ir::getAlternatives(op);
  std::string bytecode = toBytecode(module);
  std::vector<std::future<Compiled>> others;
  for (const ir::Alternative &alternative : alternatives)
    others.push_back(std::async(compileApart, std::cref(bytecode),
                                std::cref(alternative.name)));
  std::optional<KernelGroup> main = compileKernels(module, configure);
  bool compiled = main.has_value();
  std::vector<KernelGroup> groups;
  if (main)
    groups.push_back(std::move(*main));
  // All threads end before their input goes.
  for (auto [alternative, other] : llvm::zip(alternatives, others)) {
    Compiled result = other.get();
    if (!result.group) {
      module.emitError() << "alternative '" << alternative.name
                         << "': " << result.errors;
      compiled = false;
      continue;
    }
    if (alternative.minQLen)
      result.group->kernel.guards.push_back(
          {{"q_len", 0, 0}, GuardOp::Ge, {"", alternative.minQLen, 0}});
    groups.push_back(std::move(*result.group));
  }
  if (!compiled)
    return {};
  return groups;
}

/// Attention kernels, then what they read from: one of a kind and a tile serves
/// all.
static std::vector<Kernel> gather(std::vector<KernelGroup> groups) {
  std::vector<Kernel> kernels, auxiliaries;
  for (KernelGroup &group : groups) {
    for (Kernel &auxiliary : group.auxiliaries) {
      auto same = llvm::find_if(auxiliaries, [&](const Kernel &other) {
        return other.role == auxiliary.role && other.tileM == auxiliary.tileM &&
               other.tileN == auxiliary.tileN;
      });
      group.kernel.auxiliaries.push_back(
          same == auxiliaries.end() ? auxiliary.name : same->name);
      if (same == auxiliaries.end())
        auxiliaries.push_back(std::move(auxiliary));
    }
    kernels.push_back(std::move(group.kernel));
  }
  llvm::append_range(kernels, auxiliaries);
  return kernels;
}

std::optional<Package> attn::lowerToPackage(ModuleOp module,
                                            const Problem &problem,
                                            StringRef alternative,
                                            ConfigurePasses configure) {
  std::vector<KernelGroup> groups;
  if (alternative.empty()) {
    groups = compileAll(module, configure);
  } else if (succeeded(takeAlternative(module, alternative, configure))) {
    if (std::optional<KernelGroup> group = compileKernels(module, configure))
      groups.push_back(std::move(*group));
  }
  if (groups.empty())
    return std::nullopt;
  Package package;
  package.compiler = compilerVersion();
  package.problem = problem;
  package.kernels = gather(std::move(groups));
  package.chooser = chooserOf(package.kernels);
  return package;
}
