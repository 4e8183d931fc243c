//===- AttnToTile.cpp - From the problem to the online softmax ------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockList.h"
#include "KernelFunction.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOTILE
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using tile::ValType;

namespace {

constexpr int64_t threadsPerWarp = 32;
constexpr int64_t partialSums = 4; // one per lane of a quad
constexpr int64_t mmaDepth = 16;   // keys or dims that one mma contracts

/// Builds the tile-level kernel of one problem.
class KernelBuilder {
public:
  explicit KernelBuilder(ir::KernelOp kernel)
      : kernel(kernel), builder(kernel), loc(kernel.getLoc()),
        schedule(*kernel.getSchedule()), tileM(*schedule.getTileM()),
        tileN(*schedule.getTileN()) {}

  void build() {
    createFunction();
    if (isListed()) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(module.getBody());
      buildBlockListKernel(builder, kernel, tileM, tileN);
    }
    countRowsApart();
    Value heads = constant(kernel.getHeads());
    bool isPacked = kernel.getBatch() == ir::Batch::Varlen;
    auto work = tile::ForWorkOp::create(
        builder, loc, TypeRange(), function.arguments["batch"], heads,
        function.arguments[isPacked ? "total_q" : "q_len"], tileM,
        isPacked ? function.arguments["cu_seqlens_q"] : Value(),
        headsTogether(heads),
        isUneven() ? function.arguments["work_counter"] : Value(), Value(),
        ValueRange());
    OpBuilder::InsertionGuard guard(builder);
    Type i32 = builder.getI32Type();
    builder.createBlock(&work.getBody(), {}, {i32, i32, i32}, {loc, loc, loc});
    buildWork(work.getB(), work.getH(), work.getM0());
    tile::YieldOp::create(builder, loc);
  }

private:
  //===--- The function and its arguments ---------------------------------===//

  void declareArguments() {
    Type ptr = LLVM::LLVMPointerType::get(builder.getContext(), 1);
    Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
    SmallVector<StringRef> tensors = {"q", "k", "v"};
    if (kernel.getOutputsO())
      tensors.push_back("o");
    if (kernel.getOutputsLse())
      tensors.push_back("lse");
    for (StringRef name : tensors)
      function.declare(name, ptr);
    for (StringRef name : tensors)
      for (StringRef axis : {"b", "h", "s"})
        function.declare((name + "_stride_" + axis).str(), i64);
    for (StringRef name : {"batch", "q_len", "k_len"})
      function.declare(name, i32);
    declareSequences(function, kernel, builder.getContext());
    if (isUneven())
      function.declare("work_counter", ptr);
    if (isListed())
      function.declare("block_list", ptr);
    for (auto param : kernel.getBody().getOps<ir::ParamOp>())
      function.declareParam(param);
    for (auto tensor : kernel.getBody().getOps<ir::TensorOp>())
      function.declareTensor(tensor);
  }

  void createFunction() {
    declareArguments();
    module = gpu::GPUModuleOp::create(builder, loc, kernel.getSymName());
    builder.setInsertionPointToStart(module.getBody());
    int64_t threads =
        (*schedule.getWarps() + schedule.getProducerWarps()) * threadsPerWarp;
    auto func = function.create(builder, loc, kernel.getSymName(), threads);
    func->setAttr("attn.schedule", schedule);
  }

