//===- Atomics.cpp - atom and red -----------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Blocks run on several host threads, so every atomic is a host atomic: the
// operation is applied with compare and exchange.
//
#include "Atomics.h"
#include "Decoder.h"
#include "Lanes.h"
#include "Numeric.h"

#include <algorithm>

namespace attn::sim {
namespace {

template <class T> T applyInteger(AtomicOp op, T old, T b, T c) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
  case Add:
    return static_cast<T>(U(old) + U(b));
  case Min:
    return std::min(old, b);
  case Max:
    return std::max(old, b);
  case And:
    return old & b;
  case Or:
    return old | b;
  case Xor:
    return old ^ b;
  case Exch:
    return b;
  case Cas:
    return old == b ? c : old;
  case Inc:
    return U(old) >= U(b) ? T(0) : static_cast<T>(U(old) + 1);
  case Dec:
    return U(old) == 0 || U(old) > U(b) ? b : static_cast<T>(U(old) - 1);
  }
  return old;
}

template <bool Bfloat> uint16_t addSmall(uint16_t a, uint16_t b) {
  // Exact enough: 24 bits are more than twice 11, plus 2.
  float sum =
      Bfloat ? fromBfloat(a) + fromBfloat(b) : fromHalf(a) + fromHalf(b);
  return Bfloat ? toBfloat(sum) : toHalf(sum);
}
/// add, min or max.
template <bool Bfloat>
uint16_t applySmall(AtomicOp op, uint16_t a, uint16_t b) {
  if (op == Add)
    return addSmall<Bfloat>(a, b);
  float x = Bfloat ? fromBfloat(a) : fromHalf(a);
  float y = Bfloat ? fromBfloat(b) : fromHalf(b);
  if (x != x)
    return b;
  bool takeB = op == Min ? y < x : y > x;
  return takeB ? b : a;
}
template <bool Bfloat> uint32_t addPair(uint32_t a, uint32_t b) {
  uint32_t low =
      addSmall<Bfloat>(static_cast<uint16_t>(a), static_cast<uint16_t>(b));
  uint32_t high = addSmall<Bfloat>(static_cast<uint16_t>(a >> 16),
                                   static_cast<uint16_t>(b >> 16));
  return high << 16 | low;
}

uint32_t addSingle(uint64_t a, uint64_t b, bool flushes) {
  auto x = bitCast<float>(static_cast<uint32_t>(a));
  auto y = bitCast<float>(static_cast<uint32_t>(b));
  float sum = flushes ? flush(flush(x) + flush(y)) : x + y;
  return bitCast<uint32_t>(canonical(sum));
}

/// The new bits of one element. In global memory single precision flushes
/// subnormals (PTX ISA 9.7.13.6); `flushes` says so.
uint64_t apply(AtomicOp op, Type type, uint64_t old, uint64_t b, uint64_t c,
               bool flushes) {
  switch (type) {
  case Type::S32:
    return static_cast<uint32_t>(applyInteger<int32_t>(
        op, static_cast<int32_t>(old), static_cast<int32_t>(b),
        static_cast<int32_t>(c)));
  case Type::S64:
    return static_cast<uint64_t>(applyInteger<int64_t>(
        op, static_cast<int64_t>(old), static_cast<int64_t>(b),
        static_cast<int64_t>(c)));
  case Type::U64:
  case Type::B64:
    return applyInteger<uint64_t>(op, old, b, c);
  case Type::F32:
    return addSingle(old, b, flushes);
  case Type::F64:
    return bitCast<uint64_t>(bitCast<double>(old) + bitCast<double>(b));
  case Type::F16:
    return applySmall<false>(op, static_cast<uint16_t>(old),
                             static_cast<uint16_t>(b));
  case Type::BF16:
    return applySmall<true>(op, static_cast<uint16_t>(old),
                            static_cast<uint16_t>(b));
  case Type::F16x2:
    return addPair<false>(static_cast<uint32_t>(old), static_cast<uint32_t>(b));
  case Type::BF16x2:
    return addPair<true>(static_cast<uint32_t>(old), static_cast<uint32_t>(b));
  case Type::B16:
    return applyInteger<uint16_t>(op, static_cast<uint16_t>(old),
                                  static_cast<uint16_t>(b),
                                  static_cast<uint16_t>(c));
  default:
    return applyInteger<uint32_t>(op, static_cast<uint32_t>(old),
                                  static_cast<uint32_t>(b),
                                  static_cast<uint32_t>(c));
  }
}

