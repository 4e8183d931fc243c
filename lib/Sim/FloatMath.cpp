//===- FloatMath.cpp - Roots, exponentials and other approximations -------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The .approx instructions state an error and no more; here they are computed
// in double precision and rounded, which is within any of them. A kernel must
// not count on the exact bits of either.
//
#include "Decoder.h"
#include "Lanes.h"
#include "Numeric.h"

namespace attn::sim {
namespace {

struct Ex2 {
  static double run(double a) { return std::exp2(a); }
};
struct Lg2 {
  static double run(double a) { return std::log2(a); }
};
struct Rcp {
  static double run(double a) { return 1.0 / a; }
};
struct Sqrt {
  static double run(double a) { return std::sqrt(a); }
};
struct Rsqrt {
  static double run(double a) { return 1.0 / std::sqrt(a); }
};
struct Tanh {
  static double run(double a) { return std::tanh(a); }
};
struct Sin {
  static double run(double a) { return std::sin(a); }
};
struct Cos {
  static double run(double a) { return std::cos(a); }
};

template <class Op, bool Ftz> void runFloat(Warp &warp, const Inst &inst) {
  auto rounding = static_cast<Rounding>(inst.c);
  mapLanes1<float, float>(warp, inst, [rounding](float a) {
    a = Ftz ? flush(a) : a;
    float value = toFloat(Op::run(a), rounding);
    return canonical(Ftz ? flush(value) : value);
  });
}

template <class Op> void runDouble(Warp &warp, const Inst &inst) {
  mapLanes1<double, double>(warp, inst, Op::run);
}

template <class Op, bool Bfloat> uint16_t evaluate(uint16_t bits) {
  float a = Bfloat ? fromBfloat(bits) : fromHalf(bits);
  auto value = static_cast<float>(Op::run(a));
  return Bfloat ? toBfloat(value) : toHalf(value);
}

template <class Op, bool Bfloat> void runSmall(Warp &warp, const Inst &inst) {
  mapLanes1<uint16_t, uint16_t>(warp, inst, evaluate<Op, Bfloat>);
}
template <class Op, bool Bfloat>
void runSmallPair(Warp &warp, const Inst &inst) {
  mapLanes1<uint32_t, uint32_t>(warp, inst, [](uint32_t pair) {
    uint32_t low = evaluate<Op, Bfloat>(static_cast<uint16_t>(pair));
    uint32_t high = evaluate<Op, Bfloat>(static_cast<uint16_t>(pair >> 16));
    return high << 16 | low;
  });
}

void operands(Builder &b, Type type) {
  b.expectOperands(2);
  b.dst(0, type);
  b.src(1, type);
}

/// Single precision only, .approx.
template <class Op> void decodeApprox(Builder &b) {
  Type type = b.takeType();
  if (type != Type::F32 || !b.take("approx"))
    b.refuse();
  b.inst.run = b.take("ftz") ? runFloat<Op, true> : runFloat<Op, false>;
  operands(b, type);
}

/// Also for f16 and bf16.
template <class Op> void decodeApproxSmall(Builder &b) {
  Type type = b.takeType();
  if (!b.take("approx"))
    b.refuse();
  bool ftz = b.take("ftz");
  switch (type) {
  case Type::F32:
    b.inst.run = ftz ? runFloat<Op, true> : runFloat<Op, false>;
    break;
  case Type::F16:
    b.inst.run = runSmall<Op, false>;
    break;
  case Type::BF16:
    b.inst.run = runSmall<Op, true>;
    break;
  case Type::F16x2:
    b.inst.run = runSmallPair<Op, false>;
    break;
  case Type::BF16x2:
    b.inst.run = runSmallPair<Op, true>;
    break;
  default:
    b.refuse();
  }
  operands(b, type);
}

/// .approx or correctly rounded, single or double precision. The double result
/// of one operation, rounded once more, is right to the nearest: 53 bits are
/// more than 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?").
template <class Op> void decodeRounded(Builder &b) {
  Type type = b.takeType();
  bool approx = b.take("approx"), ftz = b.take("ftz");
  auto rounding = b.takeOneOf({"rn", "rz", "rm", "rp"});
  if (!approx && !rounding)
    b.refuse();
  b.inst.c = static_cast<uint8_t>(rounding.value_or(0));
  if (type == Type::F64) {
    if (b.inst.c != 0)
      b.fail("'" + std::string(b.ast.opcode) +
             "' is supported with .rn only in double precision");
    b.inst.run = runDouble<Op>;
  } else if (type == Type::F32) {
    b.inst.run = ftz ? runFloat<Op, true> : runFloat<Op, false>;
  } else {
    b.refuse();
  }
  operands(b, type);
}

} // namespace

void addFloatMathInstructions(DecodeTable &table) {
  table["ex2"] = decodeApproxSmall<Ex2>;
  table["tanh"] = decodeApproxSmall<Tanh>;
  table["lg2"] = decodeApprox<Lg2>;
  table["sin"] = decodeApprox<Sin>;
  table["cos"] = decodeApprox<Cos>;
  table["rcp"] = decodeRounded<Rcp>;
  table["sqrt"] = decodeRounded<Sqrt>;
  table["rsqrt"] = decodeRounded<Rsqrt>;
}

} // namespace attn::sim
