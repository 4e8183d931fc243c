//===- Parser.cpp - Files, blocks and fields ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

using namespace attn::spec;
using namespace attn::spec::ast;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

const Token &Parser::next() {
  const Token &token = peek();
  if (!token.is(TokenKind::End))
    ++position;
  return token;
}

bool Parser::accept(TokenKind kind) {
  if (!peek().is(kind))
    return false;
  next();
  return true;
}

/// Reports what was expected here; always false. The lexer has already reported
/// an Error token.
bool Parser::unexpected(const Twine &expected, const Twine &mend) {
  if (!peek().is(TokenKind::Error))
    diagnostics.error(peek().range(), "expected " + expected + ", found " +
                                          peek().describe() + mend);
  return false;
}

bool Parser::expect(TokenKind kind, const Twine &expected) {
  return accept(kind) || unexpected(expected);
}

/// Where a new statement can start after an error: a keyword that stands first
/// on its line.
void Parser::skipToStatement(bool inBlock) {
  for (;; next()) {
    const Token &token = peek();
    if (token.is(TokenKind::End))
      return;
    if (inBlock && token.is(TokenKind::RBrace))
      return;
    if (!token.startsLine || !token.is(TokenKind::Identifier))
      continue;
    if (token.text == "attention" || token.text == "import" ||
        token.text == "def" || (inBlock && isStatement(token.text)))
      return;
  }
}

