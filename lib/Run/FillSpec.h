//===- FillSpec.h - Values given as a word or a rule ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   FILL = BASE {"," FIRST [".." LAST] "=" NUMBER}
//   BASE = random | normal[:FACTOR] | pattern | mod:N | onehot[:DIM] |
//          iota[:OFFSET] | ones | zeros | [const:]NUMBER
//
// Element (s, d) of a row tensor: `random` is a normal distribution; `pattern`
// is s mod 61, `mod:N` s mod N: they show which keys were read; `onehot` is 1
// where d = s mod head_dim, `onehot:DIM` where d = DIM; `iota:OFFSET` is
// OFFSET + d. The overrides set whole positions. The same words give expected
// results (`--expect-o`), where s is the row and `nan` leaves a place open.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_FILLSPEC_H
#define ATTN_TOOLS_RUN_FILLSPEC_H

#include "attn/Reference/Inputs.h"

#include <optional>
#include <string>
#include <vector>

namespace attn::run {

class FillSpec {
public:
  enum Base { Random, Mod, OneHot, OneHotDim, Iota, Constant };

  /// Throws InputError naming `option` and the legal words.
  static FillSpec parse(const std::string &option, const std::string &text);
  static FillSpec random() { return FillSpec(); }
  static FillSpec pattern();

  bool isRandom() const { return base == Random; }
  /// Element (s, d) of rows of `dim` elements; not for Random.
  double at(int64_t s, int64_t d, int64_t dim) const;
  /// Throws InputError where a position or a dim is outside `rows` x `dim`, or
  /// a value beyond what `type` holds.
  void checkFits(const std::string &option, int64_t rows, int64_t dim,
                 DType type) const;
  /// Writes every element of `target`.
  void fill(const RowTarget &target, uint64_t seed, Stream stream) const;

private:
  struct Override {
    int64_t first, last; ///< inclusive
    double value;
  };
  void parseBase(const std::string &text);
  void parseOverride(const std::string &text);
  /// The largest magnitude of `rows` x `dim` elements without overrides.
  double largest(int64_t rows, int64_t dim) const;

  Base base = Random;
  double number = 1; ///< factor, modulus, dimension, offset or value
  std::vector<Override> overrides;
};

/// The whole of `text` as a number ("inf" and "-inf" included) or nothing.
std::optional<double> parseNumber(const std::string &text);
std::optional<int64_t> parseInteger(const std::string &text);
/// The pieces between separators; one empty piece for an empty text.
std::vector<std::string> splitAt(const std::string &text, char separator);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_FILLSPEC_H
