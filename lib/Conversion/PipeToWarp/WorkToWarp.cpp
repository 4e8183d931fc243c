//===- WorkToWarp.cpp - Which block does which work item ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PipeToWarp.h"
#include "attn/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

namespace {

/// The loop over the work items of a block, and what an item is.
class WorkLoop {
public:
  WorkLoop(tile::ForWorkOp work, ValueRange mail,
           ConversionPatternRewriter &builder)
      : work(work), mail(mail), builder(builder), loc(work.getLoc()) {
    if (work.getStarts()) {
      tiles = firstTile(work.getBatch(), work.getRows());
      allHeads = work.getHeads();
    } else {
      Value rounded = add(work.getRows(), constant(work.getStep() - 1));
      tiles = div(rounded, constant(work.getStep()));
      allHeads = mul(work.getHeads(), work.getBatch());
    }
    total = mul(tiles, allHeads);
    block = hardware(gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
    grid = hardware(gpu::GridDimOp::create(builder, loc, gpu::Dimension::x));
  }

  /// Makes the loop; returns the arguments of an item's body, for which the
  /// builder then stands: batch entry, head, first row and what is carried.
  SmallVector<Value> begin() {
    return work.getClaim() ? beginClaimed() : beginStrided();
  }

  /// Ends the body, which carries `values` on; returns the loop's results.
  SmallVector<Value> end(ValueRange values) {
    return work.getClaim() ? endClaimed(values) : endStrided(values);
  }

private:
  //===--- Arithmetic -----------------------------------------------------===//

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(),
                                        value);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return arith::MulIOp::create(builder, loc, a, b);
  }
  Value div(Value a, Value b) {
    return arith::DivUIOp::create(builder, loc, a, b);
  }
  Value rem(Value a, Value b) {
    return arith::RemUIOp::create(builder, loc, a, b);
  }
  Value hardware(Value index) {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      index);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }

  //===--- Every n-th item ------------------------------------------------===//

  SmallVector<Value> beginStrided() {
    strided =
        scf::ForOp::create(builder, loc, block, total, grid, work.getInits());
    Block *body = strided.getBody();
    // A loop without carried values was given its terminator already.
    if (!body->empty())
      builder.eraseOp(&body->back());
    builder.setInsertionPointToStart(body);
    SmallVector<Value> arguments = position(strided.getInductionVar());
    llvm::append_range(arguments, strided.getRegionIterArgs());
    return arguments;
  }

  SmallVector<Value> endStrided(ValueRange values) {
    scf::YieldOp::create(builder, loc, values);
    return llvm::to_vector_of<Value>(strided.getResults());
  }

  //===--- The next item --------------------------------------------------===//

  /// The role that loads claims the items: it is one thread,
  bool isSender() { return bool(work->getParentOfType<warp::SingleOp>()); }
  /// or one of its threads tells the others too. Its warps are the first.
  bool hasSender() {
    auto role = work->getParentOfType<warp::RoleOp>();
    return !isSender() && role && role.getFirst() == 0;
  }

  /// One more of element `index` of the counter; what it was before.
  Value count(int64_t index) {
    Value one = constant(1);
    return LLVM::AtomicRMWOp::create(
        builder, loc, LLVM::AtomicBinOp::add, element(index), one,
        LLVM::AtomicOrdering::monotonic, deviceScope);
  }
  void fence(LLVM::AtomicOrdering ordering) {
    LLVM::FenceOp::create(builder, loc, ordering, deviceScope);
  }
  static constexpr StringLiteral deviceScope = "device";
  Value element(int64_t index) {
    return LLVM::GEPOp::create(builder, loc, work.getClaim().getType(),
                               builder.getI32Type(), work.getClaim(),
                               LLVM::GEPArg(static_cast<int32_t>(index)));
  }

  /// while (batch entry < batch) { ... }; carries the item's position, how many
  /// mails came before and the loop's own values. The sender finds out where an
  /// item is: that takes several divisions, one after the other, which would
  /// stand before the first product of each item.
  SmallVector<Value> beginClaimed() {
    SmallVector<Value> inits = position(block);
    inits[0] = orDone(block, inits[0]);
    inits.push_back(constant(0));
    llvm::append_range(inits, work.getInits());
    SmallVector<Type> types(ValueRange(inits).getTypes());
    SmallVector<Location> locs(types.size(), loc);
    claimed = scf::WhileOp::create(builder, loc, types, inits);
    Block *before = builder.createBlock(&claimed.getBefore(), {}, types, locs);
    Value more = compare(arith::CmpIPredicate::slt, before->getArgument(0),
                         work.getBatch());
    scf::ConditionOp::create(builder, loc, more, before->getArguments());
    Block *after = builder.createBlock(&claimed.getAfter(), {}, types, locs);
    mails = after->getArgument(coordinates);
    // Early, since it takes its time.
    if (isSender())
      next = claim();
    SmallVector<Value> arguments(after->getArguments());
    arguments.erase(arguments.begin() + coordinates);
    return arguments;
  }

  /// The batch entry of an item; past the last item, one that does not exist.
  Value orDone(Value item, Value batch) {
    Value exists = compare(arith::CmpIPredicate::ult, item, total);
    return arith::SelectOp::create(builder, loc, exists, batch,
                                   work.getBatch());
  }

  SmallVector<Value> endClaimed(ValueRange values) {
    Value parity = arith::AndIOp::create(builder, loc, mails, constant(1));
    SmallVector<Value> yielded;
    if (isSender()) {
      yielded = send(parity);
    } else {
      if (hasSender())
        alone([&] {
          next = claim();
          send(parity);
        });
      yielded = receive(parity);
    }
    yielded.push_back(add(mails, constant(1)));
    llvm::append_range(yielded, values);
    scf::YieldOp::create(builder, loc, yielded);
    builder.setInsertionPointAfter(claimed);
    if (isSender())
      resetCounter();
    else if (hasSender())
      alone([&] { resetCounter(); });
    return llvm::to_vector_of<Value>(
        claimed.getResults().drop_front(coordinates + 1));
  }

  Value claim() { return add(count(0), grid); }

  /// One thread of the role runs what `emit` makes.
  void alone(function_ref<void()> emit) {
    OpBuilder::InsertionGuard guard(builder);
    auto single = warp::SingleOp::create(builder, loc);
    builder.createBlock(&single.getBody());
    emit();
  }

  /// Tells all where the next item is, once they have read where this one is.
  SmallVector<Value> send(Value parity) {
    SmallVector<Value> values = position(next);
    values[0] = orDone(next, values[0]);
    Value zero = constant(0);
    Value before = arith::XOrIOp::create(builder, loc, parity, constant(1));
    warp::MbarWaitOp::create(builder, loc, mail[2], zero, before);
    for (auto [index, value] : llvm::enumerate(values))
      LLVM::StoreOp::create(builder, loc, value, inMail(index),
                            /*alignment=*/4, /*isVolatile=*/true);
    warp::MbarSignalOp::create(builder, loc, mail[1], zero);
    return values;
  }

  SmallVector<Value> receive(Value parity) {
    Value zero = constant(0);
    warp::MbarWaitOp::create(builder, loc, mail[1], zero, parity);
    SmallVector<Value> values;
    for (int64_t index = 0; index < coordinates; ++index)
      values.push_back(LLVM::LoadOp::create(
          builder, loc, builder.getI32Type(), inMail(index),
          /*alignment=*/4, /*isVolatile=*/true));
    warp::SyncWarpOp::create(builder, loc);
    warp::MbarArriveOp::create(builder, loc, mail[2], zero);
    return values;
  }

  Value inMail(int64_t index) {
    return LLVM::GEPOp::create(builder, loc, mail[0].getType(),
                               builder.getI32Type(), mail[0],
                               LLVM::GEPArg(static_cast<int32_t>(index)));
  }

  /// The last block to be done leaves the counter as it found it.
  /// LLVM's back end drops the ordering of an atomicrmw, so the fences that
  /// let that block hear from the others stand beside it.
  void resetCounter() {
    fence(LLVM::AtomicOrdering::release);
    Value done = count(1);
    Value isLast =
        compare(arith::CmpIPredicate::eq, done, sub(grid, constant(1)));
    auto last = scf::IfOp::create(builder, loc, isLast);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(last.thenYield());
    fence(LLVM::AtomicOrdering::acquire);
    for (int64_t index : {0, 1})
      LLVM::StoreOp::create(builder, loc, constant(0), element(index));
  }

  //===--- What an item is ------------------------------------------------===//

  /// Batch entry, head and first row.
  SmallVector<Value> position(Value item) {
    auto [batch, head, tile] =
        work.getTogether() ? placeInSection(item) : placeInHead(item);
    Value step = constant(work.getStep());
    if (!work.getStarts())
      return {batch, head, mul(tile, step)};
    Value sequence = sequenceOf(tile);
    Value first = firstTile(sequence, startOf(sequence));
    return {sequence, head, mul(sub(tile, first), step)};
  }
  static constexpr int64_t coordinates = 3;

  /// Of a packed sequence that begins at row `start`.
  Value firstTile(Value sequence, Value start) {
    return add(div(start, constant(work.getStep())), sequence);
  }
  Value startOf(Value sequence) {
    Value address =
        LLVM::GEPOp::create(builder, loc, work.getStarts().getType(),
                            builder.getI32Type(), work.getStarts(), sequence);
    return LLVM::LoadOp::create(builder, loc, builder.getI32Type(), address,
                                /*alignment=*/4, /*isVolatile=*/false,
                                /*isNonTemporal=*/false, /*isInvariant=*/true);
  }

  /// The last sequence whose first tile is not behind `tile`, by bisection.
  Value sequenceOf(Value tile) {
    Type i32 = builder.getI32Type();
    auto bisect =
        scf::WhileOp::create(builder, loc, TypeRange{i32, i32},
                             ValueRange{constant(0), work.getBatch()});
    OpBuilder::InsertionGuard guard(builder);
    Block *before =
        builder.createBlock(&bisect.getBefore(), {}, {i32, i32}, {loc, loc});
    Value next = add(before->getArgument(0), constant(1));
    scf::ConditionOp::create(
        builder, loc,
        compare(arith::CmpIPredicate::slt, next, before->getArgument(1)),
        before->getArguments());
    Block *after =
        builder.createBlock(&bisect.getAfter(), {}, {i32, i32}, {loc, loc});
    Value low = after->getArgument(0), high = after->getArgument(1);
    Value middle = div(add(low, high), constant(2));
    Value isBehind = compare(arith::CmpIPredicate::sgt,
                             firstTile(middle, startOf(middle)), tile);
    scf::YieldOp::create(
        builder, loc,
        ValueRange{
            arith::SelectOp::create(builder, loc, isBehind, low, middle),
            arith::SelectOp::create(builder, loc, isBehind, middle, high)});
    return bisect.getResult(0);
  }

  /// Packed sequences are one batch entry, and their tiles those of one.
  struct Place {
    Value batch, head, tile;
  };

  /// Items are numbered with the row tile fastest and descending: blocks that
  /// run together share keys and values, and the longest items of a head come
  /// first. Divisions by the same number are cheap, registers are not.
  Place placeInHead(Value item) {
    Value perBatch = mul(tiles, work.getHeads());
    Value head = rem(div(item, tiles), work.getHeads());
    Value tile = sub(sub(tiles, constant(1)), rem(item, tiles));
    return {div(item, perBatch), head, tile};
  }

  /// Sections of `together` heads; in one, the last tile of every head, then
  /// the one before, and so on. The last section may be smaller.
  Place placeInSection(Value item) {
    Value together = work.getTogether();
    Value perSection = mul(tiles, together);
    Value section = div(item, perSection);
    Value firstHead = mul(section, together);
    Value inSection = sub(item, mul(section, perSection));
    Value count = arith::MinSIOp::create(builder, loc, together,
                                         sub(allHeads, firstHead));
    // Past the last item there is no section.
    count = arith::MaxSIOp::create(builder, loc, count, constant(1));
    Value fromLast = div(inSection, count);
    Value head = add(firstHead, sub(inSection, mul(fromLast, count)));
    Value batch = div(head, work.getHeads());
    return {batch, sub(head, mul(batch, work.getHeads())),
            sub(sub(tiles, constant(1)), fromLast)};
  }

  tile::ForWorkOp work;
  ValueRange mail;
  ConversionPatternRewriter &builder;
  Location loc;
  /// Tiles of a head; the sequences of a packed batch are one behind the other.
  Value tiles;
  Value allHeads, total, block, grid;
  scf::ForOp strided;
  scf::WhileOp claimed;
  /// Of the iteration at hand.
  Value mails, next;
};

struct ForWorkPattern : WarpPattern<tile::ForWorkOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(tile::ForWorkOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getClaim() && !op.getMail())
      return op.emitError() << "expected a second role to pass claimed items "
                               "to (attn-partition-roles)";
    Operation *yield = op.getBody().front().getTerminator();
    SmallVector<Value> values(yield->getOperands());
    rewriter.eraseOp(yield);
    WorkLoop work(op, op.getMail() ? adaptor.getMail() : ValueRange(),
                  rewriter);
    SmallVector<Value> arguments = work.begin();
    Block *body = rewriter.getInsertionBlock();
    rewriter.inlineBlockBefore(&op.getBody().front(), body,
                               rewriter.getInsertionPoint(), arguments);
    rewriter.setInsertionPointToEnd(body);
    // What the body carries on are its own values, or its arguments.
    for (Value &value : values)
      value = rewriter.getRemappedValue(value);
    rewriter.replaceOp(op, work.end(values));
    return success();
  }
};

} // namespace

void attn::populateWorkToWarp(RewritePatternSet &patterns,
                              const WarpTypeConverter &converter) {
  patterns.add<ForWorkPattern>(converter, patterns.getContext());
}
