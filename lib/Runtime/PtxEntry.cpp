//===- PtxEntry.cpp - The declaration of a kernel in PTX ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxEntry.h"

#include <cctype>
#include <cstdlib>
#include <string_view>

using namespace attn;

namespace {
/// Words and punctuation of PTX, without comments.
class Words {
public:
  explicit Words(std::string_view text) : text(text) {}

  /// The next one; empty at the end.
  std::string_view next() {
    skipBlanks();
    size_t length = 0;
    while (length < text.size() && isWord(text[length]))
      ++length;
    std::string_view word = text.substr(0, length ? length : 1);
    text.remove_prefix(word.size());
    return word;
  }

private:
  static bool isWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '$' || c == '%' || c == '.';
  }

  void skipTo(std::string_view end) {
    size_t at = text.find(end);
    text.remove_prefix(at == text.npos ? text.size() : at + end.size());
  }

  void skipBlanks() {
    while (!text.empty()) {
      if (std::isspace(static_cast<unsigned char>(text[0])))
        text.remove_prefix(1);
      else if (text.substr(0, 2) == "//")
        skipTo("\n");
      else if (text.substr(0, 2) == "/*")
        skipTo("*/");
      else
        return;
    }
  }

  std::string_view text;
};
} // namespace

/// Bytes of a fundamental type such as .u64; 0 if the word is none.
static int64_t typeBytes(std::string_view word) {
  if (word.size() < 3 || word[0] != '.' ||
      std::string_view("bsuf").find(word[1]) == std::string_view::npos)
    return 0;
  std::string_view bits = word.substr(2);
  if (bits == "64")
    return 8;
  if (bits == "32")
    return 4;
  if (bits == "16")
    return 2;
  return bits == "8" ? 1 : 0;
}

std::optional<std::vector<int64_t>>
attn::ptxParameterBytes(const std::string &ptx, const std::string &kernel) {
  Words words(ptx);
  std::string_view word = words.next();
  while (!word.empty()) {
    if (word == ".entry" && words.next() == kernel)
      break;
    word = words.next();
  }
  if (word.empty())
    return std::nullopt;
  std::vector<int64_t> sizes;
  // A kernel without parameters may leave out the brackets.
  if (words.next() != "(")
    return sizes;
  for (word = words.next(); !word.empty() && word != ")"; word = words.next()) {
    if (word == ".param")
      sizes.push_back(0);
    else if (word == "[" && !sizes.empty())
      sizes.back() *= std::atoll(std::string(words.next()).c_str());
    else if (int64_t bytes = typeBytes(word); bytes && !sizes.empty())
      sizes.back() = bytes;
  }
  return sizes;
}
