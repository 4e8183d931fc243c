//===- WgmmaOperands.h - What a wgmma reads and writes -----------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_WGMMAOPERANDS_H
#define ATTN_LIB_SIM_WGMMAOPERANDS_H

#include "WgmmaDecoder.h"
#include "WgmmaTile.h"

#include <vector>

namespace attn::sim {

class Block;
class Warp;

/// Adds the rows of A that a warp holds in registers.
void gatherRegistersA(Warp &warp, const Inst &inst, RawMatrix &raw);
/// A warp's rows of D, from and to its registers.
void loadAccumulators(Warp &warp, const Inst &inst, const WgmmaForm &form,
                      std::vector<uint32_t> &bits);
void storeAccumulators(Warp &warp, const Inst &inst, const WgmmaForm &form,
                       const std::vector<uint32_t> &bits);

/// An operand of `extent` rows or columns in shared memory.
struct SharedOperand {
  uint64_t descriptor;
  bool mnMajor;
  unsigned extent;
  Element element;
  const char *name;
};

void gatherShared(const Block &block, uint64_t descriptor, bool mnMajor,
                  unsigned extent, Element element, RawMatrix &raw);
/// Finds bits of the descriptor that must be zero, and fails when the operand
/// is not inside shared memory.
void checkShared(Warp &warp, const Inst &inst, const SharedOperand &operand);
/// Tells the sanitizer what a warp reads: all of B and, with `ownRows`, its own
/// rows of A.
void noteSharedReads(Warp &warp, const Inst &inst, const SharedOperand &operand,
                     bool ownRows);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_WGMMAOPERANDS_H
