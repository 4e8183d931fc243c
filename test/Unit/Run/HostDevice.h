//===- HostDevice.h - A device whose kernel is a C++ loop -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host memory and a plain causal attention that can be told to go wrong in one
// way: what the harness is tested with.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_RUN_HOSTDEVICE_H
#define ATTN_TEST_RUN_HOSTDEVICE_H

#include "attn/Runtime/Launch.h"

#include <map>
#include <vector>

namespace attn::test {

enum class Mistake {
  None,
  SkipsLastRow,   ///< the last row of o is not written
  SkipsLse,       ///< lse of row 0 is not written
  WritesTail,     ///< a row past q_len
  WritesBeforeO,  ///< an element in front of o
  WritesPastLse,  ///< an element behind lse
  ChangesK,       ///< an input
  ReadsTail,      ///< the key at k_len
  ShiftsKeys,     ///< V of the next key: random V with equal logits hides it
  DependsOnGrid,  ///< the last bit of one element
  DependsOnCalls, ///< the same, by run
  LeavesCounter,  ///< the work counter is not reset
  ScalesTwice,    ///< wrong numbers everywhere
  SkipsList,      ///< the list of the last batch entry is not written
  PastList,       ///< an element behind the list is
  ListVaries,     ///< by build, in a word that nobody reads
  ChangesList,    ///< by the kernel that reads it
  Faults          ///< as after an illegal address
};

/// The package of the kernel that HostDevice runs: causal, bottom-right.
Package hostPackage(int64_t heads, int64_t kvHeads, int64_t headDim);
/// The same with a list that another kernel makes: a factor of the scale for
/// each batch entry, which is 1.
Package listPackage(int64_t heads, int64_t kvHeads, int64_t headDim);

class HostDevice : public Device {
public:
  explicit HostDevice(Mistake mistake = Mistake::None) : mistake(mistake) {}

  DeviceInfo info() const override;
  DevicePtr allocate(size_t bytes) override;
  void release(DevicePtr ptr) override;
  void copyToDevice(DevicePtr dst, const void *src, size_t bytes) override;
  void copyFromDevice(void *dst, DevicePtr src, size_t bytes) override;
  void fill32(DevicePtr dst, uint32_t pattern, size_t bytes) override;
  std::unique_ptr<DeviceModule> loadModule(const std::string &ptx) override;
  EncodedTensorMap encodeTensorMap(const TensorMap &map) override;
  void synchronize() override;
  double timeMilliseconds(StreamHandle stream, int repeats,
                          void (*body)(void *), void *context) override;

  size_t liveBuffers() const { return buffers.size(); }

  const Mistake mistake;
  int launches = 0, builds = 0;

private:
  std::map<DevicePtr, std::vector<uint8_t>> buffers;
};

} // namespace attn::test

#endif // ATTN_TEST_RUN_HOSTDEVICE_H
