//===- Compile.cpp - From a checked specification to a package ------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Compile.h"

#include "attn/Conversion/SpecToAttn/SpecToAttn.h"
#include "attn/Pipelines/Diagnostics.h"
#include "attn/Pipelines/Lower.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace attn;

std::string attn::compilerVersion() { return "attn 0.1"; }

std::optional<Package> attn::compile(const Problem &problem,
                                     const CompileOptions &options,
                                     std::string &diagnostics) {
  std::unique_ptr<MLIRContext> context = makeContext();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(problem.text, problem.file),
      llvm::SMLoc());
  llvm::raw_string_ostream stream(diagnostics);
  DiagnosticPrinter printer(sources, context.get(), stream, options.explain);
  OwningOpRef<ModuleOp> module =
      importProblem(context.get(), problem, options.target);
  if (!module || failed(setTarget(*module, options.target)))
    return std::nullopt;
  return lowerToPackage(*module, problem, options.alternative);
}
