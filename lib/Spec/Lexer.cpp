//===- Lexer.cpp - Tokens of a .attn file ---------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstdlib>

using namespace attn::spec;
using llvm::isAlpha;
using llvm::isDigit;
using llvm::StringRef;
using llvm::Twine;

std::string Token::describe() const {
  if (is(TokenKind::End))
    return "end of file";
  return ("'" + text + "'").str();
}

namespace {

bool isWordChar(char c) { return isAlpha(c) || isDigit(c) || c == '_'; }
bool isAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

/// What some editors put in front of UTF-8 text.
constexpr StringRef byteOrderMark = "\xEF\xBB\xBF";

class Lexer {
public:
  Lexer(StringRef text, Diagnostics &diagnostics)
      : rest(text), diagnostics(diagnostics) {}

  llvm::SmallVector<Token, 0> run() {
    rest.consume_front(byteOrderMark);
    do {
      skipSpace();
      lexToken();
    } while (!tokens.back().is(TokenKind::End));
    return std::move(tokens);
  }

private:
  void skipSpace();
  void lexToken();
  void lexNumber();
  void pushNumber(size_t length, bool isFloat);
  void lexString();
  void lexPunctuation();
  void lexStray();
  Token &push(TokenKind kind, size_t length);
  void reject(size_t length, const Twine &message);

  StringRef rest;
  Diagnostics &diagnostics;
  bool lineStart = true;
  llvm::SmallVector<Token, 0> tokens;
};

} // namespace

void Lexer::skipSpace() {
  for (;;) {
    size_t blanks = rest.find_first_not_of(" \t\r\n");
    StringRef space = rest.take_front(blanks);
    lineStart |= space.contains('\n');
    rest = rest.drop_front(space.size());
    if (!rest.starts_with("//"))
      return;
    rest = rest.drop_front(std::min(rest.find('\n'), rest.size()));
  }
}

Token &Lexer::push(TokenKind kind, size_t length) {
  Token token;
  token.kind = kind;
  token.text = rest.take_front(length);
  token.startsLine = lineStart;
  lineStart = false;
  rest = rest.drop_front(length);
  tokens.push_back(token);
  return tokens.back();
}

void Lexer::reject(size_t length, const Twine &message) {
  diagnostics.error(rangeOf(rest.take_front(length)), message);
  push(TokenKind::Error, length);
}

void Lexer::lexToken() {
  if (rest.empty())
    push(TokenKind::End, 0);
  else if (isAlpha(rest.front()) || rest.front() == '_')
    push(TokenKind::Identifier, rest.take_while(isWordChar).size());
  else if (isDigit(rest.front()))
    lexNumber();
  else if (rest.front() == '"')
    lexString();
  else
    lexPunctuation();
}

/// INT, FLOAT, or the `128x` of a tile such as `128x64`.
void Lexer::lexNumber() {
  StringRef digits = rest.take_while(isDigit);
  size_t length = digits.size();
  bool isFloat = false;
  if (rest.drop_front(length).starts_with(".")) {
    StringRef fraction = rest.drop_front(length + 1).take_while(isDigit);
    if (fraction.empty())
      return reject(length + 1,
                    "expected digits after '.'; write '" + digits + ".0'");
    isFloat = true;
    length += 1 + fraction.size();
  }

  StringRef suffix = rest.drop_front(length).take_while(isWordChar);
  if (suffix.starts_with_insensitive("e")) {
    StringRef exponent = rest.drop_front(length + 1);
    if (exponent.starts_with("+") || exponent.starts_with("-"))
      exponent = exponent.drop_front();
    exponent = exponent.take_while(isDigit);
    if (exponent.empty())
      return reject(length + 1, "expected digits in the exponent of a number");
    isFloat = true;
    length = exponent.end() - rest.begin();
    suffix = rest.drop_front(length).take_while(isWordChar);
  }

  bool isTile = !isFloat && suffix.starts_with("x") &&
                llvm::all_of(suffix.drop_front(), isDigit);
  if (isTile && digits == "0")
    return reject(length + suffix.size(),
                  "hexadecimal numbers are not part of the language");
  if (!isTile && !suffix.empty())
    return reject(length + suffix.size(),
                  "a number cannot be followed by a letter");
  pushNumber(length, isFloat);
  // `128x64` is three tokens, as `128 x 64` is.
  if (isTile)
    push(TokenKind::Identifier, 1);
}

