//===- Elementwise.cpp - Lowering of maps and reductions ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn::warp;

namespace {

/// Which element a register of an f32 fragment holds.
struct Element {
  int64_t mt, n8, h, c;

  /// Its index among the registers of `type`.
  int64_t in(FragType type) const {
    if (type.isPerRow())
      return mt * 2 + h;
    return (mt * type.getN8Tiles() + n8) * 4 + h * 2 + c;
  }
};

/// All elements of a thread, in the order of the registers of `type`.
SmallVector<Element> elementsOf(FragType type) {
  SmallVector<Element> elements;
  bool perRow = type.isPerRow();
  for (int64_t mt = 0; mt < type.getRowTiles(); ++mt)
    for (int64_t n8 = 0; n8 < (perRow ? 1 : type.getN8Tiles()); ++n8)
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t c = 0; c < (perRow ? 1 : 2); ++c)
          elements.push_back({mt, n8, h, c});
  return elements;
}

/// Clones the region of a `map` or `any` for every element.
class RegionCloner {
public:
  RegionCloner(Emitter &emitter, ThreadPosition &position, Block &body,
               FragType type, ValueRange inputs, ArrayRef<ValueRange> registers,
               Value rowOrigin, Value columnOrigin, bool inClass = false)
      : emitter(emitter), body(body), type(type), inputs(inputs),
        registers(registers) {
    Value lane = position.lane(emitter);
    if (rowOrigin)
      row = emitter.add(rowOrigin, emitter.add(position.firstRow(emitter, type),
                                               emitter.divide(lane, 4)));
    if (inClass)
      column = emitter.i32(0);
    else if (columnOrigin)
      column = emitter.add(columnOrigin, emitter.mul(emitter.remainder(lane, 4),
                                                     emitter.i32(2)));
  }

  /// The value that the region yields for `element`.
  Value clone(const Element &element) {
    IRMapping mapping;
    unsigned argument = 0;
    for (auto [input, values] : llvm::zip_equal(inputs, registers))
      mapping.map(body.getArgument(argument++),
                  values[element.in(cast<FragType>(input.getType()))]);
    if (row)
      mapping.map(
          body.getArgument(argument++),
          emitter.add(row, emitter.i32(element.mt * 16 + element.h * 8)));
    if (column)
      mapping.map(body.getArgument(argument++),
                  emitter.add(column, emitter.i32(element.n8 * 8 + element.c)));
    for (Operation &op : body.without_terminator())
      emitter.builder.clone(op, mapping);
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  }

private:
  Emitter &emitter;
  Block &body;
  FragType type;
  ValueRange inputs;
  ArrayRef<ValueRange> registers;
  Value row, column;
};

struct MapLowering : WarpPattern<MapOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(MapOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    FragType type = op.getResult().getType();
    RegionCloner cloner(emitter, position, op.getBody().front(), type,
                        op.getInputs(), adaptor.getInputs(), op.getRowOrigin(),
                        op.getColumnOrigin(), op.getInClass());
    SmallVector<Value> registers;
    for (const Element &element : elementsOf(type))
      registers.push_back(cloner.clone(element));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct AnyLowering : WarpPattern<AnyOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(AnyOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    FragType type = op.getWidestInput();
    RegionCloner cloner(emitter, position, op.getBody().front(), type,
                        op.getInputs(), adaptor.getInputs(), op.getRowOrigin(),
                        op.getColumnOrigin());
    Value any;
    for (const Element &element : elementsOf(type)) {
      Value holds = cloner.clone(element);
      any =
          any ? arith::OrIOp::create(rewriter, op.getLoc(), any, holds) : holds;
    }
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(op, rewriter.getI1Type(),
                                                  emitter.i32(fullMask), any,
                                                  NVVM::VoteSyncKind::any);
    return success();
  }
};

struct FillLowering : WarpPattern<FillOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(FillOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> registers(op.getResult().getType().getNumRegisters(),
                                 op.getValue());
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct ReduceLowering : WarpPattern<ReduceOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(ReduceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    FragType source = op.getSource().getType(), type = op.getResult().getType();
    ValueRange values = adaptor.getSource();
    SmallVector<Value> rows(values);
    if (source.getKind() == FragKind::Acc) {
      // One chain per row: rows are independent of each other, which is
      // parallelism enough, and no tree needs more live values.
      rows.assign(type.getNumRegisters(), Value());
      for (const Element &element : elementsOf(source)) {
        Value &row = rows[element.in(type)];
        Value value = values[element.in(source)];
        row = row ? combine(op, emitter, row, value) : value;
      }
    }
    if (type.getKind() == FragKind::Row)
      for (Value &row : rows)
        row = overQuad(op, emitter, row);
    rewriter.replaceOpWithMultiple(op, {rows});
    return success();
  }

  static Value combine(ReduceOp op, Emitter &emitter, Value a, Value b) {
    if (op.getKind() == ReduceKind::Max)
      return arith::MaximumFOp::create(emitter.builder, emitter.loc, a, b);
    return arith::AddFOp::create(emitter.builder, emitter.loc, a, b);
  }

  /// A quad holds one row; a butterfly gives all its lanes the same bits.
  static Value overQuad(ReduceOp op, Emitter &emitter, Value value) {
    for (int64_t distance : {1, 2}) {
      Value other = NVVM::ShflOp::create(
          emitter.builder, emitter.loc, value.getType(), emitter.i32(fullMask),
          value, emitter.i32(distance), emitter.i32(warpThreads - 1),
          NVVM::ShflKind::bfly, UnitAttr());
      value = combine(op, emitter, value, other);
    }
    return value;
  }
};

} // namespace

void attn::warp::populateElementwisePatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             ThreadPosition &position) {
  patterns.add<MapLowering, AnyLowering, FillLowering, ReduceLowering>(
      converter, patterns.getContext(), position);
}
