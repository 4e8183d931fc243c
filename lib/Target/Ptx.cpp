//===- Ptx.cpp - PTX text from a lowered module ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Ptx.h"

#include "attn/Dialect/Warp/IR/Warp.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/LLVMTranslationInterface.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

#include <mutex>

using namespace mlir;

namespace {

/// A chip and the first PTX version that knows it (PTX ISA, "Release Notes").
struct Chip {
  StringRef name;
  unsigned ptxVersion; ///< ten times
};

constexpr Chip chips[] = {
    {"sm_80", 70},  {"sm_86", 71},   {"sm_87", 74},  {"sm_89", 78},
    {"sm_90", 78},  {"sm_90a", 80},  {"sm_100", 86}, {"sm_100a", 86},
    {"sm_120", 87}, {"sm_120a", 87},
};

/// The PTX version that a kernel needs: its chip's, or that of the forms of
/// mbarrier instructions (`.parity`, `.shared::cta`, `_`).
unsigned ptxVersionFor(gpu::GPUModuleOp module, const Chip &chip) {
  constexpr unsigned mbarrierVersion = 78;
  bool hasBarriers =
      module.walk([](NVVM::MBarrierInitOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return hasBarriers ? std::max(chip.ptxVersion, mbarrierVersion)
                     : chip.ptxVersion;
}

/// Heeds `warp.convergent`: LLVM's inline assembly can be convergent, the
/// operation of MLIR cannot say so.
struct ConvergentTranslation : LLVMTranslationDialectInterface {
  using LLVMTranslationDialectInterface::LLVMTranslationDialectInterface;

  LogicalResult
  amendOperation(Operation *op, ArrayRef<llvm::Instruction *> instructions,
                 NamedAttribute attribute,
                 LLVM::ModuleTranslation &translation) const override {
    if (attribute.getName() == attn::warp::convergentAttrName)
      for (llvm::Instruction *instruction : instructions)
        if (auto *call = dyn_cast<llvm::CallBase>(instruction))
          call->setConvergent();
    return success();
  }
};

/// A module in LLVM IR, with what keeps it alive.
struct Translated {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace

std::vector<std::string> attn::targetChips() {
  std::vector<std::string> names;
  for (const Chip &chip : chips)
    names.push_back(chip.name.str());
  return names;
}

void attn::registerTargetTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registry.addExtension(+[](MLIRContext *, attn::warp::WarpDialect *dialect) {
    dialect->addInterfaces<ConvergentTranslation>();
  });
}

/// Sets an option of LLVM that only exists on the command line.
template <typename T> static void setOption(StringRef name, T value) {
  auto *option = static_cast<llvm::cl::opt<T> *>(
      llvm::cl::getRegisteredOptions().lookup(name));
  assert(option && "this LLVM has no such option");
  option->setValue(value);
}

static void setBackendOptions() {
  // Addresses of shared memory fit 32 bits: half the registers.
  setOption("nvptx-short-ptr", true);
  // It would keep one 64-bit pointer alive for each row that a thread copies,
  // instead of stepping from row to row, and so make the key loop spill.
  setOption("disable-lsr", true);
  // A loop that carries P has a cast for each of its registers at its head:
  // with the limit of 16 it would not become one that tests at its end.
  constexpr unsigned headerSize = 512;
  setOption("rotation-max-header-size", headerSize);
}

static void initializeBackend() {
  setBackendOptions();
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(gpu::GPUModuleOp module, const attn::TargetOptions &options) {
  const Chip *chip = llvm::find_if(
      chips, [&](const Chip &chip) { return chip.name == options.chip; });
  if (chip == std::end(chips)) {
    module.emitError() << "expected a target of "
                       << llvm::join(attn::targetChips(), ", ") << ", found '"
                       << options.chip << "'";
    return nullptr;
  }
  // State of the process, which other threads may be reading.
  static std::once_flag initialized;
  std::call_once(initialized, initializeBackend);
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    module.emitError() << "cannot generate PTX: " << error;
    return nullptr;
  }
  std::string feature = "+ptx" + std::to_string(ptxVersionFor(module, *chip));
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, chip->name, feature, llvm::TargetOptions(), std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Attributes of our own that LLVM IR has no place for.
static void dropOwnAttributes(Operation *op) {
  SmallVector<StringAttr> own;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName().strref().starts_with("attn."))
      own.push_back(attribute.getName());
  for (StringAttr name : own)
    op->removeDiscardableAttr(name);
  auto function = dyn_cast<FunctionOpInterface>(op);
  for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
    for (NamedAttribute attribute : function.getArgAttrs(i))
      if (attribute.getName().strref().starts_with("attn."))
        function.removeArgAttr(i, attribute.getName());
}

namespace {
/// Leaves out those passes in front of the code generator that compare all
/// pairs. Its own level stays: without its coalescer, accumulators would be
/// copied while products write them.
struct LinearGate : llvm::OptPassGate {
  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef pass, StringRef) const override {
    return !llvm::is_contained(
        {"separate-const-offset-from-gep", "slsr", "nary-reassociate", "gvn"},
        pass);
  }
};
} // namespace

/// The passes whose time is linear in a function's size.
static llvm::ModulePassManager buildLinearPipeline() {
  llvm::FunctionPassManager function;
  function.addPass(llvm::EarlyCSEPass());
  function.addPass(llvm::SimplifyCFGPass());
  function.addPass(llvm::ADCEPass());
  llvm::ModulePassManager pipeline;
  pipeline.addPass(
      llvm::createModuleToFunctionPassAdaptor(std::move(function)));
  return pipeline;
}

static void optimize(Translated &translated) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(translated.machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  // Conditions that imply each other, induction variables and common parts of
  // sums are looked for among all pairs: minutes for a rule of thousands of
  // terms, beside which no other code of the kernel counts.
  constexpr unsigned mostInstructions = 12000; // shipped kernels have 7000
  bool isLarge = llvm::any_of(*translated.module, [](llvm::Function &function) {
    return function.getInstructionCount() > mostInstructions;
  });
  if (!isLarge) {
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
        .run(*translated.module, modules);
    return;
  }
  static LinearGate gate; // without a state
  translated.context->setOptPassGate(gate);
  buildLinearPipeline().run(*translated.module, modules);
}

/// Translates and optimises a copy of `module`.
static std::optional<Translated> translate(gpu::GPUModuleOp module,
                                           const attn::TargetOptions &options) {
  Translated result;
  result.machine = createMachine(module, options);
  if (!result.machine)
    return std::nullopt;
  result.context = std::make_unique<llvm::LLVMContext>();
  OwningOpRef<gpu::GPUModuleOp> copy = module.clone();
  copy->walk(dropOwnAttributes);
  // A fixed name: the module's would be the only text that a caller chooses.
  result.module = translateModuleToLLVMIR(copy.get(), *result.context, "attn");
  if (!result.module) {
    module.emitError("cannot translate to LLVM IR");
    return std::nullopt;
  }
  result.module->setTargetTriple(result.machine->getTargetTriple());
  result.module->setDataLayout(result.machine->createDataLayout());
  optimize(result);
  return result;
}

std::optional<std::string> attn::emitPtx(gpu::GPUModuleOp module,
                                         const TargetOptions &options) {
  std::optional<Translated> translated = translate(module, options);
  if (!translated)
    return std::nullopt;
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (translated->machine->addPassesToEmitFile(
          passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    module.emitError("this LLVM cannot print PTX");
    return std::nullopt;
  }
  passes.run(*translated->module);
  return std::string(text);
}

std::optional<std::string> attn::emitLlvmIr(gpu::GPUModuleOp module,
                                            const TargetOptions &options) {
  std::optional<Translated> translated = translate(module, options);
  if (!translated)
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream stream(text);
  translated->module->print(stream, nullptr);
  return text;
}
