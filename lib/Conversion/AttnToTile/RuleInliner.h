//===- RuleInliner.h - Rules of a kernel as scalar code ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOTILE_RULEINLINER_H
#define ATTN_LIB_CONVERSION_ATTNTOTILE_RULEINLINER_H

#include "Sequences.h"
#include "mlir/IR/IRMapping.h"

namespace attn {

/// Copies the regions of rules into a kernel: params become its arguments,
/// tensor reads become clamped loads.
class RuleInliner {
public:
  /// Rules read the arguments of `function`, and the ragged dimensions of
  /// tensors where the rows of `sequence` are.
  RuleInliner(ir::KernelOp kernel, const KernelFunction &function,
              const Sequence &sequence)
      : kernel(kernel), function(function), sequence(sequence) {}

  /// Where a rule is evaluated: for a key, so that there is one, or for a whole
  /// row or work item, also where k_len is 0.
  enum class Scope { Key, Row };

  /// Emits the rule's code at the builder's place with its block arguments
  /// given in order; returns what it yields.
  llvm::SmallVector<mlir::Value> inlineRule(mlir::OpBuilder &builder,
                                            mlir::Region &rule,
                                            mlir::ValueRange arguments,
                                            Scope scope);
  /// Emits one op of a rule; its operands are mapped.
  void inlineOp(mlir::OpBuilder &builder, mlir::Operation &op,
                mlir::IRMapping &mapping, Scope scope);
  /// A tensor's element at indices (i32 or i64) that are clamped to its
  /// extents, none of which is 0.
  mlir::Value emitLoad(mlir::OpBuilder &builder, ir::ReadOp op,
                       mlir::ValueRange indices);
  ir::TensorOp tensorOf(ir::ReadOp op);
  /// The size of a dimension, i64.
  mlir::Value extent(mlir::OpBuilder &builder, mlir::Location loc,
                     ir::DimAttr dim);

private:
  mlir::Value emitParam(mlir::OpBuilder &builder, ir::GetParamOp op);
  mlir::Value emitRead(mlir::OpBuilder &builder, ir::ReadOp op,
                       mlir::ValueRange indices, Scope scope);

  /// The place along a ragged dimension of index `index` of the sequence.
  mlir::Value inSequence(mlir::OpBuilder &builder, mlir::Location loc,
                         ir::DimKind kind, mlir::Value index);

  ir::KernelOp kernel;
  const KernelFunction &function;
  Sequence sequence;
};

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOTILE_RULEINLINER_H
