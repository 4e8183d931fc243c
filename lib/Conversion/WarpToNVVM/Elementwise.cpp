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

/// Clones the region of a `map` or `any` for single elements.
class RegionCloner {
public:
  RegionCloner(Emitter &emitter, ThreadPosition &position, Block &body,
               FragType type, ValueRange inputs, ArrayRef<ValueRange> registers,
               Value rowOrigin, Value columnOrigin, bool inClass = false)
      : emitter(emitter), body(body), inputs(inputs), registers(registers) {
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
    SmallVector<Value> elements;
    for (auto [input, values] : llvm::zip_equal(inputs, registers))
      elements.push_back(values[element.in(cast<FragType>(input.getType()))]);
    return clone(elements, emitter.i32(element.mt * 16 + element.h * 8),
                 emitter.i32(element.n8 * 8 + element.c));
  }

  /// The same for the element so many rows and columns behind the thread's
  /// first one.
  Value clone(ValueRange elements, Value rows, Value columns) {
    IRMapping mapping;
    unsigned argument = 0;
    for (Value element : elements)
      mapping.map(body.getArgument(argument++), element);
    if (row)
      mapping.map(body.getArgument(argument++), emitter.add(row, rows));
    if (column)
      mapping.map(body.getArgument(argument++), emitter.add(column, columns));
    for (Operation &op : body.without_terminator())
      emitter.builder.clone(op, mapping);
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  }

private:
  Emitter &emitter;
  Block &body;
  ValueRange inputs;
  ArrayRef<ValueRange> registers;
  Value row, column;
};

/// A rule of which more operations than this would stand in the code of one map
/// is evaluated in a loop: neither the compiler's time nor the code, which runs
/// from a cache of 128 KB, grow with the product of rule and fragment.
constexpr int64_t mostUnrolled = 4096;
/// So many stand in the body of such a loop, if not one element takes more.
constexpr int64_t mostInStep = 1024;

int64_t operationsIn(Block &body) {
  int64_t count = 0;
  body.walk(
      [&](Operation *op) { count += !op->hasTrait<OpTrait::ConstantLike>(); });
  return count;
}

/// So that neither LLVM nor the assembler unrolls a loop all the same.
LLVM::LoopAnnotationAttr keepRolled(MLIRContext *context) {
  auto unroll = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true),
                                          {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {}, {});
}

/// A map as a loop over some elements at a time. Registers have no addresses,
/// so the values move on instead: a step takes the first ones of each input and
/// puts what it makes of them behind the last of the first input, and those of
/// others behind their own.
class MapLoop {
public:
  MapLoop(MapOp op, ArrayRef<ValueRange> registers, Emitter &emitter,
          RegionCloner &cloner)
      : op(op), type(op.getResult().getType()), registers(registers),
        emitter(emitter), cloner(cloner), count(type.getNumRegisters()) {
    int64_t most =
        std::max<int64_t>(mostInStep / operationsIn(op.getBody().front()), 1);
    atOnce = std::min(most, count);
    while (count % atOnce != 0)
      --atOnce;
  }

  SmallVector<Value> emit();

private:
  SmallVector<Value> emitStep(Value step, ValueRange carried);
  Value mapElement(Value number, int64_t inStep, ValueRange carried);

  bool hasElements(unsigned input) {
    return !cast<FragType>(op.getInputs()[input].getType()).isPerRow();
  }

  MapOp op;
  FragType type;
  ArrayRef<ValueRange> registers;
  Emitter &emitter;
  RegionCloner &cloner;
  int64_t count, atOnce;
};

SmallVector<Value> MapLoop::emit() {
  SmallVector<Value> inits;
  for (auto [index, values] : llvm::enumerate(registers))
    if (hasElements(index))
      llvm::append_range(inits, values);
  if (inits.empty()) // of positions and rows alone: places for the results
    inits.assign(count, arith::ConstantOp::create(emitter.builder, emitter.loc,
                                                  emitter.builder.getZeroAttr(
                                                      type.getElementType())));
  auto loop =
      scf::ForOp::create(emitter.builder, emitter.loc, emitter.i32(0),
                         emitter.i32(count / atOnce), emitter.i32(1), inits);
  loop->setAttr("loop_annotation", keepRolled(op.getContext()));
  OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(
      emitter.builder, emitter.loc,
      emitStep(loop.getInductionVar(), loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults().take_front(count));
}

SmallVector<Value> MapLoop::emitStep(Value step, ValueRange carried) {
  SmallVector<Value> made;
  Value first = emitter.mul(step, emitter.i32(atOnce));
  for (int64_t inStep = 0; inStep < atOnce; ++inStep)
    made.push_back(
        mapElement(emitter.add(first, emitter.i32(inStep)), inStep, carried));
  SmallVector<Value> moved;
  for (size_t begin = 0; begin < carried.size(); begin += count) {
    llvm::append_range(moved, carried.slice(begin + atOnce, count - atOnce));
    llvm::append_range(moved, begin == 0 ? ValueRange(made)
                                         : carried.slice(begin, atOnce));
  }
  return moved;
}

/// Of the element whose register has this number.
Value MapLoop::mapElement(Value number, int64_t inStep, ValueRange carried) {
  Value c = emitter.remainder(number, 2);
  Value h = emitter.remainder(emitter.divide(number, 2), 2);
  Value tile = emitter.divide(number, 4);
  Value n8 = emitter.remainder(tile, type.getN8Tiles());
  Value mt = emitter.divide(tile, type.getN8Tiles());
  Value row = emitter.add(emitter.mul(mt, emitter.i32(2)), h);
  SmallVector<Value> elements;
  size_t begin = 0;
  for (auto [index, values] : llvm::enumerate(registers)) {
    if (hasElements(index)) {
      elements.push_back(carried[begin + inStep]);
      begin += count;
      continue;
    }
    Value element = values[0];
    for (auto [other, value] : llvm::enumerate(values))
      if (other != 0)
        element = arith::SelectOp::create(
            emitter.builder, emitter.loc,
            emitter.equal(row, emitter.i32(other)), value, element);
    elements.push_back(element);
  }
  return cloner.clone(elements, emitter.mul(row, emitter.i32(8)),
                      emitter.add(emitter.mul(n8, emitter.i32(8)), c));
}

struct MapLowering : WarpPattern<MapOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(MapOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    FragType type = op.getResult().getType();
    Block &body = op.getBody().front();
    RegionCloner cloner(emitter, position, body, type, op.getInputs(),
                        adaptor.getInputs(), op.getRowOrigin(),
                        op.getColumnOrigin(), op.getInClass());
    SmallVector<Value> registers;
    int64_t unrolled = operationsIn(body) * type.getNumRegisters();
    if (!type.isPerRow() && unrolled > mostUnrolled)
      registers = MapLoop(op, adaptor.getInputs(), emitter, cloner).emit();
    else
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
