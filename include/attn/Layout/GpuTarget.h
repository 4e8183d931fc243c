//===- GpuTarget.h - The GPU architectures that kernels are compiled for -*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LAYOUT_GPUTARGET_H
#define ATTN_LAYOUT_GPUTARGET_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn::layout {

/// An architecture by its compiler name, and what a schedule must know of it.
struct GpuTarget {
  std::string_view name;       ///< "sm_80", "sm_90a", ...
  int64_t sharedBytesPerBlock; ///< most a block may ask for, in bytes
  bool hasWgmma = false;       ///< wgmma, TMA and setmaxnreg
};

/// The supported architectures, oldest first. Shared memory: CUDA C++
/// Programming Guide, table of technical specifications per compute capability.
const std::vector<GpuTarget> &gpuTargets();

/// The architecture of this name; null when it is not supported.
const GpuTarget *findGpuTarget(std::string_view name);

/// Their names, separated by ", ", for messages.
std::string gpuTargetNames();

} // namespace attn::layout

#endif // ATTN_LAYOUT_GPUTARGET_H
