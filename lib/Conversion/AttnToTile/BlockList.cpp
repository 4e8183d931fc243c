//===- BlockList.cpp - Lists of the key tiles of query tiles --------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockList.h"

#include "KernelFunction.h"
#include "RuleIntervals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// What both kernels know
//===----------------------------------------------------------------------===//

KeyTileBuilder::Places attn::placeKeyTiles(OpBuilder &builder,
                                           ir::KernelOp kernel,
                                           RuleInliner &inliner,
                                           const QueryTile &tile,
                                           int64_t tileKeys) {
  Location loc = kernel.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                        value);
  };
  // The positions of the item's rows that exist.
  Value past =
      arith::AddIOp::create(builder, loc, tile.m0, constant(tile.rows));
  Value end = arith::MinSIOp::create(builder, loc, past, tile.qLen);
  Value first = arith::AddIOp::create(builder, loc, tile.m0, tile.offset);
  Value final = arith::SubIOp::create(builder, loc, end, constant(1));
  Value last = arith::AddIOp::create(builder, loc, final, tile.offset);
  ir::BoundsOp rule = kernel.getBounds();
  SmallVector<Value> yielded = inliner.inlineRule(
      builder, rule.getBody(),
      {tile.b, tile.h, tile.g, first, last, tile.qLen, tile.kLen},
      RuleInliner::Scope::Row);
  KeyTileBuilder::Bounds bounds;
  bounds.firstRow = first;
  bounds.lastRow = last;
  bounds.tail = yielded.pop_back_val();
  ArrayRef<Value> pairs = yielded;
  bounds.visible.assign(pairs.take_front(2 * rule.getVisible()));
  bounds.hidden.assign(pairs.drop_front(2 * rule.getVisible()));
  KeyTileBuilder tiles(builder, loc, tileKeys);
  KeyTileBuilder::Places places = tiles.place(tiles.classify(bounds));
  dropBlankTiles(builder, kernel, tile, places);
  return places;
}

void attn::dropBlankTiles(OpBuilder &builder, ir::KernelOp kernel,
                          const QueryTile &tile,
                          KeyTileBuilder::Places &places) {
  if (!isRagged(kernel))
    return;
  Location loc = kernel.getLoc();
  Value hasRows = arith::CmpIOp::create(builder, loc, CmpIPredicate::slt,
                                        tile.m0, tile.qLen);
  for (Value *end : {&places.end, &places.fullEnd})
    *end = arith::SelectOp::create(builder, loc, hasRows, *end, places.begin);
}

static bool isListedBy(ir::BoundsOp bounds, ir::DimKind kind) {
  return llvm::any_of(*bounds.getListed(), [&](Attribute dim) {
    return cast<ir::DimAttr>(dim).getKind() == kind;
  });
}

namespace {
/// Scalars of a kernel.
struct Scalars {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value, unsigned bits = 32) {
    return arith::ConstantIntOp::create(builder, loc,
                                        builder.getIntegerType(bits), value);
  }
  template <typename Op> Value create(Value lhs, Value rhs) {
    return builder.createOrFold<Op>(loc, lhs, rhs);
  }
  Value add(Value lhs, Value rhs) { return create<arith::AddIOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return create<arith::SubIOp>(lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return create<arith::MulIOp>(lhs, rhs); }
  Value both(Value lhs, Value rhs) { return create<arith::AndIOp>(lhs, rhs); }
  Value either(Value lhs, Value rhs) { return create<arith::OrIOp>(lhs, rhs); }
  Value invert(Value condition) {
    return create<arith::XOrIOp>(condition, constant(1, 1));
  }
  Value compare(CmpIPredicate predicate, Value lhs, Value rhs) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, lhs, rhs);
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return builder.createOrFold<arith::SelectOp>(loc, condition, lhs, rhs);
  }
  Value widen(Value value) {
    return builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(),
                                                value);
  }
  /// ceil(value / divisor) of what is not negative.
  Value ceilDiv(Value value, int64_t divisor) {
    return create<arith::DivUIOp>(add(value, constant(divisor - 1)),
                                  constant(divisor));
  }
  /// The address `words` i32 behind another one.
  Value address(Value base, Value words) {
    return LLVM::GEPOp::create(builder, loc, base.getType(),
                               builder.getI32Type(), base, words);
  }
  void store(Value value, Value address) {
    LLVM::StoreOp::create(builder, loc, value, address);
  }
};
} // namespace

