//===- Spelling.h - Enumerators and their words -----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The words that a manifest uses for each enumerator: one table per enum, read
// in both directions.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_SPELLING_H
#define ATTN_LIB_REFERENCE_SPELLING_H

#include <cassert>
#include <stdexcept>
#include <string>

namespace attn::detail {

template <typename Enum> struct Word {
  Enum value;
  const char *word;
};

template <typename Enum, size_t N>
const char *wordOf(const Word<Enum> (&table)[N], Enum value) {
  for (const Word<Enum> &entry : table)
    if (entry.value == value)
      return entry.word;
  assert(false && "enumerator missing from its table");
  return "";
}

/// Throws std::runtime_error listing the legal words.
template <typename Enum, size_t N>
Enum valueOf(const Word<Enum> (&table)[N], const std::string &word,
             const std::string &what) {
  std::string legal;
  for (const Word<Enum> &entry : table) {
    if (word == entry.word)
      return entry.value;
    legal += (legal.empty() ? "" : ", ") + std::string(entry.word);
  }
  throw std::runtime_error(what + ": expected one of " + legal + ", found '" +
                           word + "'");
}

} // namespace attn::detail

#endif // ATTN_LIB_REFERENCE_SPELLING_H
