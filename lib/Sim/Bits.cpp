//===- Bits.cpp - Logic, shifts and bit fields --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

#include <algorithm>

namespace attn::sim {
namespace {

//===----------------------------------------------------------------------===//
// and, or, xor, not, cnot, also of predicates
//===----------------------------------------------------------------------===//

struct And {
  template <class T> static T run(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T run(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T run(T a, T b) { return a ^ b; }
};

template <class Op, class T> void runLogic(Warp &warp, const Inst &inst) {
  mapLanes2<T, T, T>(warp, inst, Op::template run<T>);
}
template <class Op> void runPredicateLogic(Warp &warp, const Inst &inst) {
  warp.setPredicate(inst.dst(), Op::run(warp.predicate(inst.src(0)),
                                        warp.predicate(inst.src(1))));
}
template <class T> void runNot(Warp &warp, const Inst &inst) {
  mapLanes1<T, T>(warp, inst, [](T a) { return T(~a); });
}
void runPredicateNot(Warp &warp, const Inst &inst) {
  warp.setPredicate(inst.dst(), ~warp.predicate(inst.src(0)));
}
template <class T> void runCnot(Warp &warp, const Inst &inst) {
  mapLanes1<T, T>(warp, inst, [](T a) { return T(a == 0); });
}

/// The handler for the width of an untyped-bits type.
Handler byWidth(Builder &b, Type type, Handler h16, Handler h32, Handler h64) {
  switch (type) {
  case Type::B16:
    return h16;
  case Type::B32:
    return h32;
  case Type::B64:
    return h64;
  default:
    b.refuse();
  }
}

template <class Op> void decodeLogic(Builder &b) {
  Type type = b.takeType();
  b.inst.run = type == Type::Pred
                   ? runPredicateLogic<Op>
                   : byWidth(b, type, runLogic<Op, uint16_t>,
                             runLogic<Op, uint32_t>, runLogic<Op, uint64_t>);
  b.expectOperands(3);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, type);
}

void decodeNot(Builder &b) {
  Type type = b.takeType();
  b.inst.run = type == Type::Pred ? runPredicateNot
                                  : byWidth(b, type, runNot<uint16_t>,
                                            runNot<uint32_t>, runNot<uint64_t>);
  b.expectOperands(2);
  b.dst(0, type);
  b.src(1, type);
}

void decodeCnot(Builder &b) {
  Type type = b.takeType();
  b.inst.run =
      byWidth(b, type, runCnot<uint16_t>, runCnot<uint32_t>, runCnot<uint64_t>);
  b.expectOperands(2);
  b.dst(0, type);
  b.src(1, type);
}

//===----------------------------------------------------------------------===//
// shl, shr, shf
//===----------------------------------------------------------------------===//

template <class T> void runShl(Warp &warp, const Inst &inst) {
  mapLanes2<T, T, uint32_t>(warp, inst, [](T a, uint32_t n) {
    return n < 8 * sizeof(T) ? T(uint64_t(a) << n) : T(0);
  });
}
/// Arithmetic for signed types; amounts past the width act as the width.
template <class T> void runShr(Warp &warp, const Inst &inst) {
  mapLanes2<T, T, uint32_t>(warp, inst, [](T a, uint32_t n) {
    constexpr uint32_t bits = 8 * sizeof(T);
    if (n >= bits)
      return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
    return T(a >> n);
  });
}

void decodeShl(Builder &b) {
  Type type = b.takeType();
  b.inst.run =
      byWidth(b, type, runShl<uint16_t>, runShl<uint32_t>, runShl<uint64_t>);
  b.expectOperands(3);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, Type::U32);
}

void decodeShr(Builder &b) {
  Type type = b.takeType();
  switch (type) {
  case Type::B16:
  case Type::U16:
    b.inst.run = runShr<uint16_t>;
    break;
  case Type::S16:
    b.inst.run = runShr<int16_t>;
    break;
  case Type::B32:
  case Type::U32:
    b.inst.run = runShr<uint32_t>;
    break;
  case Type::S32:
    b.inst.run = runShr<int32_t>;
    break;
  case Type::B64:
  case Type::U64:
    b.inst.run = runShr<uint64_t>;
    break;
  case Type::S64:
    b.inst.run = runShr<int64_t>;
    break;
  default:
    b.refuse();
  }
  b.expectOperands(3);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, Type::U32);
}

template <bool Left, bool Clamp>
void runFunnelShift(Warp &warp, const Inst &inst) {
  mapLanes3<uint32_t, uint32_t, uint32_t, uint32_t>(
      warp, inst, [](uint32_t low, uint32_t high, uint32_t n) {
        n = Clamp ? std::min(n, 32u) : n & 31;
        uint64_t both = uint64_t(high) << 32 | low;
        return uint32_t(Left ? both << n >> 32 : both >> n);
      });
}

void decodeFunnelShift(Builder &b) {
  auto side = b.takeOneOf({"l", "r"});
  auto mode = b.takeOneOf({"clamp", "wrap"});
  if (!side || !mode)
    b.refuse();
  static constexpr Handler handlers[2][2] = {
      {runFunnelShift<true, true>, runFunnelShift<true, false>},
      {runFunnelShift<false, true>, runFunnelShift<false, false>}};
  b.inst.run = handlers[*side][*mode];
  b.takeType();
  b.expectOperands(4);
  b.dst(0, Type::B32);
  for (unsigned i = 1; i < 4; ++i)
    b.src(i, Type::B32);
}

//===----------------------------------------------------------------------===//
// bfe, bfi (PTX ISA 9.7.1.19, 9.7.1.20)
//===----------------------------------------------------------------------===//

template <class T> T extractField(T a, uint32_t position, uint32_t length) {
  constexpr uint32_t bits = 8 * sizeof(T);
  position &= 0xff;
  length &= 0xff;
  using U = std::make_unsigned_t<T>;
  uint32_t top = std::min(position + length - 1, bits - 1);
  bool sign = std::is_signed_v<T> && length != 0 && (U(a) >> top & 1);
  if (length == 0)
    return 0;
  U field = position < bits ? U(a) >> position : U(0);
  uint32_t kept = position < bits ? std::min(length, bits - position) : 0;
  if (kept < bits) {
    U mask = (U(1) << kept) - 1;
    field = sign ? field | ~mask : field & mask;
  }
  return T(field);
}

template <class T> void runBfe(Warp &warp, const Inst &inst) {
  mapLanes3<T, T, uint32_t, uint32_t>(warp, inst, extractField<T>);
}

template <class T> void runBfi(Warp &warp, const Inst &inst) {
  const uint32_t *field = warp.lanes(inst.src(0));
  const uint32_t *into = warp.lanes(inst.src(1));
  const uint32_t *positions = warp.lanes(inst.src(2));
  const uint32_t *lengths = warp.lanes(inst.src(3));
  uint32_t out[warpSize * wordsPer<T>];
  constexpr uint32_t bits = 8 * sizeof(T);
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint32_t position = positions[lane] & 0xff, length = lengths[lane] & 0xff;
    T mask = length >= bits ? T(~T(0)) : T((T(1) << length) - 1);
    mask = position < bits ? T(mask << position) : T(0);
    T value = position < bits ? T(getLane<T>(field, lane) << position) : T(0);
    putLane<T>(out, lane, T((getLane<T>(into, lane) & ~mask) | (value & mask)));
  }
  commit<wordsPer<T>>(warp, inst.dst(), out);
}

