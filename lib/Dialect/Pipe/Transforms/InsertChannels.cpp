//===- InsertChannels.cpp - Operand tiles through shared memory -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "attn/Layout/GpuTarget.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_INSERTCHANNELS
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Moves everything but the return of a kernel into one role.
pipe::RoleOp wrapInRole(gpu::GPUFuncOp func, int64_t warps) {
  Block &entry = func.getBody().front();
  OpBuilder builder(entry.getTerminator());
  auto role = pipe::RoleOp::create(builder, func.getLoc(), "compute", warps);
  Block *body = builder.createBlock(&role.getBody());
  body->getOperations().splice(body->begin(), entry.getOperations(),
                               entry.begin(), Block::iterator(role));
  return role;
}

/// The operation after which `value` is not used any more, in the block that
/// defines it.
Operation *lastUse(Value value) {
  Operation *last = value.getDefiningOp();
  for (Operation *user : value.getUsers()) {
    Operation *ancestor = last->getBlock()->findAncestorOpInBlock(*user);
    if (last->isBeforeInBlock(ancestor))
      last = ancestor;
  }
  return last;
}

class ChannelInserter {
public:
  ChannelInserter(gpu::GPUFuncOp func, pipe::RoleOp role,
                  ir::ScheduleAttr schedule)
      : func(func), role(role), schedule(schedule),
        stages(*schedule.getStages()), rewriter(role.getContext()) {}

  LogicalResult run() {
    SmallVector<tile::LoadOp> loads;
    SmallVector<tile::StoreOp> stores;
    role.walk([&](Operation *op) {
      if (auto load = dyn_cast<tile::LoadOp>(op))
        loads.push_back(load);
      if (auto store = dyn_cast<tile::StoreOp>(op))
        stores.push_back(store);
    });
    planItems(loads, stores);
    for (tile::LoadOp load : loads)
      routeLoad(load);
    for (tile::StoreOp store : stores)
      if (canStage(store))
        routeStore(store);
    return success();
  }

private:
  StringRef viewName(Value view) {
    auto make = view.getDefiningOp<tile::MakeViewOp>();
    return make ? make.getName() : "tile";
  }

