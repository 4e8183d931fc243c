//===- Lexer.h - PTX tokens --------------------------------------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_LEXER_H
#define ATTN_LIB_SIM_LEXER_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace attn::sim {

/// What is wrong with a PTX text, and in which line.
class PtxError : public std::runtime_error {
public:
  PtxError(unsigned line, const std::string &message)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + message),
        line(line) {}
  unsigned line;
};

struct Token {
  enum Kind : uint8_t {
    End,
    Word,    ///< opcode, register, symbol or directive, with its dots
    Integer, ///< value in `bits`
    Float32, ///< 0f..., bits in `bits`
    Float64, ///< 0d... or a decimal fraction, bits in `bits`
    String,
    Punct, ///< one character
  };
  Kind kind = End;
  std::string_view text;
  uint64_t bits = 0;
  unsigned line = 1;

  bool is(char punct) const { return kind == Punct && text[0] == punct; }
  bool is(std::string_view word) const { return kind == Word && text == word; }
};

/// Splits `source` into tokens, ending with one End. Comments are dropped.
/// Throws PtxError. The tokens point into `source`.
std::vector<Token> tokenize(std::string_view source);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_LEXER_H
