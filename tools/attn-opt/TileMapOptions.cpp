//===- TileMapOptions.cpp - Options of --emit=tile-map --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileMapOptions.h"

#include "llvm/ADT/STLExtras.h"

namespace cl = llvm::cl;

static cl::OptionCategory category("options of --emit=tile-map");
static cl::opt<std::string> qLen("q-len", cl::value_desc("N"),
                                 cl::cat(category),
                                 cl::desc("query positions (default 512)"));
static cl::opt<std::string> kLen("k-len", cl::value_desc("N"),
                                 cl::cat(category),
                                 cl::desc("key positions (default: q-len)"));
static cl::opt<std::string> batch("batch", cl::value_desc("N"),
                                  cl::cat(category),
                                  cl::desc("batch entries (default 1)"));
static cl::opt<std::string>
    batchEntry("batch-entry", cl::value_desc("N"), cl::cat(category),
               cl::desc("which of them to show (default 0)"));
static cl::opt<std::string>
    head("head", cl::value_desc("N"), cl::cat(category),
         cl::desc("which query head to show (default 0)"));
static cl::list<std::string>
    params("param", cl::value_desc("name=value"), cl::cat(category),
           cl::desc("value of a param; unbounded is the largest i32"));
static cl::list<std::string>
    tensors("tensor", cl::value_desc("name=value"), cl::cat(category),
            cl::desc("a tensor that the mask reads: file.npy, random, zeros, "
                     "ones, pattern, a number, or a list of numbers"));

cl::OptionCategory &attn::tileMapCategory() { return category; }

std::optional<llvm::StringRef> attn::findTileMapOption() {
  for (auto &entry : cl::getRegisteredOptions())
    if (entry.second->getNumOccurrences() &&
        llvm::is_contained(entry.second->Categories, &category))
      return entry.second->ArgStr;
  return std::nullopt;
}

/// Reads a number of low and up, if it is given.
static std::optional<std::string> readNumber(const cl::opt<std::string> &option,
                                             int64_t low, int64_t &value) {
  if (!option.getNumOccurrences())
    return std::nullopt;
  // No tensor has a longer dimension.
  constexpr int64_t high = int64_t(1) << 24, decimal = 10;
  if (!llvm::StringRef(option).getAsInteger(decimal, value) && value >= low &&
      value <= high)
    return std::nullopt;
  return "--" + option.ArgStr.str() + "=" + option +
         ": expected an integer of " + std::to_string(low) + " .. " +
         std::to_string(high) + ", found " +
         (option.empty() ? "nothing" : "'" + option + "'");
}

static std::optional<std::string>
readPairs(const cl::list<std::string> &entries,
          std::vector<std::pair<std::string, std::string>> &pairs) {
  for (const std::string &entry : entries) {
    auto [name, value] = llvm::StringRef(entry).split('=');
    if (name.empty() || name.size() == entry.size())
      return "--" + entries.ArgStr.str() + " " + entry +
             ": expected name=value";
    pairs.push_back({name.str(), value.str()});
  }
  return std::nullopt;
}

std::optional<std::string> attn::readTileMapOptions(MapTilesOptions &options) {
  if (auto error = readNumber(qLen, 1, options.qLen))
    return error;
  options.kLen = options.qLen;
  if (auto error = readNumber(kLen, 1, options.kLen))
    return error;
  if (auto error = readNumber(batch, 1, options.batch))
    return error;
  if (auto error = readNumber(batchEntry, 0, options.batchEntry))
    return error;
  if (auto error = readNumber(head, 0, options.head))
    return error;
  if (auto error = readPairs(params, options.params))
    return error;
  return readPairs(tensors, options.tensors);
}