bool Parser::parseIdent(Ident &ident, const Twine &expected) {
  if (!peek().is(TokenKind::Identifier))
    return unexpected(expected);
  ident.name = next().text;
  return true;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

bool Parser::parse(File &file) {
  unsigned before = diagnostics.errorCount();
  while (!peek().is(TokenKind::End))
    if (!parseTopLevel(file))
      skipToStatement(/*inBlock=*/false);
  // A stray character between two statements stops neither of them.
  bool lexed = llvm::none_of(
      tokens, [](const Token &token) { return token.is(TokenKind::Error); });
  return lexed && diagnostics.errorCount() == before;
}

bool Parser::parseTopLevel(File &file) {
  if (peek().isWord("import"))
    return parseImport(file);
  if (peek().isWord("def"))
    return parseDef(file.defs);
  if (peek().isWord("attention"))
    return parseBlock(file);
  if (peek().is(TokenKind::Error)) {
    next();
    return false;
  }
  std::string mend;
  if (peek().is(TokenKind::Identifier)) {
    if (isStatement(peek().text))
      mend = "; fields stand inside 'attention NAME { ... }'";
    else
      mend = didYouMean(peek().text, {"import", "def", "attention"});
  }
  unexpected("'import', 'def' or 'attention'", mend);
  next();
  return false;
}

bool Parser::parseImport(File &file) {
  llvm::SMRange keyword = next().range();
  if (!peek().is(TokenKind::String))
    return unexpected("a file name in quotes after 'import'");
  const Token &path = next();
  if (!file.defs.empty() || !file.blocks.empty()) {
    diagnostics.error(keyword, "imports stand first in a file, before every "
                               "def and attention block");
    return true;
  }
  file.imports.push_back({path.text.drop_front().drop_back(), path.range()});
  return true;
}

bool Parser::parseIdentList(std::vector<Ident> &list) {
  if (!expect(TokenKind::LParen, "'('"))
    return false;
  if (accept(TokenKind::RParen))
    return true;
  do {
    if (!parseIdent(list.emplace_back(), "a name"))
      return false;
  } while (accept(TokenKind::Comma));
  return expect(TokenKind::RParen, "',' or ')'");
}

bool Parser::parseDef(std::vector<std::unique_ptr<Def>> &defs) {
  next();
  auto def = std::make_unique<Def>();
  if (!parseIdent(def->name, "the def's name") || !parseIdentList(def->params))
    return false;
  if (!expect(TokenKind::Assign, "'=' and the def's expression"))
    return false;
  def->body = parseExpr();
  if (!def->body || !endOfRule())
    return false;
  defs.push_back(std::move(def));
  return true;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

bool Parser::parseBlock(File &file) {
  next();
  Block block;
  if (!parseIdent(block.name, "the attention's name"))
    return false;
  llvm::SMRange open = peek().range();
  if (!expect(TokenKind::LBrace, "'{'"))
    return false;
  while (!peek().is(TokenKind::RBrace)) {
    const Token &token = peek();
    if (token.is(TokenKind::End) ||
        (token.startsLine &&
         (token.text == "attention" || token.text == "import"))) {
      unexpected("a field, or '}' at the end of attention '" + block.name.name +
                 "'");
      diagnostics.note(open, "the '{' to be closed");
      return false;
    }
    if (!parseStatement(block))
      skipToStatement(/*inBlock=*/true);
  }
  next();
  file.blocks.push_back(std::move(block));
  return true;
}

bool Parser::parseStatement(Block &block) {
  const Token &token = peek();
  if (token.isWord("def"))
    return parseDef(block.defs);
  if (token.isWord("param"))
    return parseParam(block);
  if (token.isWord("tensor"))
    return parseTensor(block);
  if (token.isWord("mask") || token.isWord("score") || token.isWord("sink"))
    return parseRule(block);
  if (token.is(TokenKind::Identifier) && isField(token.text))
    return parseField(block);
  if (token.is(TokenKind::Identifier) && token.startsLine)
    diagnostics.error(token.range(),
                      "unknown field '" + token.text + "'" +
                          didYouMean(token.text, statementNames()));
  else
    unexpected("a field, 'param', 'tensor', 'def', 'mask', 'score', 'sink' or "
               "'}'");
  next();
  return false;
}

bool Parser::parseParam(Block &block) {
  next();
  ParamDecl param;
  if (!parseIdent(param.name, "the param's name") ||
      !expect(TokenKind::Colon, "':' and the param's type") ||
      !parseIdent(param.type, "a type"))
    return false;
  if (!expect(TokenKind::Assign, "'=' and a default: a param can be left out "
                                 "at launch"))
    return false;
  if (!parseAtom(param.value, "a literal"))
    return false;
  block.params.push_back(param);
  return true;
}

bool Parser::parseTensor(Block &block) {
  next();
  TensorDecl tensor;
  if (!parseIdent(tensor.name, "the tensor's name") ||
      !expect(TokenKind::Colon, "':' and the tensor's type") ||
      !parseIdent(tensor.type, "a type") ||
      !expect(TokenKind::LBracket, "'[' and the tensor's dimensions"))
    return false;
  do {
    if (!peek().is(TokenKind::Identifier) && !peek().is(TokenKind::Integer))
      return unexpected("a dimension: a number or one of " +
                        listed(dimNames()));
    tensor.dims.push_back(next());
  } while (accept(TokenKind::Comma));
  if (!expect(TokenKind::RBracket, "',' or ']'"))
    return false;
  if (peek().isWord("monotone"))
    tensor.monotone = next().range();
  block.tensors.push_back(std::move(tensor));
  return true;
}

/// The long form iff the ")" that matches the first "(" is followed by "=".
bool Parser::ruleHasList() const {
  if (!peek().is(TokenKind::LParen))
    return false;
  unsigned open = 0;
  for (size_t ahead = 0;; ++ahead) {
    const Token &token = peek(ahead);
    if (token.is(TokenKind::End))
      return false;
    if (token.is(TokenKind::LParen))
      ++open;
    if (token.is(TokenKind::RParen) && --open == 0)
      return peek(ahead + 1).is(TokenKind::Assign);
  }
}

bool Parser::parseRule(Block &block) {
  Rule rule;
  rule.keyword.name = next().text;
  if (ruleHasList()) {
    rule.hasList = true;
    if (!parseIdentList(rule.list) || !expect(TokenKind::Assign, "'='"))
      return false;
  } else if (peek().is(TokenKind::Assign)) {
    return unexpected("an expression or a list of index variables",
                      "; write '" + rule.keyword.name + " (q, k) = ...' or '" +
                          rule.keyword.name + " ...'");
  }
  rule.body = parseExpr();
  if (!rule.body || !endOfRule())
    return false;
  block.rules.push_back(std::move(rule));
  return true;
}

/// An expression ends with its line, the block, or before the next field. What
/// often stands there by mistake gets its own hint.
bool Parser::endOfRule() {
  const Token &token = peek();
  StringRef mend;
  if (token.is(TokenKind::Assign))
    mend = "; a comparison is written '=='";
  else if (token.isWord("and"))
    mend = "; write '&&'";
  else if (token.isWord("or"))
    mend = "; write '||'";
  else if (token.is(TokenKind::RParen))
    mend = "; there is no '(' for it";
  else if (token.startsLine || token.is(TokenKind::End) ||
           token.is(TokenKind::RBrace) ||
           (token.is(TokenKind::Identifier) &&
            (isStatement(token.text) || token.text == "attention")))
    return true;
  return unexpected("an operator or the end of the expression", mend);
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

StringRef Atom::text() const {
  return StringRef(range.Start.getPointer(),
                   range.End.getPointer() - range.Start.getPointer());
}

bool Parser::parseAtom(Atom &atom, const Twine &expected) {
  llvm::SMRange start = peek().range();
  if (accept(TokenKind::Minus))
    atom.negative = true;
  else
    accept(TokenKind::Plus);
  const Token &token = peek();
  bool isNumber = token.is(TokenKind::Integer) || token.is(TokenKind::Float);
  // A keyword at the start of a line is the next field, not a value.
  bool isWord = token.is(TokenKind::Identifier) &&
                !(token.startsLine && isStatement(token.text));
  if (!isNumber && !isWord)
    return unexpected(expected);
  atom.token = next();
  atom.range = span(start, atom.token.range());
  return true;
}

bool Parser::parseField(Block &block) {
  Field field;
  field.keyword.name = next().text;
  std::string value = ("a value for '" + field.keyword.name + "'").str();
  if (!parseAtom(field.first, value))
    return false;
  if (accept(TokenKind::Slash) &&
      !parseAtom(field.second.emplace(), "a value after '/'"))
    return false;
  while (accept(TokenKind::Comma))
    if (!parseAtom(field.more.emplace_back(), "a value after ','"))
      return false;
  if (peek().is(TokenKind::LParen) && !parseOptions(field))
    return false;
  block.fields.push_back(std::move(field));
  return true;
}

bool Parser::parseOptions(Field &field) {
  llvm::SMRange open = next().range();
  std::vector<Option> &options = field.options.emplace();
  if (!peek().is(TokenKind::RParen)) {
    do {
      Option &option = options.emplace_back();
      if (!parseIdent(option.name, "an option's name"))
        return false;
      if (!accept(TokenKind::Assign))
        continue;
      if (!parseAtom(option.value.emplace(),
                     "a value for '" + option.name.name + "'"))
        return false;
      if (peek().isWord("x")) {
        next();
        if (!parseAtom(option.second.emplace(), "a number after 'x'"))
          return false;
      }
    } while (accept(TokenKind::Comma));
  }
  field.optionsRange = span(open, peek().range());
  return expect(TokenKind::RParen, "',' or ')'");
}
