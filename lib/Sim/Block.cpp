//===- Block.cpp - Blocks and clusters while they run ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Launch.h"

#include <algorithm>

namespace attn::sim {
namespace {

/// Instructions that a warp runs before another one of its block may. Large,
/// for the sake of the caches; finite, for warps that wait for each other
/// through memory.
constexpr uint64_t warpQuantum = 1 << 14;

/// A try_wait may give up and let its warp do something else. When nothing has
/// happened after so many times that all did, nothing will.
constexpr unsigned maxFruitlessWakes = 32;

unsigned warpsOf(const Launch &launch) {
  return (launch.threads + warpSize - 1) / warpSize;
}

} // namespace

//===----------------------------------------------------------------------===//
// Block
//===----------------------------------------------------------------------===//

Block::Block(Cluster &cluster, unsigned rank)
    : launch(cluster.launch), cluster(cluster), rank(rank),
      warps(warpsOf(launch)), mbarriers(*this) {
  shared.resize(launch.sharedBytes);
  local.resize(uint64_t(warps.size()) * warpSize * launch.program.localBytes);
  if (launch.options.sanitize)
    shadow = std::make_unique<SharedShadow>(cluster.actors, rank,
                                            launch.sharedBytes);
}

void Block::start(const uint32_t (&at)[3], bool anew) {
  const uint32_t *grid = launch.config.grid;
  std::copy(at, at + 3, index);
  linear = at[0] + uint64_t(grid[0]) * (at[1] + uint64_t(grid[1]) * at[2]);
  barriers.reset();
  mbarriers.reset();
  warpgroups.reset(*this);
  visits.clear();
  ended = false;
  endClock.clear();
  running = static_cast<unsigned>(warps.size());
  // What an earlier block left in shared memory must not help anybody.
  std::fill(shared.begin(), shared.end(), uint8_t(0xff));
  if (shadow)
    shadow->startBlock(anew);
  for (unsigned i = 0; i < warps.size(); ++i) {
    uint32_t left = launch.threads - i * warpSize;
    Warp &warp = warps[i];
    warp.start(*this, i,
               left >= warpSize ? allLanes : (uint32_t(1) << left) - 1);
    warp.actor = cluster.actors.warp(rank, i);
    if (shadow) {
      warp.clock.reset(cluster.actors.count());
      warp.clock.time[warp.actor] = cluster.actors.start();
      warp.synchronized = cluster.actors.start();
    }
  }
  registers.start(*this);
}

void Block::run(Progress &progress) {
  for (Warp &warp : warps) {
    if (warp.state == Warp::State::Done)
      continue;
    if (warp.state == Warp::State::Running) {
      progress.ran = true;
      warp.run(warpQuantum);
      if (warp.state == Warp::State::Yielded)
        warp.state = Warp::State::Running;
      if (warp.state == Warp::State::Done)
        warpEnded(warp);
      else if (warp.steps > launch.options.stepLimit)
        warp.fail(launch.program.code[warp.pc], "step-limit", warp.active,
                  "still running after " + std::to_string(warp.steps) +
                      " instructions",
                  "look for a loop that never ends, or raise the limit "
                  "(SimulatorOptions::stepLimit, attn-run --step-limit)");
    }
    progress.left |= warp.state != Warp::State::Done;
  }
}

void Block::warpEnded(Warp &warp) {
  ++cluster.events;
  barriers.warpEnded(*this);
  cluster.barrier.warpEnded(cluster);
  if (shadow) {
    warp.shareKnowledge();
    endClock.join(warp.clock);
  }
  if (--running == 0)
    end();
}

void Block::end() {
  ended = true;
  if (!shadow)
    return;
  for (const Visit &visit : visits)
    if (visit.time > endClock.time[visit.warp->actor])
      visit.warp->reportNow(*visit.inst, "ended-block", 0,
                            "touches the shared memory of block " +
                                std::to_string(rank) +
                                " of the cluster, which may have ended by then",
                            "let that block wait for it, by barrier.cluster or "
                            "an mbarrier, before it ends");
  for (Warp &warp : warps)
    warp.bulk.checkEnd(warp);
  mbarriers.checkEnd();
  RegisterPool::checkEnd(*this);
}

void Block::noteVisit(Warp &warp, const Inst &inst) {
  if (!shadow)
    return;
  uint32_t time = warp.clock.time[warp.actor];
  if (ended)
    return warp.report(inst, "ended-block", warp.exec,
                       "touches the shared memory of block " +
                           std::to_string(rank) +
                           " of the cluster, which has ended",
                       "let that block wait for it, by barrier.cluster or an "
                       "mbarrier, before it ends");
  for (Visit &visit : visits)
    if (visit.warp == &warp) {
      visit.inst = &inst;
      visit.time = time;
      return;
    }
  visits.push_back({&warp, &inst, time});
}

std::string Block::describeWait(Warp &warp) {
  const WarpWait &wait = warp.wait;
  switch (wait.kind) {
  case WarpWait::Named:
    return barriers.describe(*this, wait.barrier);
  case WarpWait::OfCluster:
    return cluster.barrier.describe(cluster);
  case WarpWait::Mbarrier:
    return wait.block->mbarriers.describe(wait.offset);
  case WarpWait::Wgmma:
    return describeWgmmaWait(warp);
  case WarpWait::Registers:
    return "setmaxnreg finds " + std::to_string(registers.available()) +
           " registers per thread of one warp free";
  }
  return "";
}

std::string Block::describeWaits(Warp *&first) {
  // Warps that wait for the same thing are told of together.
  std::vector<std::pair<std::string, std::string>> places;
  std::string endedWarps;
  for (Warp &warp : warps) {
    if (warp.state == Warp::State::Done) {
      endedWarps += (endedWarps.empty() ? "" : ", ") + std::to_string(warp.id);
      continue;
    }
    if (!first)
      first = &warp;
    std::string what = describeWait(warp);
    std::string name = " " + std::to_string(warp.id) + " (line " +
                       std::to_string(warp.wait.inst->line) + ")";
    auto same = std::find_if(places.begin(), places.end(),
                             [&](auto &place) { return place.first == what; });
    if (same == places.end())
      places.push_back({what, name});
    else
      same->second += "," + name;
  }
  std::string text;
  for (const auto &place : places)
    text += " " + place.first + "; waiting are warps" + place.second + ".";
  if (!endedWarps.empty())
    text += " Warps " + endedWarps + " have ended.";
  return text;
}

//===----------------------------------------------------------------------===//
// Cluster
//===----------------------------------------------------------------------===//

Cluster::Cluster(Launch &launch)
    : launch(launch),
      shape{launch.cluster[0], launch.cluster[1], launch.cluster[2]},
      actors(launch.clusterBlocks, warpsOf(launch)) {
  for (unsigned rank = 0; rank < launch.clusterBlocks; ++rank)
    blocks.push_back(std::make_unique<Block>(*this, rank));
}

unsigned Cluster::findActor(Actors::Kind kind, unsigned block,
                            uint32_t number) {
  unsigned before = actors.count();
  unsigned actor = actors.find(kind, block, number);
  if (actors.count() != before)
    forEachWarp([&](Warp &warp) { warp.clock.grow(actors.count()); });
  return actor;
}

void Cluster::start(uint64_t number) {
  const uint32_t *grid = launch.config.grid;
  this->number = number;
  knowledge.clear();
  uint64_t rest = number;
  for (unsigned axis = 0; axis < 3; ++axis) {
    uint32_t extent = grid[axis] / shape[axis];
    index[axis] = static_cast<uint32_t>(rest % extent);
    rest /= extent;
  }
  bool anew = actors.startCluster();
  barrier.reset();
  fruitlessWakes = 0;
  for (unsigned rank = 0; rank < blocks.size(); ++rank) {
    uint32_t at[3];
    unsigned left = rank;
    for (unsigned axis = 0; axis < 3; ++axis) {
      at[axis] = index[axis] * shape[axis] + left % shape[axis];
      left /= shape[axis];
    }
    blocks[rank]->start(at, anew);
  }
}

void Cluster::run(uint64_t number) {
  start(number);
  for (;;) {
    Block::Progress progress;
    for (std::unique_ptr<Block> &block : blocks)
      block->run(progress);
    if (launch.stop)
      throw LaunchAborted();
    launch.tick();
    if (!progress.left)
      return;
    if (!progress.ran && !wakeTryWaits())
      reportDeadlock();
  }
}

/// Nobody can go on: lets every sleeping try_wait give up, as on a GPU it does
/// after a while. False when that did not help before.
bool Cluster::wakeTryWaits() {
  fruitlessWakes = events == eventsAtWake ? fruitlessWakes + 1 : 0;
  eventsAtWake = events;
  if (fruitlessWakes > maxFruitlessWakes)
    return false;
  bool any = false;
  forEachWarp([&](Warp &warp) {
    if (warp.state != Warp::State::Waiting ||
        warp.wait.kind != WarpWait::Mbarrier)
      return;
    warp.givesUp = true;
    warp.state = Warp::State::Running;
    any = true;
  });
  return any;
}

void Cluster::reportDeadlock() {
  std::string what = blocks.size() == 1 ? "no warp of the block can go on:"
                                        : "no warp of the cluster can go on:";
  Warp *first = nullptr;
  bool registers = true;
  forEachWarp([&](Warp &warp) {
    registers &= warp.state == Warp::State::Done ||
                 warp.wait.kind == WarpWait::Registers;
  });
  for (std::unique_ptr<Block> &block : blocks) {
    if (blocks.size() > 1)
      what += " Block " + std::to_string(block->rank) + ":";
    what += block->describeWaits(first);
  }
  what.pop_back(); // the last full stop: what would mend it follows
  const char *mend =
      registers ? "let the other warpgroups give back as many registers "
                  "(setmaxnreg.dec) as this one asks for"
                : "let as many threads arrive, and as many bytes come, as the "
                  "barrier expects";
  first->fail(*first->wait.inst, registers ? "setmaxnreg" : "deadlock",
              first->wait.lanes, what, mend);
}

} // namespace attn::sim
