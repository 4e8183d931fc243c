//===- Imports.h - Loading a file and what it imports -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_IMPORTS_H
#define ATTN_SPEC_IMPORTS_H

#include "Ast.h"

#include "attn/Spec/Spec.h"

namespace attn::spec {

/// The main file and everything it imports, each once.
struct Program {
  /// A file stands after those it imports; the main file is the last.
  std::vector<std::unique_ptr<ast::File>> files;

  ast::File &main() const { return *files.back(); }
};

/// Parses `text` and, from there, every imported file (S5). Null after an
/// error.
std::unique_ptr<Program> loadProgram(llvm::StringRef fileName,
                                     llvm::StringRef text,
                                     const FileReader &readFile,
                                     Diagnostics &diagnostics);

/// Parses one file without its imports. Null after an error.
std::unique_ptr<ast::File> loadFile(llvm::StringRef fileName,
                                    llvm::StringRef text,
                                    llvm::SMLoc importedAt,
                                    Diagnostics &diagnostics);

} // namespace attn::spec

#endif // ATTN_SPEC_IMPORTS_H
