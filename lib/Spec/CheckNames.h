//===- CheckNames.h - What every name stands for ----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_CHECKNAMES_H
#define ATTN_SPEC_CHECKNAMES_H

#include "Imports.h"

#include "llvm/ADT/StringMap.h"

namespace attn::spec {

/// Resolves every name of the defs and of one block into Node::ref, and checks
/// all that does not need types: reserved words, clashes, shadowing, how a name
/// is used (S6 to S10), number of arguments and indices, recursion.
class NameChecker {
public:
  NameChecker(Program &program, Diagnostics &diagnostics)
      : program(program), diagnostics(diagnostics) {}

  /// The defs of all files.
  void checkFiles();
  /// One block of the main file, after checkFiles.
  void checkBlock(ast::Block &block);

private:
  /// A declaration of the block, or a def of a file.
  struct Declared {
    ast::Ident ident;
    llvm::StringRef what; ///< "a param", ...
    ast::Ref ref;
    const ast::File *file = nullptr;
    ast::Def *def = nullptr;
  };
  /// Where an expression stands, that is, what it sees.
  struct Scope {
    const ast::File *file;
    bool inBlock;
    ast::Def *def = nullptr;         ///< of a def's body
    const ast::Rule *rule = nullptr; ///< of a rule's body
  };

  void declareInBlock(const ast::Ident &ident, llvm::StringRef what,
                      ast::Ref ref, ast::Def *def = nullptr);
  void declareInFile(const ast::File &file, ast::Def &def);
  bool checkReserved(const ast::Ident &ident, llvm::StringRef what);
  void checkDef(ast::Def &def, const Scope &scope);
  void checkLogit(const ast::Rule &rule);
  void checkRuleList(const ast::Rule &rule);
  void checkRecursion(llvm::ArrayRef<std::unique_ptr<ast::Def>> defs);
  void reportCycle(llvm::ArrayRef<ast::Def *> path, const ast::Def *to,
                   const ast::Node &call);

  /// False: an error has been reported below `node`.
  bool resolve(ast::Node &node, const Scope &scope);
  bool resolveName(ast::Node &node, const Scope &scope);
  bool resolveInRule(ast::Node &node, const Scope &scope, IndexVar index);
  bool checkUse(ast::Node &node, const Scope &scope);
  bool checkValueUse(const ast::Node &node);
  bool checkCall(const ast::Node &node);
  bool checkRead(const ast::Node &node);
  bool checkBareDef(const ast::Node &node, const Scope &scope);
  bool unknown(const ast::Node &node, const Scope &scope);
  bool fail(const ast::Node &node, const llvm::Twine &message);

  const Declared *find(llvm::StringRef name, const Scope &scope) const;
  llvm::SmallVector<llvm::StringRef> visibleNames(const ast::Node &node,
                                                  const Scope &scope) const;

  Program &program;
  Diagnostics &diagnostics;
  llvm::StringMap<Declared> fileNames, blockNames;
};

/// The index variables a rule may use: all those of its list, or without one
/// every index variable (sink: b, h, g).
bool ruleSees(const ast::Rule &rule, IndexVar index);

/// What a score rule without a list calls the logit.
constexpr llvm::StringLiteral defaultLogit = "s";

/// The logit's name in a score rule; empty in the other rules.
llvm::StringRef logitName(const ast::Rule &rule);

} // namespace attn::spec

#endif // ATTN_SPEC_CHECKNAMES_H
