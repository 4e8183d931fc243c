//===- Copies.cpp - Lowering of tile copies and their synchronisation -----===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::warp;
using attn::layout::chunkBytes;
using attn::layout::Panel;

namespace {

/// Rows after which the swizzle repeats.
constexpr int64_t swizzlePeriod = 8;

/// One 16-byte chunk of a tile that a thread copies.
struct Chunk {
  Value shared;        ///< address in shared memory, a pointer
  Value row;           ///< row of the tile
  Value inPanel;       ///< index among the chunks of a row of the panel, i32
  int64_t panelColumn; ///< first column of the panel
  Value insideCols;    ///< i1: the column is below `cols`; null if all are
  Value insideTile;    ///< i1: the row is in the tile; null if it always is
  bool outsideCols;    ///< no thread's column is below `cols`
  bool firstOfPanel;   ///< a new column; otherwise the row is the last one's
                       ///< plus `rowStep`
  int64_t rowStep;
};

/// The threads that copy some rows of a tile together.
struct Copiers {
  Value thread;    ///< index among them
  int64_t threads; ///< how many they are
  Value firstRow;  ///< of the tile, a multiple of the swizzle's period; null: 0
  int64_t rows;
};

/// All threads of the warps copy the whole tile.
Copiers allOf(Emitter &emitter, ThreadPosition &position, BufferType type,
              int64_t warps) {
  return {position.thread(emitter), warps * warpThreads, Value(),
          type.getRows()};
}

/// Each warp copies its share of the rows.
Copiers eachOf(Emitter &emitter, ThreadPosition &position, BufferType type,
               int64_t warps) {
  int64_t rows = type.getRows() / warps;
  Value firstRow = warps == 1
                       ? Value()
                       : emitter.mul(position.warp(emitter), emitter.i32(rows));
  return {position.lane(emitter), warpThreads, firstRow, rows};
}

/// Calls `visit` for each chunk that a thread copies, panel by panel. Eight
/// threads share a row of a 128-byte panel, so that their 16-byte accesses fall
/// into one line of global memory and into different banks of shared memory.
void forEachChunk(Emitter &emitter, const Copiers &copiers, BufferType type,
                  Value tileAddress, int64_t cols,
                  function_ref<void(const Chunk &)> visit) {
  attn::layout::SharedTile tile = type.getTile();
  int64_t chunkColumns = chunkBytes / tile.elementBytes;
  for (const Panel &panel : tile.panels()) {
    int64_t rowStep = copiers.threads / panel.chunks();
    Value chunk = emitter.remainder(copiers.thread, panel.chunks());
    Value firstRow = emitter.divide(copiers.thread, panel.chunks());
    Value slot = tileAddress;
    if (copiers.firstRow)
      slot = emitter.offset(
          slot, emitter.mul(copiers.firstRow, emitter.i32(panel.bytes)),
          emitter.builder.getI8Type());

    Chunk item;
    item.inPanel = chunk;
    item.panelColumn = panel.column;
    item.outsideCols = panel.column >= cols;
    if (!item.outsideCols && panel.column + panel.columns > cols)
      item.insideCols = emitter.less(
          chunk, emitter.i32((cols - panel.column) / chunkColumns));
    item.rowStep = rowStep;

    Value first;
    for (int64_t row = 0; row < copiers.rows; row += rowStep) {
      item.firstOfPanel = row == 0;
      Value ownRow = emitter.add(firstRow, emitter.i32(row));
      item.row =
          copiers.firstRow ? emitter.add(copiers.firstRow, ownRow) : ownRow;
      item.insideTile = row + rowStep > copiers.rows
                            ? emitter.less(ownRow, emitter.i32(copiers.rows))
                            : Value();
      if (row % swizzlePeriod == 0) {
        if (!first)
          first = swizzledOffset(emitter, panel, firstRow, chunk);
        item.shared = sharedPointer(emitter, slot, first, 0,
                                    panel.offset + row * panel.bytes);
      } else {
        Value own = swizzledOffset(emitter, panel, ownRow, chunk);
        item.shared = sharedPointer(emitter, slot, own, 0, panel.offset);
      }
      visit(item);
    }
  }
}

/// Global addresses of the chunks: a product once per panel, then sums.
///
/// A thread's offset in the tile counts chunks, not bytes, and so fits 32 bits
/// (36 in bytes) while it waits in a register through a key loop; strides are
/// multiples of a chunk (contract C14).
class GlobalWalk {
public:
  GlobalWalk(Emitter &emitter, BufferType type, Value base, Value stride)
      : emitter(emitter), elementBytes(type.getTile().elementBytes), base(base),
        stride(stride) {}

