//===- GlobalShadow.cpp - Who touched device memory -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlobalShadow.h"

#include <algorithm>

namespace attn::sim {
namespace {

// A word: its low half about reads, its high half about writes. From the low
// bits of a half: which bytes (4), who was the last (26), whether others were
// too (1; writers only by atomics), whether by an atomic (1; writers only).
constexpr unsigned maskBits = 4, idBits = 26, half = 32;
constexpr uint64_t maskField = (1 << maskBits) - 1;
constexpr uint64_t idField = (uint64_t(1) << idBits) - 1;
constexpr uint64_t severalFlag = uint64_t(1) << (maskBits + idBits);
constexpr uint64_t atomicFlag = severalFlag << 1;

struct Side {
  uint64_t mask, id;
  bool several, atomic;
};

Side sideOf(uint64_t bits) {
  return {bits & maskField, bits >> maskBits & idField,
          (bits & severalFlag) != 0, (bits & atomicFlag) != 0};
}
uint64_t bitsOf(const Side &side) {
  return side.mask | side.id << maskBits | (side.several ? severalFlag : 0) |
         (side.atomic ? atomicFlag : 0);
}
Side readOf(uint64_t word) { return sideOf(word); }
Side writeOf(uint64_t word) { return sideOf(word >> half); }

} // namespace

GlobalShadow::GlobalShadow(DeviceMemory &memory, uint64_t clusters)
    : first(memory.watch(clusters, idField)) {}

void ClusterSet::add(uint64_t cluster) {
  words.resize(std::max<size_t>(words.size(), cluster / 64 + 1), 0);
  words[cluster / 64] |= uint64_t(1) << cluster % 64;
}

void ClusterSet::add(const ClusterSet &others) {
  words.resize(std::max(words.size(), others.words.size()), 0);
  for (size_t i = 0; i < others.words.size(); ++i)
    words[i] |= others.words[i];
}

void GlobalShadow::read(GlobalKnowledge &knowledge, uint64_t address,
                        bool acquires) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = releases.find(address);
  if (found != releases.end())
    (acquires ? knowledge.known : knowledge.read).add(found->second);
}

void GlobalShadow::release(const GlobalKnowledge &knowledge, uint64_t address,
                           uint64_t cluster) {
  std::lock_guard<std::mutex> lock(mutex);
  ClusterSet &released = releases[address];
  released.add(knowledge.known);
  released.add(cluster);
}

/// The word after the access.
uint64_t GlobalShadow::note(uint64_t word, Use use, uint64_t id,
                            uint64_t mask) const {
  Side read = readOf(word), write = writeOf(word);
  switch (use) {
  case Use::Read:
    if (read.id < first)
      read = {mask, id, false, false};
    else
      read = {read.mask | mask, id, read.several || read.id != id, false};
    break;
  case Use::StrongRead:
    break;
  case Use::Write:
  case Use::Atomic: {
    bool atomic = use == Use::Atomic;
    // Bytes that this cluster wrote in both ways count as written plainly.
    if (write.id == id)
      write = {write.mask | mask, id, write.several && atomic,
               write.atomic && atomic};
    else
      write = {mask, id, atomic && write.atomic && write.id >= first, atomic};
    break;
  }
  }
  return bitsOf(write) << half | bitsOf(read);
}

bool GlobalShadow::conflicts(uint64_t word, Use use, uint64_t id, uint64_t mask,
                             Conflict &conflict) const {
  Side read = readOf(word), write = writeOf(word);
  bool strong = use == Use::StrongRead || use == Use::Atomic;
  if (write.id >= first && (write.id != id || write.several) &&
      (write.mask & mask) && !(strong && write.atomic)) {
    conflict.verb = write.atomic ? "updated" : "wrote";
    conflict.several = write.several;
    conflict.cluster = write.id - first;
    return true;
  }
  bool writes = use == Use::Write || use == Use::Atomic;
  if (writes && read.id >= first && (read.id != id || read.several) &&
      (read.mask & mask)) {
    conflict.verb = "read";
    conflict.several = read.several;
    conflict.cluster = read.id - first;
    return true;
  }
  return false;
}

GlobalShadow::Conflict GlobalShadow::access(const Allocation &allocation,
                                            uint64_t offset, uint32_t bytes,
                                            Use use, uint64_t cluster) {
  constexpr uint64_t unit = DeviceMemory::watchedBytes;
  Conflict conflict;
  uint64_t id = first + cluster, end = offset + bytes;
  for (uint64_t at = offset / unit; at * unit < end; ++at) {
    uint64_t from = std::max(offset, at * unit) - at * unit;
    uint64_t to = std::min(end, (at + 1) * unit) - at * unit;
    uint64_t mask = (maskField >> (unit - to)) & (maskField << from);
    std::atomic<uint64_t> &place = allocation.watched[at];
    uint64_t word = place.load(std::memory_order_relaxed), after;
    do {
      after = note(word, use, id, mask);
    } while (after != word && !place.compare_exchange_weak(
                                  word, after, std::memory_order_relaxed));
    if (!conflict.found && conflicts(word, use, id, mask, conflict)) {
      conflict.found = true;
      conflict.address = allocation.base + at * unit + from;
    }
  }
  return conflict;
}

} // namespace attn::sim
