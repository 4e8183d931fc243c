//===- Operands.cpp - Lowering of mma and of its operands -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace attn::warp;
using attn::layout::Panel;

namespace {

/// Rows and columns of one 8x8 matrix of ldmatrix.
constexpr int64_t matrixSize = 8;
/// Rows of m and columns of k in one mma.
constexpr int64_t mmaSize = 16;

/// Loads `count` (2 or 4) 8x8 matrices.
void loadMatrices(Emitter &emitter, Value pointer, int64_t count,
                  bool transpose, SmallVectorImpl<Value> &registers) {
  OpBuilder &builder = emitter.builder;
  MLIRContext *context = builder.getContext();
  Type i32 = builder.getI32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(count, i32));
  Value loaded = NVVM::LdMatrixOp::create(
      builder, emitter.loc, type, pointer, count,
      transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(context, matrixSize, matrixSize),
      NVVM::LdStMatrixEltType::B16);
  for (int64_t i = 0; i < count; ++i)
    registers.push_back(
        LLVM::ExtractValueOp::create(builder, emitter.loc, loaded, i));
}

struct LdmatrixLowering : WarpPattern<LdmatrixOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(LdmatrixOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    BufferType buffer = op.getBuffer().getType();
    Value slot =
        slotAddress(emitter, buffer, adaptor.getBuffer().front(), op.getSlot());
    SmallVector<Value> registers;
    if (op.getRow())
      loadTransposed(op, emitter, slot, registers);
    else if (op.getResult().getType().getKind() == FragKind::A)
      loadA(op, emitter, slot, registers);
    else
      loadB(op, emitter, slot, registers);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

  /// The four matrices of a row tile are (rows 0-7, k 0-7), (8-15, 0-7),
  /// (0-7, 8-15), (8-15, 8-15): lane i points to row i % 16, half i / 16.
  void loadA(LdmatrixOp op, Emitter &emitter, Value slot,
             SmallVectorImpl<Value> &registers) const {
    BufferType buffer = op.getBuffer().getType();
    FragType type = op.getResult().getType();
    Panel panel = buffer.getTile().panelOf(*op.getColumn());
    Value lane = position.lane(emitter);
    Value warpRows =
        emitter.mul(position.firstRow(emitter, type), emitter.i32(panel.bytes));
    Value rows = emitter.offset(slot, warpRows, emitter.builder.getI8Type());
    Value offset =
        swizzledOffset(emitter, panel, emitter.remainder(lane, mmaSize),
                       emitter.divide(lane, mmaSize));
    for (int64_t mt = 0; mt < type.getRowTiles(); ++mt)
      loadMatrices(emitter,
                   sharedPointer(emitter, rows, offset, chunkOf(op, panel),
                                 panel.offset + mt * mmaSize * panel.bytes),
                   4, /*transpose=*/false, registers);
  }

  /// The four matrices of 16 rows of n are (n 0-7, k 0-7), (0-7, 8-15),
  /// (8-15, 0-7), (8-15, 8-15): lane i points to row i % 8 + 8 * (i / 16), half
  /// i / 8 % 2.
  void loadB(LdmatrixOp op, Emitter &emitter, Value slot,
             SmallVectorImpl<Value> &registers) const {
    BufferType buffer = op.getBuffer().getType();
    Panel panel = buffer.getTile().panelOf(*op.getColumn());
    Value lane = position.lane(emitter);
    Value row = emitter.add(emitter.remainder(lane, matrixSize),
                            emitter.mul(emitter.divide(lane, 2 * matrixSize),
                                        emitter.i32(matrixSize)));
    Value half = emitter.remainder(emitter.divide(lane, matrixSize), 2);
    Value offset = swizzledOffset(emitter, panel, row, half);
    int64_t rows = op.getResult().getType().getRows();
    for (int64_t n = 0; n < rows; n += 2 * matrixSize)
      loadMatrices(emitter,
                   sharedPointer(emitter, slot, offset, chunkOf(op, panel),
                                 panel.offset + n * panel.bytes),
                   n + matrixSize < rows ? 4 : 2, /*transpose=*/false,
                   registers);
  }

  /// The four matrices of 16 columns of n are (k 0-7, n 0-7), (8-15, 0-7),
  /// (0-7, 8-15), (8-15, 8-15), each transposed: lane i points to row i % 16,
  /// half i / 16. The last 8 columns, alone in their panel, are two matrices.
  void loadTransposed(LdmatrixOp op, Emitter &emitter, Value slot,
                      SmallVectorImpl<Value> &registers) const {
    Value lane = position.lane(emitter);
    // Columns of the ring beyond those of the operand are padding.
    int64_t columns = op.getResult().getType().getRows();
    for (const Panel &panel : op.getBuffer().getType().getTile().panels()) {
      Value row = emitter.remainder(lane, mmaSize);
      Value half =
          panel.chunks() > 1 ? emitter.divide(lane, mmaSize) : emitter.i32(0);
      Value offset = swizzledOffset(emitter, panel, row, half);
      for (int64_t chunk = 0; chunk < panel.chunks(); chunk += 2) {
        int64_t left = columns - panel.column - chunk * matrixSize;
        if (left <= 0)
          return;
        loadMatrices(emitter,
                     sharedPointer(emitter, slot, offset, chunk,
                                   panel.offset + *op.getRow() * panel.bytes),
                     left > matrixSize ? 4 : 2, /*transpose=*/true, registers);
      }
    }
  }

  /// First chunk of the 16 columns in their panel.
  static int64_t chunkOf(LdmatrixOp op, const Panel &panel) {
    return (static_cast<int64_t>(*op.getColumn()) - panel.column) / matrixSize;
  }
};

