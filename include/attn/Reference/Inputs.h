//===- Inputs.h - Made-up inputs ---------------------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values depend on (seed, stream, b, h, s, d) only, never on the layout, the
// platform or the number of threads: the same problem in bshd and in bhsd holds
// the same numbers. Random numbers are counter-based and made of integer
// arithmetic and single IEEE operations, so no libm enters.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_INPUTS_H
#define ATTN_REFERENCE_INPUTS_H

#include "attn/Reference/Problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn {

enum class Fill {
  Normal,  ///< mean 0, variance 1
  Pattern, ///< element (s, d) = s mod 61: shows which keys were read
  OneHot,  ///< element (s, d) = 1 where d = s mod headDim, else 0
  Ones,
  Zeros
};

/// "random", "pattern", "onehot", "ones", "zeros"; throws std::runtime_error
/// naming the legal words otherwise.
Fill parseFill(const std::string &word);

/// Where rows are written: like RowView, with its extents.
struct RowTarget {
  void *data = nullptr;
  DType type = DType::BF16;
  int64_t batch = 1, heads = 1, rows = 1, dim = 1;
  int64_t strideB = 0, strideH = 0, strideS = 0; ///< in elements
  /// Random numbers are those of batch entry `firstBatch` and on of a batch
  /// with `mostRows` rows each (0: rows).
  int64_t firstBatch = 0, mostRows = 0;
};

/// Streams keep Q, K, V and each tensor apart under one seed.
enum class Stream : uint64_t { Q = 1, K = 2, V = 3, Tensors = 16 };

/// Fills every element of `target`, rounded to its type. With Normal the values
/// are multiplied by `factor` before rounding. `threads` 0: all cores.
void fillRows(const RowTarget &target, Fill fill, uint64_t seed, Stream stream,
              double factor = 1, int threads = 0);
/// Every element the same value: equal logits come from constant Q and K.
void fillConstant(const RowTarget &target, double value, int threads = 0);

/// A contiguous auxiliary tensor of the given extents; `ordinal` is its place
/// in the spec. Floats as above (Pattern: last index mod 61); random ints are
/// 0 .. 15, random bools 0 or 1. A `monotone` tensor gets a non-decreasing last
/// dimension.
std::vector<uint8_t> makeTensor(const Tensor &tensor,
                                const std::vector<int64_t> &dims, Fill fill,
                                uint64_t seed, uint64_t ordinal);

} // namespace attn

#endif // ATTN_REFERENCE_INPUTS_H
