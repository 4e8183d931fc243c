//===- LoadStore.cpp - ld, st, cvta and isspacep ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

/// Other blocks run on other host threads. What a strong load sees must not be
/// newer than what hearGlobal finds after it, and what a strong store tells not
/// older than what was released before it: both are host atomics.
template <class T> uint64_t loadStrong(const uint8_t *from) {
  return __atomic_load_n(reinterpret_cast<const T *>(from), __ATOMIC_ACQUIRE);
}
template <class T> void storeStrong(uint8_t *to, const uint32_t *words) {
  T value;
  std::memcpy(&value, words, sizeof(value));
  __atomic_store_n(reinterpret_cast<T *>(to), value, __ATOMIC_RELEASE);
}

uint64_t loadElement(const Inst &inst, const uint8_t *from, unsigned size) {
  uint64_t value = 0;
  if (!inst.strong) {
    std::memcpy(&value, from, size);
    return value;
  }
  switch (size) {
  case 1:
    return loadStrong<uint8_t>(from);
  case 2:
    return loadStrong<uint16_t>(from);
  case 4:
    return loadStrong<uint32_t>(from);
  default:
    return loadStrong<uint64_t>(from);
  }
}

void storeElement(const Inst &inst, uint8_t *to, const uint32_t *words,
                  unsigned size) {
  if (!inst.strong) {
    std::memcpy(to, words, size);
    return;
  }
  switch (size) {
  case 1:
    return storeStrong<uint8_t>(to, words);
  case 2:
    return storeStrong<uint16_t>(to, words);
  case 4:
    return storeStrong<uint32_t>(to, words);
  default:
    return storeStrong<uint64_t>(to, words);
  }
}

/// Inst: a = elements, b = bytes of one element, c = sign-extends.
void runLoad(Warp &warp, const Inst &inst) {
  unsigned elements = inst.a, size = inst.b;
  unsigned unusedBits = 64 - 8 * size;
  const Operand &base = inst.src(0);
  forEachLane(warp.exec, [&](unsigned lane) {
    uint64_t address = warp.address(base, inst.imm, lane);
    const uint8_t *from = warp.resolve(
        inst, inst.space, address, elements * size, lane, Warp::Access::Read);
    for (unsigned i = 0; i < elements; ++i) {
      uint64_t value = loadElement(inst, from + i * size, size);
      if (inst.c)
        value = static_cast<uint64_t>(
            static_cast<int64_t>(value << unusedBits) >> unusedBits);
      const Operand &to = inst.dst(i);
      uint32_t *words = warp.lanes(to) + lane * to.words;
      words[0] = static_cast<uint32_t>(value);
      if (to.words == 2)
        words[1] = static_cast<uint32_t>(value >> 32);
      else if (to.bits == 16)
        words[0] &= 0xffff;
    }
    warp.hearGlobal(inst, address);
  });
}

void runStore(Warp &warp, const Inst &inst) {
  unsigned elements = inst.a, size = inst.b;
  const Operand &base = inst.src(0);
  forEachLane(warp.exec, [&](unsigned lane) {
    uint8_t *to =
        warp.resolve(inst, inst.space, warp.address(base, inst.imm, lane),
                     elements * size, lane, Warp::Access::Write);
    for (unsigned i = 0; i < elements; ++i) {
      const Operand &from = inst.src(1 + i);
      const uint32_t *words = warp.lanes(from) + lane * from.words;
      storeElement(inst, to + i * size, words, size);
    }
  });
}