BlockListView::BlockListView(OpBuilder &builder, ir::KernelOp kernel,
                             Value memory, const QueryTile &tile,
                             int64_t tileKeys)
    : builder(builder), loc(kernel.getLoc()) {
  Scalars emit{builder, loc};
  ir::BoundsOp bounds = kernel.getBounds();
  tiles = emit.ceilDiv(tile.mostKeys, tileKeys);
  // In 64 bits (contract C10).
  Value number = emit.constant(0, 64);
  auto addAxis = [&](Value index, Value size) {
    number = emit.add(emit.mul(number, size), emit.widen(index));
  };
  if (isListedBy(bounds, ir::DimKind::Batch))
    addAxis(tile.b, emit.constant(0, 64));
  if (isListedBy(bounds, ir::DimKind::Heads))
    addAxis(tile.h, emit.constant(kernel.getHeads(), 64));
  if (isListedBy(bounds, ir::DimKind::KvHeads))
    addAxis(tile.g, emit.constant(kernel.getKvHeads(), 64));
  addAxis(emit.create<arith::DivUIOp>(tile.m0, emit.constant(tile.rows)),
          emit.widen(emit.ceilDiv(tile.mostRows, tile.rows)));
  Value words = emit.widen(emit.add(tiles, emit.constant(headerWords)));
  begin = emit.address(memory, emit.mul(number, words));
}

Value BlockListView::addressOf(int64_t word) {
  return LLVM::GEPOp::create(
      builder, loc, begin.getType(), builder.getI32Type(), begin,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(word)});
}

Value BlockListView::load(int64_t word) {
  return LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                              addressOf(word), /*alignment=*/0,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

//===----------------------------------------------------------------------===//
// The kernel that fills the lists
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t lanes = 32;
constexpr int64_t warps = 8;
/// Tiles that a block looks at between two meetings: one for each lane of the
/// warp that writes.
constexpr int64_t tilesAtOnce = lanes;
constexpr unsigned sharedSpace = 3;

/// What a tile is, as it stands in shared memory.
enum TileClass : int64_t { Empty = 0, Partial = 1, Full = 2 };

/// A block takes a query tile, each of its warps some of the key tiles that the
/// bounds call partial: first the mask in intervals over the tile, then, where
/// that leaves it open, pair by pair. One warp at the end writes what stands.
class ListBuilder {
public:
  ListBuilder(OpBuilder &builder, ir::KernelOp kernel, int64_t tileRows,
              int64_t tileKeys)
      : kernel(kernel), builder(builder), loc(kernel.getLoc()),
        tileRows(tileRows), tileKeys(tileKeys), emit{this->builder, loc} {}

  void build();

private:
  void createFunction();
  void declareInputs();
  void emitItem(Value item);
  void emitList(BlockListView &list, const KeyTileBuilder::Places &places);
  void emitReverse(BlockListView &list, Value count);
  void emitClasses(const KeyTileBuilder::Places &places, Value chunk);
  Value emitClass(Value key, Value isFull);
  Value emitPairs(Value key, Value keyEnd);
  SmallVector<Value> emitWrite(BlockListView &list, Value chunk,
                               const KeyTileBuilder::Places &places,
                               ValueRange counts);
  Value ballot(Value condition);
  Value classAddress(Value tile);
  /// The place of a tile of a chunk: from right to left.
  Value placeIn(Value chunk, Value number) {
    Value tiles = emit.add(number, emit.constant(1));
    return emit.sub(chunk, emit.mul(tiles, emit.constant(tileKeys)));
  }

  ir::KernelOp kernel;
  OpBuilder builder;
  Location loc;
  int64_t tileRows, tileKeys;
  Scalars emit;
  KernelFunction function;
  gpu::GPUFuncOp func;
  std::optional<RuleInliner> inliner;
  std::optional<RuleIntervals> intervals;
  LLVM::GlobalOp classes;
  Value thread, warp, lane;
  QueryTile tile; ///< of the item
  Value rowEnd;
};

} // namespace

