//===- SharedShadow.h - Who touched each shared byte -------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sanitizer's view of a block's shared memory: for each byte the last
// write (actor, time) and the last read of each actor. Clock.h says what that
// means. Beside the order of accesses it judges whether ordinary writes were
// fenced before the asynchronous proxy meets them (PTX ISA 8.6, "Proxies"): by
// the warp that wrote, before it signals.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_SHAREDSHADOW_H
#define ATTN_LIB_SIM_SHAREDSHADOW_H

#include "Clock.h"
#include "Program.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace attn::sim {

class Warp;

class SharedShadow {
public:
  /// Of the block of rank `block` in its cluster.
  SharedShadow(Actors &actors, unsigned block, uint32_t bytes);

  /// Forgets everything: no byte is written. `anew`: times have begun anew.
  void startBlock(bool anew);

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
  void landCopy(Warp &warp, unsigned lane, uint32_t offset, uint32_t bytes);
  /// cp.async.mbarrier.arrive: it lands when the phase completes instead, still
  /// as an ordinary store to the asynchronous proxy.
  void landCopy(const AsyncAccess &phase, uint32_t offset, uint32_t bytes);

  /// A read by the asynchronous proxy on behalf of `warp` (wgmma operands in
  /// shared memory), which belongs to the warpgroup's asynchronous group number
  /// `group`, counted from 0 in the order of commits. The bytes must be written
  /// and, if by ordinary stores, fenced for the proxy, as of now; they must not
  /// change until a warp of the warpgroup says that the group is complete.
  void asyncRead(Warp &warp, const Inst &inst, uint32_t offset, uint32_t bytes,
                 uint32_t group);
  /// `warp` has waited for its warpgroup's groups before number `groups`.
  void asyncReadsDone(Warp &warp, uint32_t groups);

  /// A bulk copy that `warp` issues reads or overwrites these bytes until
  /// `access` is over.
  void bulkRead(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                uint32_t bytes, const AsyncAccess &access);
  void bulkWrite(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                 uint32_t bytes, const AsyncAccess &access);

  /// The same for a reduction, which others that complete on the same mbarrier
  /// may run into.
  void bulkReduce(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                  uint32_t bytes, const AsyncAccess &access);

  /// The eight bytes become an mbarrier, or memory that nobody has written.
  void initBarrier(Warp &warp, const Inst &inst, unsigned lane,
                   uint32_t offset);
  void invalBarrier(uint32_t offset);

private:
  /// The last writer of a byte: its actor, lane (if it is a warp) and time.
  using Epoch = uint64_t;
  /// Time of a byte that a cp.async is on its way to.
  static constexpr uint32_t inFlight = Actors::timeLimit + 1;
  /// Time of a byte of an mbarrier.
  static constexpr uint32_t barrierWord = Actors::timeLimit;

  static constexpr unsigned laneShift = 16, timeShift = 32;
  /// In place of a lane: a copy of the generic proxy that a phase completes.
  static constexpr unsigned genericCopy = 1;

  static uint32_t timeOf(Epoch epoch) { return epoch >> timeShift; }
  static unsigned laneOf(Epoch epoch) { return epoch >> laneShift & 0xff; }
  static unsigned actorOf(Epoch epoch) { return epoch & (Actors::limit - 1); }
  static Epoch epochOf(unsigned actor, uint32_t time, unsigned lane = 0) {
    return Epoch(time) << timeShift | Epoch(lane) << laneShift | actor;
  }
  static Epoch epochOf(const Warp &warp, unsigned lane);
  bool ordered(const Warp &warp, Epoch epoch) const;
  bool fenced(const Warp &warp, Epoch epoch) const;

  enum class Use : uint8_t {
    Read,
    Write,
    Atomic,
    AsyncRead,
    AsyncWrite,
    Wgmma
  };
  static constexpr unsigned nobody = Actors::limit;
  static bool reads(Use use) {
    return use != Use::Write && use != Use::AsyncWrite;
  }
  static bool isAsync(Use use) { return use >= Use::AsyncRead; }
  /// Whether `lane` of `warp` needs bar.warp.sync to see what another lane of
  /// it wrote. All lanes are in a wgmma; atomics order themselves.
  static bool unsynchronized(const Warp &warp, unsigned lane, Epoch epoch,
                             Use use);
  /// `friendly` is an actor whose writes do no harm.
  void checkWriter(Warp &warp, const Inst &inst, unsigned lane, uint32_t offset,
                   uint32_t bytes, Use use, unsigned friendly = nobody);
  void checkReaders(Warp &warp, const Inst &inst, unsigned lane,
                    uint32_t offset, uint32_t bytes);
  void reportWriter(Warp &warp, const Inst &inst, unsigned lane,
                    uint32_t offset, Epoch epoch, Use use);
  void reportReader(Warp &warp, const Inst &inst, unsigned lane,
                    uint32_t offset, unsigned reader, uint32_t time);
  /// What would order `warp` behind what warp `other` did at `time`.
  std::string orderHint(const Warp &warp, unsigned other, uint32_t time) const;
  /// The last read of a byte: its time and, if the actor is a warp, its lane.
  /// Of one instruction's lanes the highest stands for all.
  using Stamp = uint32_t;
  static constexpr unsigned laneBits = 5;
  std::vector<Stamp> &readersOf(unsigned actor);
  void markRead(unsigned actor, uint32_t time, uint32_t offset, uint32_t bytes,
                unsigned lane = 0);

  Actors &actors;
  unsigned block;
  uint32_t bytes;
  std::vector<Epoch> writers;
  /// By actor; empty until it reads.
  std::vector<std::vector<Stamp>> readers;
  std::vector<unsigned> readingActors;
  /// Release clocks of the places that atomics touched.
  std::unordered_map<uint32_t, Clock> atomics;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_SHAREDSHADOW_H
