//===- Stores.cpp - Lowering of stores of fragments -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "attn/Dialect/Attn/IR/Attn.h"

using namespace mlir;
using namespace attn::warp;
using attn::layout::chunkBytes;
using attn::layout::Panel;

namespace {

/// Lanes that hold one row of an accumulator.
constexpr int64_t quad = 4;

/// The two neighbouring columns that a thread holds at (mt, n8, h), as one
/// value to store: an i32 of two 16-bit elements, or a vector of two f32.
Value pairAt(Emitter &emitter, FragType type, ValueRange registers, int64_t mt,
             int64_t n8, int64_t h) {
  int64_t tile = mt * type.getN8Tiles() + n8;
  if (type.isPacked())
    return registers[tile * 2 + h];
  OpBuilder &builder = emitter.builder;
  Value pair = LLVM::PoisonOp::create(
      builder, emitter.loc, VectorType::get({2}, builder.getF32Type()));
  for (int64_t c = 0; c < 2; ++c)
    pair = LLVM::InsertElementOp::create(builder, emitter.loc, pair,
                                         registers[tile * 4 + h * 2 + c],
                                         emitter.i32(c));
  return pair;
}

/// Bytes of such a pair.
int64_t pairBytes(FragType type) { return type.isPacked() ? 4 : 8; }

/// Calls `body` for every row that a thread holds, with its index in the tile,
/// where the row is below `rows`.
void forEachRow(Emitter &emitter, ThreadPosition &position, FragType type,
                Value rows,
                function_ref<void(int64_t mt, int64_t h, Value row)> body) {
  Value first = emitter.add(position.firstRow(emitter, type),
                            emitter.divide(position.lane(emitter), quad));
  for (int64_t mt = 0; mt < type.getRowTiles(); ++mt)
    for (int64_t h = 0; h < 2; ++h) {
      Value row = emitter.add(first, emitter.i32(mt * 16 + h * 8));
      OpBuilder::InsertionGuard guard(emitter.builder);
      auto branch = scf::IfOp::create(emitter.builder, emitter.loc,
                                      emitter.less(row, rows));
      emitter.builder.setInsertionPoint(branch.thenYield());
      body(mt, h, row);
    }
}

/// Whether the target has `stmatrix` and kernels of its own. A kernel for sm_90
/// is one that sm_80 could run as well.
bool hasStmatrix(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  return module && attn::ir::getTarget(module) == "sm_90a";
}

struct StoreSharedLowering : WarpPattern<StoreSharedOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(StoreSharedOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    BufferType buffer = op.getBuffer().getType();
    Value slot =
        slotAddress(emitter, buffer, adaptor.getBuffer().front(), op.getSlot());
    if (op.getValue().getType().isPacked() && hasStmatrix(op))
      storeMatrices(op, adaptor.getValue(), emitter, slot);
    else
      storePairs(op, adaptor.getValue(), emitter, slot);
    rewriter.eraseOp(op);
    return success();
  }

  /// Each thread stores what it holds, two columns at a time.
  void storePairs(StoreSharedOp op, ValueRange registers, Emitter &emitter,
                  Value slot) const {
    FragType type = op.getValue().getType();
    BufferType buffer = op.getBuffer().getType();
    Value lane = position.lane(emitter);
    Value row = emitter.divide(lane, quad);
    // A group of 8 columns is one chunk of 16-bit elements or two of f32.
    Value byte = emitter.mul(emitter.remainder(lane, quad),
                             emitter.i32(pairBytes(type)));
    Value chunk = emitter.divide(byte, chunkBytes);
    Value inChunk = emitter.remainder(byte, chunkBytes);
    int64_t columnsPerChunk = chunkBytes / buffer.getTile().elementBytes;
    for (const Panel &panel : buffer.getTile().panels()) {
      Value rows = warpRows(emitter, type, panel, slot);
      Value offset =
          emitter.add(swizzledOffset(emitter, panel, row, chunk), inChunk);
      for (int64_t column = 0; column < columnsIn(panel, type); column += 8)
        for (int64_t mt = 0; mt < type.getRowTiles(); ++mt)
          for (int64_t h = 0; h < 2; ++h) {
            Value pointer =
                sharedPointer(emitter, rows, offset, column / columnsPerChunk,
                              panel.offset + (mt * 16 + h * 8) * panel.bytes);
            Value pair = pairAt(emitter, type, registers, mt,
                                (panel.column + column) / 8, h);
            LLVM::StoreOp::create(emitter.builder, op.getLoc(), pair, pointer,
                                  pairBytes(type));
          }
    }
  }