/// Exactly what the lists depend on: they stay good while that stays.
void ListBuilder::declareInputs() {
  bool usesBatch = isListedBy(kernel.getBounds(), ir::DimKind::Batch);
  llvm::SmallSetVector<Operation *, 4> symbols;
  for (Region *rule :
       {&kernel.getMask().getBody(), &kernel.getBounds().getBody()})
    rule->walk([&](Operation *op) {
      if (auto param = dyn_cast<ir::GetParamOp>(op))
        symbols.insert(kernel.lookupSymbol(param.getParam()));
      if (auto read = dyn_cast<ir::ReadOp>(op))
        symbols.insert(kernel.lookupSymbol(read.getTensor()));
    });
  for (Operation *symbol : symbols)
    if (auto tensor = dyn_cast<ir::TensorOp>(symbol))
      for (size_t axis = 0; axis < tensor.getDims().size(); ++axis)
        usesBatch |= tensor.getDim(axis).getKind() == ir::DimKind::Batch;
  Type i32 = builder.getI32Type();
  if (usesBatch)
    function.declare("batch", i32);
  function.declare("q_len", i32);
  function.declare("k_len", i32);
  declareSequences(function, kernel, builder.getContext());
  for (Operation *symbol : symbols) {
    if (auto param = dyn_cast<ir::ParamOp>(symbol))
      function.declareParam(param);
    else
      function.declareTensor(cast<ir::TensorOp>(symbol));
  }
}

void ListBuilder::createFunction() {
  MLIRContext *context = builder.getContext();
  std::string name = (kernel.getSymName() + "_block_list").str();
  auto type = LLVM::LLVMArrayType::get(builder.getI32Type(), tilesAtOnce);
  classes = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/false,
                                   LLVM::Linkage::Internal, name + "_classes",
                                   Attribute(), /*alignment=*/4, sharedSpace);
  function.declare("block_list", LLVM::LLVMPointerType::get(context, 1));
  declareInputs();
  func = function.create(builder, loc, name, warps * lanes);
  // Without it the assembler of sm_120 takes 40 registers, and spills.
  func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                builder.getI32IntegerAttr(1));
  func->setAttr(ir::blockListAttrName,
                ir::BlockListAttr::get(context, *kernel.getBounds().getListed(),
                                       tileRows, tileKeys));
}

Value ListBuilder::ballot(Value condition) {
  return NVVM::VoteSyncOp::create(builder, loc, builder.getI32Type(),
                                  emit.constant(-1), condition,
                                  NVVM::VoteSyncKind::ballot);
}

Value ListBuilder::classAddress(Value number) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), sharedSpace);
  Value base =
      LLVM::AddressOfOp::create(builder, loc, pointer, classes.getSymName());
  return emit.address(base, number);
}

/// Whether the mask holds for all, and for some, of the pairs of the tile's
/// rows and keys key .. keyEnd - 1: {all, some} as one class.
Value ListBuilder::emitPairs(Value key, Value keyEnd) {
  Type i32 = builder.getI32Type(), i1 = builder.getI1Type();
  Value yes = emit.constant(1, 1), no = emit.constant(0, 1);
  // 32 keys at a time, until some pair holds and some does not.
  auto loop = scf::WhileOp::create(
      builder, loc, TypeRange{i32, i1, i1}, ValueRange{key, yes, no},
      [&](OpBuilder &nested, Location, ValueRange values) {
        Scalars inner{nested, loc};
        Value open = inner.either(values[1], inner.invert(values[2]));
        Value more = inner.compare(CmpIPredicate::slt, values[0], keyEnd);
        scf::ConditionOp::create(nested, loc, inner.both(open, more), values);
      },
      [&](OpBuilder &nested, Location, ValueRange values) {
        Scalars inner{nested, loc};
        Value own = inner.add(values[0], lane);
        // Lanes past the end look at the last key once more.
        Value last = inner.sub(keyEnd, inner.constant(1));
        own = inner.create<arith::MinSIOp>(own, last);
        auto rows = scf::ForOp::create(
            nested, loc, tile.m0, rowEnd, inner.constant(1),
            ValueRange{values[1], values[2]},
            [&](OpBuilder &body, Location, Value row, ValueRange found) {
              Value q = arith::AddIOp::create(body, loc, row, tile.offset);
              Value shown = inliner->inlineRule(
                  body, kernel.getMask().getBody(),
                  {tile.b, tile.h, tile.g, row, q, own, tile.qLen, tile.kLen},
                  RuleInliner::Scope::Key)[0];
              Scalars innermost{body, loc};
              scf::YieldOp::create(
                  body, loc,
                  ValueRange{innermost.both(found[0], shown),
                             innermost.either(found[1], shown)});
            });
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToEnd(nested.getInsertionBlock());
        Value zero = inner.constant(0);
        Value misses = ballot(inner.invert(rows.getResult(0)));
        Value hits = ballot(rows.getResult(1));
        scf::YieldOp::create(
            builder, loc,
            ValueRange{inner.add(values[0], inner.constant(lanes)),
                       inner.compare(CmpIPredicate::eq, misses, zero),
                       inner.compare(CmpIPredicate::ne, hits, zero)});
      });
  Value some = emit.select(loop.getResult(2), emit.constant(Partial),
                           emit.constant(Empty));
  return emit.select(emit.both(loop.getResult(1), loop.getResult(2)),
                     emit.constant(Full), some);
}