void Lexer::pushNumber(size_t length, bool isFloat) {
  StringRef text = rest.take_front(length);
  if (!isFloat) {
    uint64_t value;
    if (text.getAsInteger(10, value))
      return reject(length, "integer too large for 64 bits");
    push(TokenKind::Integer, length).intValue = value;
    return;
  }
  float value = std::strtof(text.str().c_str(), nullptr);
  if (std::isinf(value))
    return reject(length, "number too large for a 32-bit float; write 'inf' if "
                          "that is meant");
  bool isZero = text.take_until([](char c) { return c == 'e' || c == 'E'; })
                    .find_first_not_of("0.") == StringRef::npos;
  if (value == 0 && !isZero)
    return reject(length, "number too small for a 32-bit float");
  push(TokenKind::Float, length).floatValue = value;
}

void Lexer::lexString() {
  size_t end = rest.find_first_of("\"\n", 1);
  if (end == StringRef::npos || rest[end] == '\n')
    return reject(rest.take_front(end).rtrim().size(),
                  "unterminated string: expected '\"' on the same line");
  push(TokenKind::String, end + 1);
}

void Lexer::lexPunctuation() {
  struct Spelling {
    StringRef text;
    TokenKind kind;
  };
  // Two-character ones first.
  static const Spelling spellings[] = {
      {"&&", TokenKind::AndAnd},  {"||", TokenKind::OrOr},
      {"==", TokenKind::EqEq},    {"!=", TokenKind::NotEq},
      {"<=", TokenKind::LessEq},  {">=", TokenKind::GreaterEq},
      {"<", TokenKind::Less},     {">", TokenKind::Greater},
      {"=", TokenKind::Assign},   {"!", TokenKind::Not},
      {"+", TokenKind::Plus},     {"-", TokenKind::Minus},
      {"*", TokenKind::Star},     {"/", TokenKind::Slash},
      {"%", TokenKind::Percent},  {"?", TokenKind::Question},
      {":", TokenKind::Colon},    {",", TokenKind::Comma},
      {"(", TokenKind::LParen},   {")", TokenKind::RParen},
      {"[", TokenKind::LBracket}, {"]", TokenKind::RBracket},
      {"{", TokenKind::LBrace},   {"}", TokenKind::RBrace},
  };
  for (const Spelling &spelling : spellings) {
    if (rest.starts_with(spelling.text)) {
      push(spelling.kind, spelling.text.size());
      return;
    }
  }
  lexStray();
}

void Lexer::lexStray() {
  char c = rest.front();
  if (!isAscii(c))
    return reject(rest.take_until(isAscii).size(),
                  "only ASCII is allowed outside comments");
  if (!llvm::isPrint(c))
    return reject(1, "stray control character 0x" +
                         llvm::utohexstr(c, /*LowerCase=*/false, /*Width=*/2));
  std::string mend;
  if (c == '&' || c == '|')
    mend = "; write '" + std::string(2, c) + "'";
  else if (c == '.')
    mend = "; a fraction is written '0.5'";
  else if (c == '#')
    mend = "; a comment starts with '//'";
  else if (c == '\'')
    mend = "; a string is written \"...\"";
  else if (c == ';')
    mend = "; a field ends where the next one starts";
  reject(1, Twine("stray '") + StringRef(&c, 1) + "'" + mend);
}

llvm::SmallVector<Token, 0> attn::spec::lex(StringRef text,
                                            Diagnostics &diagnostics) {
  return Lexer(text, diagnostics).run();
}