  pipe::OpenOp open(StringRef name, tile::ValType tile, int64_t slots,
                    pipe::Via via, Value map, Value alias) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&role.getBody().front());
    if (alias)
      rewriter.setInsertionPointAfterValue(alias);
    // A view that is read twice gets two channels.
    int64_t &uses = channelsOf[name];
    std::string unique = uses++ ? (name + "_" + Twine(uses)).str() : name.str();
    bool fed = via != pipe::Via::Store && schedule.hasProducer();
    auto type = pipe::ChannelType::get(rewriter.getContext(),
                                       tile.withSharedSlots(slots), fed);
    return pipe::OpenOp::create(rewriter, role.getLoc(), type, unique, via, map,
                                alias);
  }

  /// Whether a tile may pass through shared memory on its way out. The threads
  /// gain by it where they hold pairs of 16 bits; tensor copies need it.
  bool canStage(tile::StoreOp store) {
    bool isMatrix =
        cast<tile::ValType>(store.getTile().getType()).getSizes().size() == 2;
    bool isPairs = !store.getView().getType().getElementType().isF32();
    return isMatrix && (isPairs || schedule.storesByTma());
  }

  /// The kernel argument that describes the boxes of a view's tiles: `rows` of
  /// their rows each.
  Value addMap(Value view, tile::ValType tile, int64_t rows) {
    MLIRContext *context = func.getContext();
    auto integer = [&](int64_t value) -> Attribute {
      return rewriter.getI64IntegerAttr(value);
    };
    auto type = LLVM::LLVMPointerType::get(context);
    NamedAttrList box;
    box.append("box_columns",
               integer(panelBytes * 8 /
                       tile.getElementType().getIntOrFloatBitWidth()));
    box.append("box_rows", integer(rows));
    box.append("swizzle", integer(panelBytes));
    auto make = view.getDefiningOp<tile::MakeViewOp>();
    if (make && make.getRagged())
      box.append("ragged", rewriter.getUnitAttr());
    NamedAttrList attributes;
    attributes.append("attn.arg",
                      rewriter.getStringAttr(viewName(view) + "_map"));
    attributes.append("attn.map", box.getDictionary(context));
    attributes.append("llvm.align", integer(mapAlignment));
    attributes.append("llvm.byval", TypeAttr::get(LLVM::LLVMArrayType::get(
                                        rewriter.getI8Type(), mapBytes)));
    unsigned index = func.getNumArguments();
    if (failed(func.insertArgument(
            index, type, attributes.getDictionary(context), func.getLoc())))
      llvm_unreachable("a kernel takes any argument");
    return func.getArgument(index);
  }

  static int64_t bytesOf(tile::ValType tile) {
    int64_t row =
        tile.getSizes()[1] * tile.getElementType().getIntOrFloatBitWidth() / 8;
    return tile.getSizes()[0] * llvm::alignTo(row, panelBytes);
  }

  /// Whether slots of so many bytes leave room for barriers.
  bool fits(int64_t bytes) {
    constexpr int64_t barrierBytes = 1024;
    auto module = func->getParentOfType<ModuleOp>();
    const layout::GpuTarget *target =
        layout::findGpuTarget(module ? ir::getTarget(module) : StringRef());
    return target && bytes + barrierBytes <= target->sharedBytesPerBlock;
  }

  /// Shares out what memory the rings of another role leave: a second slot of
  /// what is loaded once for a work item (Q), so that the next item's is there
  /// when the fastest warps begin it while the slowest still read this one's;
  /// and beside it, where that fits too, memory for the output. That comes
  /// first where the output leaves by tensor copies, which read it for a while.
  void planItems(ArrayRef<tile::LoadOp> loads, ArrayRef<tile::StoreOp> stores) {
    int64_t rings = 0, items = 0, outputs = 0;
    for (tile::LoadOp load : loads) {
      int64_t bytes = bytesOf(load.getTile().getType());
      if (load->getParentOfType<tile::ForKeysOp>())
        rings += bytes * stages;
      else
        items += bytes;
    }
    for (tile::StoreOp store : stores)
      if (canStage(store))
        outputs += bytesOf(outputType(store));
    bool isFirst = schedule.storesByTma();
    itemSlots =
        schedule.hasProducer() && fits(rings + 2 * items + isFirst * outputs)
            ? 2
            : 1;
    stagesOutput = isFirst || fits(rings + 2 * items + outputs);
  }

  bool isFed() { return unringed && unringed.getChannel().getType().getFed(); }

  void routeLoad(tile::LoadOp load) {
    Location loc = load.getLoc();
    auto keys = load->getParentOfType<tile::ForKeysOp>();
    StringRef name = viewName(load.getView());
    tile::ValType tile = load.getTile().getType();
    pipe::OpenOp channel =
        schedule.usesTma()
            ? open(name, tile, keys ? stages : itemSlots, pipe::Via::Tma,
                   addMap(load.getView(), tile, tile.getSizes()[0]), Value())
            : open(name, tile, keys ? stages : itemSlots, pipe::Via::CpAsync,
                   Value(), Value());
    if (!keys && !unringed)
      unringed = channel;
    rewriter.setInsertionPoint(load);
    Value ordinal;
    if (keys) {
      Value step = arith::ConstantIntOp::create(
          rewriter, loc, rewriter.getI32Type(), keys.getStep());
      ordinal = arith::DivUIOp::create(rewriter, loc, keys.getPlace(), step);
    } else {
      ordinal =
          arith::ConstantIntOp::create(rewriter, loc, rewriter.getI32Type(), 0);
    }
    pipe::PutOp::create(rewriter, loc, channel, ordinal, load.getView(),
                        load.getRow(), Value(), /*ahead=*/0, /*whole=*/false);
    auto take = pipe::TakeOp::create(rewriter, loc,
                                     channel.getChannel().getType().getTile(),
                                     channel, ordinal, IntegerAttr(),
                                     /*joined=*/false);
    rewriter.replaceOp(load, take.getTile());
    rewriter.setInsertionPointAfter(lastUse(take.getTile()));
    pipe::ReleaseOp::create(rewriter, loc, channel, ordinal);
  }

  static tile::ValType outputType(tile::StoreOp store) {
    return cast<tile::ValType>(store.getTile().getType())
        .withElementType(store.getView().getType().getElementType());
  }

  void routeStore(tile::StoreOp store) {
    Location loc = store.getLoc();
    tile::ValType type = outputType(store);
    rewriter.setInsertionPoint(store);
    Value tile = store.getTile();
    if (tile.getType() != type)
      tile = tile::CastOp::create(rewriter, loc, type, tile);
    // Staged so that 16 bytes of a row can be stored at once: in the memory of
    // Q, which is idle while a work item ends. If another role already loads
    // the next Q by then, in memory of its own; without that the lanes exchange
    // what they hold, and Q need not wait for O.
    if (isFed() && !stagesOutput) {
      store.getTileMutable().assign(tile);
      return;
    }
    Value alias = isFed() || !unringed ? Value() : Value(unringed.getChannel());
    StringRef name = viewName(store.getView());
    // A warp holds whole rows, and sends them off by itself.
    Value map = schedule.storesByTma()
                    ? addMap(store.getView(), type,
                             type.getSizes()[0] / *schedule.getWarps())
                    : Value();
    pipe::OpenOp channel = open(name, type, 1, pipe::Via::Store, map, alias);
    rewriter.replaceOpWithNewOp<pipe::DrainOp>(store, channel, tile,
                                               store.getView(), store.getRow());
  }

  /// The widest swizzled panel, PTX ISA "Swizzling modes".
  static constexpr int64_t panelBytes = 128;
  /// A CUtensorMap (CUDA driver API).
  static constexpr int64_t mapBytes = 128, mapAlignment = 64;

  gpu::GPUFuncOp func;
  pipe::RoleOp role;
  ir::ScheduleAttr schedule;
  int64_t stages, itemSlots = 1;
  bool stagesOutput = false; ///< in memory of its own
  IRRewriter rewriter;
  /// How many channels were opened for views of each name.
  llvm::StringMap<int64_t> channelsOf;
  /// The channel that is idle while a work item ends (Q's).
  pipe::OpenOp unringed;
};

struct InsertChannels : attn::impl::InsertChannelsBase<InsertChannels> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](gpu::GPUFuncOp func) {
      if (func->hasAttr(ir::blockListAttrName))
        return WalkResult::advance();
      auto schedule = func->getAttrOfType<ir::ScheduleAttr>("attn.schedule");
      if (!schedule || !schedule.isSelected()) {
        func.emitError() << "expected a kernel with a selected schedule "
                            "(attn.schedule with tile, warps and stages)";
        return WalkResult::interrupt();
      }
      pipe::RoleOp role = wrapInRole(func, *schedule.getWarps());
      return failed(ChannelInserter(func, role, schedule).run())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk(
        [](ModuleOp module) { ir::setLevel(module, ir::Level::Pipe); });
  }
};

} // namespace
