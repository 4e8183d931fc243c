//===- Memory.h - The simulated device memory --------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_MEMORY_H
#define ATTN_LIB_SIM_MEMORY_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace attn::sim {

/// A live piece of device memory. Pages cost host memory only once touched.
struct Allocation {
  uint64_t base = 0;
  uint64_t bytes = 0;
  uint8_t *host = nullptr;
  std::string name; ///< of a module variable, else empty
  /// The sanitizer's record, one for every DeviceMemory::watchedBytes; null
  /// until a launch is watched.
  std::atomic<uint64_t> *watched = nullptr;

  bool contains(uint64_t address, uint64_t size) const {
    return address >= base && address - base <= bytes &&
           size <= bytes - (address - base);
  }
};

/// Hands out addresses far above 2^32, so that a truncated pointer never hits,
/// with unmapped gaps between allocations. Not safe for concurrent change;
/// look-ups from several threads are.
class DeviceMemory {
public:
  DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  /// Throws DeviceError when the host cannot map that much.
  uint64_t allocate(uint64_t bytes, std::string name = {});
  /// Throws DeviceError when `address` is not the base of a live allocation.
  void release(uint64_t address);
  /// The allocation that holds `address`, or null.
  const Allocation *find(uint64_t address) const;
  /// The host bytes of [address, address + bytes); throws DeviceError naming
  /// `what` when they are not inside one live allocation.
  uint8_t *host(uint64_t address, uint64_t bytes, const char *what) const;
  /// "4 bytes past the end of the 512-byte allocation at 0x...", for messages.
  std::string describe(uint64_t address, uint64_t bytes) const;

  static constexpr uint64_t watchedBytes = 4;
  /// Gives every allocation a record, and reserves `count` ids above those of
  /// earlier calls, which still stand in the records: the first. Ids are at
  /// least 1 and at most `most`, beyond which the records begin anew.
  uint64_t watch(uint64_t count, uint64_t most);

  /// Tells this device from every other one of the process.
  const uint64_t device;

private:
  std::map<uint64_t, Allocation> allocations;
  uint64_t next = 0x700000000000;
  uint64_t nextId = 1;
};

} // namespace attn::sim

#endif // ATTN_LIB_SIM_MEMORY_H
