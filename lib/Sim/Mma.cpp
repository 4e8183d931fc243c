//===- Mma.cpp - mma.sync -------------------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// PTX ISA 9.7.14.5: m16n8 with 16 or 32 bytes of k in f16, bf16, tf32, e4m3,
// e5m2, s8 or u8. Products are exact in single precision; an accumulator starts
// at C and takes the products in the order of k, rounding to nearest after
// each. Tensor cores add a whole k-step at once and truncate, so results differ
// from a GPU's in the last bits, and not at all where every partial sum is
// exact. Integers are exact.
//
#include "Decoder.h"
#include "Lanes.h"
#include "Numeric.h"
#include "WgmmaDecoder.h"

#include <algorithm>

namespace attn::sim {
namespace {

constexpr unsigned rowsM = 16, columnsN = 8, maxK = 32;

// In Inst: a = type of A, b = type of B, c = Accumulator, d = bytes of k, imm =
// saturates.
struct Tiles {
  alignas(64) float a[rowsM * maxK];
  alignas(64) float b[maxK * columnsN];
  alignas(64) uint32_t c[rowsM][columnsN]; ///< floats, or integers for S32
};

/// Lane 4 * g + t holds 4 bytes of k at 16 * (i / parts) + 4 * t of row
/// g + 8 * (i % parts) in register i: two parts for A, one for B.
void unpackFragments(Warp &warp, const Inst &inst, unsigned first,
                     unsigned parts, Element element, float *out) {
  unsigned bytes = inst.d, lines = 8 * parts;
  uint8_t raw[rowsM * wgmmaDepthBytes];
  for (unsigned i = 0; i < bytes / 16 * parts; ++i) {
    const uint32_t *from = warp.lanes(inst.src(first + i));
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned line = lane / 4 + 8 * (i % parts);
      std::memcpy(raw + line * bytes + 16 * (i / parts) + 4 * (lane % 4),
                  from + lane, 4);
    }
  }
  spreadElements(element, raw, lines, bytes / elementBytes(element),
                 /*transposes=*/parts == 1, 1.0f, out);
}

/// Four registers of 32 bits; f16: two registers of pairs.
void unpackC(Warp &warp, const Inst &inst, unsigned first, Tiles &tiles) {
  bool half = static_cast<Accumulator>(inst.c) == Accumulator::F16;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t *from = warp.lanes(inst.src(first + (half ? i / 2 : i)));
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      uint32_t word = from[lane];
      if (half)
        word = bitCast<uint32_t>(
            fromHalf(static_cast<uint16_t>(word >> 16 * (i % 2))));
      tiles.c[8 * (i / 2) + lane / 4][2 * (lane % 4) + i % 2] = word;
    }
  }
}

void packD(Warp &warp, const Inst &inst, const Tiles &tiles) {
  auto kind = static_cast<Accumulator>(inst.c);
  for (unsigned i = 0; i < inst.destinations; ++i) {
    uint32_t *to = warp.lanes(inst.dst(i));
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned column = 2 * (lane % 4);
      if (kind == Accumulator::F16) {
        const uint32_t *at = &tiles.c[8 * i + lane / 4][column];
        to[lane] = uint32_t(toHalf(bitCast<float>(at[1]))) << 16 |
                   toHalf(bitCast<float>(at[0]));
        continue;
      }
      uint32_t word = tiles.c[8 * (i / 2) + lane / 4][column + i % 2];
      if (kind == Accumulator::F32)
        word = bitCast<uint32_t>(canonical(bitCast<float>(word)));
      to[lane] = word;
    }
  }
}

void multiplyFloats(Tiles &tiles, unsigned k) {
  for (unsigned m = 0; m < rowsM; ++m) {
    float sum[columnsN];
    std::memcpy(sum, tiles.c[m], sizeof(sum));
    for (unsigned at = 0; at < k; ++at)
      for (unsigned n = 0; n < columnsN; ++n)
        sum[n] += tiles.a[m * k + at] * tiles.b[at * columnsN + n];
    std::memcpy(tiles.c[m], sum, sizeof(sum));
  }
}

/// Sums of 32 products of bytes are exact in a float.
void multiplyIntegers(Tiles &tiles, unsigned k, bool saturates) {
  for (unsigned m = 0; m < rowsM; ++m)
    for (unsigned n = 0; n < columnsN; ++n) {
      float sum = 0;
      for (unsigned at = 0; at < k; ++at)
        sum += tiles.a[m * k + at] * tiles.b[at * columnsN + n];
      uint32_t &c = tiles.c[m][n];
      int64_t exact = int64_t(static_cast<int32_t>(c)) + int64_t(sum);
      if (saturates)
        exact = std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX);
      c = static_cast<uint32_t>(exact);
    }
}

void runMma(Warp &warp, const Inst &inst) {
  warp.requireLanes(inst, allLanes);
  auto a = static_cast<Element>(inst.a), b = static_cast<Element>(inst.b);
  unsigned registersB = inst.d / 16u, registersA = 2 * registersB;
  unsigned k = inst.d / elementBytes(a);
  Tiles tiles;
  unpackFragments(warp, inst, 0, /*parts=*/2, a, tiles.a);
  unpackFragments(warp, inst, registersA, /*parts=*/1, b, tiles.b);
  unpackC(warp, inst, registersA + registersB, tiles);
  if (static_cast<Accumulator>(inst.c) == Accumulator::S32)
    multiplyIntegers(tiles, k, inst.imm != 0);
  else
    multiplyFloats(tiles, k);
  packD(warp, inst, tiles);
}

Accumulator takeAccumulator(Builder &b) {
  auto index = b.takeOneOf({"f32", "f16", "s32"});
  if (!index)
    b.refuse();
  static constexpr Accumulator kinds[] = {Accumulator::F32, Accumulator::F16,
                                          Accumulator::S32};
  return kinds[*index];
}

void decodeMma(Builder &b) {
  bool fixed =
      b.take("sync") && b.take("aligned") && b.take("row") && b.take("col");
  auto shape = b.takeOneOf({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  if (!fixed || !shape)
    b.refuse();
  unsigned k = 4u << *shape;
  b.inst.imm = b.take("satfinite");
  Accumulator d = takeAccumulator(b);
  Element a = takeElement(b), second = takeElement(b);
  Accumulator c = takeAccumulator(b);
  unsigned bytes = k * elementBytes(a);
  bool saturates = b.inst.imm && d != Accumulator::S32;
  if (d != c || (bytes != 16 && bytes != 32) || saturates)
    b.refuse();
  checkMultiplyTypes(b, a, second, d);
  b.inst.a = static_cast<uint8_t>(a);
  b.inst.b = static_cast<uint8_t>(second);
  b.inst.c = static_cast<uint8_t>(d);
  b.inst.d = static_cast<uint8_t>(bytes);
  unsigned registersC = d == Accumulator::F16 ? 2 : 4;
  b.expectOperands(4);
  b.dstVector(b.ast.operands[0], registersC, Type::B32);
  b.srcVector(b.ast.operands[1], bytes / 8, Type::B32);
  b.srcVector(b.ast.operands[2], bytes / 16, Type::B32);
  b.srcVector(b.ast.operands[3], registersC, Type::B32);
  b.inst.run = runMma;
}

} // namespace

void addMmaInstructions(DecodeTable &table) { table["mma"] = decodeMma; }

} // namespace attn::sim
