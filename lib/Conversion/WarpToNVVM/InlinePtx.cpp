//===- InlinePtx.cpp - The instructions that only PTX text can express ----===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace attn::warp;

Value attn::warp::readThreadIndex(Emitter &emitter) {
  Value thread = LLVM::InlineAsmOp::create(
                     emitter.builder, emitter.loc, emitter.builder.getI32Type(),
                     ValueRange(), "mov.u32 $0, %tid.x;", "=r",
                     /*has_side_effects=*/true, /*is_align_stack=*/false,
                     LLVM::tailcallkind::TailCallKind::None,
                     LLVM::AsmDialectAttr(), ArrayAttr())
                     .getRes();
  // The optimiser knows this of the register itself, but not of the text.
  Value inBlock = arith::CmpIOp::create(emitter.builder, emitter.loc,
                                        arith::CmpIPredicate::ult, thread,
                                        emitter.i32(maxBlockThreads));
  LLVM::AssumeOp::create(emitter.builder, emitter.loc, inBlock);
  return thread;
}

Value attn::warp::pin(Emitter &emitter, Value value) {
  return LLVM::InlineAsmOp::create(
             emitter.builder, emitter.loc, value.getType(), ValueRange(value),
             "mov.b32 $0, $1;", "=r,r", /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
             LLVM::AsmDialectAttr(), ArrayAttr())
      .getRes();
}
