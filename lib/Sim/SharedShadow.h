//===- SharedShadow.h - Who touched each shared byte -------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sanitizer's view of a block's shared memory: for each byte the last
// write (warp, time) and the last read of each warp. Time is the warp's own
// entry of its vector clock, which advances at barriers; an access happened
// before another when the later warp's clock has seen it (FastTrack, Flanagan
// and Freund 2009, with exact read sets).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_SHAREDSHADOW_H
#define ATTN_LIB_SIM_SHAREDSHADOW_H

#include "Program.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace attn::sim {

class Warp;

class SharedShadow {
public:
  SharedShadow(uint32_t bytes, unsigned warps);

  /// Forgets everything: no byte is written. Clocks of the new block start at
  /// the returned time.
  uint32_t startBlock();
  /// The warps' clocks have reached `time`.
  void seen(uint32_t time) {
    if (time > latest)
      latest = time;
  }

  void read(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
            uint32_t bytes);
  void write(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
             uint32_t bytes);
  /// An atomic orders its warp after the earlier atomics on the same place.
  void atomic(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
              uint32_t bytes);
  /// cp.async: the destination is undefined from its issue until it lands.
  void issueCopy(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                 uint32_t bytes);
  void landCopy(Warp &warp, uint32_t offset, uint32_t bytes);
  /// Entries of a vector clock: the warps, and the asynchronous reads of each
  /// warpgroup.
  size_t clockSize() const { return warps + warpgroups; }

  /// A read by the asynchronous proxy on behalf of `warp` (wgmma operands in
  /// shared memory), which belongs to the warpgroup's asynchronous group number
  /// `group`, counted from 0 in the order of commits. The bytes must be written
  /// and, if by ordinary stores, fenced for the proxy, as of now; they must not
  /// change until a warp of the warpgroup says that the group is complete.
  void asyncRead(Warp &warp, const Inst &inst, uint32_t offset, uint32_t bytes,
                 uint32_t group);
  /// `warp` has waited for its warpgroup's groups before number `groups`.
  void asyncReadsDone(Warp &warp, uint32_t groups);

private:
  /// The last writer of a byte: warp in the low bits, time above.
  using Epoch = uint32_t;
  static constexpr unsigned warpBits = 5;
  static constexpr uint32_t warpMask = (1u << warpBits) - 1;
  /// Time of a byte that a cp.async is on its way to.
  static constexpr uint32_t inFlight = (1u << (32 - warpBits)) - 1;

  static uint32_t timeOf(Epoch epoch) { return epoch >> warpBits; }
  static unsigned warpOf(Epoch epoch) { return epoch & warpMask; }
  static Epoch epochOf(const Warp &warp);
  bool ordered(const Warp &warp, Epoch epoch) const;

  void checkWriter(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                   uint32_t bytes, bool reads);
  void checkReaders(Warp &warp, const Inst &inst, unsigned lane,
                    uint32_t offset, uint32_t bytes);
  void reportWriter(Warp &warp, const Inst &inst, unsigned lane,
                    uint32_t offset, Epoch epoch, bool reads);

  uint32_t bytes;
  unsigned warps, warpgroups;
  uint32_t start = 1, latest = 1;
  std::vector<Epoch> writers;
  /// readers[entry * bytes + byte]: time of the last read, by entry of the
  /// clock.
  std::vector<uint32_t> readers;
  /// Release clocks of the places that atomics touched.
  std::unordered_map<uint32_t, std::vector<uint32_t>> atomics;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_SHAREDSHADOW_H
