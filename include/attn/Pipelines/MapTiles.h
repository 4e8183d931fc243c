//===- MapTiles.h - The key tiles that a kernel visits ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_MAPTILES_H
#define ATTN_PIPELINES_MAPTILES_H

#include "attn/Analysis/TileMap.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Reference/Problem.h"

#include <optional>
#include <string>
#include <vector>

namespace attn {

/// One head of a launch, as written on a command line.
struct MapTilesOptions {
  /// Which head; the batch has `batch` entries, of which this is one.
  int64_t batch = 1, batchEntry = 0, head = 0;
  int64_t qLen = 512, kLen = 512;
  /// name=value, as attn-run takes them; tensors that the mask reads.
  std::vector<std::pair<std::string, std::string>> params, tensors;
};

/// More pairs take longer to look at than anybody waits.
constexpr int64_t maxMappedPairs = int64_t(1) << 30;

/// What a kernel with bounds and a selected schedule visits: its own code is
/// run. The least comes from the rule of the specification, pair by pair. Where
/// the code skips or does not mask what it should (a tensor is not `monotone`
/// that promises to be), that is an error, and so are a name that is not bound
/// and a value that does not fit; `error` says which, in one line.
std::optional<TileMap> mapTiles(ir::KernelOp kernel, const Problem &problem,
                                const MapTilesOptions &options,
                                std::string &error);

} // namespace attn

#endif // ATTN_PIPELINES_MAPTILES_H
