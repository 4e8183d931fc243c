//===- Registers.h - The registers that setmaxnreg moves ---------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_REGISTERS_H
#define ATTN_LIB_SIM_REGISTERS_H

#include <cstdint>

namespace attn::sim {

class Block;
class Launch;
class Warp;
struct Inst;

/// The block's registers that no warp holds, in registers per thread of a warp.
/// A block gets what its warps have at launch and no more, so an increase waits
/// for others to give back (PTX ISA 9.7.19.5, setmaxnreg).
class RegisterPool {
public:
  void start(Block &block);
  void decrease(Warp &warp, const Inst &inst, uint32_t count);
  /// Stops the warp, to try again, while there are too few.
  void increase(Warp &warp, const Inst &inst, uint32_t count);
  uint32_t available() const { return free; }
  /// The warps of a warpgroup must all have taken part.
  static void checkEnd(Block &block);

private:
  uint32_t free = 0;
};

/// Registers per thread at launch: `.maxnreg`, else what the multiprocessor has
/// for a block of the launch's size.
uint32_t launchRegisters(const Launch &launch);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_REGISTERS_H
