//===- RuleFormula.h - Values of a rule as formulas -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_RULEFORMULA_H
#define ATTN_ANALYSIS_RULEFORMULA_H

#include "attn/Analysis/MaskTerms.h"

#include <string>
#include <vector>

namespace attn {

/// Writes what a person would: `q_first - left` for the i64 subtraction that is
/// saturated to i32. Divisions and remainders are those of the specification
/// language, floor ones. What is long ends in dots.
class RuleFormula {
public:
  explicit RuleFormula(ir::KernelOp kernel) : ranges(kernel) {}

  std::string of(mlir::Value value);
  /// `k <= q + left`, or a condition that is free of k.
  std::string of(const MaskLiteral &literal);
  /// `(k <= q && k < sinks) || (...)`; true or false where there is none.
  std::string of(const MaskTerms &terms);
  /// A key that attn.bounds yields, without what clips it to 0 .. k_len.
  std::string ofKey(mlir::Value key);

private:
  /// How tightly an expression binds.
  enum Precedence { Select, Or, And, Compare, Sum, Product, Atom };
  struct Text {
    std::string text;
    Precedence precedence;
  };
  /// A sum on its way to text: factors of what is no sum itself.
  struct Linear {
    std::vector<std::pair<Text, int64_t>> terms;
    int64_t constant = 0;
  };

  std::string in(const Text &text, Precedence least);
  Text get(mlir::Value value);
  Text getNew(mlir::Value value);
  Text getOperation(mlir::Operation *op);
  Text getCompare(mlir::arith::CmpIOp compare);
  Text getSelect(mlir::arith::SelectOp select);
  Text getRead(ir::ReadOp read);
  Text getBinary(mlir::Operation *op, const char *sign, Precedence precedence);
  Text getCall(llvm::StringRef name, mlir::Operation *op);
  std::optional<Text> getRemainder(mlir::arith::SelectOp select);

  void addTo(Linear &sum, mlir::Value value, int64_t factor);
  void addTo(Linear &sum, Text term, int64_t factor);
  Text write(const Linear &sum);
  Linear linear(const AffineForm &form);
  mlir::Value strip(mlir::Value value);

  RuleRanges ranges;
  /// Operations that are still written of the present formula.
  int budget = 0;
  /// While a key of the bounds is written.
  bool isClipped = false;
};

} // namespace attn

#endif // ATTN_ANALYSIS_RULEFORMULA_H
