//===- Marshal.h - From a launch to the parameters of a kernel --*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attention kernels and auxiliary ones share on their way to the device.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_MARSHAL_H
#define ATTN_LIB_RUNTIME_MARSHAL_H

#include "attn/Runtime/Launch.h"

#include <map>
#include <string>

namespace attn {

/// Addresses of the buffers that auxiliary kernels fill, by role. Of one that
/// is not there the address is 0.
using BufferAddresses = std::map<KernelRole, DevicePtr>;

/// Blocks (the kernel's own choice), threads and shared memory of a launch.
LaunchConfig shapeOf(const Kernel &kernel, int64_t workItems,
                     const DeviceInfo &device);

/// Appends the parameters of `kernel` to `config`; those that only a device can
/// encode stay empty and go to `maps`.
void marshalArguments(const Package &package, const Kernel &kernel,
                      const LaunchArguments &arguments,
                      const BufferAddresses &buffers, LaunchConfig &config,
                      std::vector<MapArgument> &maps);

/// A parameter's binary form as a reader writes it: "512", "0.5", "0x7f00".
std::string describeValue(ArgumentType type, const std::vector<uint8_t> &bytes);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_MARSHAL_H