  /// The warp stores 8x8 matrices, whole 16-byte rows: the four of 16 rows and
  /// columns are (rows 0-7, columns 0-7), (8-15, 0-7), (0-7, 8-15), (8-15,
  /// 8-15), lane i points to row i % 16, half i / 16. The last 8 columns, where
  /// they have no others beside them, are two matrices.
  void storeMatrices(StoreSharedOp op, ValueRange registers, Emitter &emitter,
                     Value slot) const {
    constexpr int64_t matrixRows = 8, tileRows = 16;
    FragType type = op.getValue().getType();
    MLIRContext *context = op.getContext();
    Value lane = position.lane(emitter);
    for (const Panel &panel : op.getBuffer().getType().getTile().panels()) {
      Value rows = warpRows(emitter, type, panel, slot);
      int64_t groups = columnsIn(panel, type) / matrixRows;
      Value half = groups > 1 ? emitter.divide(lane, tileRows) : emitter.i32(0);
      Value offset = swizzledOffset(emitter, panel,
                                    emitter.remainder(lane, tileRows), half);
      for (int64_t chunk = 0; chunk < groups; chunk += 2)
        for (int64_t mt = 0; mt < type.getRowTiles(); ++mt) {
          int64_t n8 = panel.column / matrixRows + chunk;
          int64_t chunks = std::min<int64_t>(2, groups - chunk);
          NVVM::StMatrixOp::create(
              emitter.builder, op.getLoc(),
              sharedPointer(emitter, rows, offset, chunk,
                            panel.offset + mt * tileRows * panel.bytes),
              registers.slice((mt * type.getN8Tiles() + n8) * 2, chunks * 2),
              NVVM::MMALayout::row,
              NVVM::LdStMatrixShapeAttr::get(context, matrixRows, matrixRows),
              NVVM::LdStMatrixEltType::B16);
        }
    }
  }

  /// Columns of an accumulator that lie in a panel.
  static int64_t columnsIn(const Panel &panel, FragType type) {
    return std::clamp<int64_t>(type.getColumns() - panel.column, 0,
                               panel.columns);
  }

  /// The first row of the warp in a panel, less the panel's offset.
  Value warpRows(Emitter &emitter, FragType type, const Panel &panel,
                 Value slot) const {
    Value bytes =
        emitter.mul(position.firstRow(emitter, type), emitter.i32(panel.bytes));
    return emitter.offset(slot, bytes, emitter.builder.getI8Type());
  }
};

