//===- Spec.h - Parsing and checking .attn specifications --------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The front end of the `.attn` language (docs/SpecLanguage.md): text in, a
// checked attn::Problem out. LLVM's Support library only.
//
// Every diagnostic goes through the caller's SourceMgr: to stderr with the line
// and a caret, or to the handler the caller has set with setDiagHandler. The
// SourceMgr keeps the texts, so that later stages can report at
// `Problem::locations` and `Expr::line` through it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_SPEC_H
#define ATTN_SPEC_SPEC_H

#include "attn/Reference/Problem.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace attn::spec {

/// The text of an imported file, or nothing if it cannot be read. `path` is the
/// import's path joined to the folder of the importing file, with `.` and `..`
/// folded away.
using FileReader =
    std::function<std::optional<std::string>(llvm::StringRef path)>;

struct ParseOptions {
  /// The block to take (`--attention=NAME`); empty: the file's only one.
  std::string attentionName;
  /// Where `import "./x.attn"` reads from; empty: the file system. Bare names
  /// always come from the shipped library.
  FileReader readFile;
};

/// Parses `text`, loads what it imports, and checks one attention block.
/// `fileName` is what diagnostics show and what `./` imports are relative to.
/// Returns nothing if at least one error has been reported to `sources`; a
/// warning (an unused param, say) does not stop anything. The first buffer it
/// adds to `sources` is the main file's.
std::optional<Problem> parseSpec(llvm::StringRef fileName, llvm::StringRef text,
                                 llvm::SourceMgr &sources,
                                 const ParseOptions &options = {});

/// An attention block of a file: its name and where that stands (1-based).
struct BlockName {
  std::string name;
  unsigned line = 0, column = 0;
};

/// The attention blocks of `text` in the order written; nothing after a syntax
/// error, which has then been reported to `sources`. Imports are not loaded.
std::optional<std::vector<BlockName>> listAttentions(llvm::StringRef fileName,
                                                     llvm::StringRef text,
                                                     llvm::SourceMgr &sources);

/// A file of the shipped library (`specs/<name>.attn`), embedded in the binary.
struct ShippedSpec {
  llvm::StringLiteral name;
  llvm::StringLiteral text;
};

/// All shipped files, sorted by name; `std` holds the defs the others import.
llvm::ArrayRef<ShippedSpec> shippedSpecs();

/// The shipped file called `name`, or null.
const ShippedSpec *findShippedSpec(llvm::StringRef name);

} // namespace attn::spec

#endif // ATTN_SPEC_SPEC_H