void decodeBfe(Builder &b) {
  Type type = b.takeType();
  switch (type) {
  case Type::U32:
    b.inst.run = runBfe<uint32_t>;
    break;
  case Type::S32:
    b.inst.run = runBfe<int32_t>;
    break;
  case Type::U64:
    b.inst.run = runBfe<uint64_t>;
    break;
  case Type::S64:
    b.inst.run = runBfe<int64_t>;
    break;
  default:
    b.refuse();
  }
  b.expectOperands(4);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, Type::U32);
  b.src(3, Type::U32);
}

void decodeBfi(Builder &b) {
  Type type = b.takeType();
  if (type != Type::B32 && type != Type::B64)
    b.refuse();
  b.inst.run = type == Type::B32 ? runBfi<uint32_t> : runBfi<uint64_t>;
  b.expectOperands(5);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, type);
  b.src(3, Type::U32);
  b.src(4, Type::U32);
}

//===----------------------------------------------------------------------===//
// prmt, lop3, popc, clz, brev, bfind
//===----------------------------------------------------------------------===//

enum PermuteMode : uint8_t { Default, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

/// Which of the eight bytes of {b, a} goes to byte `to` (PTX ISA 9.7.9.7).
unsigned permuteSource(PermuteMode mode, uint32_t control, unsigned to) {
  unsigned n = control & 3;
  switch (mode) {
  case F4e:
    return (n + to) & 7;
  case B4e:
    return (n + 8 - to) & 7;
  case Rc8:
    return n;
  case Ecl:
    return std::max(n, to);
  case Ecr:
    return std::min(n, to);
  case Rc16:
    return 2 * (n & 1) + (to & 1);
  case Default:
    break;
  }
  return control >> 4 * to & 7;
}

void runPermute(Warp &warp, const Inst &inst) {
  auto mode = static_cast<PermuteMode>(inst.a);
  mapLanes3<uint32_t, uint32_t, uint32_t, uint32_t>(
      warp, inst, [mode](uint32_t a, uint32_t b, uint32_t control) {
        uint64_t bytes = uint64_t(b) << 32 | a;
        uint32_t result = 0;
        for (unsigned to = 0; to < 4; ++to) {
          uint32_t byte = bytes >> 8 * permuteSource(mode, control, to) & 0xff;
          bool sign = mode == Default && (control >> (4 * to + 3) & 1);
          if (sign)
            byte = byte & 0x80 ? 0xff : 0;
          result |= byte << 8 * to;
        }
        return result;
      });
}

void decodePermute(Builder &b) {
  b.takeType();
  auto mode = b.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  b.inst.a = mode ? static_cast<uint8_t>(F4e + *mode) : uint8_t(Default);
  b.expectOperands(4);
  b.dst(0, Type::B32);
  for (unsigned i = 1; i < 4; ++i)
    b.src(i, Type::B32);
  b.inst.run = runPermute;
}

void runLop3(Warp &warp, const Inst &inst) {
  unsigned table = inst.a;
  mapLanes3<uint32_t, uint32_t, uint32_t, uint32_t>(
      warp, inst, [table](uint32_t a, uint32_t b, uint32_t c) {
        uint32_t result = 0;
        for (unsigned term = 0; term < 8; ++term) {
          uint32_t hit =
              (term & 4 ? a : ~a) & (term & 2 ? b : ~b) & (term & 1 ? c : ~c);
          result |= table >> term & 1 ? hit : 0;
        }
        return result;
      });
}

void decodeLop3(Builder &b) {
  b.takeType();
  b.expectOperands(5);
  b.dst(0, Type::B32);
  for (unsigned i = 1; i < 4; ++i)
    b.src(i, Type::B32);
  int64_t table = b.immediate(b.ast.operands[4], "the truth table");
  if (table < 0 || table > 255)
    b.fail("the truth table of lop3 has 8 bits");
  b.inst.a = static_cast<uint8_t>(table);
  b.inst.run = runLop3;
}

template <class T> uint32_t countOnes(T a) {
  return static_cast<uint32_t>(__builtin_popcountll(a));
}
template <class T> uint32_t countLeadingZeros(T a) {
  constexpr uint32_t bits = 8 * sizeof(T);
  return a == 0 ? bits
                : static_cast<uint32_t>(__builtin_clzll(a)) - (64 - bits);
}
template <class T> T reverseBits(T a) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i)
    result = T(result << 1) | (a >> i & 1);
  return result;
}
/// The most significant bit that differs from the sign; ~0 if there is none.
template <class T> uint32_t findMostSignificant(T a) {
  using U = std::make_unsigned_t<T>;
  U bits = std::is_signed_v<T> && a < 0 ? U(~a) : U(a);
  return bits == 0 ? ~uint32_t(0)
                   : static_cast<uint32_t>(8 * sizeof(T)) - 1 -
                         countLeadingZeros<U>(bits);
}

