//===- Float.cpp - Single and double precision arithmetic -----------------===//
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

/// Inst for this family: a = flushes subnormals, b = saturates,
/// c = Rounding, d = a NaN operand wins in min and max.
Rounding roundingOf(const Inst &inst) { return static_cast<Rounding>(inst.c); }

//===----------------------------------------------------------------------===//
// Single precision, round to nearest: the loops that kernels spend time in
//===----------------------------------------------------------------------===//

template <bool Ftz> float input(float value) {
  return Ftz ? flush(value) : value;
}
template <bool Ftz> float output(float value) {
  return canonical(Ftz ? flush(value) : value);
}

/// a * b + c; a sum of zero is negative when rounding down, unless both terms
/// are +0 (IEEE 754, 6.3).
double directedFma(double a, double b, double c, Rounding rounding) {
  double sum = exactFma(a, b, c);
  if (sum != 0 || rounding != Rounding::Down)
    return sum;
  bool plusZeros =
      a * b == 0 && c == 0 && !std::signbit(a * b) && !std::signbit(c);
  return plusZeros ? 0.0 : -0.0;
}

struct Add {
  static float run(float a, float b) { return a + b; }
  /// Rounds correctly to float in every direction.
  static double wide(float a, float b, Rounding rounding) {
    return directedFma(a, 1.0, b, rounding);
  }
};
struct Sub {
  static float run(float a, float b) { return a - b; }
  static double wide(float a, float b, Rounding rounding) {
    return directedFma(a, 1.0, -b, rounding);
  }
};
struct Mul {
  static float run(float a, float b) { return a * b; }
  static double wide(float a, float b, Rounding) { return double(a) * b; }
};
struct Div {
  static float run(float a, float b) { return a / b; }
  /// The remainder's sign says on which side of the quotient the exact one is.
  static double wide(float a, float b, Rounding) {
    double quotient = double(a) / b;
    double remainder = std::fma(-quotient, double(b), double(a));
    return roundToOdd(quotient, b > 0 ? remainder : -remainder);
  }
};

template <class Op, bool Ftz> void runNearest2(Warp &warp, const Inst &inst) {
  mapLanes2<float, float, float>(warp, inst, [](float a, float b) {
    return output<Ftz>(Op::run(input<Ftz>(a), input<Ftz>(b)));
  });
}

/// Any rounding, saturation.
template <class Op> void runGeneral2(Warp &warp, const Inst &inst) {
  bool ftz = inst.a, saturates = inst.b;
  Rounding rounding = roundingOf(inst);
  mapLanes2<float, float, float>(warp, inst, [=](float a, float b) {
    a = ftz ? flush(a) : a;
    b = ftz ? flush(b) : b;
    float value = toFloat(Op::wide(a, b, rounding), rounding);
    value = saturates ? saturateUnit(value) : value;
    return canonical(ftz ? flush(value) : value);
  });
}

template <bool Ftz> void runNearestFma(Warp &warp, const Inst &inst) {
  mapLanes3<float, float, float, float>(
      warp, inst, [](float a, float b, float c) {
        return output<Ftz>(static_cast<float>(
            exactFma(input<Ftz>(a), input<Ftz>(b), input<Ftz>(c))));
      });
}

void runGeneralFma(Warp &warp, const Inst &inst) {
  bool ftz = inst.a, saturates = inst.b;
  Rounding rounding = roundingOf(inst);
  mapLanes3<float, float, float, float>(
      warp, inst, [=](float a, float b, float c) {
        a = ftz ? flush(a) : a;
        b = ftz ? flush(b) : b;
        c = ftz ? flush(c) : c;
        float value = toFloat(directedFma(a, b, c, rounding), rounding);
        value = saturates ? saturateUnit(value) : value;
        return canonical(ftz ? flush(value) : value);
      });
}

//===----------------------------------------------------------------------===//
// Double precision, round to nearest only
//===----------------------------------------------------------------------===//

