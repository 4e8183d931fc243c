//===- Inputs.cpp - Made-up inputs ------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Inputs.h"
#include "CounterHash.h"
#include "ParallelFor.h"
#include "Spelling.h"
#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <functional>

namespace attn {
namespace {

constexpr detail::Word<Fill> fillWords[] = {{Fill::Normal, "random"},
                                            {Fill::Pattern, "pattern"},
                                            {Fill::OneHot, "onehot"},
                                            {Fill::Ones, "ones"},
                                            {Fill::Zeros, "zeros"}};

/// A prime near 64: no tile size shares a factor with it.
constexpr int64_t patternPeriod = 61;

/// Random ints are below this: small, so that equal ids meet often.
constexpr uint64_t randomIntLimit = 16;

int64_t countBits(uint64_t bits) { return __builtin_popcountll(bits); }

/// Close to a standard normal: the number of ones in 64 fair bits (variance
/// 16), spread over its unit interval by a uniform number (variance 1/12).
double normal(uint64_t key, uint64_t counter) {
  uint64_t bits = detail::hash(key, counter);
  double uniform =
      double(detail::mix(bits + detail::goldenGamma) >> 11) * 0x1p-53 - 0.5;
  constexpr double inverseDeviation =
      0.24935149047701483; // 1 / sqrt(16 + 1/12)
  return (double(countBits(bits) - 32) + uniform) * inverseDeviation;
}

uint64_t keyOf(uint64_t seed, uint64_t stream) {
  return detail::hash(seed, stream);
}

/// The value of element (s, d); `counter` is its place in logical order.
double valueOf(Fill fill, uint64_t key, uint64_t counter, int64_t s, int64_t d,
               int64_t dim) {
  switch (fill) {
  case Fill::Normal:
    return normal(key, counter);
  case Fill::Pattern:
    return double(s % patternPeriod);
  case Fill::OneHot:
    return d == s % dim;
  case Fill::Ones:
    return 1;
  case Fill::Zeros:
    return 0;
  }
  return 0;
}

/// Calls store(offset of the row's first element, b, h, s) for each row.
void forEachRow(const RowTarget &target, int threads,
                const std::function<void(int64_t, int64_t, int64_t)> &store) {
  constexpr int64_t blockRows = 64;
  int64_t blocks = (target.rows + blockRows - 1) / blockRows;
  int64_t panels = target.batch * target.heads;
  int64_t before = target.firstBatch * target.heads;
  int64_t mostRows = std::max(target.mostRows, target.rows);
  detail::parallelFor(panels * blocks, threads, [&](int64_t piece, int) {
    int64_t panel = piece / blocks, first = piece % blocks * blockRows;
    int64_t b = panel / target.heads, h = panel % target.heads;
    for (int64_t s = first; s < std::min(first + blockRows, target.rows); ++s)
      store(b * target.strideB + h * target.strideH + s * target.strideS,
            ((before + panel) * mostRows + s) * target.dim, s);
  });
}

/// Sorts out a tensor's promise: row after row of non-decreasing values, made
/// of small steps.
double monotoneStep(DType type, uint64_t key, uint64_t counter) {
  uint64_t bits = detail::hash(key, counter);
  // A step once in about 16 elements, so that runs of equal values exist.
  bool step = bits % randomIntLimit == 0;
  if (type == DType::Bool || !step)
    return 0;
  return isFloat(type) ? double(bits >> 11) * 0x1p-53 : 1;
}

double tensorValue(const Tensor &tensor, Fill fill, uint64_t key,
                   uint64_t counter, int64_t last, int64_t length) {
  if (fill != Fill::Normal || isFloat(tensor.type))
    return valueOf(fill, key, counter, last, last, length);
  uint64_t limit = tensor.type == DType::Bool ? 2 : randomIntLimit;
  return double(detail::hash(key, counter) % limit);
}

} // namespace

Fill parseFill(const std::string &word) {
  return detail::valueOf(fillWords, word, "made-up values");
}

void fillRows(const RowTarget &target, Fill fill, uint64_t seed, Stream stream,
              double factor, int threads) {
  uint64_t key = keyOf(seed, uint64_t(stream));
  double scale = fill == Fill::Normal ? factor : 1;
  forEachRow(target, threads, [&](int64_t offset, int64_t counter, int64_t s) {
    for (int64_t d = 0; d < target.dim; ++d)
      storeElement(target.type, target.data, offset + d,
                   scale * valueOf(fill, key, counter + d, s, d, target.dim));
  });
}

void fillConstant(const RowTarget &target, double value, int threads) {
  forEachRow(target, threads, [&](int64_t offset, int64_t, int64_t) {
    for (int64_t d = 0; d < target.dim; ++d)
      storeElement(target.type, target.data, offset + d, value);
  });
}

std::vector<uint8_t> makeTensor(const Tensor &tensor,
                                const std::vector<int64_t> &dims, Fill fill,
                                uint64_t seed, uint64_t ordinal) {
  int64_t count = 1, length = dims.empty() ? 1 : dims.back();
  for (int64_t dim : dims)
    count *= dim;
  std::vector<uint8_t> bytes(size_t(count * byteSize(tensor.type)));
  uint64_t key = keyOf(seed, uint64_t(Stream::Tensors) + ordinal);
  bool rising = tensor.monotone && fill != Fill::Ones && fill != Fill::Zeros;
  double previous = 0;
  for (int64_t at = 0; at < count; ++at) {
    int64_t last = at % length;
    double value;
    if (rising) {
      value = (last == 0 ? 0 : previous) +
              monotoneStep(tensor.type, key, uint64_t(at));
      // Rounding keeps the order, and the sum goes on from what was stored.
      value = roundTo(tensor.type, value);
    } else {
      value = tensorValue(tensor, fill, key, uint64_t(at), last, length);
    }
    storeElement(tensor.type, bytes.data(), at, value);
    previous = value;
  }
  return bytes;
}

} // namespace attn
