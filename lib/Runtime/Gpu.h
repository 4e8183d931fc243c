//===- Gpu.h - The NVIDIA implementation of Device --------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_GPU_H
#define ATTN_LIB_RUNTIME_GPU_H

#include "Driver.h"
#include "attn/Runtime/Device.h"

namespace attn {

/// A Device on the context that is current on the calling thread; the caller
/// keeps that context alive. Throws DeviceError when no context is current.
std::unique_ptr<Device> openCurrentGpu();

/// An opaque identity of the current context, null when there is none.
void *currentGpuContext();

/// Dense bf16 FLOP per clock and multiprocessor with f32 accumulation; 0 when
/// unknown.
int64_t tensorFlopsPerClock(int smMajor, int smMinor);

/// "8.7" from PTX text, empty when it has no .version line.
std::string ptxVersion(const std::string &ptx);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_GPU_H
