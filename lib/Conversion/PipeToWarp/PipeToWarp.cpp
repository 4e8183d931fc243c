//===- PipeToWarp.cpp - The conversion and its types ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipeToWarp.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTPIPETOWARP
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using EmitError = function_ref<InFlightDiagnostic()>;

static constexpr int64_t mmaDepth = 16; // columns that one mma contracts

/// The fragment that holds a tile in registers; null where `emitError` said
/// why there is none.
static Type convertTile(tile::ValType type, int64_t warps,
                        EmitError emitError) {
  ArrayRef<int64_t> sizes = type.getSizes();
  Type element = type.getElementType();
  if (sizes.size() == 1)
    return warp::FragType::getChecked(emitError, type.getContext(), sizes[0],
                                      int64_t(1), element, warp::FragKind::Row,
                                      warps);
  auto kind =
      type.findAxis("r") ? warp::FragKind::RowPartial : warp::FragKind::Acc;
  return warp::FragType::getChecked(emitError, type.getContext(), sizes[0],
                                    sizes[1], element, kind, warps);
}

static Type ringOf(tile::ValType type, bool wholePanels, EmitError emitError) {
  constexpr int64_t panelBits = 128 * 8;
  int64_t columns = type.getSizes()[1];
  if (wholePanels)
    columns = llvm::alignTo(
        columns, panelBits / type.getElementType().getIntOrFloatBitWidth());
  return warp::BufferType::getChecked(emitError, type.getContext(),
                                      type.getSharedSlots(), type.getSizes()[0],
                                      columns, type.getElementType());
}

WarpTypeConverter::WarpTypeConverter(const KernelFacts &kernelFacts)
    : facts(kernelFacts) {
  int64_t warps = facts.warps;
  bool wholePanels = facts.wholePanels;
  // The types were checked before the conversion, where errors have a place.
  auto unexpected = [] { return InFlightDiagnostic(); };
  addConversion([](Type type) { return type; });
  addConversion(
      [=](tile::ValType type,
          SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        if (!type.isShared()) {
          results.push_back(convertTile(type, warps, unexpected));
          return success();
        }
        results.push_back(ringOf(type, wholePanels, unexpected));
        results.push_back(IntegerType::get(type.getContext(), 32));
        return success();
      });
  addConversion(
      [](tile::ViewType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        MLIRContext *context = type.getContext();
        results.push_back(LLVM::LLVMPointerType::get(context, 1));
        results.push_back(IntegerType::get(context, 64));
        results.append(3, IntegerType::get(context, 32));
        return success();
      });
  addConversion(
      [](pipe::MailType type,
         SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        MLIRContext *context = type.getContext();
        constexpr unsigned sharedSpace = 3;
        results.push_back(LLVM::LLVMPointerType::get(context, sharedSpace));
        results.append(2, warp::BarriersType::get(context, 1));
        return success();
      });
  // What fills a channel says pipe.open, not its type.
  addConversion([=](Value channel, SmallVectorImpl<Type> &results)
                    -> std::optional<LogicalResult> {
    auto type = dyn_cast<pipe::ChannelType>(channel.getType());
    if (!type)
      return std::nullopt;
    // A tensor map's box is one panel, be it filled or emptied through it.
    bool holdsOperand = pipe::viaOf(channel) != pipe::Via::Store;
    bool inPanels =
        holdsOperand ? wholePanels : bool(pipe::drainMapOf(channel));
    results.push_back(ringOf(type.getTile(), inPanels, unexpected));
    auto barriers = warp::BarriersType::get(type.getContext(), type.getDepth());
    if (pipe::isSignalled(channel))
      results.push_back(barriers);
    if (pipe::isFed(channel))
      results.push_back(barriers);
    return success();
  });
}

