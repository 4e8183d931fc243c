//===- NoSimulator.cpp - A build without the PTX simulator ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Device.h"

std::unique_ptr<attn::Device> attn::openSimulator() {
  throw DeviceError("no simulator is built in");
}
