//===- RaggedMap.h - Tensor maps over packed sequences ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How one tensor map reads rows of any of the sequences that lie one behind the
// other, and zeros past the end of it. A map of the dimensions (column, row,
// head, row, wrap), both rows with the stride s of a row, holds row r of the n
// rows from row f on at
//
//   (column, bound - n + r, head, f + n, bound)
//
// The first row coordinate is outside of the dimension, which has `bound`
// elements, exactly where r >= n. The address is
//
//   base + s * (bound + f + r) + bound * (wrap - s)  =  base + s * (f + r)
//
// modulo 2^64, as bound * wrap elements are a multiple of 2^64 bytes. After
// Triton's triton.tools.ragged_tma.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LAYOUT_RAGGEDMAP_H
#define ATTN_LAYOUT_RAGGEDMAP_H

#include <cstdint>

namespace attn::layout {

constexpr int64_t raggedBound = int64_t(1) << 30;
/// In elements; a stride of so many bytes is below a map's limit of 2^40.
constexpr int64_t raggedWrap = int64_t(1) << 34;
/// Rows of the tensor: the coordinate f + n is an i32, and n at most `bound`.
constexpr int64_t maxRaggedRows = int64_t(1) << 30;

} // namespace attn::layout

#endif // ATTN_LAYOUT_RAGGEDMAP_H
