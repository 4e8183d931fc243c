//===- ParseExpr.cpp - The expression grammar -----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include "llvm/ADT/ScopeExit.h"

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::ast;
using llvm::StringRef;

namespace {

/// A binary operator; a higher level binds more tightly. Comparisons have a
/// level of their own between `logicLevels` and sums.
struct Operator {
  TokenKind token;
  ExprKind kind;
  unsigned level;
};

constexpr unsigned comparisonLevel = 2;
constexpr unsigned unaryLevel = 5;

constexpr Operator operators[] = {
    {TokenKind::OrOr, ExprKind::Or, 0},
    {TokenKind::AndAnd, ExprKind::And, 1},
    {TokenKind::EqEq, ExprKind::Eq, comparisonLevel},
    {TokenKind::NotEq, ExprKind::Ne, comparisonLevel},
    {TokenKind::Less, ExprKind::Lt, comparisonLevel},
    {TokenKind::LessEq, ExprKind::Le, comparisonLevel},
    {TokenKind::Greater, ExprKind::Gt, comparisonLevel},
    {TokenKind::GreaterEq, ExprKind::Ge, comparisonLevel},
    {TokenKind::Plus, ExprKind::Add, 3},
    {TokenKind::Minus, ExprKind::Sub, 3},
    {TokenKind::Star, ExprKind::Mul, 4},
    {TokenKind::Slash, ExprKind::Div, 4},
    {TokenKind::Percent, ExprKind::Mod, 4},
};

const Operator *findOperator(const Token &token, unsigned level) {
  for (const Operator &op : operators)
    if (op.token == token.kind && op.level == level)
      return &op;
  return nullptr;
}

StringRef textOf(llvm::SMRange range) {
  return StringRef(range.Start.getPointer(),
                   range.End.getPointer() - range.Start.getPointer());
}

} // namespace

NodePtr Parser::makeNode(Node::Kind kind, const Token &token) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->name = token.text;
  node->intValue = token.intValue;
  node->floatValue = token.floatValue;
  node->range = token.range();
  node->caret = node->range.Start;
  return node;
}

/// Sets the range and the depth of a node whose operands are complete.
NodePtr Parser::finish(NodePtr node, llvm::SMRange range) {
  node->range = range;
  for (const NodePtr &operand : node->operands)
    node->depth = std::max(node->depth, operand->depth + 1);
  if (node->depth <= maxDepth)
    return node;
  diagnostics.errorAt(node->caret, {node->caret, node->caret},
                      "expression deeper than " + llvm::Twine(maxDepth) +
                          " operators; split it into defs or group it with "
                          "parentheses");
  return nullptr;
}

NodePtr Parser::parseExpr() {
  llvm::scope_exit leave([&] { --nesting; });
  if (++nesting > maxDepth) {
    diagnostics.error(peek().range(), "expression nested deeper than " +
                                          llvm::Twine(maxDepth) + " levels");
    return nullptr;
  }
  NodePtr condition = parseBinary(0);
  if (!condition || !peek().is(TokenKind::Question))
    return condition;
  NodePtr select = makeNode(Node::Select, next());
  NodePtr ifTrue = parseExpr();
  if (!ifTrue ||
      !expect(TokenKind::Colon, "':' and the value for false of '?'"))
    return nullptr;
  NodePtr ifFalse = parseExpr();
  if (!ifFalse)
    return nullptr;
  llvm::SMRange range = span(condition->range, ifFalse->range);
  select->operands.push_back(std::move(condition));
  select->operands.push_back(std::move(ifTrue));
  select->operands.push_back(std::move(ifFalse));
  return finish(std::move(select), range);
}

/// Left-associative operators of one level, whose operands are the next level.
NodePtr Parser::parseBinary(unsigned level) {
  if (level == unaryLevel)
    return parseUnary();
  if (level == comparisonLevel)
    return parseComparison();
  NodePtr left = parseBinary(level + 1);
  while (left) {
    const Operator *op = findOperator(peek(), level);
    if (!op)
      return left;
    NodePtr node = makeNode(Node::Binary, next());
    node->op = op->kind;
    NodePtr right = parseBinary(level + 1);
    if (!right)
      return nullptr;
    llvm::SMRange range = span(left->range, right->range);
    node->operands.push_back(std::move(left));
    node->operands.push_back(std::move(right));
    left = finish(std::move(node), range);
  }
  return nullptr;
}