template <class R, class T, R (*F)(T)>
void runUnary(Warp &warp, const Inst &inst) {
  mapLanes1<R, T>(warp, inst, F);
}
template <class T> void runBfindShift(Warp &warp, const Inst &inst) {
  constexpr uint32_t top = 8 * sizeof(T) - 1;
  mapLanes1<uint32_t, T>(warp, inst, [](T a) {
    uint32_t at = findMostSignificant<T>(a);
    return at == ~uint32_t(0) ? at : top - at;
  });
}

void decodeUnary(Builder &b, Type result, Handler h32, Handler h64) {
  Type type = b.takeType();
  if (type != Type::B32 && type != Type::B64)
    b.refuse();
  b.inst.run = type == Type::B32 ? h32 : h64;
  b.expectOperands(2);
  b.dst(0, result == Type::None ? type : result);
  b.src(1, type);
}
void decodePopc(Builder &b) {
  decodeUnary(b, Type::U32, runUnary<uint32_t, uint32_t, countOnes<uint32_t>>,
              runUnary<uint32_t, uint64_t, countOnes<uint64_t>>);
}
void decodeClz(Builder &b) {
  decodeUnary(b, Type::U32,
              runUnary<uint32_t, uint32_t, countLeadingZeros<uint32_t>>,
              runUnary<uint32_t, uint64_t, countLeadingZeros<uint64_t>>);
}
void decodeBrev(Builder &b) {
  decodeUnary(b, Type::None,
              runUnary<uint32_t, uint32_t, reverseBits<uint32_t>>,
              runUnary<uint64_t, uint64_t, reverseBits<uint64_t>>);
}

