//===- attn-opt.cpp - Driver of the compiler ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "attn/Pipelines/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << "\n";
  return EXIT_FAILURE;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  attn::registerDialects(registry);
  attn::registerPasses();
  attn::OptOptions options;
  if (auto error = attn::parseOptions(argc, argv, registry, options))
    return fail(*error);
  const std::string &inputFile = options.driver.input;
  if (options.mlir.shouldListPasses() || options.mlir.shouldShowDialects())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, inputFile, options.output, registry));

  std::string message;
  auto input = mlir::openInputFile(inputFile, &message);
  if (!input)
    return fail(message);
  // Opening it would empty the input, of which the buffer may be a mapping.
  if (inputFile != "-" && llvm::sys::fs::equivalent(inputFile, options.output))
    return fail("-o " + options.output +
                ": expected another file than the input");
  auto output = mlir::openOutputFile(options.output, &message);
  if (!output)
    return fail(message);
  llvm::raw_fd_ostream &out = output->os();
  // An output that fails half-way is removed again.
  if (failed(options.needsDriver
                 ? attn::runDriver(std::move(input), options.driver, out)
                 : mlir::MlirOptMain(out, std::move(input), registry,
                                     options.mlir)))
    return EXIT_FAILURE;
  out.flush();
  if (std::error_code code = out.error()) {
    out.clear_error();
    return fail("cannot write '" + options.output + "': " + code.message());
  }
  output->keep();
  return EXIT_SUCCESS;
}
