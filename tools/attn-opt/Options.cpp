//===- Options.cpp - attn-opt's command line ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include "MlirOptions.h"
#include "TileMapOptions.h"

#include "attn/Layout/GpuTarget.h"
#include "attn/Pipelines/CommandLine.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"

namespace cl = llvm::cl;

static cl::OptionCategory category("attn-opt options");
static cl::opt<std::string> inputFile(cl::Positional, cl::init("-"),
                                      cl::desc("<specification or module>"),
                                      cl::cat(category));
static cl::opt<std::string>
    outputFile("o", cl::init("-"), cl::value_desc("file"),
               cl::desc("Output file (default: stdout)"), cl::cat(category));

static cl::opt<attn::Emit, false, attn::WordParser<attn::Emit>> emitKind(
    "emit", cl::desc("Lower to a level, or to PTX or a package, and print it"),
    cl::init(attn::Emit::Input), cl::cat(category),
    cl::values(clEnumValN(attn::Emit::Attn, "attn", "the analysed problem"),
               clEnumValN(attn::Emit::Tile, "tile", "the algorithm"),
               clEnumValN(attn::Emit::Pipe, "pipe", "who does what, when"),
               clEnumValN(attn::Emit::Warp, "warp", "the machine's fragments"),
               clEnumValN(attn::Emit::Llvm, "llvm", "llvm and nvvm ops"),
               clEnumValN(attn::Emit::Ptx, "ptx", "PTX text"),
               clEnumValN(attn::Emit::Package, "package",
                          "a kernel package (JSON)"),
               clEnumValN(attn::Emit::TileMap, "tile-map",
                          "the key tiles of a head, as letters"),
               clEnumValN(attn::Emit::TileMapSvg, "tile-map-svg",
                          "the same as a picture"),
               clEnumValN(attn::Emit::TileMapJson, "tile-map-json",
                          "the same as data")));

static cl::opt<std::string>
    target("target", cl::value_desc("sm_NN"), cl::cat(category),
           cl::desc("GPU architecture (default: the module's, or sm_80)"));

static cl::opt<std::string>
    attention("attention", cl::value_desc("name"), cl::cat(category),
              cl::desc("Block of a specification that has several"));

static cl::opt<std::string> alternative(
    "alternative", cl::value_desc("name"), cl::cat(category),
    cl::desc("Which of the schedules to lower that --explain lists (default: "
             "main; a package holds all of them)"));

static cl::opt<bool, false, attn::FlagParser>
    explain("explain", cl::cat(category),
            cl::desc("Print remarks about decisions"));

//===----------------------------------------------------------------------===//
// To plain values
//===----------------------------------------------------------------------===//

/// What the options say that cannot be done, or nothing.
static std::optional<std::string>
findConflict(bool needsDriver, llvm::ArrayRef<llvm::StringRef> mlirOnly) {
  if (target.getNumOccurrences() && !attn::layout::findGpuTarget(target))
    return "--target=" + target + ": expected one of " +
           attn::layout::gpuTargetNames();
  for (const cl::opt<std::string> *option : {&attention, &alternative})
    if (option->getNumOccurrences() && option->empty())
      return "--" + option->ArgStr.str() + "=: expected name, found nothing";
  bool lowers = emitKind > attn::Emit::Attn;
  if (alternative.getNumOccurrences() && !lowers)
    return std::string("--alternative: needs --emit=tile or behind, where the "
                       "schedule is selected");
  if (!attn::isTileMap(emitKind))
    if (std::optional<llvm::StringRef> name = attn::findTileMapOption())
      return "--" + name->str() + ": needs --emit=tile-map";
  if (!needsDriver)
    return std::nullopt;
  for (llvm::StringRef name : mlirOnly)
    if (cl::getRegisteredOptions()[name]->getNumOccurrences())
      return "--" + name.str() +
             ": only for a module (.mlir) and passes by name, without --emit, "
             "--target, --attention, --alternative and --explain";
  return std::nullopt;
}

std::optional<std::string> attn::parseOptions(int argc, char **argv,
                                              mlir::DialectRegistry &registry,
                                              OptOptions &options) {
  llvm::SmallVector<llvm::StringRef> mlirOnly = registerMlirOptions(registry);
  cl::HideUnrelatedOptions({&category, &tileMapCategory(), &mlirCategory()});
  if (std::optional<std::string> error = parseCommandLine(
          argc, argv,
          "Lowers a specification or a module towards PTX, level by level\n",
          category))
    return error;
  options.needsDriver =
      emitKind.getNumOccurrences() || target.getNumOccurrences() ||
      attention.getNumOccurrences() || alternative.getNumOccurrences() ||
      explain.getNumOccurrences() ||
      llvm::StringRef(inputFile).ends_with(".attn");
  options.mlir = mlir::MlirOptMainConfig::createFromCLOptions();
  options.output = outputFile;
  options.driver.input = inputFile;
  options.driver.emit = emitKind;
  options.driver.target = target;
  options.driver.attention = attention;
  options.driver.alternative = alternative;
  options.driver.explain = explain;
  if (attn::isTileMap(emitKind))
    if (std::optional<std::string> error =
            attn::readTileMapOptions(options.driver.map))
      return error;
  options.driver.addPasses = [&options](mlir::PassManager &manager) {
    return options.mlir.setupPassPipeline(manager);
  };
  options.driver.configure = [](mlir::PassManager &manager) {
    mlir::applyDefaultTimingPassManagerCLOptions(manager);
    return mlir::applyPassManagerCLOptions(manager);
  };
  return findConflict(options.needsDriver, mlirOnly);
}