NodePtr Parser::parseComparison() {
  NodePtr left = parseBinary(comparisonLevel + 1);
  if (!left)
    return nullptr;
  const Operator *op = findOperator(peek(), comparisonLevel);
  if (!op)
    return left;
  NodePtr node = makeNode(Node::Binary, next());
  node->op = op->kind;
  NodePtr right = parseBinary(comparisonLevel + 1);
  if (!right)
    return nullptr;
  llvm::SMRange range = span(left->range, right->range);
  node->operands.push_back(std::move(left));
  node->operands.push_back(std::move(right));
  node = finish(std::move(node), range);
  if (!node || !findOperator(peek(), comparisonLevel))
    return node;
  Token second = next();
  NodePtr last = parseBinary(comparisonLevel + 1);
  return last ? chained(*node, second, *last) : nullptr;
}

/// S15: reports `a <= k < b`.
NodePtr Parser::chained(const Node &comparison, const Token &op,
                        const Node &last) {
  StringRef left = textOf(comparison.range);
  StringRef middle = textOf(comparison.operands[1]->range);
  StringRef right = textOf(last.range);
  std::string mend = "join two of them with '&&'";
  constexpr size_t longestHint = 60;
  if (left.size() + middle.size() + right.size() < longestHint &&
      (left + middle + right).str().find('\n') == std::string::npos)
    mend =
        ("write '" + left + " && " + middle + " " + op.text + " " + right + "'")
            .str();
  diagnostics.errorAt(op.range().Start, span(comparison.range, last.range),
                      "comparisons do not chain; " + llvm::Twine(mend));
  return nullptr;
}

NodePtr Parser::parseUnary() {
  bool isMinus = peek().is(TokenKind::Minus);
  if (!isMinus && !peek().is(TokenKind::Not))
    return parsePrimary();
  llvm::scope_exit leave([&] { --nesting; });
  if (++nesting > maxDepth) {
    diagnostics.error(peek().range(), "expression nested deeper than " +
                                          llvm::Twine(maxDepth) + " levels");
    return nullptr;
  }
  NodePtr node = makeNode(Node::Unary, next());
  node->op = isMinus ? ExprKind::Neg : ExprKind::Not;
  NodePtr operand = parseUnary();
  if (!operand)
    return nullptr;
  llvm::SMRange range = span(node->range, operand->range);
  node->operands.push_back(std::move(operand));
  return finish(std::move(node), range);
}

NodePtr Parser::parsePrimary() {
  const Token &token = peek();
  switch (token.kind) {
  case TokenKind::Integer:
    return makeNode(Node::Int, next());
  case TokenKind::Float:
    return makeNode(Node::Float, next());
  case TokenKind::Identifier:
    if (token.startsLine && isStatement(token.text))
      break;
    return parseNameUse();
  case TokenKind::LParen: {
    llvm::SMRange open = next().range();
    NodePtr inner = parseExpr();
    if (!inner)
      return nullptr;
    llvm::SMRange close = peek().range();
    if (!expect(TokenKind::RParen, "')'")) {
      diagnostics.note(open, "the '(' to be closed");
      return nullptr;
    }
    inner->range = span(open, close);
    return inner;
  }
  default:
    break;
  }
  unexpected("an expression");
  return nullptr;
}

NodePtr Parser::parseNameUse() {
  const Token &token = next();
  if (token.text == "true" || token.text == "false") {
    NodePtr node = makeNode(Node::Bool, token);
    node->intValue = token.text == "true";
    return node;
  }
  if (token.text == "inf") {
    NodePtr node = makeNode(Node::Float, token);
    node->floatValue = std::numeric_limits<double>::infinity();
    return node;
  }
  if (token.text == "not" && peek().is(TokenKind::Identifier) &&
      !peek().startsLine) {
    diagnostics.error(token.range(), "'not' is written '!'");
    return nullptr;
  }
  NodePtr node = makeNode(Node::Name, token);
  if (accept(TokenKind::LParen)) {
    node->kind = Node::Call;
    if (accept(TokenKind::RParen)) {
      node->range.End = tokens[position - 1].range().End;
      return node;
    }
    if (!parseArguments(*node, TokenKind::RParen, "',' or ')'"))
      return nullptr;
  } else if (accept(TokenKind::LBracket)) {
    node->kind = Node::Read;
    if (!parseArguments(*node, TokenKind::RBracket, "',' or ']'"))
      return nullptr;
  } else {
    return node;
  }
  llvm::SMRange range = {node->range.Start, tokens[position - 1].range().End};
  return finish(std::move(node), range);
}

bool Parser::parseArguments(Node &node, TokenKind close, StringRef closeText) {
  do {
    NodePtr argument = parseExpr();
    if (!argument)
      return false;
    node.operands.push_back(std::move(argument));
  } while (accept(TokenKind::Comma));
  return expect(close, closeText);
}
