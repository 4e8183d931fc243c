//===- TileMapOptions.h - Options of --emit=tile-map ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_OPT_TILEMAPOPTIONS_H
#define ATTN_TOOLS_OPT_TILEMAPOPTIONS_H

#include "attn/Pipelines/MapTiles.h"

#include "llvm/Support/CommandLine.h"

#include <optional>
#include <string>

namespace attn {

llvm::cl::OptionCategory &tileMapCategory();

/// One of these options that is given, or nothing.
std::optional<llvm::StringRef> findTileMapOption();

/// What they say; the error, in one line, or nothing.
std::optional<std::string> readTileMapOptions(MapTilesOptions &options);

} // namespace attn

#endif // ATTN_TOOLS_OPT_TILEMAPOPTIONS_H
