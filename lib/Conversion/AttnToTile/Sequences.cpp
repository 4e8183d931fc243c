//===- Sequences.cpp - Lengths of the entries of a batch ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sequences.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

bool attn::isRagged(ir::KernelOp kernel) {
  return kernel.getBatch() != ir::Batch::Dense;
}

void attn::declareSequences(KernelFunction &function, ir::KernelOp kernel,
                            MLIRContext *context) {
  if (!isRagged(kernel))
    return;
  Type pointer = LLVM::LLVMPointerType::get(context, 1);
  if (kernel.getBatch() == ir::Batch::Varlen) {
    function.declare("cu_seqlens_q", pointer);
    function.declare("cu_seqlens_k", pointer);
    Type i32 = IntegerType::get(context, 32);
    function.declare("total_q", i32);
    function.declare("total_k", i32);
  } else {
    function.declare("q_lens", pointer);
  }
  function.declare("k_lens", pointer);
}

namespace {
/// Reads arrays of i32 in device memory.
struct ArrayReader {
  OpBuilder &builder;
  Location loc;

  Value at(Value array, Value index, int32_t further = 0) {
    Type i32 = builder.getI32Type();
    Value first =
        LLVM::GEPOp::create(builder, loc, array.getType(), i32, array, index);
    Value address = LLVM::GEPOp::create(builder, loc, array.getType(), i32,
                                        first, ArrayRef<LLVM::GEPArg>{further});
    return LLVM::LoadOp::create(builder, loc, i32, address, /*alignment=*/4,
                                /*isVolatile=*/false, /*isNonTemporal=*/false,
                                /*isInvariant=*/true);
  }

  Value length(Value starts, Value index) {
    return arith::SubIOp::create(builder, loc, at(starts, index, 1),
                                 at(starts, index));
  }

  /// What `present` gives where the array is bound, `absent` where it is null.
  Value ifBound(Value array, function_ref<Value()> present,
                function_ref<Value()> absent) {
    Value null = LLVM::ZeroOp::create(builder, loc, array.getType());
    Value isBound = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                         array, null);
    auto choice = scf::IfOp::create(builder, loc, builder.getI32Type(), isBound,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&choice.getThenRegion().front());
    scf::YieldOp::create(builder, loc, present());
    builder.setInsertionPointToStart(&choice.getElseRegion().front());
    scf::YieldOp::create(builder, loc, absent());
    return choice.getResult(0);
  }
};
} // namespace

Sequence attn::readSequence(OpBuilder &builder, ir::KernelOp kernel,
                            KernelFunction &function, Value b) {
  if (!isRagged(kernel))
    return {function.arguments["q_len"], function.arguments["k_len"], {}, {}};
  ArrayReader reader{builder, kernel.getLoc()};
  Value kLens = function.arguments["k_lens"];
  Sequence sequence;
  if (kernel.getBatch() == ir::Batch::Padded) {
    sequence.qLen = reader.at(function.arguments["q_lens"], b);
    sequence.kLen = reader.at(kLens, b);
    return sequence;
  }
  Value qStarts = function.arguments["cu_seqlens_q"],
        kStarts = function.arguments["cu_seqlens_k"];
  sequence.qLen = reader.length(qStarts, b);
  sequence.qStart = reader.at(qStarts, b);
  // Keys are packed, or have k_lens, or both: then not all of them are used.
  sequence.kLen = reader.ifBound(
      kLens, [&] { return reader.at(kLens, b); },
      [&] { return reader.length(kStarts, b); });
  sequence.kStart = reader.ifBound(
      kStarts, [&] { return reader.at(kStarts, b); },
      [&]() -> Value {
        return arith::ConstantIntOp::create(builder, kernel.getLoc(),
                                            builder.getI32Type(), 0);
      });
  return sequence;
}