/// The class of the tile at `key`, the same in all lanes.
Value ListBuilder::emitClass(Value key, Value isFull) {
  Type i32 = builder.getI32Type();
  auto known = scf::IfOp::create(builder, loc, i32, isFull, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&known.getThenRegion().front());
  scf::YieldOp::create(builder, loc, emit.constant(Full));
  builder.setInsertionPointToStart(&known.getElseRegion().front());
  Value past = emit.add(key, emit.constant(tileKeys));
  Value keyEnd = emit.create<arith::MinSIOp>(past, tile.kLen);
  Value isWhole = emit.compare(CmpIPredicate::sle, past, tile.kLen);
  Value last = emit.sub(keyEnd, emit.constant(1));
  intervals->setArgument("k", {emit.widen(key), emit.widen(last)});
  ValueBounds mask = intervals->emitTile(builder);
  Value isOpen = emit.both(mask.high, emit.invert(mask.low));
  auto pairs = scf::IfOp::create(builder, loc, i32, isOpen, true);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(&pairs.getThenRegion().front());
    scf::YieldOp::create(builder, loc, emitPairs(key, keyEnd));
    builder.setInsertionPointToStart(&pairs.getElseRegion().front());
    scf::YieldOp::create(
        builder, loc,
        emit.select(mask.low, emit.constant(Full), emit.constant(Empty)));
  }
  // A tile with keys past the end needs its mask.
  Value most =
      emit.select(isWhole, emit.constant(Full), emit.constant(Partial));
  scf::YieldOp::create(builder, loc,
                       emit.create<arith::MinSIOp>(pairs.getResult(0), most));
  return known.getResult(0);
}

/// The classes of the tiles at the places left of `chunk`, each by one warp.
void ListBuilder::emitClasses(const KeyTileBuilder::Places &places,
                              Value chunk) {
  auto tiles = scf::ForOp::create(
      builder, loc, warp, emit.constant(tilesAtOnce), emit.constant(warps));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(tiles.getBody());
  Value number = tiles.getInductionVar();
  Value place = placeIn(chunk, number);
  auto inside = scf::IfOp::create(
      builder, loc, builder.getI32Type(),
      emit.compare(CmpIPredicate::sge, place, places.begin), true);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(&inside.getThenRegion().front());
    Value isFull = emit.compare(CmpIPredicate::slt, place, places.fullEnd);
    scf::YieldOp::create(builder, loc,
                         emitClass(emitKeyAt(builder, loc, place,
                                             places.thresholds, places.shifts),
                                   isFull));
    builder.setInsertionPointToStart(&inside.getElseRegion().front());
    scf::YieldOp::create(builder, loc, emit.constant(Empty));
  }
  auto first = scf::IfOp::create(
      builder, loc, emit.compare(CmpIPredicate::eq, lane, emit.constant(0)));
  builder.setInsertionPointToStart(&first.getThenRegion().front());
  emit.store(inside.getResult(0), classAddress(number));
}

