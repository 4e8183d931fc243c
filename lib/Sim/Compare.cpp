//===- Compare.cpp - setp, set, selp, slct and testp ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"
#include "Numeric.h"

namespace attn::sim {
namespace {

/// Comparisons, in the order of their names below. The unsigned ones (lo, ls,
/// hi, hs) are the same as lt, le, gt, ge on unsigned values; the ones ending
/// in u hold for NaN.
enum Comparison : uint8_t {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  Nan,
};

template <Comparison C, class T> bool compare(T a, T b) {
  bool unordered = a != a || b != b;
  switch (C) {
  case Eq:
    return a == b;
  case Ne:
    // Ordered for floats: false for NaN (PTX ISA 9.3.1.2).
    return !unordered && a != b;
  case Lt:
    return a < b;
  case Le:
    return a <= b;
  case Gt:
    return a > b;
  case Ge:
    return a >= b;
  case Equ:
    return unordered || a == b;
  case Neu:
    return a != b;
  case Ltu:
    return !(a >= b);
  case Leu:
    return !(a > b);
  case Gtu:
    return !(a <= b);
  case Geu:
    return !(a < b);
  case Num:
    return !unordered;
  case Nan:
    return unordered;
  }
  return false;
}

/// How a lane's bits become a value to compare.
struct AsIs {
  template <class T> static T of(T value) { return value; }
};
struct Flushed {
  static float of(float value) { return flush(value); }
};
struct FromHalf {
  static float of(uint16_t bits) { return fromHalf(bits); }
};
struct FromBfloat {
  static float of(uint16_t bits) { return fromBfloat(bits); }
};

/// One half of a pair.
template <class Small, bool High> struct Part {
  static float of(uint32_t pair) {
    return Small::of(static_cast<uint16_t>(High ? pair >> 16 : pair));
  }
};

/// The lanes for which sources 0 and 1 compare.
using CompareFunction = uint32_t (*)(Warp &, const Inst &);

template <Comparison C, class T, class As>
uint32_t compareLanes(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.lanes(inst.src(0));
  const uint32_t *b = warp.lanes(inst.src(1));
  uint32_t result = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    bool holds =
        compare<C>(As::of(getLane<T>(a, lane)), As::of(getLane<T>(b, lane)));
    result |= uint32_t(holds) << lane;
  }
  return result;
}

template <class T, class As> CompareFunction pick(unsigned comparison) {
  static constexpr CompareFunction functions[] = {
      compareLanes<Eq, T, As>,  compareLanes<Ne, T, As>,
      compareLanes<Lt, T, As>,  compareLanes<Le, T, As>,
      compareLanes<Gt, T, As>,  compareLanes<Ge, T, As>,
      compareLanes<Equ, T, As>, compareLanes<Neu, T, As>,
      compareLanes<Ltu, T, As>, compareLanes<Leu, T, As>,
      compareLanes<Gtu, T, As>, compareLanes<Geu, T, As>,
      compareLanes<Num, T, As>, compareLanes<Nan, T, As>};
  return functions[comparison];
}

/// For pairs, the function of the low or of the high half.
CompareFunction pickForType(Type type, bool ftz, unsigned comparison,
                            bool high) {
  switch (type) {
  case Type::F16x2:
    return high ? pick<uint32_t, Part<FromHalf, true>>(comparison)
                : pick<uint32_t, Part<FromHalf, false>>(comparison);
  case Type::BF16x2:
    return high ? pick<uint32_t, Part<FromBfloat, true>>(comparison)
                : pick<uint32_t, Part<FromBfloat, false>>(comparison);
  case Type::B16:
  case Type::U16:
    return pick<uint16_t, AsIs>(comparison);
  case Type::S16:
    return pick<int16_t, AsIs>(comparison);
  case Type::B32:
  case Type::U32:
    return pick<uint32_t, AsIs>(comparison);
  case Type::S32:
    return pick<int32_t, AsIs>(comparison);
  case Type::B64:
  case Type::U64:
    return pick<uint64_t, AsIs>(comparison);
  case Type::S64:
    return pick<int64_t, AsIs>(comparison);
  case Type::F32:
    return ftz ? pick<float, Flushed>(comparison)
               : pick<float, AsIs>(comparison);
  case Type::F64:
    return pick<double, AsIs>(comparison);
  case Type::F16:
    return pick<uint16_t, FromHalf>(comparison);
  case Type::BF16:
    return pick<uint16_t, FromBfloat>(comparison);
  default:
    return nullptr;
  }
}

bool isPair(Type type) { return type == Type::F16x2 || type == Type::BF16x2; }

/// The functions are in Inst::imm and, for the high halves of pairs, imm2.
uint32_t callFunction(int64_t function, Warp &warp, const Inst &inst) {
  auto address = static_cast<intptr_t>(function);
  return reinterpret_cast<CompareFunction>(address)(warp, inst);
}

enum Combine : uint8_t { NoCombine, AndWith, OrWith, XorWith };

uint32_t combine(Combine how, uint32_t value, uint32_t with) {
  switch (how) {
  case NoCombine:
    return value;
  case AndWith:
    return value & with;
  case OrWith:
    return value | with;
  case XorWith:
    return value ^ with;
  }
  return value;
}

/// p|q = (a cmp b) op c, (!(a cmp b)) op c; for pairs, the low and the high
/// comparison. a = Combine.
void runSetp(Warp &warp, const Inst &inst) {
  uint32_t holds = callFunction(inst.imm, warp, inst);
  uint32_t second = inst.imm2 ? callFunction(inst.imm2, warp, inst) : ~holds;
  auto how = static_cast<Combine>(inst.a);
  uint32_t with = how == NoCombine ? 0 : warp.predicate(inst.src(2));
  warp.setPredicate(inst.dst(0), combine(how, holds, with));
  if (inst.destinations == 2)
    warp.setPredicate(inst.dst(1), combine(how, second, with));
}

/// What `set` writes for true.
uint32_t trueBits(Type type) {
  switch (type) {
  case Type::F32:
    return bitCast<uint32_t>(1.0f);
  case Type::F16:
  case Type::F16x2:
    return 0x3c00;
  case Type::BF16:
  case Type::BF16x2:
    return 0x3f80;
  case Type::U16:
  case Type::S16:
    return 0xffff;
  default:
    return allLanes;
  }
}

/// a = Combine.
void runSet(Warp &warp, const Inst &inst) {
  auto how = static_cast<Combine>(inst.a);
  uint32_t with = how == NoCombine ? 0 : warp.predicate(inst.src(2));
  uint32_t low = combine(how, callFunction(inst.imm, warp, inst), with);
  uint32_t high =
      inst.imm2 ? combine(how, callFunction(inst.imm2, warp, inst), with) : 0;
  // Of a pair compared into an integer each half is all ones or zero.
  uint32_t yes = trueBits(inst.type);
  yes = inst.imm2 ? yes & 0xffff : yes;
  uint32_t out[warpSize];
  for (unsigned lane = 0; lane < warpSize; ++lane)
    out[lane] =
        (low >> lane & 1 ? yes : 0) | (high >> lane & 1 ? yes << 16 : 0);
  commit<1>(warp, inst.dst(), out);
}

/// Consumes comparison, combination and type of the sources, which it returns.
Type decodeComparison(Builder &b) {
  auto comparison =
      b.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu",
                   "leu", "gtu", "geu", "num", "nan", "lo", "ls", "hi", "hs"});
  if (!comparison)
    b.refuse();
  constexpr unsigned unsignedNames = Nan + 1;
  unsigned index = *comparison < unsignedNames
                       ? *comparison
                       : *comparison - unsignedNames + unsigned(Lt);
  if (auto how = b.takeOneOf({"and", "or", "xor"}))
    b.inst.a = static_cast<uint8_t>(AndWith + *how);
  bool ftz = b.take("ftz");
  Type type = b.takeType();
  auto functionFor = [&](bool high) {
    CompareFunction function = pickForType(type, ftz, index, high);
    if (!function)
      b.refuse();
    return static_cast<int64_t>(reinterpret_cast<intptr_t>(function));
  };
  b.inst.imm = functionFor(/*high=*/false);
  if (isPair(type))
    b.inst.imm2 = functionFor(/*high=*/true);
  return type;
}