/// Modifiers about ordering and caches, which have no effect on what is read:
/// warps run in turn on coherent host memory.
void takeMemoryModifiers(Builder &b, bool &hint) {
  if (!b.take("weak")) {
    b.inst.acquires = b.take("acquire");
    b.inst.releases = b.take("release");
    b.inst.strong = b.inst.acquires || b.inst.releases ||
                    b.takeOneOf({"relaxed", "volatile", "mmio"});
  }
  b.takeOneOf({"cta", "cluster", "gpu", "sys"});
  b.takeOneOf({"ca", "cg", "cs", "cv", "lu", "wb", "wt"});
  b.take("nc");
  b.take("unified");
  b.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
               "L1::evict_last", "L1::no_allocate"});
  b.takeOneOf({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  hint = b.take("L2::cache_hint");
  b.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
}

struct Shape {
  unsigned elements;
  Type type;
};

Shape takeShape(Builder &b) {
  Shape shape{1, Type::None};
  if (b.take("v2"))
    shape.elements = 2;
  else if (b.take("v4"))
    shape.elements = 4;
  shape.type = b.takeType();
  unsigned bits = typeBits(shape.type);
  if (bits < 8 || bits * shape.elements > 128)
    b.refuse();
  b.inst.a = static_cast<uint8_t>(shape.elements);
  b.inst.b = static_cast<uint8_t>(bits / 8);
  b.inst.type = shape.type;
  return shape;
}

void decodeLoad(Builder &b) {
  bool hint = false;
  takeMemoryModifiers(b, hint);
  b.inst.space = b.trySpace().value_or(Space::Generic);
  Shape shape = takeShape(b);
  b.expectOperands(hint ? 3 : 2);
  b.dstVector(b.ast.operands[0], shape.elements, shape.type, Builder::AtLeast);
  b.inst.imm = b.address(b.ast.operands[1]);
  b.inst.c = isSignedInteger(shape.type);
  b.inst.run = runLoad;
}

void decodeStore(Builder &b) {
  bool hint = false;
  takeMemoryModifiers(b, hint);
  b.inst.space = b.trySpace().value_or(Space::Generic);
  if (b.inst.space == Space::Const || b.inst.space == Space::Param)
    b.fail("'" + std::string(b.ast.opcode) + "' writes read-only memory");
  Shape shape = takeShape(b);
  b.expectOperands(hint ? 3 : 2);
  b.inst.imm = b.address(b.ast.operands[0]);
  b.srcVector(b.ast.operands[1], shape.elements, shape.type, Builder::AtLeast);
  b.inst.run = runStore;
}

//===----------------------------------------------------------------------===//
// cvta, isspacep
//===----------------------------------------------------------------------===//

/// The start of a state space's window in the generic space.
uint64_t windowOf(Space space) {
  switch (space) {
  case Space::Shared:
    return sharedWindow;
  case Space::Local:
    return localWindow;
  case Space::Param:
    return paramWindow;
  default:
    return 0; // global and constant addresses are generic already
  }
}

void runConvertAddress64(Warp &warp, const Inst &inst) {
  auto shift = static_cast<uint64_t>(inst.imm);
  mapLanes1<uint64_t, uint64_t>(warp, inst,
                                [=](uint64_t a) { return a + shift; });
}

void decodeConvertAddress(Builder &b) {
  bool to = b.take("to");
  auto space = b.trySpace();
  if (!space)
    b.refuse();
  Type type = b.takeType();
  if (typeBits(type) != 64)
    b.fail("generic addresses have 64 bits: expected cvta with .u64");
  b.expectOperands(2);
  b.dst(0, type);
  const AstOperand &from = b.ast.operands[1];
  b.src(from, type);
  uint64_t window = windowOf(*space);
  b.inst.imm = static_cast<int64_t>(to ? 0 - window : window);
  b.inst.run = runConvertAddress64;
}

/// a = only the block's own shared memory.
void runIsSpace(Warp &warp, const Inst &inst) {
  uint32_t result = 0;
  const uint32_t *addresses = warp.lanes(inst.src(0));
  uint64_t window = windowOf(inst.space);
  uint64_t own = uint64_t(warp.rank()) + 1;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t address = getLane<uint64_t>(addresses, lane);
    bool inside =
        window ? address - window < windowBytes : address < sharedWindow;
    uint64_t block = (address - window) >> clusterShift;
    if (inst.a && block != 0 && block != own)
      inside = false;
    result |= uint32_t(inside) << lane;
  }
  warp.setPredicate(inst.dst(), result);
}

void decodeIsSpace(Builder &b) {
  bool cluster = b.take("shared::cluster");
  auto space = cluster ? Space::Shared : b.trySpace();
  if (!space || *space == Space::Const)
    b.refuse();
  b.inst.space = *space;
  b.inst.a = *space == Space::Shared && !cluster;
  b.expectOperands(2);
  b.dstPredicate(b.ast.operands[0]);
  b.src(1, Type::U64);
  b.inst.run = runIsSpace;
}

} // namespace

void addLoadStoreInstructions(DecodeTable &table) {
  table["ld"] = decodeLoad;
  table["ldu"] = decodeLoad;
  table["st"] = decodeStore;
  table["cvta"] = decodeConvertAddress;
  table["isspacep"] = decodeIsSpace;
}

} // namespace attn::sim
