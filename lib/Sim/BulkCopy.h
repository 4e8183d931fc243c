//===- BulkCopy.h - Bulk and tensor copies -----------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk and cp.async.bulk.tensor (PTX ISA 9.7.9.25). The source is read
// when a copy is issued. Bytes for shared memory land when their mbarrier's
// phase completes (Mbarrier.h); stores to global memory happen at once, but
// their source counts as being read until the thread has waited for the group.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_BULKCOPY_H
#define ATTN_LIB_SIM_BULKCOPY_H

#include "Program.h"

#include <array>
#include <cstdint>

namespace attn::sim {

class Builder;
class Warp;
struct AsyncAccess;
struct Mbarrier;
struct SharedPlace;

/// The bulk stores of a warp's threads, in groups by commit_group.
struct BulkStores {
  std::array<uint32_t, warpSize> open{};      ///< in the current group
  std::array<uint32_t, warpSize> committed{}; ///< groups
  std::array<uint32_t, warpSize> done{};      ///< groups waited for
  std::array<const Inst *, warpSize> last{};  ///< the last store

  void reset() { *this = BulkStores(); }
  /// A block must not end while its shared memory is being read.
  void checkEnd(Warp &warp) const;
};

/// The group that a bulk store of `lane` belongs to, as an access.
AsyncAccess beginBulkStore(Warp &warp, const Inst &inst, unsigned lane);

/// Lets `bytes` bytes land at `offset` of the mbarrier's block at `barrier`;
/// `data` is what they are.
void beginBulkLoad(Warp &warp, const Inst &inst, unsigned lane,
                   const SharedPlace &barrier, uint32_t offset,
                   const uint8_t *data, uint32_t bytes);

/// Which blocks of the cluster a copy goes to, as a mask over ranks: those of
/// the multicast operand, else the one block of `to`.
uint32_t destinationMask(Warp &warp, const Inst &inst, unsigned lane,
                         const SharedPlace &to, const Operand *multicast);

/// `cp.async.bulk...`, with `bulk` consumed, and `cp.reduce.async.bulk...`.
void decodeBulk(Builder &builder, bool reduces);
void decodeTensorCopy(Builder &builder, bool reduces);
void decodeTensorPrefetch(Builder &builder);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_BULKCOPY_H
