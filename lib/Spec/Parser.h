//===- Parser.h - The grammar of .attn files --------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_PARSER_H
#define ATTN_SPEC_PARSER_H

#include "Ast.h"

namespace attn::spec {

/// Recursive descent over docs/SpecLanguage.md's grammar. After an error the
/// parser takes up again at the next field, so that one mistake is one message.
class Parser {
public:
  /// S2: deepest expression, in brackets and in operators.
  static constexpr unsigned maxDepth = 256;

  Parser(llvm::StringRef text, Diagnostics &diagnostics)
      : tokens(lex(text, diagnostics)), diagnostics(diagnostics) {}

  /// Fills in imports, defs and blocks. False after an error (reported).
  bool parse(ast::File &file);

private:
  // Files and blocks (Parser.cpp); false: reported, skip to the next statement.
  bool parseImport(ast::File &file);
  bool parseTopLevel(ast::File &file);
  bool parseBlock(ast::File &file);
  bool parseStatement(ast::Block &block);
  bool parseDef(std::vector<std::unique_ptr<ast::Def>> &defs);
  bool parseRule(ast::Block &block);
  bool parseField(ast::Block &block);
  bool parseOptions(ast::Field &field);
  bool parseParam(ast::Block &block);
  bool parseTensor(ast::Block &block);
  bool parseAtom(ast::Atom &atom, const llvm::Twine &expected);
  bool parseIdent(ast::Ident &ident, const llvm::Twine &expected);
  bool parseIdentList(std::vector<ast::Ident> &list);
  bool ruleHasList() const;
  bool endOfRule();

  // Expressions (ParseExpr.cpp); null: reported.
  ast::NodePtr parseExpr();
  ast::NodePtr parseBinary(unsigned level);
  ast::NodePtr parseComparison();
  ast::NodePtr parseUnary();
  ast::NodePtr parsePrimary();
  ast::NodePtr parseNameUse();
  bool parseArguments(ast::Node &node, TokenKind close,
                      llvm::StringRef closeText);
  ast::NodePtr makeNode(ast::Node::Kind kind, const Token &token);
  ast::NodePtr finish(ast::NodePtr node, llvm::SMRange range);
  ast::NodePtr chained(const ast::Node &comparison, const Token &op,
                       const ast::Node &last);

  // Tokens.
  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(position + ahead, tokens.size() - 1)];
  }
  const Token &next();
  bool accept(TokenKind kind);
  bool expect(TokenKind kind, const llvm::Twine &expected);
  bool unexpected(const llvm::Twine &expected, const llvm::Twine &mend = "");
  void skipToStatement(bool inBlock);

  llvm::SmallVector<Token, 0> tokens;
  size_t position = 0;
  unsigned nesting = 0;
  Diagnostics &diagnostics;
};

} // namespace attn::spec

#endif // ATTN_SPEC_PARSER_H
