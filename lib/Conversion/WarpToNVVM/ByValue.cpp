//===- ByValue.cpp - Kernel arguments taken by value ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Conversion/Passes.h"

namespace attn {
#define GEN_PASS_DEF_RESTOREBYVALUE
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;

/// On a kernel: for each argument the type of what is passed by value, or unit.
static constexpr llvm::StringLiteral byValueAttrName = "warp.by_value";

void attn::warp::recordByValue(gpu::GPUModuleOp module) {
  StringRef name = LLVM::LLVMDialect::getByValAttrName();
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    SmallVector<Attribute> types(kernel.getNumArguments(),
                                 UnitAttr::get(kernel.getContext()));
    bool any = false;
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (Attribute type = kernel.getArgAttr(i, name)) {
        types[i] = type;
        any = true;
      }
    if (any)
      kernel->setAttr(byValueAttrName,
                      ArrayAttr::get(kernel.getContext(), types));
  }
}

namespace {

struct RestoreByValue : attn::impl::RestoreByValueBase<RestoreByValue> {
  void runOnOperation() override {
    getOperation().walk([](LLVM::LLVMFuncOp kernel) {
      Attribute recorded = kernel->removeAttr(byValueAttrName);
      if (!recorded)
        return;
      for (auto [i, type] : llvm::enumerate(cast<ArrayAttr>(recorded)))
        if (isa<TypeAttr>(type)) {
          kernel.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), type);
          kernel.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                            UnitAttr::get(kernel.getContext()));
        }
    });
  }
};

} // namespace
