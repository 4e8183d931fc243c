//===- MlirOptions.cpp - MLIR's options in attn-opt
//---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MlirOptions.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace cl = llvm::cl;

cl::OptionCategory &attn::mlirCategory() {
  static cl::OptionCategory category("options of MLIR");
  return category;
}

/// Names of the options that are registered while `registerThem` runs, which
/// --help then shows; the hundreds of LLVM's are left to --help-hidden.
static llvm::SmallVector<llvm::StringRef>
showOptionsOf(llvm::function_ref<void()> registerThem) {
  llvm::StringMap<cl::Option *> before;
  for (auto &entry : cl::getRegisteredOptions())
    before[entry.first] = entry.second;
  registerThem();
  llvm::SmallVector<llvm::StringRef> names;
  for (auto &entry : cl::getRegisteredOptions())
    if (!before.count(entry.first)) {
      // Those of another category stay there, hidden.
      if (llvm::is_contained(entry.second->Categories,
                             &cl::getGeneralCategory()))
        entry.second->addCategory(attn::mlirCategory());
      // The option that lists the passes answers to each of their names.
      if (entry.second->ArgStr == entry.first)
        names.push_back(entry.first);
    }
  llvm::sort(names);
  return names;
}

llvm::SmallVector<llvm::StringRef>
attn::registerMlirOptions(mlir::DialectRegistry &registry) {
  llvm::SmallVector<llvm::StringRef> names = showOptionsOf(
      [&] { mlir::MlirOptMainConfig::registerCLOptions(registry); });
  showOptionsOf([] {
    mlir::registerAsmPrinterCLOptions();
    mlir::registerMLIRContextCLOptions();
    mlir::registerPassManagerCLOptions();
    mlir::registerDefaultTimingManagerCLOptions();
  });
  // Passes work in both ways, and the lists are printed instead of a run.
  llvm::erase_if(names, [](llvm::StringRef name) {
    return name == "pass-pipeline" || name == "list-passes" ||
           name == "show-dialects";
  });
  return names;
}
