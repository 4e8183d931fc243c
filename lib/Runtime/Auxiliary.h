//===- Auxiliary.h - Buffers that auxiliary kernels fill --------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_AUXILIARY_H
#define ATTN_LIB_RUNTIME_AUXILIARY_H

#include "Marshal.h"

namespace attn {

/// Where the buffers lie that `kernel` reads, in the plan of `arguments`.
/// Throws LaunchError when the plan was not made for this launch.
BufferAddresses builtBuffers(const Package &package, const Kernel &kernel,
                             const LaunchArguments &arguments);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_AUXILIARY_H