/// Warp 0 writes the tiles of a chunk that are not empty: partial ones behind
/// those that stand already, in falling order, full ones in front, in rising
/// order. All count them.
SmallVector<Value> ListBuilder::emitWrite(BlockListView &list, Value chunk,
                                          const KeyTileBuilder::Places &places,
                                          ValueRange counts) {
  Type i32 = builder.getI32Type();
  Value own = LLVM::LoadOp::create(builder, loc, i32, classAddress(lane));
  Value one = emit.constant(1);
  Value below = emit.sub(emit.create<arith::ShLIOp>(one, lane), one);
  Value place = placeIn(chunk, lane);
  Value key = emitKeyAt(builder, loc, place, places.thresholds, places.shifts);
  Value isWriter = emit.compare(CmpIPredicate::eq, warp, emit.constant(0));
  SmallVector<Value> sums;
  for (TileClass kind : {Full, Partial}) {
    Value count = counts[kind == Full ? 0 : 1];
    Value isKind = emit.compare(CmpIPredicate::eq, own, emit.constant(kind));
    Value votes = ballot(isKind);
    Value rank = math::CtPopOp::create(
        builder, loc, emit.create<arith::AndIOp>(votes, below));
    Value index = emit.add(count, rank);
    if (kind == Full)
      index = emit.sub(emit.sub(list.getTiles(), one), index);
    auto write = scf::IfOp::create(builder, loc, emit.both(isWriter, isKind));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&write.getThenRegion().front());
    emit.store(key, emit.address(list.getElements(), index));
    builder.setInsertionPointAfter(write);
    sums.push_back(emit.add(count, math::CtPopOp::create(builder, loc, votes)));
  }
  return sums;
}

/// The first `count` elements in rising order; the block met behind their last.
void ListBuilder::emitReverse(BlockListView &list, Value count) {
  Value half = emit.create<arith::DivUIOp>(count, emit.constant(2));
  auto pairs = scf::ForOp::create(builder, loc, thread, half,
                                  emit.constant(warps * lanes));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(pairs.getBody());
  Value left = pairs.getInductionVar();
  Value right = emit.sub(emit.sub(count, emit.constant(1)), left);
  Value elements = list.getElements();
  Value low = emit.address(elements, left),
        high = emit.address(elements, right);
  Value first = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), low);
  Value second = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), high);
  emit.store(second, low);
  emit.store(first, high);
}

void ListBuilder::emitList(BlockListView &list,
                           const KeyTileBuilder::Places &places) {
  Value zero = emit.constant(0);
  auto any = scf::IfOp::create(
      builder, loc, TypeRange{builder.getI32Type(), builder.getI32Type()},
      emit.compare(CmpIPredicate::slt, places.begin, places.end), true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&any.getElseRegion().front());
    scf::YieldOp::create(builder, loc, ValueRange{zero, zero});
    builder.setInsertionPointToStart(&any.getThenRegion().front());
    intervals->emitRows(builder);
    // From right to left, as the key loops go: so the tile with keys past the
    // end is the first one there as well.
    auto chunks = scf::ForOp::create(
        builder, loc, zero, emit.sub(places.end, places.begin),
        emit.constant(tilesAtOnce * tileKeys), ValueRange{zero, zero});
    emitReverse(list, chunks.getResult(1));
    scf::YieldOp::create(builder, loc, chunks.getResults());
    builder.setInsertionPointToStart(chunks.getBody());
    Value chunk = emit.sub(places.end, chunks.getInductionVar());
    emitClasses(places, chunk);
    gpu::BarrierOp::create(builder, loc);
    SmallVector<Value> sums =
        emitWrite(list, chunk, places, chunks.getRegionIterArgs());
    // The classes of the next chunk stand in the same memory.
    gpu::BarrierOp::create(builder, loc);
    scf::YieldOp::create(builder, loc, sums);
  }
  auto first = scf::IfOp::create(builder, loc,
                                 emit.compare(CmpIPredicate::eq, thread, zero));
  builder.setInsertionPointToStart(&first.getThenRegion().front());
  emit.store(any.getResult(0), list.addressOf(BlockListView::full));
  emit.store(any.getResult(1), list.addressOf(BlockListView::partial));
}

