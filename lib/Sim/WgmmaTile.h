//===- WgmmaTile.h - Operands and arithmetic of wgmma ------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.15.5: where the elements of a wgmma operand are, in registers
// and, through a matrix descriptor, in shared memory; and the product.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_WGMMATILE_H
#define ATTN_LIB_SIM_WGMMATILE_H

#include <cstdint>
#include <vector>

namespace attn::sim {

/// Rows of a warpgroup's tile and of the part that one of its warps holds.
constexpr unsigned wgmmaRows = 64, wgmmaWarpRows = 16;
constexpr unsigned wgmmaMaxColumns = 256;
/// Bytes of one row of A or column of B along k, in every form.
constexpr unsigned wgmmaDepthBytes = 32;
/// Shared memory is read in units of this many bytes.
constexpr unsigned chunkBytes = 16;

enum class Element : uint8_t { F16, BF16, TF32, E4M3, E5M2, S8, U8 };
enum class Accumulator : uint8_t { F32, F16, S32 };

unsigned elementBytes(Element element);
/// The values of dense elements raw[line][step] as out[line][step], or as
/// out[step][line] when `transposes`, times `scale`; integers exactly.
void spreadElements(Element element, const uint8_t *raw, unsigned lines,
                    unsigned steps, bool transposes, float scale, float *out);

/// What one wgmma.mma_async computes.
struct WgmmaForm {
  Element a = Element::F16, b = Element::F16;
  Accumulator d = Accumulator::F32;
  unsigned columns = 8; ///< N
  bool aInRegisters = false;
  bool transposedA = false, transposedB = false; ///< M-major, N-major
  bool negated = false;   ///< the scales of A and B have different signs
  bool saturates = false; ///< .satfinite

  unsigned depth() const { return wgmmaDepthBytes / elementBytes(a); }
};

/// A matrix in shared memory. Addresses and offsets in bytes.
struct MatrixDescriptor {
  explicit MatrixDescriptor(uint64_t bits);

  uint32_t start, leading, stride;
  unsigned baseOffset;
  unsigned swizzleChunks; ///< 1 (none), 2, 4 or 8: width of the swizzle
  bool reservedBits;      ///< some bit that must be zero is not

  /// Shared address of 16 bytes along the contiguous dimension. K-major: row
  /// (or column) `line`, chunk `chunk` of k. MN-major: step `line` of k, chunk
  /// `chunk` of the rows (or columns).
  uint32_t address(bool mnMajor, unsigned line, unsigned chunk) const;
};

/// Lines and chunks per line of an operand of `extent` rows or columns.
struct MatrixChunks {
  unsigned lines, chunks;
};
MatrixChunks matrixChunks(bool mnMajor, unsigned extent, Element element);

/// The bytes of an operand, dense: K-major [extent][32 bytes of k], MN-major
/// [k][extent elements].
using RawMatrix = uint8_t[wgmmaMaxColumns * wgmmaDepthBytes];

/// The values of a tile A [64][depth], B [depth][columns] or D [64][columns];
/// integers are held exactly.
struct WgmmaTiles {
  std::vector<float> a, b;
};

/// Spreads the bytes of A (of B) to values.
void unpackA(const WgmmaForm &form, const RawMatrix &raw, bool mnMajor,
             WgmmaTiles &tiles);
void unpackB(const WgmmaForm &form, const RawMatrix &raw, bool mnMajor,
             WgmmaTiles &tiles);

/// D += A * B for `bits` [64][columns]: floats, or 32-bit integers for S32.
/// Products are exact; an accumulator takes them in the order of k, rounded to
/// nearest in single precision every time (F16: and to half at the end).
void multiplyTiles(const WgmmaForm &form, const WgmmaTiles &tiles,
                   std::vector<uint32_t> &bits);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_WGMMATILE_H
