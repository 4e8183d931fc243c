//===- RuleBuilder.h - Scalar code of a rule --------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_SPECTOATTN_RULEBUILDER_H
#define ATTN_LIB_CONVERSION_SPECTOATTN_RULEBUILDER_H

#include "attn/Analysis/Interval.h"
#include "attn/Reference/Expr.h"
#include "attn/Reference/Problem.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace attn {

/// A value of a rule. An Int is i32 exactly if its range fits, i64 otherwise.
struct RuleValue {
  mlir::Value value;
  Interval range; ///< Int only
};

/// Emits the expression trees of one rule into its block. Trees share
/// sub-trees, and a shared one is emitted once.
class RuleBuilder {
public:
  /// `builder` inserts into the rule's block. Locations are in `problem.file`.
  RuleBuilder(mlir::OpBuilder &builder, const Problem &problem)
      : builder(builder), problem(problem) {}

  void bind(IndexVar variable, mlir::Value value, Interval range) {
    variables[variable] = {value, range};
  }

  RuleValue emit(const Expr &expr);

private:
  RuleValue emitNew(const Expr &expr);
  RuleValue emitParam(const Expr &expr);
  void checkIndex(const Tensor &tensor, size_t axis, Interval index);
  RuleValue emitRead(const Expr &expr);
  RuleValue emitSelect(const Expr &expr);
  RuleValue emitInt(const Expr &expr);
  mlir::Value emitFloat(const Expr &expr);
  mlir::Value emitBool(const Expr &expr);

  RuleValue emitIntBinary(ExprKind kind, RuleValue lhs, RuleValue rhs);
  RuleValue emitDivision(bool isMod, RuleValue lhs, RuleValue rhs);
  mlir::Value divideByConstant(bool isMod, RuleValue lhs, int64_t divisor,
                               mlir::Type type);
  mlir::Value divideByValue(bool isMod, RuleValue lhs, RuleValue rhs,
                            mlir::Type type);

  /// The integer type for a range, and the wider of two.
  mlir::Type typeFor(Interval range);
  /// Extends or truncates; the value must fit.
  mlir::Value cast(mlir::Value value, mlir::Type type);
  mlir::Value intConstant(int64_t value, mlir::Type type);
  mlir::Value floatConstant(double value);

  template <typename OpTy, typename... Args>
  mlir::Value create(Args &&...args) {
    return builder.createOrFold<OpTy>(loc, std::forward<Args>(args)...);
  }

  mlir::OpBuilder &builder;
  const Problem &problem;
  std::map<IndexVar, RuleValue> variables;
  llvm::DenseMap<const Expr *, RuleValue> emitted;
  mlir::Location loc = builder.getUnknownLoc();
};

/// The place in the specification; line 0 is unknown.
mlir::Location specLocation(mlir::MLIRContext *context, const Problem &problem,
                            unsigned line, unsigned column);

/// The MLIR type of a storage type ("bool" is i1, "u8" is ui8).
mlir::Type storageType(mlir::MLIRContext *context, DType type);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_SPECTOATTN_RULEBUILDER_H