void ListBuilder::emitItem(Value item) {
  Value tiles = emit.ceilDiv(function.arguments["q_len"], tileRows);
  auto split = [&](Value size) {
    Value index = emit.create<arith::RemUIOp>(item, size);
    item = emit.create<arith::DivUIOp>(item, size);
    return index;
  };
  ir::BoundsOp bounds = kernel.getBounds();
  Value zero = emit.constant(0);
  Value group = emit.constant(kernel.getGroupSize());
  tile.mostRows = function.arguments["q_len"];
  tile.mostKeys = function.arguments["k_len"];
  tile.rows = tileRows;
  tile.m0 = emit.mul(split(tiles), emit.constant(tileRows));
  tile.h = tile.g = zero;
  if (isListedBy(bounds, ir::DimKind::Heads)) {
    tile.h = split(emit.constant(kernel.getHeads()));
    tile.g = emit.create<arith::DivUIOp>(tile.h, group);
  } else if (isListedBy(bounds, ir::DimKind::KvHeads)) {
    tile.g = split(emit.constant(kernel.getKvHeads()));
    tile.h = emit.mul(tile.g, group);
  }
  tile.b = isListedBy(bounds, ir::DimKind::Batch) ? item : zero;
  Sequence sequence = readSequence(builder, kernel, function, tile.b);
  tile.qLen = sequence.qLen;
  tile.kLen = sequence.kLen;
  inliner.emplace(kernel, function, sequence);
  tile.offset = kernel.getAlign() == ir::Align::BottomRight
                    ? emit.sub(tile.kLen, tile.qLen)
                    : zero;
  rowEnd = emit.create<arith::MinSIOp>(
      emit.add(tile.m0, emit.constant(tileRows)), tile.qLen);

  IRMapping invariants;
  ir::MaskOp mask = kernel.getMask();
  for (auto [name, value] : {std::pair<StringRef, Value>{"b", tile.b},
                             {"h", tile.h},
                             {"g", tile.g},
                             {"q_len", tile.qLen},
                             {"k_len", tile.kLen}})
    invariants.map(mask.getArgument(name), value);
  intervals.emplace(kernel, mask, *inliner, lane, invariants);
  Value lastRow = emit.sub(rowEnd, emit.constant(1));
  intervals->setArgument("i", {emit.widen(tile.m0), emit.widen(lastRow)});
  intervals->setArgument("q", {emit.widen(emit.add(tile.m0, tile.offset)),
                               emit.widen(emit.add(lastRow, tile.offset))});
  KeyTileBuilder::Places places =
      placeKeyTiles(builder, kernel, *inliner, tile, tileKeys);
  BlockListView list(builder, kernel, function.arguments["block_list"], tile,
                     tileKeys);
  emitList(list, places);
}

void ListBuilder::build() {
  createFunction();
  Type i32 = builder.getI32Type();
  auto toI32 = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, i32, index);
  };
  thread = toI32(gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  Value block = toI32(gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
  Value blocks = toI32(gpu::GridDimOp::create(builder, loc, gpu::Dimension::x));
  warp = emit.create<arith::DivUIOp>(thread, emit.constant(lanes));
  lane = emit.create<arith::RemUIOp>(thread, emit.constant(lanes));
  ir::BoundsOp bounds = kernel.getBounds();
  Value items = emit.ceilDiv(function.arguments["q_len"], tileRows);
  if (isListedBy(bounds, ir::DimKind::Heads))
    items = emit.mul(items, emit.constant(kernel.getHeads()));
  if (isListedBy(bounds, ir::DimKind::KvHeads))
    items = emit.mul(items, emit.constant(kernel.getKvHeads()));
  if (isListedBy(bounds, ir::DimKind::Batch))
    items = emit.mul(items, function.arguments["batch"]);
  auto loop = scf::ForOp::create(builder, loc, block, items, blocks);
  builder.setInsertionPointToStart(loop.getBody());
  emitItem(loop.getInductionVar());
}

void attn::buildBlockListKernel(OpBuilder &builder, ir::KernelOp kernel,
                                int64_t tileRows, int64_t tileKeys) {
  ListBuilder(builder, kernel, tileRows, tileKeys).build();
}
