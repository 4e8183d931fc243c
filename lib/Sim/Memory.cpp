//===- Memory.cpp - The simulated device memory ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "attn/Runtime/Device.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <sys/mman.h>

namespace attn::sim {
namespace {

/// Every allocation starts at a multiple of this and is followed by at least
/// as large a gap.
constexpr uint64_t granule = 64 * 1024;
/// The windows of the other state spaces start here.
constexpr uint64_t addressLimit = 0x7fe000000000;

std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

std::string nameOf(const Allocation &allocation) {
  std::string text = std::to_string(allocation.bytes) + "-byte ";
  if (allocation.name.empty())
    return text + "allocation at " + hex(allocation.base);
  return text + "variable '" + allocation.name + "' at " + hex(allocation.base);
}

} // namespace

static uint64_t nextDevice() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

DeviceMemory::DeviceMemory() : device(nextDevice()) {}

/// Zeros that cost memory once touched; null when there is no room.
static void *mapZeros(uint64_t bytes) {
  void *host =
      mmap(nullptr, std::max<uint64_t>(bytes, 1), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return host == MAP_FAILED ? nullptr : host;
}

static uint64_t recordBytes(const Allocation &allocation) {
  constexpr uint64_t unit = DeviceMemory::watchedBytes;
  return (allocation.bytes + unit - 1) / unit * sizeof(*allocation.watched);
}

static void dropRecord(Allocation &allocation) {
  if (allocation.watched)
    munmap(allocation.watched, std::max<uint64_t>(recordBytes(allocation), 1));
  allocation.watched = nullptr;
}

static void unmap(Allocation &allocation) {
  dropRecord(allocation);
  munmap(allocation.host, std::max<uint64_t>(allocation.bytes, 1));
}

DeviceMemory::~DeviceMemory() {
  for (auto &entry : allocations)
    unmap(entry.second);
}

uint64_t DeviceMemory::watch(uint64_t count, uint64_t most) {
  if (count > most)
    throw ModuleError("simulator: the sanitizer follows at most " +
                      std::to_string(most) +
                      " blocks (clusters, where there "
                      "are), found " +
                      std::to_string(count) +
                      "; run fewer, or without it "
                      "(SimulatorOptions::sanitize)");
  bool anew = count > most - nextId + 1;
  if (anew)
    nextId = 1;
  for (auto &entry : allocations) {
    Allocation &allocation = entry.second;
    if (anew)
      dropRecord(allocation);
    if (allocation.watched)
      continue;
    // Zero pages are zero words.
    allocation.watched =
        static_cast<std::atomic<uint64_t> *>(mapZeros(recordBytes(allocation)));
    if (!allocation.watched)
      throw DeviceError("simulator: the host has no address space left for "
                        "the sanitizer's record of " +
                        nameOf(allocation));
  }
  uint64_t first = nextId;
  nextId += count;
  return first;
}

uint64_t DeviceMemory::allocate(uint64_t bytes, std::string name) {
  if (bytes > addressLimit - next - 2 * granule)
    throw DeviceError("simulator: cannot allocate " + std::to_string(bytes) +
                      " bytes: the simulated address space holds 15 TiB");
  void *host = mapZeros(bytes);
  if (!host)
    throw DeviceError("simulator: cannot allocate " + std::to_string(bytes) +
                      " bytes: the host has no address space left");
  Allocation allocation{next, bytes, static_cast<uint8_t *>(host),
                        std::move(name), nullptr};
  next += (bytes + granule - 1) / granule * granule + granule;
  allocations.emplace(allocation.base, allocation);
  return allocation.base;
}

void DeviceMemory::release(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    throw DeviceError("simulator: release of " + hex(address) +
                      ", which is not the start of a live allocation");
  unmap(found->second);
  allocations.erase(found);
}

const Allocation *DeviceMemory::find(uint64_t address) const {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return nullptr;
  const Allocation &before = std::prev(after)->second;
  return address - before.base < before.bytes ? &before : nullptr;
}

uint8_t *DeviceMemory::host(uint64_t address, uint64_t bytes,
                            const char *what) const {
  auto after = allocations.upper_bound(address);
  if (after != allocations.begin()) {
    const Allocation &allocation = std::prev(after)->second;
    if (allocation.contains(address, bytes))
      return allocation.host + (address - allocation.base);
  }
  throw DeviceError(std::string("simulator: ") + what + " of " +
                    std::to_string(bytes) + " bytes at " + hex(address) + ": " +
                    describe(address, bytes));
}

std::string DeviceMemory::describe(uint64_t address, uint64_t bytes) const {
  auto after = allocations.upper_bound(address);
  if (after != allocations.begin()) {
    const Allocation &before = std::prev(after)->second;
    uint64_t offset = address - before.base;
    if (offset < before.bytes)
      return "the last " + std::to_string(offset + bytes - before.bytes) +
             " bytes lie past the end of the " + nameOf(before);
    uint64_t past = offset - before.bytes;
    bool nearer =
        after == allocations.end() || past <= after->second.base - address;
    if (nearer)
      return std::to_string(past) + " bytes past the end of the " +
             nameOf(before);
  }
  if (after != allocations.end())
    return std::to_string(after->second.base - address) + " bytes before the " +
           nameOf(after->second);
  return "nothing is allocated";
}

} // namespace attn::sim
