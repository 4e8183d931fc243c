//===- Ast.h - A .attn file as written --------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, types and values are unchecked here: the parser only knows the
// grammar. NameChecker fills in Node::ref, the only part written later.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_AST_H
#define ATTN_SPEC_AST_H

#include "Lexer.h"
#include "Words.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace attn::spec::ast {

struct Def;
struct ParamDecl;
struct TensorDecl;

/// A name where it is declared.
struct Ident {
  llvm::StringRef name;
  llvm::SMRange range() const { return rangeOf(name); }
};

/// What a name in an expression stands for.
struct Ref {
  enum Kind {
    Unresolved,
    Argument,
    Index,
    Logit,
    Param,
    Tensor,
    Def,
    Function
  };
  Kind kind = Unresolved;
  unsigned argument = 0; ///< position in the def's list
  IndexVar index = IndexVar::Q;
  const ast::ParamDecl *param = nullptr;
  const ast::TensorDecl *tensor = nullptr;
  const ast::Def *def = nullptr;
  const spec::Function *function = nullptr;
};

struct Node;
using NodePtr = std::unique_ptr<Node>;

/// An expression as written.
struct Node {
  enum Kind { Int, Float, Bool, Name, Call, Read, Unary, Binary, Select };
  Kind kind = Int;
  llvm::SMRange range; ///< all of it, parentheses included
  llvm::SMLoc caret;   ///< the operator, or the start
  llvm::StringRef name;
  uint64_t intValue = 0;
  double floatValue = 0;
  ExprKind op = ExprKind::Neg; ///< of Unary and Binary
  std::vector<NodePtr> operands;
  unsigned depth = 1; ///< of the tree below, at most Parser::maxDepth
  Ref ref;
};

/// `def name(params) = body`.
struct Def {
  Ident name;
  std::vector<Ident> params;
  NodePtr body;
  /// An error in it has been reported: its uses say nothing more.
  bool broken = false;
  /// The defs its body calls, with the places.
  std::vector<std::pair<Def *, const Node *>> callees;
};

/// `mask`, `score` or `sink`.
struct Rule {
  Ident keyword;
  bool hasList = false;
  std::vector<Ident> list;
  NodePtr body;
};

/// A word or a number, with its sign.
struct Atom {
  Token token;
  bool negative = false;
  llvm::SMRange range;

  bool isWord() const { return token.is(TokenKind::Identifier); }
  bool isInt() const { return token.is(TokenKind::Integer); }
  bool isFloat() const { return token.is(TokenKind::Float); }
  bool isNumber() const { return isInt() || isFloat(); }
  llvm::StringRef text() const;
};

/// `name`, `name = value` or `name = M x N` in a field's parentheses.
struct Option {
  Ident name;
  std::optional<Atom> value, second;
};

/// `keyword first [/ second] {, more} [(options)]`.
struct Field {
  Ident keyword;
  Atom first;
  std::optional<Atom> second;
  std::vector<Atom> more;
  std::optional<std::vector<Option>> options;
  llvm::SMRange optionsRange;
};

struct ParamDecl {
  Ident name, type;
  Atom value;
};

struct TensorDecl {
  Ident name, type;
  std::vector<Token> dims;
  std::optional<llvm::SMRange> monotone;
};

/// `attention name { ... }`.
struct Block {
  Ident name;
  std::vector<Field> fields;
  std::vector<Rule> rules;
  std::vector<ParamDecl> params;
  std::vector<TensorDecl> tensors;
  std::vector<std::unique_ptr<Def>> defs;
};

struct Import {
  llvm::StringRef path;
  llvm::SMRange range;
};

struct File {
  std::string name; ///< as diagnostics show it
  llvm::StringRef text;
  std::vector<Import> imports;
  std::vector<std::unique_ptr<Def>> defs;
  std::vector<Block> blocks;
  /// Itself and what it imports, directly or not: whose defs it sees.
  llvm::SmallPtrSet<const File *, 4> visible;
};

} // namespace attn::spec::ast

#endif // ATTN_SPEC_AST_H
