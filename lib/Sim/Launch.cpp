//===- Launch.cpp - Runs a grid over host threads -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "Block.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <thread>

namespace attn::sim {
namespace {

constexpr uint32_t maxBlockThreads = 1024;
constexpr uint32_t maxBlockExtents[3] = {1024, 1024, 64};
constexpr uint64_t maxGridExtents[3] = {0x7fffffff, 65535, 65535};
constexpr uint32_t maxShared = 227 * 1024;
constexpr unsigned maxClusterBlocks = 16; ///< 8 are portable

} // namespace

Launch::Launch(const Program &program, const LaunchConfig &config,
               DeviceMemory &memory, const SimulatorOptions &options)
    : program(program), config(config), memory(memory), options(options) {
  checkShape();
  setCluster();
  bindParameters();
}

void Launch::checkShape() const {
  auto fail = [&](const std::string &message) {
    throw ModuleError("simulator: kernel '" + program.name + "': " + message);
  };
  static const char axes[] = "xyz";
  uint64_t count = 1;
  for (unsigned i = 0; i < 3; ++i) {
    std::string axis(1, axes[i]);
    if (config.grid[i] == 0 || config.grid[i] > maxGridExtents[i])
      fail("grid." + axis + " is " + std::to_string(config.grid[i]) +
           ", expected 1 to " + std::to_string(maxGridExtents[i]));
    if (config.block[i] == 0 || config.block[i] > maxBlockExtents[i])
      fail("block." + axis + " is " + std::to_string(config.block[i]) +
           ", expected 1 to " + std::to_string(maxBlockExtents[i]));
    count *= config.block[i];
  }
  if (count > maxBlockThreads)
    fail("a block of " + std::to_string(count) +
         " threads, expected at most 1024");
  uint64_t limit = uint64_t(program.maxThreads[0]) * program.maxThreads[1] *
                   program.maxThreads[2];
  if (limit && count > limit)
    fail("a block of " + std::to_string(count) +
         " threads, but .maxntid allows " + std::to_string(limit));
  bool required = program.requiredThreads[0] != 0;
  if (required &&
      !std::equal(config.block, config.block + 3, program.requiredThreads))
    fail("the block differs from .reqntid " +
         std::to_string(program.requiredThreads[0]) + ", " +
         std::to_string(program.requiredThreads[1]) + ", " +
         std::to_string(program.requiredThreads[2]));
  uint64_t shared = uint64_t(program.staticSharedBytes) + config.sharedBytes;
  if (shared > maxShared)
    fail(std::to_string(shared) + " bytes of shared memory, expected at most " +
         std::to_string(maxShared));
}

void Launch::setCluster() {
  auto fail = [&](const std::string &message) {
    throw ModuleError("simulator: kernel '" + program.name + "': " + message);
  };
  auto text = [](const uint32_t *extents) {
    return std::to_string(extents[0]) + " x " + std::to_string(extents[1]) +
           " x " + std::to_string(extents[2]);
  };
  uint64_t count =
      uint64_t(config.cluster[0]) * config.cluster[1] * config.cluster[2];
  const uint32_t *required = program.requiredCluster;
  std::copy_n(config.cluster, 3, cluster);
  if (required[0]) {
    if (count != 1 && !std::equal(required, required + 3, config.cluster))
      fail("a cluster of " + text(config.cluster) +
           " blocks, but .reqnctapercluster is " + text(required));
    std::copy_n(required, 3, cluster);
  }
  uint64_t most =
      program.maxClusterBlocks ? program.maxClusterBlocks : maxClusterBlocks;
  most = std::min<uint64_t>(most, maxClusterBlocks);
  count = uint64_t(cluster[0]) * cluster[1] * cluster[2];
  if (count == 0 || count > most)
    fail("a cluster of " + text(cluster) + " blocks, expected 1 to " +
         std::to_string(most));
  for (unsigned i = 0; i < 3; ++i)
    if (config.grid[i] % cluster[i])
      fail("a grid of " + text(config.grid) +
           " blocks, expected a multiple "
           "of the cluster's " +
           text(cluster));
  clusterBlocks = static_cast<unsigned>(count);
}

void Launch::bindParameters() {
  if (config.arguments.size() != program.parameters.size())
    throw ModuleError("simulator: kernel '" + program.name + "' takes " +
                      std::to_string(program.parameters.size()) +
                      " arguments, found " +
                      std::to_string(config.arguments.size()));
  parameters.resize(program.parameterBytes);
  for (size_t i = 0; i < program.parameters.size(); ++i) {
    const ParameterSlot &slot = program.parameters[i];
    const std::vector<uint8_t> &bytes = config.arguments[i];
    if (bytes.size() != slot.bytes)
      throw ModuleError("simulator: argument " + std::to_string(i) +
                        " of kernel '" + program.name + "' has " +
                        std::to_string(bytes.size()) + " bytes, expected " +
                        std::to_string(slot.bytes) + " ('" + slot.name + "')");
    std::copy(bytes.begin(), bytes.end(), parameters.begin() + slot.offset);
  }
  threads = config.block[0] * config.block[1] * config.block[2];
  sharedBytes = program.staticSharedBytes + config.sharedBytes;
  blocks = uint64_t(config.grid[0]) * config.grid[1] * config.grid[2];
}

void Launch::run() {
  started = lastPrint = std::chrono::steady_clock::now();
  uint64_t workers =
      options.threads ? options.threads : std::thread::hardware_concurrency();
  if (options.trace.enabled)
    checkTrace();
  workers = std::min<uint64_t>(std::max<uint64_t>(workers, 1),
                               blocks / clusterBlocks);
  if (options.sanitize)
    shadow = std::make_unique<GlobalShadow>(memory, blocks / clusterBlocks);
  std::vector<std::thread> others;
  try {
    for (uint64_t i = 1; i < workers; ++i)
      others.emplace_back([this] { work(); });
  } catch (const std::system_error &) {
    // The host has no more threads; those that there are do the work.
  }
  work();
  for (std::thread &other : others)
    other.join();
  if (options.trace.enabled)
    endTrace();
  if (!hostError.empty())
    throw ModuleError("simulator: kernel '" + program.name + "': " + hostError);
  if (findings.empty() || (options.onFinding && !aborted))
    return;
  std::string text = "simulator: kernel '" + program.name +
                     "': " + std::to_string(findings.size()) + " finding" +
                     (findings.size() == 1 ? "" : "s");
  for (const SimFinding &finding : findings)
    text += "\n  " + finding.str();
  throw KernelError(text);
}

void Launch::work() {
  try {
    Cluster cluster(*this);
    while (!stop) {
      uint64_t number = nextCluster++;
      if (number >= blocks / clusterBlocks)
        return;
      cluster.run(number);
      doneBlocks += clusterBlocks;
    }
  } catch (const LaunchAborted &) {
    std::lock_guard<std::mutex> lock(mutex);
    aborted = true;
    stop = true;
  } catch (const std::bad_alloc &) {
    std::lock_guard<std::mutex> lock(mutex);
    hostError = "this host has too little memory for its blocks";
    stop = true;
  } catch (const std::exception &error) {
    std::lock_guard<std::mutex> lock(mutex);
    hostError = error.what();
    stop = true;
  }
}

void Launch::add(const SimFinding &finding, const void *key) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!seen.insert({finding.check, key}).second)
    return;
  findings.push_back(finding);
  if (options.onFinding)
    options.onFinding(finding);
  if (findings.size() >= options.maxFindings)
    throw LaunchAborted();
}

void Launch::tick() {
  using namespace std::chrono;
  if (!options.progress)
    return;
  auto now = steady_clock::now();
  if (now - started < seconds(2))
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (now - lastPrint < seconds(2))
    return;
  lastPrint = now;
  std::fprintf(stderr, "simulator: %s: %llu of %llu blocks after %.0f s\n",
               program.name.c_str(),
               static_cast<unsigned long long>(doneBlocks),
               static_cast<unsigned long long>(blocks),
               duration<double>(now - started).count());
}

} // namespace attn::sim
