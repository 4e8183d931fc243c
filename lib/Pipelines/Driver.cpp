//===- Driver.cpp - What attn-opt does ------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Driver.h"

#include "attn/Conversion/SpecToAttn/SpecToAttn.h"
#include "attn/Dialect/Attn/Transforms/Alternatives.h"
#include "attn/Pipelines/Diagnostics.h"
#include "attn/Pipelines/ExplainRules.h"
#include "attn/Pipelines/Lower.h"
#include "attn/Spec/Spec.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace attn;

bool attn::looksLikeSpec(StringRef text) {
  // The first word after white space and comments.
  while (true) {
    text = text.ltrim();
    if (!text.consume_front("//"))
      break;
    text = text.drop_until([](char c) { return c == '\n'; });
  }
  StringRef word = text.take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  return word == "import" || word == "def" || word == "attention";
}

namespace {
/// One input on its way to one output.
class Driver {
public:
  Driver(const DriverOptions &options, llvm::raw_ostream &out)
      : options(options), out(out), context(makeContext()) {}

  LogicalResult run(std::unique_ptr<llvm::MemoryBuffer> buffer);

private:
  LogicalResult read(std::unique_ptr<llvm::MemoryBuffer> buffer);
  LogicalResult readSpec(std::unique_ptr<llvm::MemoryBuffer> buffer);
  LogicalResult readModule(std::unique_ptr<llvm::MemoryBuffer> buffer);
  LogicalResult write();
  LogicalResult writePackage();
  LogicalResult writeTileMap();
  void explainRules();

  const DriverOptions &options;
  llvm::raw_ostream &out;
  std::unique_ptr<MLIRContext> context;
  llvm::SourceMgr sources;
  std::optional<Problem> problem; ///< of a specification
  OwningOpRef<ModuleOp> module;
};
} // namespace

LogicalResult Driver::read(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  bool isSpec = options.input == "-"
                    ? looksLikeSpec(buffer->getBuffer())
                    : StringRef(options.input).ends_with(".attn");
  return isSpec ? readSpec(std::move(buffer)) : readModule(std::move(buffer));
}

LogicalResult Driver::readSpec(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  spec::ParseOptions parseOptions;
  parseOptions.attentionName = options.attention;
  StringRef name = buffer->getBufferIdentifier();
  problem = spec::parseSpec(name, buffer->getBuffer(), sources, parseOptions);
  if (!problem)
    return failure();
  module = importProblem(context.get(), *problem, options.target);
  return success(static_cast<bool>(module));
}

LogicalResult Driver::readModule(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  if (!options.attention.empty()) {
    llvm::errs() << "error: --attention chooses a block of a specification, "
                    "but "
                 << options.input << " is a module\n";
    return failure();
  }
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  module = parseSourceFile<ModuleOp>(sources, context.get());
  return success(static_cast<bool>(module));
}

static ir::Level levelOf(Emit emit) {
  switch (emit) {
  case Emit::Input:
    return ir::Level::Spec;
  case Emit::Attn:
    return ir::Level::Attn;
  case Emit::Tile:
    return ir::Level::Tile;
  case Emit::Pipe:
    return ir::Level::Pipe;
  case Emit::Warp:
    return ir::Level::Warp;
  case Emit::Llvm:
  case Emit::Ptx:
  case Emit::Package:
    return ir::Level::Llvm;
  case Emit::TileMap:
  case Emit::TileMapSvg:
  case Emit::TileMapJson:
    return ir::Level::Attn;
  }
  llvm_unreachable("all outputs are handled");
}

LogicalResult Driver::writePackage() {
  if (!problem) {
    llvm::errs() << "error: --emit=package needs a specification (.attn), "
                    "which the package holds; "
                 << options.input << " is a module\n";
    return failure();
  }
  std::optional<Package> package =
      lowerToPackage(*module, *problem, options.alternative, options.configure);
  if (!package)
    return failure();
  out << toJson(*package) << "\n";
  return success();
}

LogicalResult Driver::writeTileMap() {
  if (!problem) {
    llvm::errs() << "error: --emit=tile-map needs a specification (.attn), "
                    "whose mask it is compared with; "
                 << options.input << " is a module\n";
    return failure();
  }
  StringRef name = options.alternative.empty()
                       ? StringRef(ir::mainAlternativeName)
                       : StringRef(options.alternative);
  if (failed(takeAlternative(*module, name, options.configure)))
    return failure();
  std::string error;
  std::optional<TileMap> map = mapTiles(*module->getOps<ir::KernelOp>().begin(),
                                        *problem, options.map, error);
  if (!map) {
    llvm::errs() << "error: " << error << "\n";
    return failure();
  }
  out << (options.emit == Emit::TileMap      ? toText(*map)
          : options.emit == Emit::TileMapSvg ? toSvg(*map)
                                             : toJson(*map));
  return success();
}

/// Remarks about mask and score need the module at levels that it passes on the
/// way; a copy takes that way in silence.
void Driver::explainRules() {
  if (options.emit == Emit::Input || ir::getLevel(*module) > ir::Level::Attn)
    return;
  StringRef alternative = options.alternative.empty()
                              ? StringRef(ir::mainAlternativeName)
                              : StringRef(options.alternative);
  OwningOpRef<ModuleOp> analysed(module->clone()), lowered(module->clone());
  bool hasCosts = options.emit != Emit::Attn;
  {
    ScopedDiagnosticHandler silence(context.get(),
                                    [](Diagnostic &) { return success(); });
    // What is wrong is said when the module itself is lowered.
    if (failed(lowerTo(*analysed, ir::Level::Attn)))
      return;
    hasCosts = hasCosts && succeeded(takeAlternative(*lowered, alternative)) &&
               succeeded(lowerTo(*lowered, ir::Level::Pipe));
  }
  for (ir::KernelOp kernel : analysed->getOps<ir::KernelOp>()) {
    attn::explainRules(kernel);
    if (hasCosts)
      explainCosts(kernel, *lowered);
  }
}

LogicalResult Driver::write() {
  if (options.explain)
    explainRules();
  if (isTileMap(options.emit))
    return writeTileMap();
  if (options.emit == Emit::Package)
    return writePackage();
  if (!options.alternative.empty() &&
      failed(takeAlternative(*module, options.alternative, options.configure)))
    return failure();
  if (options.emit == Emit::Ptx) {
    std::optional<std::string> ptx = lowerToPtx(*module, options.configure);
    if (!ptx)
      return failure();
    out << *ptx;
    return success();
  }
  if (options.emit != Emit::Input &&
      failed(lowerTo(*module, levelOf(options.emit), options.configure)))
    return failure();
  module->print(out);
  return success();
}

LogicalResult Driver::run(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  DiagnosticPrinter printer(sources, context.get(), llvm::errs(),
                            options.explain);
  if (failed(read(std::move(buffer))) ||
      failed(setTarget(*module, options.target)))
    return failure();
  PassManager manager(module->getContext(), ModuleOp::getOperationName(),
                      PassManager::Nesting::Implicit);
  if (options.addPasses && failed(options.addPasses(manager)))
    return failure();
  if (options.configure && failed(options.configure(manager)))
    return failure();
  if (!manager.empty() && failed(manager.run(*module)))
    return failure();
  return write();
}

LogicalResult attn::runDriver(std::unique_ptr<llvm::MemoryBuffer> buffer,
                              const DriverOptions &options,
                              llvm::raw_ostream &out) {
  return Driver(options, out).run(std::move(buffer));
}
