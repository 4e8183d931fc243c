//===- Clock.h - Who has seen what (vector clocks) ---------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sanitizer judges order by happens-before (FastTrack, Flanagan and Freund
// 2009). An actor is whoever accesses shared memory with a time of its own:
// each warp of a cluster; the copies that complete on one mbarrier, whose time
// is the phase; the bulk stores of one thread, whose time is the group; the
// wgmma of one warpgroup, likewise. An access happened before another one when
// the later warp's clock has reached the time of the first.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_CLOCK_H
#define ATTN_LIB_SIM_CLOCK_H

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace attn::sim {

/// What some lanes of a warp did up to `time`, of which they gave notice by
/// themselves.
struct LaneRelease {
  unsigned actor;
  uint32_t lanes, time;
};

/// What one warp, or a barrier on behalf of those who arrived, knows of every
/// actor.
struct Clock {
  /// Up to when the actor's accesses happened before.
  std::vector<uint32_t> time;
  /// Up to when a warp's ordinary accesses are visible to the asynchronous
  /// proxy: the warp has executed fence.proxy.async since.
  std::vector<uint32_t> fenced;
  /// Up to when a warp's initialisations of mbarriers are visible to the
  /// asynchronous proxy and the cluster (fence.mbarrier_init).
  std::vector<uint32_t> inits;
  /// What is known of single lanes beyond the time of their warp.
  std::vector<LaneRelease> lanes;

  /// Whether what `lane` of warp `actor` did at `at` happened before.
  bool reaches(unsigned actor, unsigned lane, uint32_t at) const {
    return at <= time[actor] ||
           (!lanes.empty() && reachesLane(actor, lane, at));
  }
  bool reachesLane(unsigned actor, unsigned lane, uint32_t at) const;
  /// Whether any lane of the warp gave notice by itself at `at` or later.
  bool heardOfLanes(unsigned actor, uint32_t at) const;
  void add(const LaneRelease &release);
  /// `size` actors of whom nothing is known.
  void reset(size_t size);
  void grow(size_t size);
  void join(const Clock &other);
  /// Only the initialisations: what a relaxed arrival hands on.
  void joinInits(const Clock &other);
  void clear() { reset(0); }
};

/// An access of the asynchronous proxy: whose it is and when it is over.
struct AsyncAccess {
  unsigned actor;
  uint32_t time;
};

/// The actors of a cluster and the range of their times.
class Actors {
public:
  enum class Kind : uint8_t { Warp, Barrier, BulkStores, Wgmma };

  static constexpr unsigned limit = 1u << 16;
  /// Times are below this, and leave five bits for a lane.
  static constexpr uint32_t timeLimit = (uint32_t(1) << 27) - 1;

  Actors(unsigned blocks, unsigned warpsPerBlock);

  /// Begins the next cluster. Times only grow from one to the next, so that
  /// what is recorded of the one before needs no clearing: everything older
  /// than start() counts as never. True when times begin anew, and records
  /// must be cleared after all.
  bool startCluster();
  uint32_t start() const { return first; }
  /// Somebody's time has become `time`. Throws DeviceError when they run out.
  void seen(uint32_t time) {
    if (time > latest)
      note(time);
  }

  unsigned warp(unsigned block, unsigned warp) const {
    return block * warpsPerBlock + warp;
  }
  unsigned wgmma(unsigned block, unsigned warpgroup) const {
    return warps + block * warpgroupsPerBlock + warpgroup;
  }
  bool isWarp(unsigned actor) const { return actor < warps; }
  unsigned warpCount() const { return warps; }
  /// The block that `actor`, a warp, belongs to.
  unsigned blockOf(unsigned actor) const { return actor / warpsPerBlock; }
  /// Another actor of `block`, added on first use. `number` is the offset of
  /// the mbarrier or the thread.
  unsigned find(Kind kind, unsigned block, uint32_t number);
  unsigned count() const { return static_cast<unsigned>(entries.size()); }

  /// "warp 3", as seen from `block`.
  std::string describe(unsigned actor, unsigned block) const;
  Kind kind(unsigned actor) const { return entries[actor].kind; }

private:
  struct Entry {
    Kind kind;
    unsigned block;
    uint32_t number;
  };
  void note(uint32_t time);

  unsigned warpsPerBlock, warpgroupsPerBlock, warps;
  uint32_t first = 1, latest = 1;
  std::vector<Entry> entries;
  std::map<std::tuple<Kind, unsigned, uint32_t>, unsigned> numbers;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_CLOCK_H
