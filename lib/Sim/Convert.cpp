//===- Convert.cpp - cvt --------------------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Lanes.h"
#include "Numeric.h"

#include <limits>

namespace attn::sim {
namespace {

/// Inst for this family: type = result, a = Rounding, b = Mode bits,
/// c = source type.
enum Mode : uint8_t {
  Ftz = 1,
  Saturates = 2,
  Relu = 4,
  SaturatesFinite = 8,
  ToInteger = 16, ///< .rni and so on between floats
};

Rounding roundingOf(const Inst &inst) { return static_cast<Rounding>(inst.a); }

//===----------------------------------------------------------------------===//
// Integer to integer
//===----------------------------------------------------------------------===//

template <class R, class A> void runIntegers(Warp &warp, const Inst &inst) {
  mapLanes1<R, A>(warp, inst, [](A a) { return static_cast<R>(a); });
}

template <class R, class A>
void runSaturatingIntegers(Warp &warp, const Inst &inst) {
  mapLanes1<R, A>(warp, inst, [](A a) {
    __int128 value = a;
    __int128 low = std::numeric_limits<R>::min();
    __int128 high = std::numeric_limits<R>::max();
    return static_cast<R>(value < low ? low : value > high ? high : value);
  });
}

template <class R, class A> Handler pickIntegers(bool saturates) {
  return saturates ? runSaturatingIntegers<R, A> : runIntegers<R, A>;
}

template <class R> Handler pickIntegersFrom(Type source, bool saturates) {
  switch (source) {
  case Type::U8:
    return pickIntegers<R, uint8_t>(saturates);
  case Type::S8:
    return pickIntegers<R, int8_t>(saturates);
  case Type::U16:
    return pickIntegers<R, uint16_t>(saturates);
  case Type::S16:
    return pickIntegers<R, int16_t>(saturates);
  case Type::U32:
    return pickIntegers<R, uint32_t>(saturates);
  case Type::S32:
    return pickIntegers<R, int32_t>(saturates);
  case Type::U64:
    return pickIntegers<R, uint64_t>(saturates);
  case Type::S64:
    return pickIntegers<R, int64_t>(saturates);
  default:
    return nullptr;
  }
}

Handler pickIntegersTo(Type result, Type source, bool saturates) {
  switch (result) {
  case Type::U8:
    return pickIntegersFrom<uint8_t>(source, saturates);
  case Type::S8:
    return pickIntegersFrom<int8_t>(source, saturates);
  case Type::U16:
    return pickIntegersFrom<uint16_t>(source, saturates);
  case Type::S16:
    return pickIntegersFrom<int16_t>(source, saturates);
  case Type::U32:
    return pickIntegersFrom<uint32_t>(source, saturates);
  case Type::S32:
    return pickIntegersFrom<int32_t>(source, saturates);
  case Type::U64:
    return pickIntegersFrom<uint64_t>(source, saturates);
  case Type::S64:
    return pickIntegersFrom<int64_t>(source, saturates);
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// With a float on one side or both: one lane at a time, through double
//===----------------------------------------------------------------------===//

uint64_t laneBits(const Warp &warp, const uint32_t *lanes, const Operand &from,
                  unsigned lane) {
  return from.words == 2 ? getLane<uint64_t>(lanes, lane) : lanes[lane];
}

/// A 64-bit integer as a double that rounds correctly to single precision.
double oddDouble(__int128 value) {
  auto nearest = static_cast<double>(value);
  auto error = static_cast<double>(value - static_cast<__int128>(nearest));
  return roundToOdd(nearest, error);
}

/// A 64-bit integer rounded to double precision.
double roundedDouble(__int128 value, Rounding rounding) {
  auto nearest = static_cast<double>(value);
  __int128 error = value - static_cast<__int128>(nearest);
  if (error == 0 || rounding == Rounding::Nearest)
    return nearest;
  bool up = rounding == Rounding::Up ||
            (rounding == Rounding::TowardZero && value < 0);
  if (up == (error > 0))
    return std::nextafter(nearest, up ? INFINITY : -INFINITY);
  return nearest;
}

double readValue(Type type, uint64_t bits, const Inst &inst) {
  auto integer = [&](__int128 value) {
    return inst.type == Type::F64 ? roundedDouble(value, roundingOf(inst))
                                  : oddDouble(value);
  };
  switch (type) {
  case Type::U8:
    return static_cast<uint8_t>(bits);
  case Type::S8:
    return static_cast<int8_t>(bits);
  case Type::U16:
    return static_cast<uint16_t>(bits);
  case Type::S16:
    return static_cast<int16_t>(bits);
  case Type::U32:
    return static_cast<uint32_t>(bits);
  case Type::S32:
    return static_cast<int32_t>(bits);
  case Type::U64:
    return integer(static_cast<__int128>(bits));
  case Type::S64:
    return integer(static_cast<int64_t>(bits));
  case Type::F16:
    return fromHalf(static_cast<uint16_t>(bits));
  case Type::BF16:
    return fromBfloat(static_cast<uint16_t>(bits));
  case Type::F32:
    return bitCast<float>(static_cast<uint32_t>(bits));
  default:
    return bitCast<double>(bits);
  }
}

double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  case Rounding::TowardZero:
    return std::trunc(value);
  default:
    return std::nearbyint(value);
  }
}

/// NaN gives zero, or the sign bit when either side has 64 bits (PTX ISA
/// 9.7.9.21); everything else clamps.
uint64_t toIntegerBits(Type type, Type source, double value) {
  unsigned bits = typeBits(type);
  bool isSigned = isSignedInteger(type);
  if (value != value) {
    bool wide = source == Type::F64 || bits == 64;
    return wide ? uint64_t(1) << (bits - 1) : 0;
  }
  double high = std::ldexp(1.0, static_cast<int>(bits - isSigned));
  double low = isSigned ? -high : 0.0;
  if (value >= high)
    return isSigned ? (uint64_t(1) << (bits - 1)) - 1
                    : ~uint64_t(0) >> (64 - bits);
  if (value <= low)
    return isSigned ? uint64_t(1) << (bits - 1) : 0;
  return isSigned ? static_cast<uint64_t>(static_cast<int64_t>(value))
                  : static_cast<uint64_t>(value);
}

uint64_t toFloatBits(const Inst &inst, double value) {
  Rounding rounding = roundingOf(inst);
  if (inst.b & ToInteger)
    value = roundToInteger(value, rounding);
  if (inst.b & Saturates)
    value = value > 0 ? (value < 1 ? value : 1) : 0;
  if ((inst.b & Relu) && (value < 0 || (value == 0 && std::signbit(value))))
    value = 0;
  bool finite = inst.b & SaturatesFinite;
  switch (inst.type) {
  case Type::F16:
    return toSmall(halfFormat, value, rounding, finite);
  case Type::BF16:
    return toSmall(bfloatFormat, value, rounding, finite);
  case Type::F32: {
    float result = canonical(toFloat(value, rounding));
    return bitCast<uint32_t>(inst.b & Ftz ? flush(result) : result);
  }
  case Type::TF32: {
    // 10 bits of mantissa in the upper 19 bits of the word.
    if (value != value)
      return canonicalNan;
    SmallFormat tf32{8, 10, true};
    return uint64_t(toSmall(tf32, value, rounding, finite)) << 13;
  }
  default:
    return bitCast<uint64_t>(value);
  }
}

/// Sign-extends a signed result to its register.
void putBits(uint32_t *words, const Operand &to, Type type, uint64_t bits) {
  unsigned width = typeBits(type);
  if (isSignedInteger(type) && width < 64)
    bits = static_cast<uint64_t>(static_cast<int64_t>(bits << (64 - width)) >>
                                 (64 - width));
  words[0] = static_cast<uint32_t>(bits);
  if (to.words == 2)
    words[1] = static_cast<uint32_t>(bits >> 32);
  else if (to.bits == 16)
    words[0] &= 0xffff;
}

void runGeneral(Warp &warp, const Inst &inst) {
  auto source = static_cast<Type>(inst.c);
  const Operand &from = inst.src(0), &to = inst.dst();
  const uint32_t *lanes = warp.lanes(from);
  uint32_t *results = warp.lanes(to);
  forEachLane(warp.exec, [&](unsigned lane) {
    double value = readValue(source, laneBits(warp, lanes, from, lane), inst);
    if ((inst.b & Ftz) && source == Type::F32)
      value = flush(static_cast<float>(value));
    uint64_t bits = isIntegerLike(inst.type)
                        ? toIntegerBits(inst.type, source,
                                        roundToInteger(value, roundingOf(inst)))
                        : toFloatBits(inst, value);
    putBits(results + lane * to.words, to, inst.type, bits);
  });
}

/// Integers whose result is narrower than its register and is extended to it.
void runNarrowInteger(Warp &warp, const Inst &inst) {
  auto source = static_cast<Type>(inst.c);
  unsigned bits = typeBits(inst.type), sourceBits = typeBits(source);
  bool isSigned = isSignedInteger(inst.type);
  const Operand &from = inst.src(0), &to = inst.dst();
  const uint32_t *lanes = warp.lanes(from);
  uint32_t *results = warp.lanes(to);
  __int128 high = (__int128(1) << (bits - isSigned)) - 1;
  __int128 low = isSigned ? -high - 1 : 0;
  forEachLane(warp.exec, [&](unsigned lane) {
    uint64_t raw = laneBits(warp, lanes, from, lane) << (64 - sourceBits);
    __int128 value =
        isSignedInteger(source)
            ? __int128(static_cast<int64_t>(raw) >> (64 - sourceBits))
            : __int128(raw >> (64 - sourceBits));
    if (inst.b & Saturates)
      value = value < low ? low : value > high ? high : value;
    putBits(results + lane * to.words, to, inst.type,
            static_cast<uint64_t>(value) & ~uint64_t(0) >> (64 - bits));
  });
}

//===----------------------------------------------------------------------===//
// The common conversions, vectorised
//===----------------------------------------------------------------------===//

void runSingleFromS32(Warp &warp, const Inst &inst) {
  mapLanes1<float, int32_t>(warp, inst,
                            [](int32_t a) { return static_cast<float>(a); });
}
void runSingleFromU32(Warp &warp, const Inst &inst) {
  mapLanes1<float, uint32_t>(warp, inst,
                             [](uint32_t a) { return static_cast<float>(a); });
}
void runSingleFromHalf(Warp &warp, const Inst &inst) {
  mapLanes1<float, uint16_t>(warp, inst,
                             [](uint16_t a) { return canonical(fromHalf(a)); });
}
void runSingleFromBfloat(Warp &warp, const Inst &inst) {
  mapLanes1<float, uint16_t>(warp, inst, fromBfloat);
}
void runHalf(Warp &warp, const Inst &inst) {
  mapLanes1<uint16_t, float>(warp, inst, toHalf);
}
void runBfloat(Warp &warp, const Inst &inst) {
  mapLanes1<uint16_t, float>(warp, inst, toBfloat);
}
/// d = {high half: a, low half: b}.
void runHalfPair(Warp &warp, const Inst &inst) {
  mapLanes2<uint32_t, float, float>(warp, inst, [](float a, float b) {
    return uint32_t(toHalf(a)) << 16 | toHalf(b);
  });
}
void runBfloatPair(Warp &warp, const Inst &inst) {
  mapLanes2<uint32_t, float, float>(warp, inst, [](float a, float b) {
    return uint32_t(toBfloat(a)) << 16 | toBfloat(b);
  });
}

Handler pickCommon(const Inst &inst, Type source) {
  if (inst.b || roundingOf(inst) != Rounding::Nearest)
    return nullptr;
  if (inst.type == Type::F32) {
    switch (source) {
    case Type::S32:
      return runSingleFromS32;
    case Type::U32:
      return runSingleFromU32;
    case Type::F16:
      return runSingleFromHalf;
    case Type::BF16:
      return runSingleFromBfloat;
    default:
      return nullptr;
    }
  }
  if (source == Type::F32 && inst.type == Type::F16)
    return runHalf;
  if (source == Type::F32 && inst.type == Type::BF16)
    return runBfloat;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

const SmallFormat &formatOf(Type type) {
  switch (type) {
  case Type::F16x2:
    return halfFormat;
  case Type::BF16x2:
    return bfloatFormat;
  case Type::E4M3x2:
    return e4m3Format;
  default:
    return e5m2Format;
  }
}

uint32_t toSmallPair(const Inst &inst, double high, double low) {
  const SmallFormat &format = formatOf(inst.type);
  unsigned bits = typeBits(inst.type) / 2;
  auto one = [&](double value) {
    if ((inst.b & Relu) && (value < 0 || (value == 0 && std::signbit(value))))
      value = 0;
    return toSmall(format, value, roundingOf(inst), inst.b & SaturatesFinite);
  };
  return one(high) << bits | one(low);
}

void runPairFromSingles(Warp &warp, const Inst &inst) {
  mapLanes2<uint32_t, float, float>(
      warp, inst, [&](float a, float b) { return toSmallPair(inst, a, b); });
}
void runPairFromPair(Warp &warp, const Inst &inst) {
  auto source = static_cast<Type>(inst.c);
  const SmallFormat &format = formatOf(source);
  unsigned bits = typeBits(source) / 2;
  mapLanes1<uint32_t, uint32_t>(warp, inst, [&](uint32_t pair) {
    uint32_t mask = (uint32_t(1) << bits) - 1;
    return toSmallPair(inst, fromSmall(format, pair >> bits & mask),
                       fromSmall(format, pair & mask));
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

bool isPair(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2 || type == Type::E4M3x2 ||
         type == Type::E5M2x2;
}
bool isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
         type == Type::F64;
}

void takeModes(Builder &b) {
  static constexpr Rounding integerRoundings[] = {
      Rounding::Nearest, Rounding::TowardZero, Rounding::Down, Rounding::Up};
  if (auto rounding = b.takeOneOf({"rn", "rz", "rm", "rp", "rna"})) {
    b.inst.a = static_cast<uint8_t>(*rounding);
  } else if (auto toInteger = b.takeOneOf({"rni", "rzi", "rmi", "rpi"})) {
    b.inst.a = static_cast<uint8_t>(integerRoundings[*toInteger]);
    b.inst.b |= ToInteger;
  }
  b.inst.b |= b.take("ftz") ? Ftz : 0;
  b.inst.b |= b.take("sat") ? Saturates : 0;
  b.inst.b |= b.take("relu") ? Relu : 0;
  b.inst.b |= b.take("satfinite") ? SaturatesFinite : 0;
}

void decodePair(Builder &b, Type result, Type source) {
  b.dst(0, result);
  if (source == Type::F32) {
    b.expectOperands(3);
    b.src(1, Type::F32);
    b.src(2, Type::F32);
    b.inst.run = runPairFromSingles;
    bool common = b.inst.b == 0 && roundingOf(b.inst) == Rounding::Nearest;
    if (common && result == Type::F16x2)
      b.inst.run = runHalfPair;
    if (common && result == Type::BF16x2)
      b.inst.run = runBfloatPair;
    return;
  }
  if (!isPair(source))
    b.refuse();
  b.expectOperands(2);
  b.src(1, source);
  b.inst.run = runPairFromPair;
}

void decodeCvt(Builder &b) {
  takeModes(b);
  if (b.take("pack"))
    b.refuse();
  Type result = b.takeType(), source = b.takeType();
  b.inst.type = result;
  b.inst.c = static_cast<uint8_t>(source);
  if (isPair(result))
    return decodePair(b, result, source);
  b.expectOperands(2);
  bool integers = isIntegerLike(result) && isIntegerLike(source);
  // Narrow integers may live in wider registers (PTX ISA 9.4.1), on either
  // side.
  b.dst(0, result, Builder::AtLeast);
  b.src(1, source, Builder::AtLeast);
  const AstOperand &to = b.ast.operands[0];
  auto declared = b.registerType(to);
  bool widens = declared && typeBits(*declared) != typeBits(result);
  auto held = b.registerType(b.ast.operands[1]);
  widens |= held && typeBits(*held) == 64 && typeBits(source) != 64;
  if (integers && !widens) {
    b.inst.run = pickIntegersTo(result, source, b.inst.b & Saturates);
  } else if (integers) {
    b.inst.run = runNarrowInteger;
  } else if (isFloat(result) || isFloat(source)) {
    Handler common = widens ? nullptr : pickCommon(b.inst, source);
    b.inst.run = common ? common : runGeneral;
  } else if (result == Type::TF32 && source == Type::F32) {
    b.inst.run = runGeneral;
  }
  if (!b.inst.run)
    b.refuse();
}

} // namespace

void addConvertInstructions(DecodeTable &table) { table["cvt"] = decodeCvt; }

} // namespace attn::sim
