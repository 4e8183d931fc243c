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
  converter.addConversion([](BarriersType type) -> Type {
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

/// The end of an allocation, or failure when it has no offset.
template <typename Alloc> FailureOr<int64_t> endOf(Alloc op) {
  if (!op.getOffset())
    return op.emitOpError("expected an offset in shared memory, found none");
  if constexpr (std::is_same_v<Alloc, MailAllocOp>)
    return static_cast<int64_t>(*op.getOffset()) + MailAllocOp::mailBytes;
  else
    return static_cast<int64_t>(*op.getOffset()) + op.getType().getBytes();
}

/// Every allocation has its offset; each kernel learns how many bytes it needs.
LogicalResult assignSharedBytes(gpu::GPUModuleOp module) {
  bool any = false;
  WalkResult result = module.walk([&](gpu::GPUFuncOp kernel) {
    int64_t bytes = 0;
    auto include = [&](FailureOr<int64_t> end) {
      if (failed(end))
        return WalkResult::interrupt();
      bytes = std::max(bytes, *end);
      return WalkResult::advance();
    };
    WalkResult inner = kernel.walk([&](Operation *op) {
      if (auto ring = dyn_cast<AllocOp>(op))
        return include(endOf(ring));
      if (auto barriers = dyn_cast<MbarAllocOp>(op))
        return include(endOf(barriers));
      if (auto mail = dyn_cast<MailAllocOp>(op))
        return include(endOf(mail));
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

/// The assembler heeds setmaxnreg only where it knows how many registers a
/// thread starts with: from the block's size and the blocks per SM.
void fixBlocksPerSm(gpu::GPUModuleOp module) {
  module.walk([](SetRegistersOp op) {
    auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
    if (!kernel->hasAttr(NVVM::NVVMDialect::getMinctasmAttrName()))
      kernel->setAttr(
          NVVM::NVVMDialect::getMinctasmAttrName(),
          IntegerAttr::get(IntegerType::get(op.getContext(), 32), 1));
  });
}

struct ConvertWarpToNVVM
    : attn::impl::ConvertWarpToNVVMBase<ConvertWarpToNVVM> {
  void runOnOperation() override {
    if (failed(assignSharedBytes(getOperation())))
      return signalPassFailure();
    fixBlocksPerSm(getOperation());
    recordByValue(getOperation());
    MLIRContext *context = &getContext();
    TypeConverter converter;
    addTypeConversions(converter);
    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalDialect<WarpDialect>();
    target.addLegalOp<RoleOp, SingleOp>();
    ThreadPosition position;
    populateCopyPatterns(converter, patterns, position);
    populateOperandPatterns(converter, patterns, position);
    populateElementwisePatterns(converter, patterns, position);
    populateStorePatterns(converter, patterns, position);
    populateBarrierPatterns(converter, patterns, position);
    populateTurnPatterns(converter, patterns, position);
    populateWgmmaPatterns(converter, patterns, position);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(
            applyFullConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    lowerRoles(getOperation(), position);
  }
};

} // namespace
