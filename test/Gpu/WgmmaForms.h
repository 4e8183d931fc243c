//===- WgmmaForms.h - The wgmma forms that are tested ------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_GPU_WGMMAFORMS_H
#define ATTN_TEST_GPU_WGMMAFORMS_H

#include "WgmmaCase.h"

namespace attn::simtest {

/// Every type, N, layout, scale and source of A, though not all combinations.
std::vector<WgmmaCase> wgmmaForms();

} // namespace attn::simtest

#endif // ATTN_TEST_GPU_WGMMAFORMS_H
