//===- Lexer.h - Tokens of a .attn file -------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_LEXER_H
#define ATTN_SPEC_LEXER_H

#include "Diagnostics.h"

#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace attn::spec {

enum class TokenKind {
  Identifier, ///< names and keywords alike
  Integer,    ///< intValue
  Float,      ///< floatValue, rounded to f32
  String,     ///< with its quotes
  LParen,
  RParen,
  LBracket,
  RBracket,
  LBrace,
  RBrace,
  Comma,
  Colon,
  Question,
  Assign,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  Not,
  AndAnd,
  OrOr,
  EqEq,
  NotEq,
  Less,
  LessEq,
  Greater,
  GreaterEq,
  Error, ///< already reported; the parser says nothing about it
  End
};

struct Token {
  TokenKind kind = TokenKind::End;
  llvm::StringRef text;
  /// First on its line: where the parser takes up again after an error.
  bool startsLine = false;
  uint64_t intValue = 0;
  double floatValue = 0;

  bool is(TokenKind other) const { return kind == other; }
  bool isWord(llvm::StringRef word) const {
    return kind == TokenKind::Identifier && text == word;
  }
  llvm::SMRange range() const { return rangeOf(text); }
  /// For "found ...": 'text', or "end of file".
  std::string describe() const;
};

/// S1: splits `text`, a piece of one of the SourceMgr's buffers, into tokens.
/// The last one is End.
llvm::SmallVector<Token, 0> lex(llvm::StringRef text, Diagnostics &diagnostics);

} // namespace attn::spec

#endif // ATTN_SPEC_LEXER_H