  //===--- Scalars --------------------------------------------------------===//

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                        value);
  }
  Value constantF32(double value) {
    return arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }

  //===--- Types ----------------------------------------------------------===//

  ValType tileType(StringRef x, int64_t xs, StringRef y, int64_t ys,
                   Type element) {
    return ValType::get(builder.getContext(), {{x, xs}, {y, ys}}, element);
  }
  ValType rowType() {
    return ValType::get(builder.getContext(), {{"q", tileM}},
                        builder.getF32Type());
  }
  Type f32() { return builder.getF32Type(); }

  /// Under a mask work items differ in length: persistent blocks take the next
  /// one when they are free, and the longest come first.
  bool isUneven() {
    return (kernel.getMask() || isRagged(kernel)) &&
           schedule.getPersistent().value_or(false);
  }

  /// Whether a kernel of its own lists the key tiles.
  bool isListed() { return kernel.getBounds().getListed().has_value(); }

  /// The items of one length follow each other: as many heads side by side as
  /// the L2 cache holds keys and values of.
  Value headsTogether(Value heads) {
    if (!isUneven())
      return {};
    // Half of an H100's L2, which keeps data of the far half twice.
    constexpr int64_t cacheBytes = int64_t(24) << 20;
    int64_t rowBytes = (kernel.getHeadDimQk() + kernel.getHeadDimV()) *
                       kernel.getDtype().getIntOrFloatBitWidth() / 8;
    int64_t group = kernel.getGroupSize();
    // Heads of a group share their keys.
    Value keys = arith::MaxSIOp::create(
        builder, loc, function.arguments["k_len"], constant(1));
    Value groups = arith::DivUIOp::create(
        builder, loc, constant(cacheBytes / rowBytes), keys);
    Value some = arith::MaxSIOp::create(builder, loc, groups, constant(1));
    Value count = arith::MulIOp::create(builder, loc, some, constant(group));
    // Packed sequences are one behind the other under each head.
    Value all = kernel.getBatch() == ir::Batch::Varlen
                    ? heads
                    : arith::MulIOp::create(builder, loc,
                                            function.arguments["batch"], heads);
    return arith::MinSIOp::create(builder, loc, count, all);
  }

  //===--- One work item --------------------------------------------------===//

  Value strideOf(StringRef name, StringRef axis) {
    return function.arguments[(name + "_stride_" + axis).str()];
  }

  /// Rows of one head of one batch entry, the first of which is row `first` of
  /// the entry (null: 0). Offsets in 64 bits (contract C10).
  Value makeView(StringRef name, Value head, Value rows, int64_t columns,
                 Type element, Value first) {
    auto offset = [&](Value index, StringRef axis) -> Value {
      Value wide =
          arith::ExtSIOp::create(builder, loc, builder.getI64Type(), index);
      return arith::MulIOp::create(builder, loc, wide, strideOf(name, axis));
    };
    Value start = add(offset(b, "b"), offset(head, "h"));
    if (first)
      start = add(start, offset(first, "s"));
    auto type = tile::ViewType::get(builder.getContext(), columns, element);
    bool ragged = isRagged(kernel);
    Value position = ragged ? firstOfAll(name, first) : b;
    return tile::MakeViewOp::create(
        builder, loc, type, name, function.arguments[name], start,
        strideOf(name, "s"), rows, ValueRange{head, position}, ragged);
  }

  /// The first row of the batch entry among all rows of the tensor. Where
  /// entries are apart, their stride counts in rows; a tensor map for which it
  /// does not is refused (lib/Runtime/MapArguments.cpp).
  Value firstOfAll(StringRef name, Value first) {
    Value before =
        arith::MulIOp::create(builder, loc, b, rowsApart.lookup(name));
    return first ? add(before, first) : before;
  }

  /// Once, since it divides in 64 bits.
  void countRowsApart() {
    if (!isRagged(kernel))
      return;
    for (StringRef name : {"q", "k", "v", "o", "lse"}) {
      Value stride = strideOf(name, "s");
      if (!stride)
        continue;
      Value one =
          arith::ConstantIntOp::create(builder, loc, stride.getType(), 1);
      Value rows = arith::DivUIOp::create(
          builder, loc, strideOf(name, "b"),
          arith::MaxSIOp::create(builder, loc, stride, one));
      rowsApart[name] =
          arith::TruncIOp::create(builder, loc, builder.getI32Type(), rows);
    }
  }

  void buildWork(Value batchIndex, Value head, Value firstRow) {
    b = batchIndex;
    h = head;
    m0 = firstRow;
    g = arith::DivUIOp::create(builder, loc, h,
                               constant(kernel.getGroupSize()));
    sequence = readSequence(builder, kernel, function, b);
    inliner.emplace(kernel, function, sequence);
    Value qLen = sequence.qLen, kLen = sequence.kLen;
    offset = kernel.getAlign() == ir::Align::BottomRight ? sub(kLen, qLen)
                                                         : constant(0);
    Type dtype = kernel.getDtype();
    int64_t dqk = kernel.getHeadDimQk(), dv = kernel.getHeadDimV();
    int64_t paddedQk = llvm::alignTo(dqk, mmaDepth);
    Value queries = makeView("q", h, qLen, dqk, dtype, sequence.qStart);
    keys = makeView("k", g, kLen, dqk, dtype, sequence.kStart);
    values = makeView("v", g, kLen, dv, dtype, sequence.kStart);
    keyTile = tileType("k", tileN, "d", paddedQk, dtype);
    valueTile = tileType("k", tileN, "v", dv, dtype);

    Value query = tile::LoadOp::create(
        builder, loc, tileType("q", tileM, "d", paddedQk, dtype), queries, m0);
    factor = inliner->inlineRule(builder, kernel.getFactor().getBody(), {},
                                 RuleInliner::Scope::Row)[0];
    if (ir::RampOp ramp = kernel.getRamp())
      slope = inlineRamp(ramp, builder, m0)[0];
    tile::ForKeysOp loop = buildKeyLoop(query);
    Value sink;
    if (ir::SinkOp rule = kernel.getSink())
      sink = inliner->inlineRule(builder, rule.getBody(), {b, h, g},
                                 RuleInliner::Scope::Row)[0];
    ValType accType = tileType("q", tileM, "v", dv, f32());
    auto finalize = tile::FinalizeOp::create(
        builder, loc, rowType(), accType, loop.getResult(0), loop.getResult(1),
        factor, sink, loop.getResult(2));
    if (kernel.getOutputsO())
      tile::StoreOp::create(
          builder, loc, finalize.getOutput(),
          makeView("o", h, qLen, dv, kernel.getOut(), sequence.qStart), m0);
    if (kernel.getOutputsLse())
      tile::StoreOp::create(builder, loc, finalize.getLse(),
                            makeView("lse", h, qLen, 1, f32(), sequence.qStart),
                            m0);
  }

  /// Which key tiles the rows of the item see, and in which order.
  KeyTileBuilder::Places placeTiles() {
    QueryTile tile{b,
                   h,
                   g,
                   m0,
                   sequence.qLen,
                   sequence.kLen,
                   function.arguments["q_len"],
                   function.arguments["k_len"],
                   offset,
                   tileM};
    if (!isListed())
      return placeKeyTiles(builder, kernel, *inliner, tile, tileN);
    QueryTile listedTile = tile;
    // Of a tile past the end there may be no list.
    if (isRagged(kernel))
      listedTile.m0 = arith::SelectOp::create(
          builder, loc,
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, m0,
                                tile.qLen),
          m0, constant(0));
    BlockListView list(builder, kernel, function.arguments["block_list"],
                       listedTile, tileN);
    listed = list.getElements();
    auto keys = [&](Value tiles) -> Value {
      return arith::MulIOp::create(builder, loc, tiles, constant(tileN));
    };
    Value full = list.load(BlockListView::full);
    Value all = add(full, list.load(BlockListView::partial));
    KeyTileBuilder::Places places;
    places.begin = constant(0);
    places.fullEnd = keys(full);
    places.end = keys(all);
    places.thresholds = {places.fullEnd};
    places.shifts = {sub(places.begin, places.fullEnd),
                     keys(sub(list.getTiles(), full))};
    places.partial = places.full = 1;
    dropBlankTiles(builder, kernel, tile, places);
    return places;
  }

  tile::ForKeysOp buildKeyLoop(Value query) {
    KeyTileBuilder::Places places = placeTiles();
    Value lowest = constantF32(-std::numeric_limits<double>::infinity());
    Value zero = constantF32(0);
    SmallVector<Value> inits = {
        tile::FillOp::create(builder, loc, rowType(), lowest),
        tile::FillOp::create(
            builder, loc, tileType("q", tileM, "r", partialSums, f32()), zero),
        tile::FillOp::create(
            builder, loc,
            tileType("q", tileM, "v", kernel.getHeadDimV(), f32()), zero)};
    SmallVector<Type> types =
        llvm::map_to_vector(inits, [](Value value) { return value.getType(); });
    auto loop = tile::ForKeysOp::create(
        builder, loc, types, tile::RangeKind::Mixed, places.begin, places.end,
        places.fullEnd, tileN, inits);
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> argTypes = {builder.getI32Type()};
    llvm::append_range(argTypes, types);
    builder.createBlock(&loop.getBody(), {}, argTypes,
                        SmallVector<Location>(argTypes.size(), loc));
    Value k0 = builder.createOrFold<tile::KeyAtOp>(
        loc, loop.getPlace(), places.thresholds, places.shifts, listed,
        places.partial, places.full,
        listed ? builder.getI64IntegerAttr(tileN) : IntegerAttr());
    buildStep(query, k0, loop.getIterArgs());
    return loop;
  }

  /// The exponent of the largest weight for which a former maximum is held, or
  /// null. It fits the weights' type. Sums of weights and O grow as much, so
  /// that no type, however wide, is given more than f16 has.
  IntegerAttr heldWeights() {
    if (schedule.getMax().value_or(ir::MaxMode::Exact) == ir::MaxMode::Exact)
      return {};
    auto type = cast<FloatType>(kernel.getDtype());
    return builder.getI64IntegerAttr(
        std::min(APFloat::semanticsMaxExponent(type.getFloatSemantics()),
                 APFloat::semanticsMaxExponent(APFloat::IEEEhalf())));
  }

  void buildStep(Value query, Value k0, ValueRange carried) {
    Value key = tile::LoadOp::create(builder, loc, keyTile, keys, k0);
    Value logits = tile::DotOp::create(
        builder, loc, tileType("q", tileM, "k", tileN, f32()), query, key,
        Value(), "d", /*async=*/false);
    if (ir::ScoreOp score = kernel.getScore())
      logits = buildScore(score, logits, k0);
    logits = buildMask(logits, k0);
    auto step = tile::SoftmaxStepOp::create(
        builder, loc, logits, carried[0], carried[1], factor, slope,
        slope ? buildRampBase(k0) : Value(), heldWeights(),
        schedule.getMax() == ir::MaxMode::Stale);
    Value acc =
        tile::RescaleOp::create(builder, loc, carried[2], step.getAlpha());
    // P is rounded once, to the type of V (docs/Numerics.md).
    Value weights =
        tile::CastOp::create(builder, loc,
                             cast<ValType>(step.getWeights().getType())
                                 .withElementType(kernel.getDtype()),
                             step.getWeights());
    Value value = tile::LoadOp::create(builder, loc, valueTile, values, k0);
    acc = tile::DotOp::create(builder, loc, acc.getType(), weights, value, acc,
                              "k", /*async=*/false);
    tile::YieldOp::create(builder, loc,
                          ValueRange{step.getNewMax(), step.getNewSum(), acc});
  }

  /// The positions b, h, g, i, q, k, q_len, k_len that mask and score see.
  SmallVector<Value> positions(OpBuilder &nested, Value row, Value key) {
    Value q = arith::AddIOp::create(nested, loc, row, offset);
    return {b, h, g, row, q, key, sequence.qLen, sequence.kLen};
  }

  /// The slope, and the shift of a row.
  SmallVector<Value> inlineRamp(ir::RampOp ramp, OpBuilder &nested, Value row) {
    Value q = arith::AddIOp::create(nested, loc, row, offset);
    return inliner->inlineRule(nested, ramp.getBody(),
                               {b, h, g, row, q, sequence.qLen, sequence.kLen},
                               RuleInliner::Scope::Row);
  }

  /// What the ramp adds to the first key of a tile, for each row.
  Value buildRampBase(Value k0) {
    Value slopes = tile::FillOp::create(builder, loc, rowType(), slope);
    return tile::MapOp::create(
        builder, loc, rowType(), slopes, ArrayRef<StringRef>{"q"},
        ValueRange{m0},
        [&](OpBuilder &nested, Location, ValueRange args) -> Value {
          Value shift = inlineRamp(kernel.getRamp(), nested, args[1])[1];
          Value distance = arith::AddIOp::create(nested, loc, k0, shift);
          Value exact = arith::SIToFPOp::create(nested, loc, f32(), distance);
          return arith::MulFOp::create(nested, loc, args[0], exact);
        });
  }

  Value buildScore(ir::ScoreOp score, Value logits, Value k0) {
    return tile::MapOp::create(
        builder, loc, cast<ValType>(logits.getType()), logits,
        ArrayRef<StringRef>{"q", "k"}, ValueRange{m0, k0},
        [&](OpBuilder &nested, Location, ValueRange args) -> Value {
          SmallVector<Value> arguments = {args[0]};
          llvm::append_range(arguments, positions(nested, args[1], args[2]));
          return inliner->inlineRule(nested, score.getBody(), arguments,
                                     RuleInliner::Scope::Key)[0];
        });
  }

  /// Keys that exist and that the rule shows.
  Value buildMask(Value logits, Value k0) {
    auto op = tile::MaskOp::create(builder, loc, logits, m0, k0);
    OpBuilder::InsertionGuard guard(builder);
    Type i32 = builder.getI32Type();
    Block *block =
        builder.createBlock(&op.getBody(), {}, {i32, i32}, {loc, loc});
    Value key = block->getArgument(1);
    Value visible = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, key, sequence.kLen);
    if (ir::MaskOp mask = kernel.getMask()) {
      Value shown =
          inliner->inlineRule(builder, mask.getBody(),
                              positions(builder, block->getArgument(0), key),
                              RuleInliner::Scope::Key)[0];
      visible = arith::AndIOp::create(builder, loc, visible, shown);
    }
    tile::YieldOp::create(builder, loc, visible);
    return op;
  }

  ir::KernelOp kernel;
  OpBuilder builder;
  Location loc;
  ir::ScheduleAttr schedule;
  int64_t tileM, tileN;
  gpu::GPUModuleOp module;
  KernelFunction function;
  std::optional<RuleInliner> inliner;
  /// Of the work item being built.
  Value b, h, g, m0, offset, factor, keys, values;
  Sequence sequence;
  Value slope;  ///< of the ramp; null without one
  Value listed; ///< elements of its block list; null without one
  /// Rows from the first of a batch entry to that of the next, by tensor.
  llvm::StringMap<Value> rowsApart;
  ValType keyTile, valueTile;
};

