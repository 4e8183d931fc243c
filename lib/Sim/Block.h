//===- Block.h - Blocks and clusters while they run --------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks of a cluster run together on one host thread, their warps in turn.
// A launch without clusters has clusters of one block.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_BLOCK_H
#define ATTN_LIB_SIM_BLOCK_H

#include "Barrier.h"
#include "Cluster.h"
#include "GlobalShadow.h"
#include "Mbarrier.h"
#include "Registers.h"
#include "SharedShadow.h"
#include "Warp.h"

#include <memory>
#include <vector>

namespace attn::sim {

class Cluster;
class Launch;

/// One block (CTA). Reused for block after block.
class Block {
public:
  Block(Cluster &cluster, unsigned rank);

  void start(const uint32_t (&index)[3], bool anew);
  /// Runs every warp that can go on, for a while.
  struct Progress {
    bool ran = false;  ///< a warp did
    bool left = false; ///< a warp has not ended
  };
  void run(Progress &progress);
  /// Names what the waiting warps wait for; `first` becomes the first of them.
  std::string describeWaits(Warp *&first);
  /// Another block has touched this one's shared memory.
  void noteVisit(Warp &warp, const Inst &inst);

  Launch &launch;
  Cluster &cluster;
  const unsigned rank; ///< in the cluster
  uint64_t linear = 0; ///< in the grid
  uint32_t index[3] = {0, 0, 0};
  std::vector<Warp> warps;
  std::vector<uint8_t> shared;
  std::vector<uint8_t> local; ///< by thread
  Barriers barriers;
  Mbarriers mbarriers;
  Warpgroups warpgroups;
  RegisterPool registers;
  /// Null when the sanitizer is off.
  std::unique_ptr<SharedShadow> shadow;
  bool ended = false;
  Clock endClock; ///< join of the warps that have ended

private:
  std::string describeWait(Warp &warp);
  void warpEnded(Warp &warp);
  void end();

  /// The last access of another block's warp.
  struct Visit {
    Warp *warp;
    const Inst *inst;
    uint32_t time;
  };
  std::vector<Visit> visits;
  unsigned running = 0; ///< warps that have not ended
};

/// The blocks that run together.
class Cluster {
public:
  explicit Cluster(Launch &launch);
  /// Runs cluster number `number` of the grid to its end.
  void run(uint64_t number);

  /// Calls `f` for every warp.
  template <class F> void forEachWarp(F f) {
    for (std::unique_ptr<Block> &block : blocks)
      for (Warp &warp : block->warps)
        f(warp);
  }
  /// The actor, which every warp's clock has a place for.
  unsigned findActor(Actors::Kind kind, unsigned block, uint32_t number);

  Launch &launch;
  uint32_t shape[3];   ///< in blocks
  uint32_t index[3]{}; ///< in the grid of clusters
  Actors actors;
  std::vector<std::unique_ptr<Block>> blocks; ///< by rank
  ClusterBarrier barrier;
  /// Counts what may let a waiting warp go on.
  uint64_t events = 0;
  GlobalKnowledge knowledge;
  uint64_t number = 0; ///< in the grid

private:
  void start(uint64_t number);
  bool wakeTryWaits();
  [[noreturn]] void reportDeadlock();

  uint64_t eventsAtWake = 0;
  unsigned fruitlessWakes = 0;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_BLOCK_H