  Value next(const Chunk &chunk) {
    OpBuilder &builder = emitter.builder;
    if (chunk.firstOfPanel) {
      Value chunkStride = arith::TruncIOp::create(
          builder, emitter.loc, builder.getI32Type(),
          arith::ShRUIOp::create(
              builder, emitter.loc, stride,
              emitter.i64(llvm::Log2_64(chunkBytes / elementBytes))));
      Value chunks = arith::ExtUIOp::create(
          builder, emitter.loc, builder.getI64Type(),
          pin(emitter,
              emitter.add(emitter.mul(chunk.row, chunkStride), chunk.inPanel)));
      Value first = emitter.offset(
          base, chunks, VectorType::get({chunkBytes}, builder.getI8Type()));
      pointer = emitter.offset(first, chunk.panelColumn * elementBytes);
    } else {
      Value step =
          emitter.mul(stride, emitter.i64(chunk.rowStep * elementBytes));
      pointer = emitter.offset(pointer, step, builder.getI8Type());
    }
    return pointer;
  }

private:
  Emitter &emitter;
  int64_t elementBytes;
  Value base, stride;
  Value pointer;
};

/// Runs `body` where `condition` (null: always) holds.
void guarded(Emitter &emitter, Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  OpBuilder::InsertionGuard guard(emitter.builder);
  auto branch = scf::IfOp::create(emitter.builder, emitter.loc, condition);
  emitter.builder.setInsertionPoint(branch.thenYield());
  body();
}

/// `a && b`, either of which may be null: true.
Value both(Emitter &emitter, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(emitter.builder, emitter.loc, a, b);
}

struct CpAsyncLowering : WarpPattern<CpAsyncOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(CpAsyncOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    guarded(emitter, op.getPredicate(), [&] { copy(op, adaptor, emitter); });
    rewriter.eraseOp(op);
    return success();
  }

  void copy(CpAsyncOp op, Adaptor adaptor, Emitter &emitter) const {
    BufferType type = op.getBuffer().getType();
    Value slot =
        slotAddress(emitter, type, adaptor.getBuffer().front(), op.getSlot());
    bool allRows = isConstantAtLeast(op.getRows(), type.getRows());
    GlobalWalk walk(emitter, type, op.getSource(), op.getStride());
    Copiers copiers = allOf(emitter, position, type, op.getWarps());
    forEachChunk(
        emitter, copiers, type, slot, op.getCols(), [&](const Chunk &chunk) {
          Value source = walk.next(chunk);
          Value inside = chunk.insideCols;
          if (!allRows)
            inside =
                both(emitter, inside, emitter.less(chunk.row, op.getRows()));
          guarded(emitter, chunk.insideTile, [&] {
            issue(emitter, chunk, source, inside, op.getSource());
          });
        });
  }

  /// A chunk outside the tensor is filled with zeros; its address is replaced
  /// by one that the caller vouches for, though no byte of it is read.
  static void issue(Emitter &emitter, const Chunk &chunk, Value source,
                    Value inside, Value safe) {
    Value size;
    if (chunk.outsideCols) {
      source = safe;
      size = emitter.i32(0);
    } else if (inside) {
      source = arith::SelectOp::create(emitter.builder, emitter.loc, inside,
                                       source, safe);
      size = arith::SelectOp::create(emitter.builder, emitter.loc, inside,
                                     emitter.i32(chunkBytes), emitter.i32(0));
    }
    NVVM::CpAsyncOp::create(emitter.builder, emitter.loc, chunk.shared, source,
                            chunkBytes, NVVM::LoadCacheModifierKind::CG, size);
  }
};

struct CopyOutLowering : WarpPattern<CopyOutOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(CopyOutOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    BufferType type = op.getBuffer().getType();
    Value slot =
        slotAddress(emitter, type, adaptor.getBuffer().front(), op.getSlot());
    bool allRows = isConstantAtLeast(op.getRows(), type.getRows());
    GlobalWalk walk(emitter, type, op.getDestination(), op.getStride());
    auto vector = VectorType::get({4}, rewriter.getI32Type());
    Copiers copiers = op.getOwnRows()
                          ? eachOf(emitter, position, type, op.getWarps())
                          : allOf(emitter, position, type, op.getWarps());
    forEachChunk(
        emitter, copiers, type, slot, op.getCols(), [&](const Chunk &chunk) {
          Value destination = walk.next(chunk);
          if (chunk.outsideCols)
            return;
          Value inside = both(emitter, chunk.insideTile, chunk.insideCols);
          if (!allRows)
            inside =
                both(emitter, inside, emitter.less(chunk.row, op.getRows()));
          guarded(emitter, inside, [&] {
            Value data = LLVM::LoadOp::create(rewriter, op.getLoc(), vector,
                                              chunk.shared, chunkBytes);
            LLVM::StoreOp::create(rewriter, op.getLoc(), data, destination,
                                  chunkBytes);
          });
        });
    rewriter.eraseOp(op);
    return success();
  }
};

struct CommitLowering : WarpPattern<CpAsyncCommitOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(CpAsyncCommitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncCommitGroupOp>(op);
    return success();
  }
};

struct WaitLowering : WarpPattern<CpAsyncWaitOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(CpAsyncWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(op, op.getGroups());
    return success();
  }
};

struct BarrierLowering : WarpPattern<BarrierOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(BarrierOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    NVVM::BarrierOp::create(rewriter, op.getLoc(), TypeRange(),
                            emitter.i32(op.getId()),
                            emitter.i32(op.getWarps() * warpThreads),
                            NVVM::BarrierReductionAttr(), Value());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void attn::warp::populateCopyPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      ThreadPosition &position) {
  patterns.add<PlaceLowering<AllocOp>, CpAsyncLowering, CopyOutLowering,
               CommitLowering, WaitLowering, BarrierLowering>(
      converter, patterns.getContext(), position);
}
