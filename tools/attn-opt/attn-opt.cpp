//===- attn-opt.cpp - Driver of the compiler ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Driver.h"
#include "attn/Pipelines/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cl = llvm::cl;

static cl::opt<attn::Emit> emitKind(
    "emit", cl::desc("Lower to a level, or to PTX or a package, and print it"),
    cl::init(attn::Emit::Input),
    cl::values(clEnumValN(attn::Emit::Attn, "attn", "the analysed problem"),
               clEnumValN(attn::Emit::Tile, "tile", "the algorithm"),
               clEnumValN(attn::Emit::Pipe, "pipe", "who does what, when"),
               clEnumValN(attn::Emit::Warp, "warp", "the machine's fragments"),
               clEnumValN(attn::Emit::Llvm, "llvm", "llvm and nvvm ops"),
               clEnumValN(attn::Emit::Ptx, "ptx", "PTX text"),
               clEnumValN(attn::Emit::Package, "package",
                          "a kernel package (JSON)")));

static cl::opt<std::string>
    target("target",
           cl::desc("GPU architecture (default: the module's, or "
                    "sm_80)"),
           cl::value_desc("sm_80|sm_89|sm_90|sm_90a|sm_120"));

static cl::opt<std::string>
    attention("attention",
              cl::desc("Block of a specification that has several"),
              cl::value_desc("name"));

static cl::opt<bool> explain("explain",
                             cl::desc("Print remarks about decisions"));

/// Reads a specification or lowers to a level; plain MLIR in and out is left to
/// MlirOptMain, which has more options (splitting, verifying diagnostics).
static bool needsDriver(llvm::StringRef input) {
  return emitKind.getNumOccurrences() || target.getNumOccurrences() ||
         attention.getNumOccurrences() || explain.getNumOccurrences() ||
         input.ends_with(".attn");
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  attn::registerDialects(registry);
  attn::registerPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "attn compiler driver\n", registry);
  if (!needsDriver(input))
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, output, registry));

  attn::DriverOptions options;
  options.input = input;
  options.emit = emitKind;
  options.target = target;
  options.attention = attention;
  options.explain = explain;
  mlir::MlirOptMainConfig config =
      mlir::MlirOptMainConfig::createFromCLOptions();
  options.addPasses = [&](mlir::PassManager &manager) {
    return config.setupPassPipeline(manager);
  };
  std::string message;
  auto file = mlir::openOutputFile(output, &message);
  if (!file) {
    llvm::errs() << "error: " << message << "\n";
    return EXIT_FAILURE;
  }
  // An output that fails half-way is removed again.
  if (failed(attn::runDriver(options, file->os())))
    return EXIT_FAILURE;
  file->keep();
  return EXIT_SUCCESS;
}
