//===- SpecTesting.cpp - Parsing with collected diagnostics ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecTesting.h"

#include <sstream>

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::testing;

std::vector<Report> Parsed::of(llvm::SourceMgr::DiagKind kind) const {
  std::vector<Report> found;
  for (const Report &report : reports)
    if (report.kind == kind)
      found.push_back(report);
  return found;
}

std::string Parsed::text() const {
  std::ostringstream out;
  static const char *const kinds[] = {"error", "warning", "remark", "note"};
  for (const Report &report : reports)
    out << report.file << ':' << report.line << ':' << report.column << ": "
        << kinds[report.kind] << ": " << report.message << '\n';
  return out.str();
}

Parsed testing::parse(llvm::StringRef text, const ParseOptions &options,
                      llvm::StringRef fileName) {
  Parsed parsed;
  llvm::SourceMgr sources;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &diagnostic, void *context) {
        static_cast<Parsed *>(context)->reports.push_back(
            {diagnostic.getKind(), diagnostic.getFilename().str(),
             diagnostic.getLineNo(), diagnostic.getColumnNo() + 1,
             diagnostic.getMessage().str()});
      },
      &parsed);
  parsed.problem = parseSpec(fileName, text, sources, options);
  return parsed;
}

std::string testing::blockWith(llvm::StringRef fields) {
  return ("attention test {\n  dtype bf16\n  heads 8 / 2\n  head_dim 64\n" +
          fields + "\n}\n")
      .str();
}

std::string testing::printedRule(llvm::StringRef fields, ExprPtr Problem::*rule,
                                 llvm::StringRef before) {
  Parsed parsed = parse(before.str() + blockWith(fields));
  if (!parsed.problem)
    return parsed.text();
  return print((*parsed.problem).*rule);
}

static const char *const kindNames[] = {
    "int", "float",  "bool", "index",   "param", "read", "tofloat",
    "neg", "not",    "add",  "sub",     "mul",   "div",  "mod",
    "eq",  "ne",     "lt",   "le",      "gt",    "ge",   "and",
    "or",  "select", "min",  "max",     "abs",   "exp",  "exp2",
    "log", "log2",   "tanh", "sigmoid", "sqrt"};
static const char *const indexNames[] = {"b", "h",     "g",     "i", "q",
                                         "k", "q_len", "k_len", "s"};

std::string testing::print(const ExprPtr &expr) {
  if (!expr)
    return "null";
  std::ostringstream out;
  switch (expr->kind) {
  case ExprKind::IntConst:
    out << expr->intValue;
    return out.str();
  case ExprKind::FloatConst:
    out << expr->floatValue << 'f';
    return out.str();
  case ExprKind::BoolConst:
    return expr->intValue ? "true" : "false";
  case ExprKind::Index:
    return indexNames[static_cast<int>(expr->index)];
  default:
    break;
  }
  out << '(' << kindNames[static_cast<int>(expr->kind)];
  if (!expr->name.empty())
    out << ' ' << expr->name;
  for (const ExprPtr &operand : expr->operands)
    out << ' ' << print(operand);
  out << ')';
  return out.str();
}
