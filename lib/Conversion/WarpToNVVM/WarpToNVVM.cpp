//===- WarpToNVVM.cpp - From the warp dialect to nvvm ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Conversion/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTWARPTONVVM
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn::warp;

namespace {

constexpr unsigned sharedSpace =
    static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);

/// Fragments to registers, buffers to addresses, all else as it is.
void addTypeConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](BufferType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext(), sharedSpace);
  });
  converter.addConversion(
      [](FragType type, SmallVectorImpl<Type> &results) -> LogicalResult {
        bool scalar = type.getElementType().isF32();
        Type element = scalar ? type.getElementType()
                              : Type(IntegerType::get(type.getContext(), 32));
        results.append(type.getNumRegisters(), element);
        return success();
      });
}

/// Declares the dynamic shared memory of `module`.
void declareSharedMemory(gpu::GPUModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, module.getLoc(), type, /*isConstant=*/false,
                         LLVM::Linkage::External, sharedMemoryName, Attribute(),
                         attn::layout::tileAlignment, sharedSpace);
}

/// Every allocation has its offset; each kernel learns how many bytes it needs.
LogicalResult assignSharedBytes(gpu::GPUModuleOp module) {
  bool any = false;
  WalkResult result = module.walk([&](gpu::GPUFuncOp kernel) {
    int64_t bytes = 0;
    WalkResult inner = kernel.walk([&](AllocOp op) {
      if (!op.getOffset()) {
        op.emitOpError("expected an offset in shared memory, found none");
        return WalkResult::interrupt();
      }
      bytes = std::max<int64_t>(bytes, *op.getOffset() +
                                           op.getResult().getType().getBytes());
      return WalkResult::advance();
    });
    if (bytes != 0)
      kernel->setAttr(
          "attn.shared_bytes",
          IntegerAttr::get(IntegerType::get(module.getContext(), 64), bytes));
    any |= bytes != 0;
    return inner;
  });
  if (result.wasInterrupted())
    return failure();
  if (any)
    declareSharedMemory(module);
  return success();
}

struct ConvertWarpToNVVM
    : attn::impl::ConvertWarpToNVVMBase<ConvertWarpToNVVM> {
  void runOnOperation() override {
    if (failed(assignSharedBytes(getOperation())))
      return signalPassFailure();
    MLIRContext *context = &getContext();
    TypeConverter converter;
    addTypeConversions(converter);
    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<WarpDialect>();
    ThreadPosition position;
    populateCopyPatterns(converter, patterns, position);
    populateOperandPatterns(converter, patterns, position);
    populateElementwisePatterns(converter, patterns, position);
    populateStorePatterns(converter, patterns, position);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
