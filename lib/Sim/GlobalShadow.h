//===- GlobalShadow.h - Who touched device memory ---------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clusters of a grid run in any order, so two of them must not touch the same
// bytes of device memory if one writes, unless both use atomics, or one hears
// from the other through memory first (PTX ISA 8.10, "Causality order"). Each
// four bytes remember, in 64 bits, the last cluster that wrote them and the
// last that read them. A cluster hears from another one where it acquires (or
// reads strongly, with a fence behind it) from the address where that one has
// released (or written strongly, with a fence in front of it). All that the
// other one does counts as done before its release.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_GLOBALSHADOW_H
#define ATTN_LIB_SIM_GLOBALSHADOW_H

#include "Memory.h"

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace attn::sim {

/// A set of clusters.
class ClusterSet {
public:
  bool has(uint64_t cluster) const {
    return cluster / 64 < words.size() &&
           (words[cluster / 64] >> cluster % 64 & 1);
  }
  void add(uint64_t cluster);
  void add(const ClusterSet &others);
  bool empty() const { return words.empty(); }
  void clear() { words.clear(); }

private:
  std::vector<uint64_t> words;
};

/// What a cluster knows of others by way of device memory.
struct GlobalKnowledge {
  ClusterSet known;    ///< heard of
  ClusterSet read;     ///< of whom a strong read told, with no fence behind yet
  bool fenced = false; ///< a strong write releases

  void fence() {
    known.add(read);
    fenced = true;
  }
  void clear() {
    known.clear();
    read.clear();
    fenced = false;
  }
};

class GlobalShadow {
public:
  /// Of one launch of `clusters` clusters.
  GlobalShadow(DeviceMemory &memory, uint64_t clusters);

  enum class Use : uint8_t {
    Read,
    Write,
    StrongRead, ///< volatile, relaxed or acquire
    Atomic,     ///< a strong write too
  };
  struct Conflict {
    bool found = false;
    uint64_t address = 0;
    const char *verb = ""; ///< what the other one did
    uint64_t cluster = 0;  ///< the last of those who did
    bool several = false;  ///< others did too; `cluster` may be this one
  };
  /// A strong read; with `acquires` it needs no fence.
  void read(GlobalKnowledge &knowledge, uint64_t address, bool acquires);
  /// A strong write by `cluster` that releases.
  void release(const GlobalKnowledge &knowledge, uint64_t address,
               uint64_t cluster);
  /// Notes the access and finds an earlier one of another cluster that races
  /// with it. Any number of host threads may call it at a time.
  Conflict access(const Allocation &allocation, uint64_t offset, uint32_t bytes,
                  Use use, uint64_t cluster);

private:
  uint64_t note(uint64_t word, Use use, uint64_t id, uint64_t mask) const;
  bool conflicts(uint64_t word, Use use, uint64_t id, uint64_t mask,
                 Conflict &conflict) const;

  std::mutex mutex;
  std::unordered_map<uint64_t, ClusterSet> releases; ///< by address
  uint64_t first; ///< id of cluster 0; what is below is of earlier launches
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_GLOBALSHADOW_H
