//===- Clock.cpp - Who has seen what (vector clocks) ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clock.h"
#include "Program.h"
#include "Warp.h"

#include <algorithm>

namespace attn::sim {

//===----------------------------------------------------------------------===//
// Clock
//===----------------------------------------------------------------------===//

void Clock::reset(size_t size) {
  time.assign(size, 0);
  fenced.assign(size, 0);
  inits.assign(size, 0);
  lanes.clear();
}

bool Clock::reachesLane(unsigned actor, unsigned lane, uint32_t at) const {
  return std::any_of(lanes.begin(), lanes.end(), [&](const LaneRelease &known) {
    return known.actor == actor && known.lanes >> lane & 1 && at <= known.time;
  });
}

bool Clock::heardOfLanes(unsigned actor, uint32_t at) const {
  return std::any_of(lanes.begin(), lanes.end(), [&](const LaneRelease &known) {
    return known.actor == actor && at <= known.time;
  });
}

void Clock::add(const LaneRelease &release) {
  for (LaneRelease &known : lanes)
    if (known.actor == release.actor && known.lanes == release.lanes) {
      known.time = std::max(known.time, release.time);
      return;
    }
  lanes.push_back(release);
}

void Clock::grow(size_t size) {
  if (time.size() >= size)
    return;
  time.resize(size, 0);
  fenced.resize(size, 0);
  inits.resize(size, 0);
}

static void joinTimes(std::vector<uint32_t> &into,
                      const std::vector<uint32_t> &from) {
  for (size_t i = 0; i < from.size(); ++i)
    into[i] = std::max(into[i], from[i]);
}

void Clock::join(const Clock &other) {
  grow(other.time.size());
  joinTimes(time, other.time);
  joinTimes(fenced, other.fenced);
  joinTimes(inits, other.inits);
  if (lanes.empty() && other.lanes.empty())
    return;
  for (const LaneRelease &release : other.lanes)
    add(release);
  // A warp's own time says the same of all its lanes.
  lanes.erase(std::remove_if(lanes.begin(), lanes.end(),
                             [&](const LaneRelease &known) {
                               return known.time <= time[known.actor];
                             }),
              lanes.end());
}

void Clock::joinInits(const Clock &other) {
  grow(other.time.size());
  joinTimes(inits, other.inits);
}

//===----------------------------------------------------------------------===//
// Actors
//===----------------------------------------------------------------------===//

Actors::Actors(unsigned blocks, unsigned warpsPerBlock)
    : warpsPerBlock(warpsPerBlock),
      warpgroupsPerBlock((warpsPerBlock + warpgroupWarps - 1) / warpgroupWarps),
      warps(blocks * warpsPerBlock) {
  for (unsigned i = 0; i < warps; ++i)
    entries.push_back({Kind::Warp, blockOf(i), i % warpsPerBlock});
  for (unsigned i = 0; i < blocks * warpgroupsPerBlock; ++i)
    entries.push_back(
        {Kind::Wgmma, i / warpgroupsPerBlock, i % warpgroupsPerBlock});
}

bool Actors::startCluster() {
  bool anew = latest > timeLimit / 2;
  if (anew)
    latest = 0;
  first = ++latest;
  return anew;
}

void Actors::note(uint32_t time) {
  latest = time;
  if (time >= timeLimit)
    throw ModuleError("a block passes more barriers than the sanitizer can "
                      "count; run it smaller, or without the sanitizer "
                      "(SimulatorOptions::sanitize)");
}

unsigned Actors::find(Kind kind, unsigned block, uint32_t number) {
  auto found = numbers.find({kind, block, number});
  if (found != numbers.end())
    return found->second;
  if (entries.size() >= limit)
    throw ModuleError("more mbarriers and threads with bulk copies in a "
                      "cluster than the sanitizer can follow; run it without "
                      "the sanitizer (SimulatorOptions::sanitize)");
  auto actor = static_cast<unsigned>(entries.size());
  entries.push_back({kind, block, number});
  numbers.emplace(std::make_tuple(kind, block, number), actor);
  return actor;
}

std::string Actors::describe(unsigned actor, unsigned block) const {
  const Entry &entry = entries[actor];
  std::string text;
  switch (entry.kind) {
  case Kind::Warp:
    text = "warp " + std::to_string(entry.number);
    break;
  case Kind::Barrier:
    text = "a copy that completes on mbarrier " +
           hexText(entry.number + sharedBase);
    break;
  case Kind::BulkStores:
    text = "a bulk store of thread " + std::to_string(entry.number);
    break;
  case Kind::Wgmma:
    text = "a wgmma of warpgroup " + std::to_string(entry.number);
    break;
  }
  if (entry.block != block)
    text += " of block " + std::to_string(entry.block) + " of the cluster";
  return text;
}

} // namespace attn::sim
