//===- Half.cpp - f16 and bf16 arithmetic ---------------------------------===//
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

/// Rounds a double to a float so that rounding on to 16 bits is as if done
/// once.
float oddFloat(double value) {
  auto nearest = static_cast<float>(value);
  double back = nearest;
  uint32_t bits = bitCast<uint32_t>(nearest);
  bool inexact = back != value && value == value && std::isfinite(nearest);
  bool away = std::fabs(back) > std::fabs(value);
  uint32_t odd = bits & 1 ? bits : away ? bits - 1 : bits + 1;
  return bitCast<float>(inexact ? odd : bits);
}

struct HalfFormat {
  static float from(uint16_t bits) { return fromHalf(bits); }
  static uint16_t to(double value) { return toHalf(oddFloat(value)); }
};
struct BfloatFormat {
  static float from(uint16_t bits) { return fromBfloat(bits); }
  static uint16_t to(double value) { return toBfloat(oddFloat(value)); }
};

constexpr uint16_t canonicalNan16 = 0x7fff;
constexpr uint16_t signBit16 = 0x8000;

/// Inst for this family: a = flushes, b = saturates, c = relu, d = NaN wins.
struct Modes {
  explicit Modes(const Inst &inst)
      : ftz(inst.a), saturates(inst.b), relu(inst.c), nanWins(inst.d) {}
  bool ftz, saturates, relu, nanWins;
};

template <class Format> float input(uint16_t bits, Modes modes) {
  bool subnormal = fromHalf(bits) != 0 && (bits & 0x7c00) == 0;
  return Format::from(modes.ftz && subnormal ? uint16_t(bits & signBit16)
                                             : bits);
}
template <class Format> uint16_t output(double value, Modes modes) {
  if (modes.saturates)
    value = value > 0 ? (value < 1 ? value : 1) : 0;
  if (modes.relu && (value < 0 || value == 0))
    value = 0;
  uint16_t bits = Format::to(value);
  bool subnormal = (bits & 0x7c00) == 0;
  return modes.ftz && subnormal ? uint16_t(bits & signBit16) : bits;
}

struct Add {
  static double run(double a, double b) { return exactFma(a, 1.0, b); }
};
struct Sub {
  static double run(double a, double b) { return exactFma(a, 1.0, -b); }
};
struct Mul {
  static double run(double a, double b) { return a * b; }
};

template <class Format, class Op> struct Arithmetic {
  static uint16_t run(uint16_t a, uint16_t b, Modes modes) {
    return output<Format>(
        Op::run(input<Format>(a, modes), input<Format>(b, modes)), modes);
  }
};
template <class Format, bool Max> struct Extremum {
  static uint16_t run(uint16_t a, uint16_t b, Modes modes) {
    float x = input<Format>(a, modes), y = input<Format>(b, modes);
    bool nanX = x != x, nanY = y != y;
    if ((nanX && nanY) || (modes.nanWins && (nanX || nanY)))
      return canonicalNan16;
    bool first = Max ? x > y || (x == y && !std::signbit(x))
                     : x < y || (x == y && std::signbit(x));
    float value = nanX ? y : nanY ? x : first ? x : y;
    return Format::to(value);
  }
};

/// The operation on one 16-bit value or on both of a pair.
template <bool Pair, class F> uint32_t each(F f, uint32_t a) {
  uint32_t low = f(static_cast<uint16_t>(a));
  if (!Pair)
    return low;
  return uint32_t(f(static_cast<uint16_t>(a >> 16))) << 16 | low;
}

template <bool Pair, class Op> void run2(Warp &warp, const Inst &inst) {
  Modes modes(inst);
  mapLanes2<uint32_t, uint32_t, uint32_t>(
      warp, inst, [=](uint32_t a, uint32_t b) {
        uint32_t low =
            Op::run(static_cast<uint16_t>(a), static_cast<uint16_t>(b), modes);
        if (!Pair)
          return low;
        uint32_t high = Op::run(static_cast<uint16_t>(a >> 16),
                                static_cast<uint16_t>(b >> 16), modes);
        return high << 16 | low;
      });
}

