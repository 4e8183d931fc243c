//===- CommandLine.h - Options whose errors say what to write ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's command line with errors that a caller can print as one line. LLVM's
// own parsers print to stderr at once, do not list the values that an option
// takes, and let the last of two contradicting values win.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_COMMANDLINE_H
#define ATTN_PIPELINES_COMMANDLINE_H

#include "llvm/Support/CommandLine.h"

#include <optional>
#include <string>

namespace attn {

/// Keeps "--name=found: expected ..." for parseCommandLine. True, which is how
/// a parser of LLVM's reports an error.
bool reportBadValue(const llvm::cl::Option &option, llvm::StringRef expected,
                    llvm::StringRef found);

/// For llvm::cl::opt: a word of an enumeration.
template <typename Enum> class WordParser : public llvm::cl::parser<Enum> {
public:
  using llvm::cl::parser<Enum>::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             Enum &value) {
    std::string words;
    for (const auto &entry : this->Values) {
      if (entry.Name == text) {
        value = entry.V.getValue();
        return false;
      }
      words += (words.empty() ? "" : ", ") + entry.Name.str();
    }
    return reportBadValue(option, words, text);
  }
};

/// For llvm::cl::opt: a flag, alone or `=true` / `=false`.
class FlagParser : public llvm::cl::parser<bool> {
public:
  using llvm::cl::parser<bool>::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             bool &value);
};

/// Reads the command line. The error, in one line without a full stop, or
/// nothing. Options of `category` that take one value may be given once.
std::optional<std::string>
parseCommandLine(int argc, char **argv, llvm::StringRef overview,
                 const llvm::cl::OptionCategory &category);

} // namespace attn

#endif // ATTN_PIPELINES_COMMANDLINE_H
