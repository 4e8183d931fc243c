//===- SpecTesting.h - Parsing with collected diagnostics -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_SPEC_SPECTESTING_H
#define ATTN_TEST_UNIT_SPEC_SPECTESTING_H

#include "attn/Spec/Spec.h"

#include "llvm/Support/SourceMgr.h"

#include <string>
#include <vector>

namespace attn::spec::testing {

struct Report {
  llvm::SourceMgr::DiagKind kind;
  std::string file;
  int line, column; ///< 1-based; 0 without a place
  std::string message;
};

/// A problem, or none, and everything said on the way.
struct Parsed {
  std::optional<Problem> problem;
  std::vector<Report> reports;

  std::vector<Report> of(llvm::SourceMgr::DiagKind kind) const;
  std::vector<Report> errors() const { return of(llvm::SourceMgr::DK_Error); }
  /// All reports, one a line, for failure messages.
  std::string text() const;
};

Parsed parse(llvm::StringRef text, const ParseOptions &options = {},
             llvm::StringRef fileName = "test.attn");

/// An attention block with the required fields and `fields`.
std::string blockWith(llvm::StringRef fields);

/// The mask, score or sink of a block with `fields`, printed as an
/// S-expression; every diagnostic if it is refused.
std::string printedRule(llvm::StringRef fields, ExprPtr Problem::*rule,
                        llvm::StringRef before = "");

/// `(and (le k q) (lt (param left) 4))`.
std::string print(const ExprPtr &expr);

} // namespace attn::spec::testing

#endif // ATTN_TEST_UNIT_SPEC_SPECTESTING_H