template <bool Pair, class Format> void runFma(Warp &warp, const Inst &inst) {
  Modes modes(inst);
  auto fma = [=](uint32_t a, uint32_t b, uint32_t c) -> uint32_t {
    return output<Format>(
        exactFma(input<Format>(static_cast<uint16_t>(a), modes),
                 input<Format>(static_cast<uint16_t>(b), modes),
                 input<Format>(static_cast<uint16_t>(c), modes)),
        modes);
  };
  mapLanes3<uint32_t, uint32_t, uint32_t, uint32_t>(
      warp, inst, [=](uint32_t a, uint32_t b, uint32_t c) {
        uint32_t low = fma(a, b, c);
        return Pair ? fma(a >> 16, b >> 16, c >> 16) << 16 | low : low;
      });
}

template <bool Pair, bool Negate, class Format>
void runSign(Warp &warp, const Inst &inst) {
  mapLanes1<uint32_t, uint32_t>(warp, inst, [](uint32_t a) {
    return each<Pair>(
        [](uint16_t v) -> uint16_t {
          if (Format::from(v) != Format::from(v))
            return canonicalNan16;
          return uint16_t(Negate ? v ^ signBit16 : v & ~signBit16);
        },
        a);
  });
}

template <bool Negate> Handler pickSign(bool pair, bool half) {
  if (half)
    return pair ? runSign<true, Negate, HalfFormat>
                : runSign<false, Negate, HalfFormat>;
  return pair ? runSign<true, Negate, BfloatFormat>
              : runSign<false, Negate, BfloatFormat>;
}

template <template <class> class Op> Handler pick2(Type type) {
  switch (type) {
  case Type::F16:
    return run2<false, Op<HalfFormat>>;
  case Type::F16x2:
    return run2<true, Op<HalfFormat>>;
  case Type::BF16:
    return run2<false, Op<BfloatFormat>>;
  default:
    return run2<true, Op<BfloatFormat>>;
  }
}
template <class F> using AddOp = Arithmetic<F, Add>;
template <class F> using SubOp = Arithmetic<F, Sub>;
template <class F> using MulOp = Arithmetic<F, Mul>;
template <class F> using MinOp = Extremum<F, false>;
template <class F> using MaxOp = Extremum<F, true>;

Handler pickFma(Type type) {
  switch (type) {
  case Type::F16:
    return runFma<false, HalfFormat>;
  case Type::F16x2:
    return runFma<true, HalfFormat>;
  case Type::BF16:
    return runFma<false, BfloatFormat>;
  default:
    return runFma<true, BfloatFormat>;
  }
}

} // namespace

bool decodeHalfArithmetic(Builder &b, Type type) {
  bool pair = type == Type::F16x2 || type == Type::BF16x2;
  if (!pair && type != Type::F16 && type != Type::BF16)
    return false;
  b.take("rn");
  b.inst.a = b.take("ftz");
  b.inst.b = b.take("sat");
  b.inst.c = b.take("relu");
  b.inst.d = b.take("NaN");
  bool half = type == Type::F16 || type == Type::F16x2;
  if (b.inst.a && !half)
    b.refuse();
  std::string_view name = b.mnemonic();
  unsigned sources = 2;
  if (name == "add") {
    b.inst.run = pick2<AddOp>(type);
  } else if (name == "sub") {
    b.inst.run = pick2<SubOp>(type);
  } else if (name == "mul") {
    b.inst.run = pick2<MulOp>(type);
  } else if (name == "min") {
    b.inst.run = pick2<MinOp>(type);
  } else if (name == "max") {
    b.inst.run = pick2<MaxOp>(type);
  } else if (name == "fma") {
    b.inst.run = pickFma(type);
    sources = 3;
  } else if (name == "neg") {
    b.inst.run = pickSign<true>(pair, half);
    sources = 1;
  } else if (name == "abs") {
    b.inst.run = pickSign<false>(pair, half);
    sources = 1;
  } else {
    b.refuse();
  }
  b.expectOperands(sources + 1);
  b.dst(0, type);
  for (unsigned i = 1; i <= sources; ++i)
    b.src(i, type);
  return true;
}

} // namespace attn::sim