/// What the lanes of a quad hold of four groups of 8 columns, turned: lane i
/// gives the pairs of all lanes in group i, 16 bytes that lie side by side.
Value turnInQuad(Emitter &emitter, Value inQuad, ArrayRef<Value> pairs) {
  auto exchange = [&](Value value, int64_t distance) -> Value {
    return NVVM::ShflOp::create(
        emitter.builder, emitter.loc, value.getType(), emitter.i32(fullMask),
        value, emitter.i32(distance), emitter.i32(warpThreads - 1),
        NVVM::ShflKind::bfly, UnitAttr());
  };
  auto isSet = [&](int64_t bit) {
    Value rest = arith::AndIOp::create(emitter.builder, emitter.loc, inQuad,
                                       emitter.i32(bit));
    return emitter.less(emitter.i32(0), rest);
  };
  Value isOdd = isSet(1), isHigh = isSet(2);
  auto choose = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(emitter.builder, emitter.loc, condition, yes,
                                   no);
  };
  // Neighbours: two pairs of the even or of the odd group of each two.
  SmallVector<Value> half;
  for (size_t at : {0, 2}) {
    Value low = pairs[at], high = pairs[at + 1];
    Value other = exchange(choose(isOdd, low, high), 1);
    half.push_back(choose(isOdd, other, low));
    half.push_back(choose(isOdd, high, other));
  }
  // Then the other two pairs of the group.
  Value first = exchange(choose(isHigh, half[0], half[2]), 2);
  Value second = exchange(choose(isHigh, half[1], half[3]), 2);
  SmallVector<Value> turned = {
      choose(isHigh, first, half[0]), choose(isHigh, second, half[1]),
      choose(isHigh, half[2], first), choose(isHigh, half[3], second)};
  OpBuilder &builder = emitter.builder;
  Value chunk = LLVM::PoisonOp::create(
      builder, emitter.loc, VectorType::get({4}, builder.getI32Type()));
  for (auto [index, value] : llvm::enumerate(turned))
    chunk = LLVM::InsertElementOp::create(builder, emitter.loc, chunk, value,
                                          emitter.i32(index));
  return chunk;
}

struct StoreGlobalLowering : WarpPattern<StoreGlobalOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(StoreGlobalOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    FragType type = op.getValue().getType();
    bool isTurned = type.isPacked() && op.getCols() % (8 * quad) == 0;
    Value inQuad = emitter.remainder(position.lane(emitter), quad);
    Value column = emitter.mul(inQuad, emitter.i32(isTurned ? 8 : 2));
    // Groups of 8 columns, and how many are stored at once.
    int64_t groups = static_cast<int64_t>(op.getCols()) / 8;
    int64_t step = isTurned ? quad : 1;
    // Lanes exchange what they hold before some of them have no row.
    SmallVector<Value> values;
    for (int64_t mt = 0; mt < type.getRowTiles(); ++mt)
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t n8 = 0; n8 < groups; n8 += step) {
          SmallVector<Value> pairs;
          for (int64_t group = n8; group < n8 + step; ++group)
            pairs.push_back(
                pairAt(emitter, type, adaptor.getValue(), mt, group, h));
          values.push_back(isTurned ? turnInQuad(emitter, inQuad, pairs)
                                    : pairs.front());
        }
    size_t next = 0;
    forEachRow(emitter, position, type, op.getRows(),
               [&](int64_t mt, int64_t h, Value row) {
                 Value elements = emitter.add(
                     emitter.mul(emitter.extend(row), op.getStride()),
                     emitter.extend(column));
                 Value pointer = emitter.offset(op.getDestination(), elements,
                                                type.getElementType());
                 for (int64_t n8 = 0; n8 < groups; n8 += step)
                   LLVM::StoreOp::create(
                       rewriter, op.getLoc(), values[next++],
                       emitter.offset(pointer, n8 * 4 * pairBytes(type)),
                       pairBytes(type) * (isTurned ? quad : 1));
               });
    rewriter.eraseOp(op);
    return success();
  }
};

struct StoreRowsLowering : WarpPattern<StoreRowsOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(StoreRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    FragType type = op.getValue().getType();
    ValueRange values = adaptor.getValue();
    // All lanes of a quad hold the same value: the first one stores it.
    Value first = emitter.less(emitter.remainder(position.lane(emitter), quad),
                               emitter.i32(1));
    auto branch = scf::IfOp::create(rewriter, op.getLoc(), first);
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(branch.thenYield());
      forEachRow(emitter, position, type, op.getRows(),
                 [&](int64_t mt, int64_t h, Value row) {
                   Value pointer = emitter.offset(
                       op.getDestination(),
                       emitter.mul(emitter.extend(row), op.getStride()),
                       rewriter.getF32Type());
                   LLVM::StoreOp::create(rewriter, op.getLoc(),
                                         values[mt * 2 + h], pointer);
                 });
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void attn::warp::populateStorePatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns,
                                       ThreadPosition &position) {
  patterns.add<StoreSharedLowering, StoreGlobalLowering, StoreRowsLowering>(
      converter, patterns.getContext(), position);
}
