//===- Integer.cpp - Integer arithmetic ---------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"

#include <limits>

namespace attn::sim {
namespace {

//===----------------------------------------------------------------------===//
// Operations. Wrapping arithmetic is done on unsigned values.
//===----------------------------------------------------------------------===//

template <class T> using Unsigned = std::make_unsigned_t<T>;
/// Holds every product of two T.
template <class T>
using Wide = std::conditional_t<
    std::is_signed_v<T>,
    std::conditional_t<sizeof(T) == 2, int32_t,
                       std::conditional_t<sizeof(T) == 4, int64_t, __int128>>,
    std::conditional_t<
        sizeof(T) == 2, uint32_t,
        std::conditional_t<sizeof(T) == 4, uint64_t, unsigned __int128>>>;

template <class T> T wrapAdd(T a, T b) {
  return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
}
template <class T> T wrapSub(T a, T b) {
  return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
}
template <class T> T mulLow(T a, T b) {
  return static_cast<T>(uint64_t(a) * uint64_t(b));
}
template <class T> T mulHigh(T a, T b) {
  return static_cast<T>(Wide<T>(Wide<T>(a) * Wide<T>(b)) >> 8 * sizeof(T));
}
template <class T> T saturate(int64_t value) {
  constexpr int64_t low = std::numeric_limits<T>::min();
  constexpr int64_t high = std::numeric_limits<T>::max();
  return static_cast<T>(value < low ? low : value > high ? high : value);
}

template <class T> struct Add {
  static T run(T a, T b) { return wrapAdd(a, b); }
};
template <class T> struct Sub {
  static T run(T a, T b) { return wrapSub(a, b); }
};
template <class T> struct MulLo {
  static T run(T a, T b) { return mulLow(a, b); }
};
template <class T> struct MulHi {
  static T run(T a, T b) { return mulHigh(a, b); }
};
template <class T> struct Min {
  static T run(T a, T b) { return a < b ? a : b; }
};
template <class T> struct Max {
  static T run(T a, T b) { return a > b ? a : b; }
};
/// .relu (PTX ISA 9.7.1.11, min and max): a negative result becomes 0.
template <class T> struct MinRelu {
  static T run(T a, T b) { return Max<T>::run(Min<T>::run(a, b), 0); }
};
template <class T> struct MaxRelu {
  static T run(T a, T b) { return Max<T>::run(Max<T>::run(a, b), 0); }
};
/// Division by zero gives a machine-specific value (PTX ISA 9.7.1.8): all
/// ones, as GPUs do.
template <class T> struct Div {
  static T run(T a, T b) {
    if (b == 0)
      return static_cast<T>(~T(0));
    if (std::is_signed_v<T> && b == T(-1))
      return wrapSub(T(0), a);
    return static_cast<T>(a / b);
  }
};
template <class T> struct Rem {
  static T run(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return static_cast<T>(a % b);
  }
};
template <class T> struct Abs {
  static T run(T a) { return a < 0 ? wrapSub(T(0), a) : a; }
};
template <class T> struct Neg {
  static T run(T a) { return wrapSub(T(0), a); }
};
template <class T> struct MadLo {
  static T run(T a, T b, T c) { return wrapAdd(mulLow(a, b), c); }
};
template <class T> struct MadHi {
  static T run(T a, T b, T c) { return wrapAdd(mulHigh(a, b), c); }
};
template <class T> struct Sad {
  static T run(T a, T b, T c) {
    T difference = a < b ? wrapSub(b, a) : wrapSub(a, b);
    return wrapAdd(difference, c);
  }
};

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

template <template <class> class Op, class T>
void run1(Warp &warp, const Inst &inst) {
  mapLanes1<T, T>(warp, inst, Op<T>::run);
}
template <template <class> class Op, class T>
void run2(Warp &warp, const Inst &inst) {
  mapLanes2<T, T, T>(warp, inst, Op<T>::run);
}
template <template <class> class Op, class T>
void run3(Warp &warp, const Inst &inst) {
  mapLanes3<T, T, T, T>(warp, inst, Op<T>::run);
}
template <class T> void runMulWide(Warp &warp, const Inst &inst) {
  using W = Wide<T>;
  mapLanes2<W, T, T>(warp, inst, [](T a, T b) { return W(W(a) * W(b)); });
}
template <class T> void runMadWide(Warp &warp, const Inst &inst) {
  using W = Wide<T>;
  mapLanes3<W, T, T, W>(
      warp, inst, [](T a, T b, W c) { return wrapAdd<W>(W(W(a) * W(b)), c); });
}
template <bool Subtract> void runSaturating(Warp &warp, const Inst &inst) {
  mapLanes2<int32_t, int32_t, int32_t>(warp, inst, [](int32_t a, int32_t b) {
    return saturate<int32_t>(Subtract ? int64_t(a) - b : int64_t(a) + b);
  });
}
/// mul24 / mad24: the low 24 bits of the operands.
template <class T, bool Add> void run24(Warp &warp, const Inst &inst) {
  auto cut = [](T a) {
    return static_cast<T>(static_cast<T>(Unsigned<T>(a) << 8) >> 8);
  };
  if constexpr (Add)
    mapLanes3<T, T, T, T>(warp, inst, [=](T a, T b, T c) {
      return wrapAdd(mulLow(cut(a), cut(b)), c);
    });
  else
    mapLanes2<T, T, T>(warp, inst,
                       [=](T a, T b) { return mulLow(cut(a), cut(b)); });
}

/// The operation on both halves of a pair.
template <template <class> class Op, class T>
void runPair(Warp &warp, const Inst &inst) {
  mapLanes2<uint32_t, uint32_t, uint32_t>(
      warp, inst, [](uint32_t a, uint32_t b) {
        auto low = static_cast<uint16_t>(
            Op<T>::run(static_cast<T>(a), static_cast<T>(b)));
        auto high = static_cast<uint16_t>(
            Op<T>::run(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
        return uint32_t(high) << 16 | low;
      });
}

template <template <class> class Op> Handler pick2(Builder &b, Type type) {
  switch (type) {
  case Type::S16:
    return run2<Op, int16_t>;
  case Type::U16:
    return run2<Op, uint16_t>;
  case Type::S32:
    return run2<Op, int32_t>;
  case Type::U32:
    return run2<Op, uint32_t>;
  case Type::S64:
    return run2<Op, int64_t>;
  case Type::U64:
    return run2<Op, uint64_t>;
  default:
    b.refuse();
  }
}
template <template <class> class Op> Handler pick3(Builder &b, Type type) {
  switch (type) {
  case Type::S16:
    return run3<Op, int16_t>;
  case Type::U16:
    return run3<Op, uint16_t>;
  case Type::S32:
    return run3<Op, int32_t>;
  case Type::U32:
    return run3<Op, uint32_t>;
  case Type::S64:
    return run3<Op, int64_t>;
  case Type::U64:
    return run3<Op, uint64_t>;
  default:
    b.refuse();
  }
}
template <template <class> class Op>
Handler pickSigned1(Builder &b, Type type) {
  switch (type) {
  case Type::S16:
    return run1<Op, int16_t>;
  case Type::S32:
    return run1<Op, int32_t>;
  case Type::S64:
    return run1<Op, int64_t>;
  default:
    b.refuse();
  }
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void operands(Builder &b, unsigned sources, Type type) {
  b.expectOperands(sources + 1);
  b.dst(0, type);
  for (unsigned i = 1; i <= sources; ++i)
    b.src(i, type);
}

/// True when the instruction's type is floating point and it is decoded.
bool decodeAsFloat(Builder &b, Type type) {
  return decodeFloatArithmetic(b, type) || decodeHalfArithmetic(b, type);
}

/// add, min and max also work on pairs of 16-bit integers.
template <template <class> class Op> Handler pickPair(Type type) {
  return type == Type::S16x2   ? runPair<Op, int16_t>
         : type == Type::U16x2 ? runPair<Op, uint16_t>
                               : Handler(nullptr);
}

template <template <class> class Op, template <class> class Relu>
void decodeExtremum(Builder &b) {
  Type type = b.takeType();
  if (decodeAsFloat(b, type))
    return;
  if (type == Type::S32 && b.take("relu")) {
    b.inst.run = pick2<Relu>(b, type);
    operands(b, 2, type);
    return;
  }
  b.inst.run = pickPair<Op>(type);
  if (!b.inst.run)
    b.inst.run = pick2<Op>(b, type);
  operands(b, 2, type);
}

template <template <class> class Op> void decode2(Builder &b) {
  Type type = b.takeType();
  if (decodeAsFloat(b, type))
    return;
  b.inst.run = pick2<Op>(b, type);
  operands(b, 2, type);
}

template <template <class> class Op, bool Subtract>
void decodeAddSub(Builder &b) {
  if (b.take("cc"))
    return decodeCarrySum(b, Subtract, /*carryIn=*/false, /*carryOut=*/true);
  Type type = b.takeType();
  if (decodeAsFloat(b, type))
    return;
  b.inst.run = Subtract ? nullptr : pickPair<Op>(type);
  if (!b.inst.run)
    b.inst.run = pick2<Op>(b, type);
  if (type == Type::S32 && b.take("sat"))
    b.inst.run = runSaturating<Subtract>;
  operands(b, 2, type);
}

template <template <class> class Op> void decodeSigned1(Builder &b) {
  Type type = b.takeType();
  if (decodeAsFloat(b, type))
    return;
  b.inst.run = pickSigned1<Op>(b, type);
  operands(b, 1, type);
}

Type widened(Builder &b, Type type) {
  switch (type) {
  case Type::S16:
    return Type::S32;
  case Type::U16:
    return Type::U32;
  case Type::S32:
    return Type::S64;
  case Type::U32:
    return Type::U64;
  default:
    b.refuse();
  }
}

template <bool Mad> Handler pickWide(Type type) {
  switch (type) {
  case Type::S16:
    return Mad ? runMadWide<int16_t> : runMulWide<int16_t>;
  case Type::U16:
    return Mad ? runMadWide<uint16_t> : runMulWide<uint16_t>;
  case Type::S32:
    return Mad ? runMadWide<int32_t> : runMulWide<int32_t>;
  default:
    return Mad ? runMadWide<uint32_t> : runMulWide<uint32_t>;
  }
}

template <bool Mad> Handler pickProduct(Builder &b, Type type, bool high) {
  if constexpr (Mad)
    return high ? pick3<MadHi>(b, type) : pick3<MadLo>(b, type);
  else
    return high ? pick2<MulHi>(b, type) : pick2<MulLo>(b, type);
}

template <bool Mad> void decodeProduct(Builder &b) {
  if (Mad && b.take("cc"))
    return decodeCarryProduct(b, /*carryIn=*/false, /*carryOut=*/true);
  Type type = b.takeType();
  if (decodeAsFloat(b, type))
    return;
  auto part = b.takeOneOf({"lo", "hi", "wide"});
  if (!part)
    b.refuse();
  bool wide = *part == 2;
  Type result = wide ? widened(b, type) : type;
  b.inst.run = wide ? pickWide<Mad>(type) : pickProduct<Mad>(b, type, *part);
  b.expectOperands(Mad ? 4 : 3);
  b.dst(0, result);
  b.src(1, type);
  b.src(2, type);
  if (Mad)
    b.src(3, result);
}

template <bool Add> void decode24(Builder &b) {
  if (!b.take("lo"))
    b.refuse();
  Type type = b.takeType();
  if (type != Type::S32 && type != Type::U32)
    b.refuse();
  b.inst.run = type == Type::S32 ? run24<int32_t, Add> : run24<uint32_t, Add>;
  operands(b, Add ? 3 : 2, type);
}

void decodeSad(Builder &b) {
  Type type = b.takeType();
  b.inst.run = pick3<Sad>(b, type);
  operands(b, 3, type);
}

} // namespace

void addIntegerInstructions(DecodeTable &table) {
  table["add"] = decodeAddSub<Add, false>;
  table["sub"] = decodeAddSub<Sub, true>;
  table["mul"] = decodeProduct<false>;
  table["mad"] = decodeProduct<true>;
  table["mul24"] = decode24<false>;
  table["mad24"] = decode24<true>;
  table["sad"] = decodeSad;
  table["div"] = decode2<Div>;
  table["rem"] = decode2<Rem>;
  table["min"] = decodeExtremum<Min, MinRelu>;
  table["max"] = decodeExtremum<Max, MaxRelu>;
  table["abs"] = decodeSigned1<Abs>;
  table["neg"] = decodeSigned1<Neg>;
}

} // namespace attn::sim