void decodeSetp(Builder &b) {
  Type type = decodeComparison(b);
  b.expectOperands(b.inst.a ? 4 : 3);
  const AstOperand &to = b.ast.operands[0];
  if (to.kind == AstOperand::Pair) {
    b.dstPredicate(to.elements[0]);
    b.dstPredicate(to.elements[1]);
  } else {
    b.dstPredicate(to);
  }
  b.src(1, type);
  b.src(2, type);
  if (b.inst.a)
    b.srcPredicate(b.ast.operands[3]);
  b.inst.run = runSetp;
}

void decodeSet(Builder &b) {
  Type result = b.takeType(); // comes first
  Type type = decodeComparison(b);
  bool pairResult = isPair(result);
  bool legal = pairResult ? result == type
                          : result != Type::Pred && typeBits(result) <= 32 &&
                                typeBits(result) >= 16;
  if (isPair(type) && !pairResult)
    legal = result == Type::U32 || result == Type::S32;
  if (!legal)
    b.refuse();
  b.inst.type = result;
  b.expectOperands(b.inst.a ? 4 : 3);
  b.dst(0, result);
  b.src(1, type);
  b.src(2, type);
  if (b.inst.a)
    b.srcPredicate(b.ast.operands[3]);
  b.inst.run = runSet;
}

