//===- SmallFloats.h - Float formats by name ---------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By the definition of each format, apart from the simulator's conversions.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_GPU_SMALLFLOATS_H
#define ATTN_TEST_GPU_SMALLFLOATS_H

#include <cstdint>
#include <string>

namespace attn::simtest {

/// Bits of `value`, rounded to nearest even and saturated where there is no
/// infinity, in "f32", "tf32", "f16", "bf16", "e4m3" or "e5m2".
uint32_t encodeFloat(const std::string &type, float value);
double decodeFloat(const std::string &type, uint32_t bits);

} // namespace attn::simtest

#endif // ATTN_TEST_GPU_SMALLFLOATS_H
