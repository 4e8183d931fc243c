//===- InlinePtx.cpp - The instructions that only PTX text can express ----===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn::warp;

/// Text with side effects: it is neither removed, nor doubled, nor moved past
/// another.
static LLVM::InlineAsmOp emitText(Emitter &emitter, Type result,
                                  ValueRange operands, const Twine &text,
                                  const Twine &constraints) {
  return LLVM::InlineAsmOp::create(
      emitter.builder, emitter.loc, result, operands, text.str(),
      constraints.str(), /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
}

/// Marks text that all threads of a warp must reach together.
static void setConvergent(LLVM::InlineAsmOp op) {
  op->setDiscardableAttr(convergentAttrName, UnitAttr::get(op.getContext()));
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

Value attn::warp::readThreadIndex(Emitter &emitter) {
  Value thread = emitText(emitter, emitter.builder.getI32Type(), ValueRange(),
                          "mov.u32 $0, %tid.x;", "=r")
                     .getRes();
  // The optimiser knows this of the register itself, but not of the text.
  Value inBlock = arith::CmpIOp::create(emitter.builder, emitter.loc,
                                        arith::CmpIPredicate::ult, thread,
                                        emitter.i32(maxBlockThreads));
  LLVM::AssumeOp::create(emitter.builder, emitter.loc, inBlock);
  return thread;
}

Value attn::warp::pin(Emitter &emitter, Value value) {
  return emitText(emitter, value.getType(), value, "mov.b32 $0, $1;", "=r,r")
      .getRes();
}

Value attn::warp::testPhase(Emitter &emitter, Value address, Value parity) {
  Value integer = LLVM::PtrToIntOp::create(
      emitter.builder, emitter.loc, emitter.builder.getI32Type(), address);
  Value ended =
      emitText(emitter, emitter.builder.getI32Type(), {integer, parity},
               "{\n\t"
               ".reg .pred ended;\n\t"
               "mbarrier.test_wait.parity.shared.b64 ended, [$1], $2;\n\t"
               "selp.u32 $0, 1, 0, ended;\n\t"
               "}",
               "=r,r,r,~{memory}")
          .getRes();
  return emitter.equal(ended, emitter.i32(1));
}

void attn::warp::arriveFirstLane(Emitter &emitter, Value address, Value lane) {
  Value integer = LLVM::PtrToIntOp::create(
      emitter.builder, emitter.loc, emitter.builder.getI32Type(), address);
  setConvergent(emitText(emitter, Type(), {integer, lane},
                         "{\n\t"
                         ".reg .pred first;\n\t"
                         "setp.eq.u32 first, $1, 0;\n\t"
                         "@first mbarrier.arrive.shared::cta.b64 _, [$0];\n\t"
                         "}",
                         "r,r,~{memory}"));
}

//===----------------------------------------------------------------------===//
// Products of a warpgroup
//===----------------------------------------------------------------------===//

/// The names of `count` operands from `first` on: {$4, $5, $6, $7}.
static std::string operandList(int64_t first, int64_t count) {
  auto names = llvm::map_range(
      llvm::seq<int64_t>(first, first + count),
      [](int64_t index) { return "$" + std::to_string(index); });
  return "{" + llvm::join(names, ", ") + "}";
}

/// The constraint of each register: f for f32, r for i32.
static StringRef registerClass(Value value) {
  return value.getType().isF32() ? "f" : "r";
}

/// The parts of a struct of several registers.
static SmallVector<Value> extractAll(Emitter &emitter, Value result,
                                     size_t count) {
  SmallVector<Value> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(
        LLVM::ExtractValueOp::create(emitter.builder, emitter.loc, result, i));
  return values;
}

SmallVector<Value> attn::warp::issueWgmma(Emitter &emitter,
                                          const WgmmaGroup &group) {
  // A thread's share of 64 rows.
  int64_t accumulators = group.columns / 2;
  auto steps = static_cast<int64_t>(group.bDescriptors.size());
  int64_t stepValues = static_cast<int64_t>(group.aValues.size()) / steps;
  bool fromRegisters = stepValues != 0;

  // Operands: the results, the same again as input, then a and b. Results are
  // written while a and b are still read.
  SmallVector<std::string> constraints(accumulators, "=&f");
  SmallVector<Value> operands(group.acc);
  for (size_t i = 0; i < group.acc.size(); ++i)
    constraints.push_back(std::to_string(i));
  auto firstA = static_cast<int64_t>(constraints.size());
  llvm::append_range(operands, group.aValues);
  llvm::append_range(operands, group.aDescriptors);
  constraints.append(group.aValues.size(), "r");
  constraints.append(group.aDescriptors.size(), "l");
  auto firstB = static_cast<int64_t>(constraints.size());
  llvm::append_range(operands, group.bDescriptors);
  constraints.append(group.bDescriptors.size(), "l");
  constraints.push_back("~{memory}");

  std::string type = group.element.isF16() ? "f16" : "bf16";
  std::string text = "wgmma.fence.sync.aligned;\n\t";
  llvm::raw_string_ostream stream(text);
  for (int64_t step = 0; step < steps; ++step) {
    stream << "wgmma.mma_async.sync.aligned.m64n" << group.columns << "k16.f32."
           << type << "." << type << " " << operandList(0, accumulators)
           << ", ";
    if (fromRegisters)
      stream << operandList(firstA + step * stepValues, stepValues);
    else
      stream << "$" << firstA + step;
    // Whether to add to the accumulators, then the signs of a and b.
    bool adds = step != 0 || !group.acc.empty();
    stream << ", $" << firstB + step << ", " << (adds ? 1 : 0) << ", 1, 1, ";
    if (!fromRegisters)
      stream << "0, "; // a is K-major
    stream << (group.transposed ? 1 : 0) << ";\n\t";
  }
  stream << "wgmma.commit_group.sync.aligned;";

  auto result = LLVM::LLVMStructType::getLiteral(
      emitter.builder.getContext(),
      SmallVector<Type>(accumulators, emitter.builder.getF32Type()));
  LLVM::InlineAsmOp op =
      emitText(emitter, result, operands, text, llvm::join(constraints, ","));
  setConvergent(op);
  return extractAll(emitter, op.getRes(), accumulators);
}

SmallVector<Value> attn::warp::waitWgmma(Emitter &emitter, int64_t pending,
                                         ValueRange values) {
  SmallVector<std::string> constraints;
  SmallVector<Type> types;
  for (Value value : values) {
    constraints.push_back(("=" + registerClass(value)).str());
    types.push_back(value.getType());
  }
  for (size_t i = 0; i < values.size(); ++i)
    constraints.push_back(std::to_string(i));
  constraints.push_back("~{memory}");
  LLVM::InlineAsmOp op = emitText(
      emitter,
      LLVM::LLVMStructType::getLiteral(emitter.builder.getContext(), types),
      values, "wgmma.wait_group.sync.aligned " + Twine(pending) + ";",
      llvm::join(constraints, ","));
  setConvergent(op);
  return extractAll(emitter, op.getRes(), values.size());
}