//===----------------------------------------------------------------------===//
// selp, slct, testp
//===----------------------------------------------------------------------===//

template <class T> void runSelp(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.lanes(inst.src(0));
  const uint32_t *b = warp.lanes(inst.src(1));
  uint32_t takeA = warp.predicate(inst.src(2));
  alignas(64) uint32_t out[warpSize * wordsPer<T>];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    T first = getLane<T>(a, lane), second = getLane<T>(b, lane);
    putLane<T>(out, lane, takeA >> lane & 1 ? first : second);
  }
  commit<wordsPer<T>>(warp, inst.dst(), out);
}

void decodeSelp(Builder &b) {
  Type type = b.takeType();
  unsigned bits = typeBits(type);
  if (bits < 16)
    b.refuse();
  b.expectOperands(4);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, type);
  b.srcPredicate(b.ast.operands[3]);
  b.inst.run = bits == 64 ? runSelp<uint64_t> : runSelp<uint32_t>;
}

template <class T, class C> void runSlct(Warp &warp, const Inst &inst) {
  mapLanes3<T, T, T, C>(warp, inst,
                        [](T a, T b, C c) { return c >= 0 ? a : b; });
}

void decodeSlct(Builder &b) {
  b.take("ftz"); // a subnormal becomes zero of its sign, and -0 >= 0
  Type type = b.takeType(), control = b.takeType();
  bool wide = typeBits(type) == 64, isFloat = control == Type::F32;
  if (typeBits(type) < 32 || (control != Type::S32 && !isFloat))
    b.refuse();
  b.expectOperands(4);
  b.dst(0, type);
  b.src(1, type);
  b.src(2, type);
  b.src(3, control);
  if (wide)
    b.inst.run =
        isFloat ? runSlct<uint64_t, float> : runSlct<uint64_t, int32_t>;
  else
    b.inst.run =
        isFloat ? runSlct<uint32_t, float> : runSlct<uint32_t, int32_t>;
}

enum Class : uint8_t {
  Finite,
  Infinite,
  Number,
  NotANumber,
  Normal,
  Subnormal
};

template <class T> void runTestp(Warp &warp, const Inst &inst) {
  const uint32_t *a = warp.lanes(inst.src(0));
  uint32_t result = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    int kind = std::fpclassify(getLane<T>(a, lane));
    bool holds = false;
    switch (inst.a) {
    case Finite:
      holds = kind != FP_INFINITE && kind != FP_NAN;
      break;
    case Infinite:
      holds = kind == FP_INFINITE;
      break;
    case Number:
      holds = kind != FP_NAN;
      break;
    case NotANumber:
      holds = kind == FP_NAN;
      break;
    case Normal: // zeros are (PTX ISA 9.7.3.3)
      holds = kind == FP_NORMAL || kind == FP_ZERO;
      break;
    default:
      holds = kind == FP_SUBNORMAL;
    }
    result |= uint32_t(holds) << lane;
  }
  warp.setPredicate(inst.dst(), result);
}

void decodeTestp(Builder &b) {
  auto kind = b.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Type type = b.takeType();
  if (!kind || (type != Type::F32 && type != Type::F64))
    b.refuse();
  b.inst.a = static_cast<uint8_t>(*kind);
  b.expectOperands(2);
  b.dstPredicate(b.ast.operands[0]);
  b.src(1, type);
  b.inst.run = type == Type::F32 ? runTestp<float> : runTestp<double>;
}

} // namespace

void addCompareInstructions(DecodeTable &table) {
  table["setp"] = decodeSetp;
  table["set"] = decodeSet;
  table["selp"] = decodeSelp;
  table["slct"] = decodeSlct;
  table["testp"] = decodeTestp;
}

} // namespace attn::sim