namespace {

/// Whether the role's warps can hold every tile of an operation as
/// WarpTypeConverter says, and one mma contract whole steps of it.
LogicalResult verifyHeld(Operation *op, int64_t warps) {
  auto emitError = [&] { return op->emitError(); };
  for (Type type : op->getResultTypes()) {
    auto tile = dyn_cast<tile::ValType>(type);
    if (!tile)
      continue;
    ArrayRef<int64_t> sizes = tile.getSizes();
    if (tile.isShared() && sizes.size() != 2)
      return emitError() << "expected a shared tile of two axes, found "
                         << tile;
    Type held = tile.isShared() ? ringOf(tile, /*wholePanels=*/false, emitError)
                                : convertTile(tile, warps, emitError);
    if (!held)
      return failure();
  }
  auto dot = dyn_cast<tile::DotOp>(op);
  if (!dot)
    return success();
  int64_t depth = dot.getLhs().getType().getSize(dot.getOver());
  if (depth % mmaDepth != 0)
    return emitError() << "expected a contraction over a multiple of "
                       << mmaDepth << ", found " << depth;
  if (dot.getLhs().getType().findAxis(dot.getOver()) != 1u)
    return emitError() << "expected the contracted axis '" << dot.getOver()
                       << "' to be the second of " << dot.getLhs().getType();
  if (!dot.getRhs().getType().isShared())
    return emitError() << "expected the second operand in shared memory, found "
                       << dot.getRhs().getType();
  return success();
}

struct ConvertPipeToWarp
    : attn::impl::ConvertPipeToWarpBase<ConvertPipeToWarp> {
  void runOnOperation() override {
    SmallVector<gpu::GPUFuncOp> funcs;
    getOperation()->walk([&](gpu::GPUFuncOp func) { funcs.push_back(func); });
    for (gpu::GPUFuncOp func : funcs)
      if (failed(convert(func)))
        return signalPassFailure();
    getOperation()->walk(
        [](ModuleOp module) { ir::setLevel(module, ir::Level::Warp); });
  }

  /// The barriers of channels are shown to all before the roles part; in a
  /// kernel that feeds itself, once its channels are open.
  void publishBarriers(gpu::GPUFuncOp func, ArrayRef<pipe::RoleOp> roles) {
    pipe::OpenOp last;
    func.walk([&](pipe::OpenOp open) {
      if (pipe::isSignalled(open.getChannel()))
        last = open;
    });
    pipe::RoleOp first = roles.front();
    if (!last && roles.size() < 2)
      return;
    int64_t warps = 0;
    for (pipe::RoleOp role : roles)
      warps += role.getWarps();
    OpBuilder builder(first);
    if (roles.size() < 2)
      builder.setInsertionPointAfter(last);
    warp::MbarPublishOp::create(builder, first.getLoc(), warps);
  }

  static KernelFacts factsOf(gpu::GPUFuncOp func,
                             ArrayRef<pipe::RoleOp> roles) {
    KernelFacts facts = {};
    // Tiles in registers belong to the last role; the others move them.
    pipe::RoleOp compute = roles.back();
    facts.warps = compute.getWarps();
    if (roles.size() > 1) {
      pipe::RoleOp load = roles.front();
      facts.loadingWarps = load.getWarps();
      facts.oneLoads = startsFromOneThread(load);
    }
    auto schedule = func->getAttrOfType<ir::ScheduleAttr>("attn.schedule");
    facts.asyncReads = schedule && schedule.usesWgmma();
    facts.wholePanels =
        schedule && (schedule.usesWgmma() || schedule.usesTma());
    return facts;
  }

  LogicalResult convert(gpu::GPUFuncOp func) {
    MLIRContext *context = &getContext();
    auto roles = llvm::to_vector(func.getBody().front().getOps<pipe::RoleOp>());
    if (roles.empty())
      return success();
    publishBarriers(func, roles);
    KernelFacts facts = factsOf(func, roles);
    WalkResult held = func.walk([&](Operation *op) {
      return failed(verifyHeld(op, facts.warps)) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
    });
    if (held.wasInterrupted())
      return failure();
    WarpTypeConverter converter(facts);
    RewritePatternSet patterns(context);
    populateTileToWarp(patterns, converter);
    populateChannelsToWarp(patterns, converter);
    populateWorkToWarp(patterns, converter);
    populateLoopsToWarp(patterns, converter);
    ConversionTarget target(*context);
    target.addIllegalDialect<tile::TileDialect, pipe::PipeDialect>();
    // Choices between tiles change their types; all else is left alone.
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addDynamicallyLegalOp<scf::IfOp>(
        [&](scf::IfOp op) { return converter.isLegal(op.getResultTypes()); });
    target.addDynamicallyLegalOp<scf::YieldOp>([&](scf::YieldOp op) {
      return converter.isLegal(op.getOperandTypes());
    });
    return applyPartialConversion(func, target, std::move(patterns));
  }
};

} // namespace