constexpr uint64_t canonicalNan64 = 0x7ff8000000000000;

double canonical64(double value) {
  return value != value ? bitCast<double>(canonicalNan64) : value;
}

/// A NaN result is the first operand that is one, made quiet, as on the GPU.
double resultOf(double value, double a, double b, double c) {
  constexpr uint64_t quietBit = 0x0008000000000000;
  if (value == value)
    return value;
  double first = a != a ? a : b != b ? b : c;
  return first != first ? bitCast<double>(bitCast<uint64_t>(first) | quietBit)
                        : canonical64(value);
}

template <class Op> void runDouble2(Warp &warp, const Inst &inst) {
  mapLanes2<double, double, double>(warp, inst, [](double a, double b) {
    return resultOf(Op::run(a, b), a, b, 0);
  });
}
struct Add64 {
  static double run(double a, double b) { return a + b; }
};
struct Sub64 {
  static double run(double a, double b) { return a - b; }
};
struct Mul64 {
  static double run(double a, double b) { return a * b; }
};
struct Div64 {
  static double run(double a, double b) { return a / b; }
};
void runDoubleFma(Warp &warp, const Inst &inst) {
  mapLanes3<double, double, double, double>(
      warp, inst, [](double a, double b, double c) {
        return resultOf(std::fma(a, b, c), a, b, c);
      });
}

//===----------------------------------------------------------------------===//
// min, max, abs, neg, copysign
//===----------------------------------------------------------------------===//

/// -0 is less than +0; a NaN loses against a number unless .NaN is given
/// (PTX ISA 9.7.3.12).
template <bool Max, class T> T extremum(T a, T b) {
  T smaller = a < b || (a == b && std::signbit(a)) ? a : b;
  T larger = a > b || (a == b && !std::signbit(a)) ? a : b;
  T value = Max ? larger : smaller;
  value = a != a ? b : value;
  return b != b ? a : value;
}

template <bool Max, bool Ftz, bool NanWins>
void runExtremum(Warp &warp, const Inst &inst) {
  mapLanes2<float, float, float>(warp, inst, [](float a, float b) {
    a = input<Ftz>(a);
    b = input<Ftz>(b);
    float value = extremum<Max>(a, b);
    if (NanWins && (a != a || b != b))
      value = bitCast<float>(canonicalNan);
    return canonical(value);
  });
}
template <bool Max> void runExtremum64(Warp &warp, const Inst &inst) {
  mapLanes2<double, double, double>(warp, inst, [](double a, double b) {
    return canonical64(extremum<Max>(a, b));
  });
}

