//===- Access.cpp - From an address to host bytes -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Launch.h"

namespace attn::sim {

static const char *verb(Warp::Access access) {
  switch (access) {
  case Warp::Access::Read:
    return "reads";
  case Warp::Access::Write:
    return "writes";
  case Warp::Access::Atomic:
    return "updates";
  }
  return "";
}

/// Splits a generic address into its state space and the address there.
static Space splitGeneric(uint64_t &address) {
  struct Window {
    uint64_t start;
    Space space;
  };
  static constexpr Window windows[] = {{sharedWindow, Space::Shared},
                                       {localWindow, Space::Local},
                                       {paramWindow, Space::Param}};
  for (const Window &window : windows)
    if (address - window.start < windowBytes) {
      address -= window.start;
      return window.space;
    }
  return Space::Global;
}

uint8_t *Warp::resolve(const Inst &inst, Space space, uint64_t address,
                       uint32_t bytes, unsigned lane, Access access) {
  if (space == Space::Generic)
    space = splitGeneric(address);
  switch (space) {
  case Space::Shared:
    return resolveShared(inst, address, bytes, lane, access);
  case Space::Local:
    return resolveLocal(inst, address, bytes, lane, access);
  case Space::Param: {
    std::vector<uint8_t> &parameters = block->launch.parameters;
    bool inside =
        address <= parameters.size() && bytes <= parameters.size() - address;
    if (!inside || access != Access::Read || address % bytes)
      outOfBounds(inst, space, address, bytes, bytes, lane, access);
    return parameters.data() + address;
  }
  default:
    break;
  }
  return resolveGlobal(inst, address, bytes, bytes, lane, access);
}

uint8_t *Warp::resolveGlobal(const Inst &inst, uint64_t address, uint32_t bytes,
                             uint32_t align, unsigned lane, Access access) {
  if (!lastAllocation || !lastAllocation->contains(address, bytes)) {
    lastAllocation = block->launch.memory.find(address);
    if (!lastAllocation || !lastAllocation->contains(address, bytes))
      outOfBounds(inst, Space::Global, address, bytes, align, lane, access);
  }
  if (address & (align - 1))
    outOfBounds(inst, Space::Global, address, bytes, align, lane, access);
  if (block->launch.shadow)
    checkGlobal(inst, *lastAllocation, address, bytes, lane, access);
  return lastAllocation->host + (address - lastAllocation->base);
}

void Warp::checkGlobal(const Inst &inst, const Allocation &allocation,
                       uint64_t address, uint32_t bytes, unsigned lane,
                       Access access) {
  using Use = GlobalShadow::Use;
  Cluster &cluster = block->cluster;
  Use use = access == Access::Read ? (inst.strong ? Use::StrongRead : Use::Read)
            : access == Access::Write ? (inst.strong ? Use::Atomic : Use::Write)
                                      : Use::Atomic;
  GlobalShadow &shadow = *block->launch.shadow;
  GlobalShadow::Conflict conflict = shadow.access(
      allocation, address - allocation.base, bytes, use, cluster.number);
  GlobalKnowledge &knowledge = cluster.knowledge;
  bool hardwareOrder = block->launch.options.hardwareOrder;
  if (use == Use::Atomic &&
      (knowledge.fenced || inst.releases || hardwareOrder))
    shadow.release(knowledge, address, cluster.number);
  // Of several, who they all were is not kept: hearing of anybody will do.
  bool heard = conflict.several ? !knowledge.known.empty()
                                : knowledge.known.has(conflict.cluster);
  if (!conflict.found || heard)
    return;
  std::string other =
      (block->launch.clusterBlocks > 1 ? "cluster " : "block ") +
      std::to_string(conflict.cluster);
  report(inst, "global-race", uint32_t(1) << lane,
         std::string(verb(access)) + " global address " +
             hexText(conflict.address) + ", which " + other +
             (conflict.several ? " or others " : " ") + conflict.verb,
         "let blocks touch bytes of their own, or use atomics, or let one hear "
         "from the other (a release and an acquire at the GPU's scope): they "
         "run in any order");
}

void Warp::hearGlobal(const Inst &inst, uint64_t address) {
  GlobalShadow *shadow = block->launch.shadow.get();
  bool global = inst.space == Space::Global ||
                (inst.space == Space::Generic && address < sharedWindow);
  if (shadow && inst.strong && global)
    shadow->read(block->cluster.knowledge, address,
                 inst.acquires || block->launch.options.hardwareOrder);
}

uint8_t *Warp::resolveShared(const Inst &inst, uint64_t address, uint32_t bytes,
                             unsigned lane, Access access) {
  Block *owner = block;
  uint64_t offset = address - sharedBase;
  if (offset > owner->shared.size() || bytes > owner->shared.size() - offset ||
      (address & (bytes - 1))) {
    SharedPlace place = sharedPlace(inst, address, bytes, bytes, lane);
    owner = place.block;
    offset = place.offset;
    if (owner != block)
      owner->noteVisit(*this, inst);
  }
  if (SharedShadow *shadow = owner->shadow.get()) {
    auto at = static_cast<uint32_t>(offset);
    switch (access) {
    case Access::Read:
      shadow->read(*this, inst, lane, at, bytes);
      break;
    case Access::Write:
      shadow->write(*this, inst, lane, at, bytes);
      break;
    case Access::Atomic:
      shadow->atomic(*this, inst, lane, at, bytes);
      break;
    }
  }
  return owner->shared.data() + offset;
}

SharedPlace Warp::sharedPlace(const Inst &inst, uint64_t address,
                              uint32_t bytes, uint32_t align, unsigned lane) {
  Space space = Space::Shared;
  uint64_t within = address;
  if (address >= sharedWindow)
    space = splitGeneric(within);
  Block *owner = block;
  uint64_t rank = within >> clusterShift;
  const std::vector<std::unique_ptr<Block>> &blocks = block->cluster.blocks;
  if (rank > 0 && rank <= blocks.size()) {
    owner = blocks[rank - 1].get();
    within -= rank << clusterShift;
  }
  uint64_t offset = within - sharedBase, size = owner->shared.size();
  if (space != Space::Shared || offset > size || bytes > size - offset ||
      address % align)
    outOfBounds(inst, Space::Shared, address, bytes, align, lane,
                Access::Write);
  return {owner, static_cast<uint32_t>(offset)};
}

uint32_t Warp::sharedOffset(const Inst &inst, uint64_t address, uint32_t bytes,
                            uint32_t align, unsigned lane) {
  SharedPlace place = sharedPlace(inst, address, bytes, align, lane);
  if (place.block != block)
    outOfBounds(inst, Space::Shared, address, bytes, align, lane,
                Access::Write);
  return place.offset;
}

uint8_t *Warp::resolveLocal(const Inst &inst, uint64_t address, uint32_t bytes,
                            unsigned lane, Access access) {
  uint64_t size = program->localBytes;
  if (address > size || bytes > size - address || (address & (bytes - 1)))
    outOfBounds(inst, Space::Local, address, bytes, bytes, lane, access);
  return block->local.data() + (uint64_t(id) * warpSize + lane) * size +
         address;
}

void Warp::outOfBounds(const Inst &inst, Space space, uint64_t address,
                       uint32_t bytes, uint32_t align, unsigned lane,
                       Access access) {
  std::string what = std::string(verb(access)) + " " + std::to_string(bytes) +
                     " bytes at " + spaceName(space) + " address " +
                     hexText(address);
  if (address % align)
    fail(inst, "misaligned-access", uint32_t(1) << lane,
         what + ", which is not a multiple of " + std::to_string(align),
         "align the address or use a narrower access");
  switch (space) {
  case Space::Shared:
    what += ": the block has " + std::to_string(block->shared.size()) +
            " bytes from " + hexText(sharedBase);
    if (address >> clusterShift)
      what += ", and addresses of other blocks (mapa) work in instructions "
              "with .shared::cluster only";
    break;
  case Space::Local:
    what += ": a thread has " + std::to_string(program->localBytes) + " bytes";
    break;
  case Space::Param:
    what += ": the kernel has " + std::to_string(program->parameterBytes) +
            " bytes of parameters, which are read only";
    break;
  default:
    what += ": " + block->launch.memory.describe(address, bytes);
  }
  fail(inst, "out-of-bounds", uint32_t(1) << lane, what,
       "correct the address or enlarge the buffer");
}

} // namespace attn::sim
