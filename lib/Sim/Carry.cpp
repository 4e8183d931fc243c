//===- Carry.cpp - Extended precision and packed integer products ---------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add, sub and mad with a carry in or out (PTX ISA 9.7.2), the carry being one
// bit of every lane; dp4a and dp2a.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

namespace attn::sim {
namespace {

//===----------------------------------------------------------------------===//
// Carries. Inst: a = subtracts, b = carry in, c = carry out.
//===----------------------------------------------------------------------===//

/// The sum of two numbers and a bit; `carry` becomes the bit above.
template <class T> T addWithCarry(T a, T b, bool &carry) {
  T sum;
  bool first = __builtin_add_overflow(a, b, &sum);
  bool second = __builtin_add_overflow(sum, T(carry), &sum);
  carry = first || second;
  return sum;
}

/// A difference; the carry is a borrow.
template <class T> T subtractWithBorrow(T a, T b, bool &borrow) {
  T difference;
  bool first = __builtin_sub_overflow(a, b, &difference);
  bool second = __builtin_sub_overflow(difference, T(borrow), &difference);
  borrow = first || second;
  return difference;
}

/// f(lane, carry) gives a lane's result and its carry.
template <class T, class F> void mapCarry(Warp &warp, const Inst &inst, F f) {
  alignas(64) uint32_t out[warpSize * wordsPer<T>];
  uint32_t carries = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    bool carry = inst.b && (warp.carry >> lane & 1);
    putLane<T>(out, lane, f(lane, carry));
    carries |= uint32_t(carry) << lane;
  }
  commit<wordsPer<T>>(warp, inst.dst(), out);
  if (inst.c)
    warp.carry = (warp.carry & ~warp.exec) | (carries & warp.exec);
}

template <class T> void runSum(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.lanes(inst.src(0)), *b = warp.lanes(inst.src(1));
  mapCarry<T>(warp, inst, [&](unsigned lane, bool &carry) {
    T x = getLane<T>(a, lane), y = getLane<T>(b, lane);
    return inst.a ? subtractWithBorrow(x, y, carry) : addWithCarry(x, y, carry);
  });
}

/// d = 1: the high half of the product.
template <class T, class Wide>
void runProductSum(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.lanes(inst.src(0)), *b = warp.lanes(inst.src(1));
  const uint32_t *c = warp.lanes(inst.src(2));
  using U = std::make_unsigned_t<T>;
  mapCarry<U>(warp, inst, [&](unsigned lane, bool &carry) {
    Wide product = Wide(getLane<T>(a, lane)) * Wide(getLane<T>(b, lane));
    U part = static_cast<U>(inst.d ? product >> 8 * sizeof(T) : product);
    return addWithCarry<U>(part, getLane<U>(c, lane), carry);
  });
}

Handler productSum(Builder &b, Type type) {
  switch (type) {
  case Type::U32:
    return runProductSum<uint32_t, uint64_t>;
  case Type::S32:
    return runProductSum<int32_t, int64_t>;
  case Type::U64:
    return runProductSum<uint64_t, unsigned __int128>;
  case Type::S64:
    return runProductSum<int64_t, __int128>;
  default:
    b.refuse();
  }
}

template <bool Subtract> void decodeCarryIn(Builder &b) {
  decodeCarrySum(b, Subtract, /*carryIn=*/true, b.take("cc"));
}

void decodeCarryInProduct(Builder &b) {
  decodeCarryProduct(b, /*carryIn=*/true, b.take("cc"));
}

//===----------------------------------------------------------------------===//
// Dot products. Inst: a = signs of A and B, b = the high half of B.
//===----------------------------------------------------------------------===//

enum Sign : uint8_t { SignedA = 1, SignedB = 2 };

/// Bits `at` to `at` + `bits` of a word.
int64_t field(uint32_t word, unsigned at, unsigned bits, bool isSigned) {
  uint32_t value = word << (32 - at - bits);
  return isSigned ? int64_t(static_cast<int32_t>(value) >> (32 - bits))
                  : int64_t(value >> (32 - bits));
}

/// Sums of `Count` products; A's numbers have 32 / Count bits, B's have 8.
template <unsigned Count> void runDot(Warp &warp, const Inst &inst) {
  constexpr unsigned bits = 32 / Count, byte = 8;
  unsigned first = inst.b * 2 * byte;
  mapLanes3<uint32_t, uint32_t, uint32_t, uint32_t>(
      warp, inst, [&](uint32_t a, uint32_t b, uint32_t c) {
        int64_t sum = c;
        for (unsigned i = 0; i < Count; ++i)
          sum += field(a, i * bits, bits, inst.a & SignedA) *
                 field(b, first + i * byte, byte, inst.a & SignedB);
        return static_cast<uint32_t>(sum);
      });
}

template <unsigned Count> void decodeDot(Builder &b) {
  if constexpr (Count == 2) {
    auto half = b.takeOneOf({"lo", "hi"});
    if (!half)
      b.refuse();
    b.inst.b = static_cast<uint8_t>(*half);
  }
  Type types[2];
  for (Type &type : types) {
    type = b.takeType();
    if (type != Type::U32 && type != Type::S32)
      b.refuse();
  }
  b.inst.a = static_cast<uint8_t>((types[0] == Type::S32 ? SignedA : 0) |
                                  (types[1] == Type::S32 ? SignedB : 0));
  b.expectOperands(4);
  b.dst(0, Type::B32);
  for (unsigned i = 1; i < 4; ++i)
    b.src(i, Type::B32);
  b.inst.run = runDot<Count>;
}

} // namespace

void decodeCarrySum(Builder &b, bool subtracts, bool carryIn, bool carryOut) {
  b.inst.a = subtracts;
  b.inst.b = carryIn;
  b.inst.c = carryOut;
  Type type = b.takeType();
  if (!isIntegerLike(type) || typeBits(type) < 32)
    b.refuse();
  b.inst.run = typeBits(type) == 64 ? runSum<uint64_t> : runSum<uint32_t>;
  b.expectOperands(3);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, type);
}

void decodeCarryProduct(Builder &b, bool carryIn, bool carryOut) {
  auto part = b.takeOneOf({"lo", "hi"});
  if (!part)
    b.refuse();
  b.inst.b = carryIn;
  b.inst.c = carryOut;
  b.inst.d = static_cast<uint8_t>(*part);
  Type type = b.takeType();
  b.inst.run = productSum(b, type);
  b.expectOperands(4);
  b.dst(0, type);
  for (unsigned i = 1; i < 4; ++i)
    b.src(i, type);
}

void addCarryInstructions(DecodeTable &table) {
  table["addc"] = decodeCarryIn<false>;
  table["subc"] = decodeCarryIn<true>;
  table["madc"] = decodeCarryInProduct;
  table["dp4a"] = decodeDot<4>;
  table["dp2a"] = decodeDot<2>;
}

} // namespace attn::sim