template <bool Ftz> void runAbs(Warp &warp, const Inst &inst) {
  mapLanes1<float, float>(
      warp, inst, [](float a) { return canonical(std::fabs(input<Ftz>(a))); });
}
template <bool Ftz> void runNeg(Warp &warp, const Inst &inst) {
  mapLanes1<float, float>(warp, inst,
                          [](float a) { return canonical(-input<Ftz>(a)); });
}
void runAbs64(Warp &warp, const Inst &inst) {
  mapLanes1<double, double>(
      warp, inst, [](double a) { return a != a ? a + a : std::fabs(a); });
}
void runNeg64(Warp &warp, const Inst &inst) {
  mapLanes1<double, double>(warp, inst,
                            [](double a) { return a != a ? a + a : -a; });
}
template <class T> void runCopysign(Warp &warp, const Inst &inst) {
  // The sign of the first source, the magnitude of the second.
  mapLanes2<T, T, T>(warp, inst, [](T a, T b) { return std::copysign(b, a); });
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

/// Consumes rounding, .ftz and .sat. True when nothing but .rn and .ftz was
/// there.
bool takeRounding(Builder &b) {
  if (auto rounding = b.takeOneOf({"rn", "rz", "rm", "rp"}))
    b.inst.c = static_cast<uint8_t>(*rounding);
  b.inst.a = b.take("ftz");
  b.inst.b = b.take("sat");
  return roundingOf(b.inst) == Rounding::Nearest && !b.inst.b;
}

/// Double precision rounds to nearest only; other modes are refused.
void requireNearest(Builder &b) {
  if (!takeRounding(b) || b.inst.a)
    b.fail("'" + std::string(b.ast.opcode) +
           "' is supported with .rn only in double precision");
}

template <class Op, class Op64> void decodeArithmetic2(Builder &b, Type type) {
  if (type == Type::F64) {
    requireNearest(b);
    b.inst.run = runDouble2<Op64>;
  } else if (takeRounding(b)) {
    b.inst.run = b.inst.a ? runNearest2<Op, true> : runNearest2<Op, false>;
  } else {
    b.inst.run = runGeneral2<Op>;
  }
  operands(b, 2, type);
}

/// div.full and div.approx have an error of 2 ulp (PTX ISA 9.7.3.8): the
/// correctly rounded quotient is within it.
void decodeDivision(Builder &b, Type type) {
  b.takeOneOf({"full", "approx"});
  decodeArithmetic2<Div, Div64>(b, type);
}

void decodeFused(Builder &b, Type type) {
  if (type == Type::F64) {
    requireNearest(b);
    b.inst.run = runDoubleFma;
  } else if (takeRounding(b)) {
    b.inst.run = b.inst.a ? runNearestFma<true> : runNearestFma<false>;
  } else {
    b.inst.run = runGeneralFma;
  }
  operands(b, 3, type);
}

template <bool Max> void decodeExtremum(Builder &b, Type type) {
  bool ftz = b.take("ftz"), nanWins = b.take("NaN");
  static constexpr Handler handlers[2][2] = {
      {runExtremum<Max, false, false>, runExtremum<Max, false, true>},
      {runExtremum<Max, true, false>, runExtremum<Max, true, true>}};
  b.inst.run = type == Type::F64 ? runExtremum64<Max> : handlers[ftz][nanWins];
  if (type == Type::F64 && (ftz || nanWins))
    b.refuse();
  operands(b, 2, type);
}

void decodeSign(Builder &b, Type type, bool negate) {
  bool ftz = b.take("ftz");
  if (type == Type::F64)
    b.inst.run = negate ? runNeg64 : runAbs64;
  else if (negate)
    b.inst.run = ftz ? runNeg<true> : runNeg<false>;
  else
    b.inst.run = ftz ? runAbs<true> : runAbs<false>;
  operands(b, 1, type);
}

void decodeFma(Builder &b) {
  Type type = b.takeType();
  if (!decodeFloatArithmetic(b, type) && !decodeHalfArithmetic(b, type))
    b.refuse();
}

void decodeCopysign(Builder &b) {
  Type type = b.takeType();
  if (type != Type::F32 && type != Type::F64)
    b.refuse();
  b.inst.run = type == Type::F32 ? runCopysign<float> : runCopysign<double>;
  operands(b, 2, type);
}

} // namespace

bool decodeFloatArithmetic(Builder &b, Type type) {
  if (type != Type::F32 && type != Type::F64)
    return false;
  std::string_view name = b.mnemonic();
  if (name == "add")
    decodeArithmetic2<Add, Add64>(b, type);
  else if (name == "sub")
    decodeArithmetic2<Sub, Sub64>(b, type);
  else if (name == "mul")
    decodeArithmetic2<Mul, Mul64>(b, type);
  else if (name == "div")
    decodeDivision(b, type);
  else if (name == "fma" || name == "mad")
    decodeFused(b, type);
  else if (name == "min")
    decodeExtremum<false>(b, type);
  else if (name == "max")
    decodeExtremum<true>(b, type);
  else if (name == "abs" || name == "neg")
    decodeSign(b, type, name == "neg");
  else
    b.refuse();
  return true;
}

void addFloatInstructions(DecodeTable &table) {
  table["fma"] = decodeFma;
  table["copysign"] = decodeCopysign;
}

} // namespace attn::sim
