//===- CheckFields.h - Values of a block's fields ---------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SPEC_CHECKFIELDS_H
#define ATTN_SPEC_CHECKFIELDS_H

#include "Ast.h"

namespace attn::spec {

/// The words a field accepts and what they mean.
template <typename Value>
using Choices = llvm::ArrayRef<std::pair<llvm::StringRef, Value>>;

/// Checks the fields of a block (S20 and on) and writes them, with defaults for
/// those left out, into a problem whose params and tensors are already there.
class FieldChecker {
public:
  FieldChecker(const ast::Block &block, Problem &problem,
               Diagnostics &diagnostics)
      : block(block), problem(problem), diagnostics(diagnostics) {}

  void check();

private:
  /// What may follow the first value of a field.
  struct Shape {
    bool second = false, more = false, options = false;
  };
  /// The integers a value may have.
  struct Bounds {
    int64_t low, high;
  };

  const ast::Field *find(llvm::StringRef name) const;
  bool checkShape(const ast::Field &field, const Shape &shape,
                  llvm::StringRef usage);
  void checkField(const ast::Field &field);
  void checkRequired();

  void checkType(const ast::Field &field);
  void checkKvType(const ast::Field &field);
  void checkOutType(const ast::Field &field);
  void checkHeads(const ast::Field &field);
  void checkHeadDim(const ast::Field &field);
  void checkScale(const ast::Field &field);
  void checkScaleParam(const ast::Field &field);
  void checkAlign(const ast::Field &field);
  void checkBatch(const ast::Field &field);
  void checkKv(const ast::Field &field);
  void checkSplit(const ast::Field &field);
  void checkOutputs(const ast::Field &field);
  void checkSchedule(const ast::Field &field);
  void checkKnob(const ast::Option &option);
  void checkWordKnob(const ast::Option &option);
  void checkTile(const ast::Option &option);

  // Between fields, once all of them are known.
  void fillTypes();
  void checkKvScales();
  void checkRaggedDims();

  std::optional<int64_t> integer(const ast::Atom &atom, llvm::StringRef what,
                                 Bounds bounds);
  std::optional<int64_t> optionInteger(const ast::Option &option,
                                       Bounds bounds);
  std::optional<bool> optionBool(const ast::Option &option);
  /// The value whose name `atom` is.
  template <typename Value>
  std::optional<Value> word(const ast::Atom &atom, llvm::StringRef field,
                            Choices<Value> choices);
  bool checkOptionNames(const ast::Field &field,
                        llvm::ArrayRef<llvm::StringRef> names);

  const ast::Block &block;
  Problem &problem;
  Diagnostics &diagnostics;
};

template <typename Value>
std::optional<Value> FieldChecker::word(const ast::Atom &atom,
                                        llvm::StringRef field,
                                        Choices<Value> choices) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto &[name, value] : choices) {
    if (atom.isWord() && !atom.negative && atom.token.text == name)
      return value;
    names.push_back(name);
  }
  diagnostics.error(
      atom.range,
      "expected " + listed(names) + " for '" + field + "', found '" +
          atom.text() + "'" +
          (atom.isWord() ? didYouMean(atom.token.text, names) : std::string()));
  return std::nullopt;
}

} // namespace attn::spec

#endif // ATTN_SPEC_CHECKFIELDS_H