/// Applies the operation and returns the old bits.
template <class Bits>
Bits update(uint8_t *host, AtomicOp op, Type type, uint64_t b, uint64_t c,
            bool flushes) {
  auto *at = reinterpret_cast<Bits *>(host);
  Bits old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  for (;;) {
    auto next = static_cast<Bits>(apply(op, type, old, b, c, flushes));
    if (__atomic_compare_exchange_n(at, &old, next, /*weak=*/false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return old;
  }
}

uint64_t updateElement(AtomicOp op, Type type, uint8_t *at, uint64_t b,
                       uint64_t c, bool flushes) {
  switch (typeBits(type)) {
  case 64:
    return update<uint64_t>(at, op, type, b, c, flushes);
  case 32:
    return update<uint32_t>(at, op, type, b, c, flushes);
  default:
    return update<uint16_t>(at, op, type, b, c, flushes);
  }
}

uint64_t laneValue(Warp &warp, const Operand &operand, unsigned lane) {
  const uint32_t *lanes = warp.lanes(operand);
  return operand.words == 2 ? getLane<uint64_t>(lanes, lane) : lanes[lane];
}

/// a = AtomicOp, b = elements, c = has an old value to return.
void runAtomic(Warp &warp, const Inst &inst) {
  unsigned elements = inst.b, size = typeBits(inst.type) / 8;
  forEachLane(warp.exec, [&](unsigned lane) {
    uint64_t address = warp.address(inst.src(0), inst.imm, lane);
    uint8_t *host = warp.resolve(inst, inst.space, address, elements * size,
                                 lane, Warp::Access::Atomic);
    bool global = inst.space == Space::Global ||
                  (inst.space == Space::Generic && address < sharedWindow);
    for (unsigned i = 0; i < elements; ++i) {
      uint64_t b = laneValue(warp, inst.src(1 + i), lane);
      uint64_t c = inst.a == Cas ? laneValue(warp, inst.src(2), lane) : 0;
      uint8_t *at = host + i * size;
      uint64_t old = updateElement(static_cast<AtomicOp>(inst.a), inst.type, at,
                                   b, c, global);
      if (!inst.c)
        continue;
      const Operand &to = inst.dst(i);
      uint32_t *words = warp.lanes(to) + lane * to.words;
      words[0] = static_cast<uint32_t>(old);
      if (to.words == 2)
        words[1] = static_cast<uint32_t>(old >> 32);
    }
    warp.hearGlobal(inst, address);
  });
}

bool legalType(AtomicOp op, Type type) {
  bool bits = type == Type::B32 || type == Type::B64;
  bool integer = isIntegerLike(type) && !bits && typeBits(type) >= 32;
  switch (op) {
  case Add:
    return integer ||
           (!isIntegerLike(type) && type != Type::TF32 &&
            type != Type::E4M3x2 && type != Type::E5M2x2 && type != Type::Pred);
  case Min:
  case Max:
    return integer;
  case And:
  case Or:
  case Xor:
  case Exch:
    return bits || integer;
  case Cas:
    return bits || integer || type == Type::B16;
  case Inc:
  case Dec:
    return type == Type::U32;
  }
  return false;
}

void decodeAtomic(Builder &b, bool returns) {
  bool both = b.take("acq_rel");
  b.inst.acquires = both || b.take("acquire");
  b.inst.releases = both || b.take("release");
  b.take("relaxed");
  b.inst.strong = true;
  b.takeOneOf({"cta", "cluster", "gpu", "sys"});
  b.inst.space = b.trySpace().value_or(Space::Generic);
  auto op = b.takeOneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  b.take("noftz");
  bool hint = b.take("L2::cache_hint");
  b.inst.b = b.take("v2") ? 2 : b.take("v4") ? 4 : b.take("v8") ? 8 : 1;
  if (!op)
    b.refuse();
  b.inst.a = static_cast<uint8_t>(*op);
  Type type = b.takeType();
  // Vectors hold at most 16 bytes (PTX ISA 9.7.13.7).
  bool floats = !isIntegerLike(type) && type != Type::F64;
  bool vectorOk = b.inst.b == 1 ||
                  (floats && *op == Add && b.inst.b * typeBits(type) <= 128 &&
                   b.inst.space != Space::Shared);
  if (!legalType(static_cast<AtomicOp>(*op), type) || !vectorOk)
    b.refuse();
  b.inst.type = type;
  b.inst.c = returns;
  unsigned first = returns ? 1 : 0;
  b.expectOperands(first + (*op == Cas ? 3 : 2) + hint);
  if (returns)
    b.dstVector(b.ast.operands[0], b.inst.b, type);
  b.inst.imm = b.address(b.ast.operands[first]);
  b.srcVector(b.ast.operands[first + 1], b.inst.b, type);
  if (*op == Cas)
    b.src(first + 2, type);
  b.inst.run = runAtomic;
}

void decodeAtom(Builder &b) { decodeAtomic(b, /*returns=*/true); }
void decodeRed(Builder &b) {
  if (b.take("async"))
    b.refuse();
  decodeAtomic(b, /*returns=*/false);
}

} // namespace

void reduceElements(AtomicOp op, Type type, uint8_t *host,
                    const uint8_t *values, uint32_t bytes) {
  unsigned size = typeBits(type) / 8;
  for (uint32_t at = 0; at < bytes; at += size) {
    uint64_t value = 0;
    std::memcpy(&value, values + at, size);
    updateElement(op, type, host + at, value, 0, /*flushes=*/true);
  }
}

bool canReduce(AtomicOp op, Type type) {
  bool small = type == Type::F16 || type == Type::BF16;
  if (small)
    return op == Add || op == Min || op == Max;
  return op != Exch && op != Cas && legalType(op, type);
}

void addAtomicInstructions(DecodeTable &table) {
  table["atom"] = decodeAtom;
  table["red"] = decodeRed;
}

} // namespace attn::sim
