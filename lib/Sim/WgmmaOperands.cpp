//===- WgmmaOperands.cpp - What a wgmma reads and writes ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WgmmaOperands.h"
#include "Lanes.h"
#include "Numeric.h"

namespace attn::sim {

//===----------------------------------------------------------------------===//
// Registers to tiles and back
//===----------------------------------------------------------------------===//

// Lane 4 * g + t holds, of the 16 rows of its warp, rows g and g + 8; of A in
// register i 4 bytes at 16 * (i / 2) + 4 * t of row g + 8 * (i % 2) (PTX ISA
// 9.7.15.5.1.1); of D in every 8 columns the columns 2t and 2t + 1.

void gatherRegistersA(Warp &warp, const Inst &inst, RawMatrix &raw) {
  constexpr unsigned registers = 4;
  unsigned firstRow = wgmmaWarpRows * (warp.id % warpgroupWarps);
  for (unsigned i = 0; i < registers; ++i) {
    const uint32_t *from = warp.lanes(inst.src(i));
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      unsigned row = firstRow + lane / 4 + 8 * (i % 2);
      unsigned byte = 16 * (i / 2) + 4 * (lane % 4);
      std::memcpy(raw + row * wgmmaDepthBytes + byte, from + lane, 4);
    }
  }
}

/// Calls f(register, lane, place in [64][columns], half) for the elements of
/// D that `warp` holds; `half` counts within a register of two.
template <class F>
static void forEachElementD(const Warp &warp, const WgmmaForm &form, F f) {
  bool pairs = form.d == Accumulator::F16;
  unsigned firstRow = wgmmaWarpRows * (warp.id % warpgroupWarps);
  for (unsigned column = 0; column < form.columns; column += 8)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned reg = pairs ? column / 4 + i / 2 : column / 2 + i;
      for (unsigned lane = 0; lane < warpSize; ++lane) {
        unsigned row = firstRow + lane / 4 + 8 * (i / 2);
        unsigned at = column + 2 * (lane % 4) + i % 2;
        f(reg, lane, size_t(row) * form.columns + at, i % 2);
      }
    }
}

void loadAccumulators(Warp &warp, const Inst &inst, const WgmmaForm &form,
                      std::vector<uint32_t> &bits) {
  bool pairs = form.d == Accumulator::F16;
  forEachElementD(warp, form,
                  [&](unsigned reg, unsigned lane, size_t at, unsigned half) {
                    uint32_t word = warp.lanes(inst.dst(reg))[lane];
                    if (pairs) {
                      auto value = static_cast<uint16_t>(word >> 16 * half);
                      word = bitCast<uint32_t>(fromHalf(value));
                    }
                    bits[at] = word;
                  });
}

void storeAccumulators(Warp &warp, const Inst &inst, const WgmmaForm &form,
                       const std::vector<uint32_t> &bits) {
  forEachElementD(warp, form,
                  [&](unsigned reg, unsigned lane, size_t at, unsigned half) {
                    uint32_t &word = warp.lanes(inst.dst(reg))[lane];
                    if (form.d == Accumulator::S32) {
                      word = bits[at];
                      return;
                    }
                    float value = canonical(bitCast<float>(bits[at]));
                    if (form.d == Accumulator::F32) {
                      word = bitCast<uint32_t>(value);
                      return;
                    }
                    uint32_t kept = half ? 0xffff : 0xffff0000;
                    word = (word & kept) | uint32_t(toHalf(value)) << 16 * half;
                  });
}

//===----------------------------------------------------------------------===//
// Shared operands
//===----------------------------------------------------------------------===//

/// Calls f(line, chunk, offset in shared memory) for lines of a matrix.
template <class F>
static void forEachChunk(const MatrixDescriptor &matrix, bool mnMajor,
                         MatrixChunks extent, F f) {
  for (unsigned line = 0; line < extent.lines; ++line)
    for (unsigned chunk = 0; chunk < extent.chunks; ++chunk)
      f(line, chunk, matrix.address(mnMajor, line, chunk) - sharedBase);
}

void gatherShared(const Block &block, uint64_t descriptor, bool mnMajor,
                  unsigned extent, Element element, RawMatrix &raw) {
  MatrixChunks chunks = matrixChunks(mnMajor, extent, element);
  forEachChunk(MatrixDescriptor(descriptor), mnMajor, chunks,
               [&](unsigned line, unsigned chunk, uint32_t offset) {
                 std::memcpy(raw + (size_t(line) * chunks.chunks + chunk) *
                                       chunkBytes,
                             block.shared.data() + offset, chunkBytes);
               });
}

void checkShared(Warp &warp, const Inst &inst, const SharedOperand &operand) {
  MatrixDescriptor matrix(operand.descriptor);
  std::string name = std::string("the descriptor of ") + operand.name + " (" +
                     hexText(operand.descriptor) + ")";
  if (matrix.reservedBits)
    warp.report(inst, "wgmma-descriptor", 0,
                name + " has bits set that must be zero",
                "keep bits 14-15, 30-31, 46-48 and 52-61 clear; mask the "
                "address with 0x3ffff before shifting it");
  MatrixChunks chunks =
      matrixChunks(operand.mnMajor, operand.extent, operand.element);
  size_t size = warp.block->shared.size();
  forEachChunk(matrix, operand.mnMajor, chunks,
               [&](unsigned, unsigned, uint32_t offset) {
                 if (offset <= size && size - offset >= chunkBytes)
                   return;
                 warp.fail(inst, "out-of-bounds", 0,
                           name + " reaches shared address " +
                               hexText(uint64_t(offset) + sharedBase) +
                               ": the block has " + std::to_string(size) +
                               " bytes from " + hexText(sharedBase),
                           "correct the start address or the offsets");
               });
}

/// A warp reads all of B and its own rows of A.
void noteSharedReads(Warp &warp, const Inst &inst, const SharedOperand &operand,
                     bool ownRows) {
  SharedShadow &shadow = *warp.block->shadow;
  MatrixChunks chunks =
      matrixChunks(operand.mnMajor, operand.extent, operand.element);
  unsigned own = warp.id % warpgroupWarps;
  forEachChunk(
      MatrixDescriptor(operand.descriptor), operand.mnMajor, chunks,
      [&](unsigned line, unsigned chunk, uint32_t offset) {
        unsigned part = operand.mnMajor ? chunk * warpgroupWarps / chunks.chunks
                                        : line / wgmmaWarpRows;
        if (!ownRows || part == own)
          shadow.asyncRead(warp, inst, offset, chunkBytes, warp.wgmma.commits);
      });
}

} // namespace attn::sim
