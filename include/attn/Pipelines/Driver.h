//===- Driver.h - What attn-opt does ----------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_DRIVER_H
#define ATTN_PIPELINES_DRIVER_H

#include "attn/Pipelines/MapTiles.h"

#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <memory>
#include <string>

namespace mlir {
class PassManager;
} // namespace mlir

namespace attn {

/// What to write.
enum class Emit {
  Input,
  Attn,
  Tile,
  Pipe,
  Warp,
  Llvm,
  Ptx,
  Package,
  TileMap,
  TileMapSvg,
  TileMapJson
};
/// Whether it shows the key tiles of one head.
inline bool isTileMap(Emit emit) { return emit >= Emit::TileMap; }

struct DriverOptions {
  std::string input; ///< name of the file, or "-" for standard input
  Emit emit = Emit::Input;
  std::string target;      ///< empty: the module's, or sm_80
  std::string attention;   ///< the block of a specification with several
  std::string alternative; ///< empty: `main`; in a package all of them
  bool explain = false;    ///< print remarks
  MapTilesOptions map;     ///< of a tile map
  /// Passes of the command line, before the phases that `emit` asks for.
  std::function<llvm::LogicalResult(mlir::PassManager &)> addPasses;
  /// Printing and timing, of every pass manager.
  std::function<llvm::LogicalResult(mlir::PassManager &)> configure;
};

/// True when a text is a specification and not MLIR: for standard input, which
/// has no file name.
bool looksLikeSpec(llvm::StringRef text);

/// Reads a specification or a module, lowers and writes it. Diagnostics go to
/// stderr with the line they are about.
llvm::LogicalResult runDriver(std::unique_ptr<llvm::MemoryBuffer> buffer,
                              const DriverOptions &options,
                              llvm::raw_ostream &out);

} // namespace attn

#endif // ATTN_PIPELINES_DRIVER_H