template <class T> Handler pickBfind(bool shift) {
  return shift ? runBfindShift<T>
               : runUnary<uint32_t, T, findMostSignificant<T>>;
}
void decodeBfind(Builder &b) {
  bool shift = b.take("shiftamt");
  Type type = b.takeType();
  switch (type) {
  case Type::U32:
    b.inst.run = pickBfind<uint32_t>(shift);
    break;
  case Type::S32:
    b.inst.run = pickBfind<int32_t>(shift);
    break;
  case Type::U64:
    b.inst.run = pickBfind<uint64_t>(shift);
    break;
  case Type::S64:
    b.inst.run = pickBfind<int64_t>(shift);
    break;
  default:
    b.refuse();
  }
  b.expectOperands(2);
  b.dst(0, Type::U32);
  b.src(1, type);
}

//===----------------------------------------------------------------------===//
// bmsk, szext. Amounts of 32 and more are clamped, or wrapped.
//===----------------------------------------------------------------------===//

template <bool Wrap> uint32_t amount(uint32_t n) {
  return Wrap ? n & 31 : std::min(n, 32u);
}
/// The lowest `bits` bits, up to 32.
uint32_t lowBits(uint32_t bits) {
  return static_cast<uint32_t>((uint64_t(1) << bits) - 1);
}

template <bool Wrap> void runMask(Warp &warp, const Inst &inst) {
  mapLanes2<uint32_t, uint32_t, uint32_t>(
      warp, inst, [](uint32_t at, uint32_t bits) {
        uint64_t mask = lowBits(amount<Wrap>(bits));
        return static_cast<uint32_t>(mask << amount<Wrap>(at));
      });
}

template <bool Wrap, bool Signed> void runExtend(Warp &warp, const Inst &inst) {
  mapLanes2<uint32_t, uint32_t, uint32_t>(
      warp, inst, [](uint32_t a, uint32_t n) {
        uint32_t bits = amount<Wrap>(n), mask = lowBits(bits);
        bool negative = Signed && bits && (a >> (bits - 1) & 1);
        return negative ? a | ~mask : a & mask;
      });
}

/// Takes the mode; true for wrap.
bool takeWrap(Builder &b) {
  auto mode = b.takeOneOf({"clamp", "wrap"});
  if (!mode)
    b.refuse();
  return *mode == 1;
}

void decodeTwoWords(Builder &b, Type type) {
  b.expectOperands(3);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, Type::U32);
}

void decodeMask(Builder &b) {
  b.inst.run = takeWrap(b) ? runMask<true> : runMask<false>;
  if (b.takeType() != Type::B32)
    b.refuse();
  decodeTwoWords(b, Type::B32);
}

void decodeExtend(Builder &b) {
  bool wrap = takeWrap(b);
  Type type = b.takeType();
  if (type != Type::U32 && type != Type::S32)
    b.refuse();
  if (type == Type::S32)
    b.inst.run = wrap ? runExtend<true, true> : runExtend<false, true>;
  else
    b.inst.run = wrap ? runExtend<true, false> : runExtend<false, false>;
  decodeTwoWords(b, type);
}

} // namespace

void addBitInstructions(DecodeTable &table) {
  table["and"] = decodeLogic<And>;
  table["or"] = decodeLogic<Or>;
  table["xor"] = decodeLogic<Xor>;
  table["not"] = decodeNot;
  table["cnot"] = decodeCnot;
  table["shl"] = decodeShl;
  table["shr"] = decodeShr;
  table["shf"] = decodeFunnelShift;
  table["bfe"] = decodeBfe;
  table["bfi"] = decodeBfi;
  table["prmt"] = decodePermute;
  table["lop3"] = decodeLop3;
  table["popc"] = decodePopc;
  table["clz"] = decodeClz;
  table["brev"] = decodeBrev;
  table["bfind"] = decodeBfind;
  table["bmsk"] = decodeMask;
  table["szext"] = decodeExtend;
}

} // namespace attn::sim