/// What the fields of the kernel promise and this conversion relies on.
LogicalResult verifyLowerable(ir::KernelOp kernel) {
  if (!kernel.getSchedule() || !kernel.getSchedule()->isSelected())
    return kernel.emitError() << "expected a selected schedule "
                                 "(attn-select-schedule)";
  if (!kernel.getBounds() || !kernel.getFactor())
    return kernel.emitError() << "expected attn.bounds and attn.factor "
                                 "(attn-bound-keys, attn-use-exp2)";
  if (kernel.getBounds().getListed() && !kernel.getMask())
    return kernel.getBounds().emitError()
           << "expected a mask, of which block lists could be made";
  for (auto tensor : kernel.getBody().getOps<ir::TensorOp>())
    for (unsigned axis = 0; axis < tensor.getDims().size(); ++axis) {
      ir::DimKind kind = tensor.getDim(axis).getKind();
      if ((kind == ir::DimKind::TotalQ || kind == ir::DimKind::TotalK) &&
          kernel.getBatch() != ir::Batch::Varlen)
        return tensor.emitError()
               << "expected ragged dimensions with varlen batches only, found '"
               << ir::stringifyDimKind(kind) << "'";
    }
  return success();
}

struct ConvertAttnToTile
    : attn::impl::ConvertAttnToTileBase<ConvertAttnToTile> {
  void runOnOperation() override {
    SmallVector<ir::KernelOp> kernels(getOperation().getOps<ir::KernelOp>());
    for (ir::KernelOp kernel : kernels) {
      if (failed(verifyLowerable(kernel)))
        return signalPassFailure();
      KernelBuilder(kernel).build();
      kernel.erase();
    }
    ir::setLevel(getOperation(), ir::Level::Tile);
  }
};

} // namespace
