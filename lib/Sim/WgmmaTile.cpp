//===- WgmmaTile.cpp - Operands and arithmetic of wgmma -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WgmmaTile.h"
#include "Numeric.h"

#include <algorithm>
#include <array>

namespace attn::sim {

unsigned elementBytes(Element element) {
  switch (element) {
  case Element::F16:
  case Element::BF16:
    return 2;
  case Element::TF32:
    return 4;
  default:
    return 1;
  }
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

MatrixDescriptor::MatrixDescriptor(uint64_t bits) {
  // PTX ISA 9.7.15.5.1.2.2: 14-bit fields count 16 bytes.
  auto field = [&](unsigned at) {
    return static_cast<uint32_t>(bits >> at & 0x3fff) * chunkBytes;
  };
  static constexpr unsigned widths[] = {1, 8, 4, 2};
  start = field(0);
  leading = field(16);
  stride = field(32);
  baseOffset = bits >> 49 & 7;
  swizzleChunks = widths[bits >> 62];
  constexpr uint64_t used = 0xc00e3fff3fff3fff;
  reservedBits = (bits & ~used) != 0;
}

uint32_t MatrixDescriptor::address(bool mnMajor, unsigned line,
                                   unsigned chunk) const {
  // Eight lines of one chunk (of `swizzleChunks` chunks when swizzled) follow
  // each other and make up an atom.
  constexpr unsigned atomLines = 8;
  unsigned inner = line % atomLines, outer = line / atomLines;
  unsigned width = swizzleChunks;
  uint32_t at = start + inner * width * chunkBytes;
  if (width == 1) {
    // The offset named after the dimension that the atom does not fill first.
    at += mnMajor ? chunk * stride + outer * leading
                  : outer * stride + chunk * leading;
    return at;
  }
  // K-major operands are never wider than an atom (chunk < 2 <= width).
  at += outer * stride + chunk % width * chunkBytes + chunk / width * leading;
  // The pattern repeats at fixed addresses unless the descriptor moves it: the
  // chunk's number is XORed with that of its 128 bytes.
  constexpr unsigned patternShift = 7, chunkShift = 4;
  uint32_t row = (at >> patternShift) - baseOffset;
  return at ^ (row & (width - 1)) << chunkShift;
}

MatrixChunks matrixChunks(bool mnMajor, unsigned extent, Element element) {
  unsigned bytes = elementBytes(element);
  if (mnMajor)
    return {wgmmaDepthBytes / bytes, extent * bytes / chunkBytes};
  return {extent, wgmmaDepthBytes / chunkBytes};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {

using ByteTable = std::array<float, 256>;

ByteTable smallFloats(const SmallFormat &format) {
  ByteTable table;
  for (uint32_t i = 0; i < table.size(); ++i)
    table[i] = fromSmall(format, i);
  return table;
}

/// The value of element `index` of a dense array.
template <Element E> float elementAt(const uint8_t *raw, size_t index) {
  static const ByteTable e4m3 = smallFloats(e4m3Format);
  static const ByteTable e5m2 = smallFloats(e5m2Format);
  if constexpr (E == Element::E4M3)
    return e4m3[raw[index]];
  if constexpr (E == Element::E5M2)
    return e5m2[raw[index]];
  if constexpr (E == Element::S8)
    return static_cast<int8_t>(raw[index]);
  if constexpr (E == Element::U8)
    return raw[index];
  if constexpr (E == Element::TF32) {
    uint32_t bits;
    std::memcpy(&bits, raw + 4 * index, sizeof(bits));
    constexpr uint32_t ignored = 0x1fff;
    return bitCast<float>(bits & ~ignored);
  }
  uint16_t bits;
  std::memcpy(&bits, raw + 2 * index, sizeof(bits));
  return E == Element::BF16 ? fromBfloat(bits) : fromHalf(bits);
}

/// out[line][step], or out[step][line] when `transposes`.
template <Element E>
void spread(const uint8_t *raw, unsigned lines, unsigned steps, bool transposes,
            float scale, float *out) {
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned step = 0; step < steps; ++step) {
      float value = elementAt<E>(raw, size_t(line) * steps + step) * scale;
      out[transposes ? step * lines + line : line * steps + step] = value;
    }
}

constexpr unsigned blockRows = 4, blockColumns = 8;
using Block = float[blockRows][blockColumns];

/// One block of D in registers while k runs.
template <unsigned Depth>
void multiplyBlock(const float *a, const float *b, unsigned columns,
                   Block &block) {
  Block sum;
  std::memcpy(sum, block, sizeof(sum));
  for (unsigned k = 0; k < Depth; ++k)
    for (unsigned i = 0; i < blockRows; ++i)
      for (unsigned j = 0; j < blockColumns; ++j)
        sum[i][j] += a[i * Depth + k] * b[size_t(k) * columns + j];
  std::memcpy(block, sum, sizeof(sum));
}

template <unsigned Depth>
void multiplyFloats(const WgmmaForm &form, const WgmmaTiles &tiles,
                    uint32_t *bits) {
  unsigned columns = form.columns;
  for (unsigned row = 0; row < wgmmaRows; row += blockRows)
    for (unsigned column = 0; column < columns; column += blockColumns) {
      Block block;
      uint32_t *at = bits + size_t(row) * columns + column;
      for (unsigned i = 0; i < blockRows; ++i)
        std::memcpy(block[i], at + size_t(i) * columns, sizeof(block[i]));
      multiplyBlock<Depth>(tiles.a.data() + size_t(row) * Depth,
                           tiles.b.data() + column, columns, block);
      if (form.d == Accumulator::F16)
        for (auto &values : block)
          for (float &value : values)
            value = fromHalf(toHalf(value));
      for (unsigned i = 0; i < blockRows; ++i)
        std::memcpy(at + size_t(i) * columns, block[i], sizeof(block[i]));
    }
}

/// The sums of 32 products of bytes are exact in a float; the accumulator is a
/// 32-bit integer that wraps or saturates.
void multiplyIntegers(const WgmmaForm &form, const WgmmaTiles &tiles,
                      uint32_t *bits) {
  unsigned columns = form.columns, depth = form.depth();
  for (unsigned row = 0; row < wgmmaRows; ++row)
    for (unsigned column = 0; column < columns; ++column) {
      float sum = 0;
      for (unsigned k = 0; k < depth; ++k)
        sum += tiles.a[size_t(row) * depth + k] *
               tiles.b[size_t(k) * columns + column];
      uint32_t &at = bits[size_t(row) * columns + column];
      int64_t exact = int64_t(static_cast<int32_t>(at)) + int64_t(sum);
      if (form.saturates)
        exact = std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX);
      at = static_cast<uint32_t>(exact);
    }
}

} // namespace

void spreadElements(Element element, const uint8_t *raw, unsigned lines,
                    unsigned steps, bool transposes, float scale, float *out) {
  switch (element) {
  case Element::F16:
    return spread<Element::F16>(raw, lines, steps, transposes, scale, out);
  case Element::BF16:
    return spread<Element::BF16>(raw, lines, steps, transposes, scale, out);
  case Element::TF32:
    return spread<Element::TF32>(raw, lines, steps, transposes, scale, out);
  case Element::E4M3:
    return spread<Element::E4M3>(raw, lines, steps, transposes, scale, out);
  case Element::E5M2:
    return spread<Element::E5M2>(raw, lines, steps, transposes, scale, out);
  case Element::S8:
    return spread<Element::S8>(raw, lines, steps, transposes, scale, out);
  case Element::U8:
    return spread<Element::U8>(raw, lines, steps, transposes, scale, out);
  }
}

void unpackA(const WgmmaForm &form, const RawMatrix &raw, bool mnMajor,
             WgmmaTiles &tiles) {
  unsigned depth = form.depth();
  tiles.a.resize(size_t(wgmmaRows) * depth);
  spreadElements(form.a, raw, mnMajor ? depth : wgmmaRows,
                 mnMajor ? wgmmaRows : depth, /*transposes=*/mnMajor,
                 form.negated ? -1.0f : 1.0f, tiles.a.data());
}

void unpackB(const WgmmaForm &form, const RawMatrix &raw, bool mnMajor,
             WgmmaTiles &tiles) {
  unsigned depth = form.depth();
  tiles.b.resize(size_t(form.columns) * depth);
  spreadElements(form.b, raw, mnMajor ? depth : form.columns,
                 mnMajor ? form.columns : depth, /*transposes=*/!mnMajor, 1.0f,
                 tiles.b.data());
}

void multiplyTiles(const WgmmaForm &form, const WgmmaTiles &tiles,
                   std::vector<uint32_t> &bits) {
  if (form.d == Accumulator::S32)
    return multiplyIntegers(form, tiles, bits.data());
  switch (form.depth()) {
  case 8:
    return multiplyFloats<8>(form, tiles, bits.data());
  case 16:
    return multiplyFloats<16>(form, tiles, bits.data());
  default:
    return multiplyFloats<32>(form, tiles, bits.data());
  }
}

} // namespace attn::sim
