//===- VerifyInput.cpp - Refuse what cannot be lowered yet ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

namespace attn::ir {
#define GEN_PASS_DEF_VERIFYINPUT
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn::ir;

namespace {
/// Reports each field that has no lowering.
class InputChecker {
public:
  explicit InputChecker(KernelOp kernel) : kernel(kernel) {}
  LogicalResult run();

private:
  void checkTypes();
  void checkLayout();
  void checkSchedule();
  void refuse(StringRef field, const Twine &value, StringRef legal);

  KernelOp kernel;
  bool hasFailed = false;
};

struct VerifyInput : attn::ir::impl::VerifyInputBase<VerifyInput> {
  void runOnOperation() override {
    if (failed(InputChecker(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace

void InputChecker::refuse(StringRef field, const Twine &value,
                          StringRef legal) {
  emitError(kernel.getFieldLoc(field))
      << "'" << field << "' is " << value
      << ", which cannot be lowered yet; legal now: " << legal;
  hasFailed = true;
}

/// The language's spelling.
static StringRef spelling(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return isa<BFloat16Type>(type) ? "bf16" : "f16";
}

void InputChecker::checkTypes() {
  Type type = kernel.getDtype(), kvType = kernel.getKvType();
  if (!isa<BFloat16Type, Float16Type>(type))
    refuse("dtype", spelling(type), "bf16, f16");
  if (kvType != type)
    refuse("kv_dtype", spelling(kvType), "the dtype");
  constexpr int64_t maxHeadDim = 256;
  int64_t qk = kernel.getHeadDimQk(), v = kernel.getHeadDimV();
  if (std::max(qk, v) > maxHeadDim)
    refuse("head_dim", Twine(qk) + " / " + Twine(v),
           "multiples of 8 up to 256");
}

void InputChecker::checkLayout() {
  if (kernel.getKvKind() != Kv::Contiguous)
    refuse("kv", stringifyKv(kernel.getKvKind()), "contiguous");
  // `auto` may choose one piece, and does.
  Split split = kernel.getSplitKind();
  if (split == Split::Count)
    refuse("split", Twine(kernel.getSplit()->getValue()) + " pieces",
           "none, auto");
  if (split == Split::Fixed)
    refuse("split", "fixed", "none, auto");
}

void InputChecker::checkSchedule() {
  std::optional<ScheduleAttr> schedule = kernel.getSchedule();
  if (!schedule)
    return;
  ScheduleKind kind = schedule->getKind();
  if (kind != ScheduleKind::Auto && kind != ScheduleKind::Fa2 &&
      kind != ScheduleKind::Fa3)
    refuse("schedule", stringifyScheduleKind(kind), "auto, fa2, fa3");
}

LogicalResult InputChecker::run() {
  checkTypes();
  checkLayout();
  checkSchedule();
  return failure(hasFailed);
}
