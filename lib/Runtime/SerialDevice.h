//===- SerialDevice.h - One call at a time ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Device whose calls, and those of its modules, wait for each other, so that
// several threads may use a device that is written for one.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_SERIALDEVICE_H
#define ATTN_LIB_RUNTIME_SERIALDEVICE_H

#include "attn/Runtime/Device.h"

namespace attn {

std::unique_ptr<Device> makeSerial(std::unique_ptr<Device> device);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_SERIALDEVICE_H
