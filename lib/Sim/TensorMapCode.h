//===- TensorMapCode.h - Tensor maps as 128 bytes ---------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVIDIA's encoding is not public, and kernels must not look into it. The
// simulator has its own, which also tells maps of other devices and other
// bytes apart.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_TENSORMAPCODE_H
#define ATTN_LIB_SIM_TENSORMAPCODE_H

#include "attn/Runtime/TensorMap.h"

#include <string>

namespace attn::sim {

/// Throws DeviceError for a map that breaks a rule.
EncodedTensorMap encodeTensorMap(const TensorMap &map, uint64_t device);

/// Reads the map into `map` and returns an empty string, or says what the
/// bytes are instead.
std::string decodeTensorMap(const uint8_t *bytes, uint64_t device,
                            TensorMap &map);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_TENSORMAPCODE_H