struct MmaLowering : WarpPattern<MmaOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(MmaOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    FragType type = op.getResult().getType();
    int64_t n8Tiles = type.getN8Tiles();
    ValueRange a = adaptor.getA(), b = adaptor.getB();
    SmallVector<Value> registers(adaptor.getAcc());
    // Both row tiles use a pair of b before the next pair is touched, which
    // lets the assembler keep few of them.
    for (int64_t n8 = 0; n8 < n8Tiles; ++n8)
      for (int64_t mt = 0; mt < type.getRowTiles(); ++mt)
        multiply(op, emitter, a.slice(mt * 4, 4), b.slice(n8 * 2, 2),
                 MutableArrayRef(registers).slice((mt * n8Tiles + n8) * 4, 4));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

  static void multiply(MmaOp op, Emitter &emitter, ValueRange a, ValueRange b,
                       MutableArrayRef<Value> acc) {
    OpBuilder &builder = emitter.builder;
    bool f16 = op.getA().getType().getElementType().isF16();
    // nvvm.mma.sync takes f16 pairs as vectors, bf16 pairs as i32.
    auto pair = VectorType::get({2}, builder.getF16Type());
    auto operand = [&](ValueRange values) {
      SmallVector<Value> operands;
      for (Value value : values)
        operands.push_back(f16 ? emitter.bitcast(value, pair) : value);
      return operands;
    };
    auto result = LLVM::LLVMStructType::getLiteral(
        builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
    auto element = f16 ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
    Value product = NVVM::MmaOp::create(
        builder, emitter.loc, result, operand(a), operand(b),
        ValueRange(ArrayRef<Value>(acc)), ArrayRef<int64_t>{16, 8, 16},
        std::nullopt, std::nullopt,
        std::array<NVVM::MMATypes, 2>{element, element},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (int64_t i = 0; i < 4; ++i)
      acc[i] = LLVM::ExtractValueOp::create(builder, emitter.loc, product, i);
  }
};

struct CastLowering : WarpPattern<CastOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(CastOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    Type element = op.getResult().getType().getElementType();
    auto pair = VectorType::get({2}, element);
    auto rounding = NVVM::FPRoundingModeAttr::get(rewriter.getContext(),
                                                  NVVM::FPRoundingMode::RN);
    auto convert = [&](Value low, Value high) -> Value {
      OperationState state(
          op.getLoc(), element.isF16()
                           ? NVVM::ConvertF32x2ToF16x2Op::getOperationName()
                           : NVVM::ConvertF32x2ToBF16x2Op::getOperationName());
      state.addOperands({high, low});
      state.addTypes(pair);
      state.addAttribute("rnd", rounding);
      return emitter.bitcast(rewriter.create(state)->getResult(0),
                             rewriter.getI32Type());
    };
    ValueRange source = adaptor.getSource();
    SmallVector<Value> registers;
    for (size_t i = 0; i < source.size(); i += 2)
      registers.push_back(convert(source[i], source[i + 1]));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct AsOperandLowering : WarpPattern<AsOperandOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(AsOperandOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragType type = op.getSource().getType();
    ValueRange source = adaptor.getSource();
    int64_t n8 = op.getColumn() / matrixSize;
    SmallVector<Value> registers;
    // [mt][n8][h] to [mt][k8][h].
    for (int64_t mt = 0; mt < type.getRowTiles(); ++mt)
      llvm::append_range(registers,
                         source.slice((mt * type.getN8Tiles() + n8) * 2, 4));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

void attn::warp::populateOperandPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         ThreadPosition &position) {
  patterns.add<LdmatrixLowering, MmaLowering, CastLowering, AsOperandLowering>(
      converter, patterns.getContext(), position);
}
