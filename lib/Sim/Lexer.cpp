//===- Lexer.cpp - PTX tokens ---------------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"

#include <cstdlib>
#include <cstring>

namespace attn::sim {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}
bool isWordChar(char c) { return isWordStart(c) || isDigit(c); }

int hexDigit(char c) {
  if (isDigit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

class Lexer {
public:
  explicit Lexer(std::string_view source) : source(source) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (;;) {
      skipBlanks();
      tokens.push_back(next());
      if (tokens.back().kind == Token::End)
        return tokens;
    }
  }

private:
  char peek(size_t ahead = 0) const {
    return at + ahead < source.size() ? source[at + ahead] : '\0';
  }

  void skipBlanks() {
    while (at < source.size()) {
      char c = peek();
      if (c == '\n') {
        ++line;
        ++at;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
        // The driver takes text that ends with a NUL; some tools keep it.
        ++at;
      } else if (c == '/' && peek(1) == '/') {
        while (at < source.size() && peek() != '\n')
          ++at;
      } else if (c == '/' && peek(1) == '*') {
        skipBlockComment();
      } else {
        return;
      }
    }
  }

  void skipBlockComment() {
    unsigned start = line;
    at += 2;
    while (at < source.size() && !(peek() == '*' && peek(1) == '/')) {
      if (peek() == '\n')
        ++line;
      ++at;
    }
    if (at >= source.size())
      throw PtxError(start, "this comment never ends: expected '*/'");
    at += 2;
  }

  Token make(Token::Kind kind, size_t start) const {
    Token token;
    token.kind = kind;
    token.text = source.substr(start, at - start);
    token.line = line;
    return token;
  }

  Token next() {
    if (at >= source.size())
      return make(Token::End, at);
    char c = peek();
    if (isWordStart(c) || (c == '.' && isWordStart(peek(1))))
      return word();
    if (isDigit(c))
      return number();
    if (c == '"')
      return string();
    if (std::strchr("{}[]()<>,;:=+-|!@*~&", c)) {
      ++at;
      return make(Token::Punct, at - 1);
    }
    throw PtxError(line, "unexpected character '" + std::string(1, c) + "'");
  }

  /// Words keep their dots and double colons: `%tid.x`,
  /// `cp.async.ca.shared::cta.global`. Directives do not: `.reg.b32` is two.
  Token word() {
    size_t start = at++;
    for (;;) {
      if (isWordChar(peek()))
        ++at;
      else if (source[start] != '.' && peek() == '.' && isWordChar(peek(1)))
        at += 2;
      else if (peek() == ':' && peek(1) == ':' && isWordChar(peek(2)))
        at += 3;
      else
        break;
    }
    return make(Token::Word, start);
  }

  Token string() {
    size_t start = ++at;
    while (at < source.size() && peek() != '"' && peek() != '\n')
      ++at;
    if (peek() != '"')
      throw PtxError(line, "this string never ends: expected '\"'");
    Token token = make(Token::String, start);
    ++at;
    return token;
  }

  Token number() {
    size_t start = at;
    char second = peek(1);
    if (peek() == '0' && (second == 'f' || second == 'F'))
      return floatBits(start, Token::Float32, 8);
    if (peek() == '0' && (second == 'd' || second == 'D'))
      return floatBits(start, Token::Float64, 16);
    unsigned base = 10;
    if (peek() == '0' && (second == 'x' || second == 'X')) {
      base = 16;
      at += 2;
    } else if (peek() == '0' && (second == 'b' || second == 'B')) {
      base = 2;
      at += 2;
    } else if (peek() == '0' && isDigit(second)) {
      base = 8;
      ++at;
    }
    return integer(start, base);
  }

  Token floatBits(size_t start, Token::Kind kind, unsigned digits) {
    at += 2;
    uint64_t bits = 0;
    for (unsigned i = 0; i < digits; ++i, ++at) {
      int digit = hexDigit(peek());
      if (digit < 0)
        throw PtxError(line,
                       "a float constant needs " + std::to_string(digits) +
                           " hexadecimal digits: '" +
                           std::string(source.substr(start, 2 + i)) + "'");
      bits = bits << 4 | static_cast<unsigned>(digit);
    }
    Token token = make(kind, start);
    token.bits = bits;
    return token;
  }

  Token integer(size_t start, unsigned base) {
    uint64_t bits = 0;
    bool tooLarge = false;
    size_t digits = at;
    for (; hexDigit(peek()) >= 0 &&
           static_cast<unsigned>(hexDigit(peek())) < base;
         ++at)
      tooLarge |=
          __builtin_mul_overflow(bits, uint64_t(base), &bits) ||
          __builtin_add_overflow(bits, uint64_t(hexDigit(peek())), &bits);
    if (at == digits && base != 8)
      throw PtxError(line, "expected digits after '" +
                               std::string(source.substr(start, at - start)) +
                               "'");
    bool fraction = base == 10 && ((peek() == '.' && isDigit(peek(1))) ||
                                   peek() == 'e' || peek() == 'E');
    if (fraction)
      return decimalFraction(start);
    if (tooLarge)
      throw PtxError(line, "the number " +
                               std::string(source.substr(start, at - start)) +
                               " does not fit 64 bits");
    Token token = make(Token::Integer, start);
    token.bits = bits;
    if (peek() == 'U' || peek() == 'u')
      ++at;
    return token;
  }

  Token decimalFraction(size_t start) {
    std::string text(source.substr(start, 64));
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    at = start + static_cast<size_t>(end - text.c_str());
    Token token = make(Token::Float64, start);
    std::memcpy(&token.bits, &value, sizeof(value));
    return token;
  }

  std::string_view source;
  size_t at = 0;
  unsigned line = 1;
};

} // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Lexer(source).run();
}

} // namespace attn::sim
