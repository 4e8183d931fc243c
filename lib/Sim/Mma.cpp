//===- Mma.cpp - mma.sync -------------------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// PTX ISA 9.7.14.5: m16n8k8 and m16n8k16 with f16 or bf16 inputs. Products are
// exact in single precision; an accumulator starts at C and takes the products
// in the order of k, rounding to nearest after each. Tensor cores add a whole
// k-step at once and truncate, so results differ from a GPU's in the last bits,
// and not at all where every partial sum is exact.
//
#include "Decoder.h"
#include "Lanes.h"
#include "Numeric.h"

namespace attn::sim {
namespace {

constexpr unsigned rowsM = 16, columnsN = 8, maxK = 16;

struct Tiles {
  alignas(64) float a[rowsM][maxK];
  alignas(64) float b[maxK][columnsN];
  alignas(64) float c[rowsM][columnsN];
};

template <bool Bfloat> float element(uint32_t pair, unsigned half) {
  auto bits = static_cast<uint16_t>(pair >> 16 * half);
  return Bfloat ? fromBfloat(bits) : fromHalf(bits);
}

/// Lane 4 * g + t holds rows g and g + 8 and, in every 8 columns of k, columns
/// 2t and 2t + 1.
template <bool Bfloat>
void unpackA(Warp &warp, const Inst &inst, unsigned k, Tiles &tiles) {
  for (unsigned i = 0; i < k / 4; ++i) {
    const uint32_t *from = warp.lanes(inst.src(i));
    unsigned row = 8 * (i % 2), column = 8 * (i / 2);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (unsigned half = 0; half < 2; ++half)
        tiles.a[row + lane / 4][column + 2 * (lane % 4) + half] =
            element<Bfloat>(from[lane], half);
  }
}

/// Lane 4 * g + t holds column g and rows 2t and 2t + 1 of every 8.
template <bool Bfloat>
void unpackB(Warp &warp, const Inst &inst, unsigned first, unsigned k,
             Tiles &tiles) {
  for (unsigned i = 0; i < k / 8; ++i) {
    const uint32_t *from = warp.lanes(inst.src(first + i));
    for (unsigned lane = 0; lane < warpSize; ++lane)
      for (unsigned half = 0; half < 2; ++half)
        tiles.b[8 * i + 2 * (lane % 4) + half][lane / 4] =
            element<Bfloat>(from[lane], half);
  }
}

/// Single accumulators: four registers; f16: two registers of pairs.
void unpackC(Warp &warp, const Inst &inst, unsigned first, bool halfC,
             Tiles &tiles) {
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t *from = warp.lanes(inst.src(first + (halfC ? i / 2 : i)));
    for (unsigned lane = 0; lane < warpSize; ++lane)
      tiles.c[8 * (i / 2) + lane / 4][2 * (lane % 4) + i % 2] =
          halfC ? element<false>(from[lane], i % 2)
                : bitCast<float>(from[lane]);
  }
}

void packD(Warp &warp, const Inst &inst, bool halfD, const Tiles &tiles) {
  for (unsigned i = 0; i < (halfD ? 2u : 4u); ++i) {
    uint32_t *to = warp.lanes(inst.dst(i));
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (halfD) {
        const float *at = &tiles.c[8 * i + lane / 4][2 * (lane % 4)];
        to[lane] = uint32_t(toHalf(at[1])) << 16 | toHalf(at[0]);
      } else {
        float value = tiles.c[8 * (i / 2) + lane / 4][2 * (lane % 4) + i % 2];
        to[lane] = bitCast<uint32_t>(canonical(value));
      }
    }
  }
}

void multiply(Tiles &tiles, unsigned k) {
  for (unsigned m = 0; m < rowsM; ++m) {
    float sum[columnsN];
    for (unsigned n = 0; n < columnsN; ++n)
      sum[n] = tiles.c[m][n];
    for (unsigned at = 0; at < k; ++at)
      for (unsigned n = 0; n < columnsN; ++n)
        sum[n] += tiles.a[m][at] * tiles.b[at][n];
    for (unsigned n = 0; n < columnsN; ++n)
      tiles.c[m][n] = sum[n];
  }
}

/// a = k, b = accumulators are f16.
template <bool Bfloat> void runMma(Warp &warp, const Inst &inst) {
  warp.requireLanes(inst, allLanes);
  unsigned k = inst.a, registersA = k / 4, registersB = k / 8;
  Tiles tiles;
  unpackA<Bfloat>(warp, inst, k, tiles);
  unpackB<Bfloat>(warp, inst, registersA, k, tiles);
  unpackC(warp, inst, registersA + registersB, inst.b, tiles);
  multiply(tiles, k);
  packD(warp, inst, inst.b, tiles);
}

void decodeMma(Builder &b) {
  bool fixed =
      b.take("sync") && b.take("aligned") && b.take("row") && b.take("col");
  auto shape = b.takeOneOf({"m16n8k8", "m16n8k16"});
  if (!fixed || !shape)
    b.refuse();
  Type d = b.takeType(), a = b.takeType(), second = b.takeType(),
       c = b.takeType();
  bool bfloat = a == Type::BF16;
  bool halfC = c == Type::F16;
  bool legal = a == second && c == d && (bfloat || a == Type::F16) &&
               (c == Type::F32 || (halfC && !bfloat));
  if (!legal)
    b.refuse();
  unsigned k = *shape == 0 ? 8 : 16;
  unsigned registersC = halfC ? 2 : 4;
  Type registerC = halfC ? Type::B32 : Type::F32;
  b.inst.a = static_cast<uint8_t>(k);
  b.inst.b = halfC;
  b.expectOperands(4);
  b.dstVector(b.ast.operands[0], registersC, registerC);
  b.srcVector(b.ast.operands[1], k / 4, Type::B32);
  b.srcVector(b.ast.operands[2], k / 8, Type::B32);
  b.srcVector(b.ast.operands[3], registersC, registerC);
  b.inst.run = bfloat ? runMma<true> : runMma<false>;
}

} // namespace

void addMmaInstructions(DecodeTable &table) { table["mma"] = decodeMma; }

} // namespace attn::sim
