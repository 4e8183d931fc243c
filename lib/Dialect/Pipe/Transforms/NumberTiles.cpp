//===- NumberTiles.cpp - Which tile of a channel a put or take means ------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedReads.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace attn {
#define GEN_PASS_DEF_NUMBERTILES
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Threads a cursor of one channel through one role: the number of its tiles
/// that the role has put, or taken.
class CursorThreader {
public:
  enum Side { Puts, Takes };
  CursorThreader(Value channel, Side side)
      : channel(channel), side(side), rewriter(channel.getContext()) {}

  /// The cursor behind `block`, which it enters as `cursor`.
  Value run(Block &block, Value cursor) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto put = dyn_cast<pipe::PutOp>(op); put && isOfSide(&op)) {
        put.getOrdinalMutable().assign(cursor);
        cursor = put.getWhen() ? nextWhen(&op, cursor, put.getWhen())
                               : next(&op, cursor);
      } else if (auto take = dyn_cast<pipe::TakeOp>(op);
                 take && isOfSide(&op)) {
        taken.push_back(cursor);
        take.getOrdinalMutable().assign(cursor);
        cursor = next(&op, cursor);
      } else if (auto release = dyn_cast<pipe::ReleaseOp>(op);
                 release && isOfSide(&op)) {
        // Tiles are released in the order in which they are taken; the last
        // one before this place is meant.
        release.getOrdinalMutable().assign(taken.empty() ? minusOne(&op, cursor)
                                                         : taken.back());
      } else if (usesChannel(op)) {
        cursor = enter(op, cursor);
      }
    }
    return cursor;
  }

private:
  bool isOfSide(Operation *op) {
    bool isSide = side == Puts ? isa<pipe::PutOp>(op)
                               : isa<pipe::TakeOp, pipe::ReleaseOp>(op);
    return isSide && llvm::is_contained(op->getOperands(), channel);
  }
  bool usesChannel(Operation &op) {
    return op
        .walk([&](Operation *inner) {
          return isOfSide(inner) ? WalkResult::interrupt()
                                 : WalkResult::advance();
        })
        .wasInterrupted();
  }

  Value offset(Operation *at, Value cursor, int64_t by) {
    Location loc = at->getLoc();
    Value step =
        arith::ConstantIntOp::create(rewriter, loc, rewriter.getI32Type(), by);
    return arith::AddIOp::create(rewriter, loc, cursor, step);
  }
  Value next(Operation *at, Value cursor) {
    rewriter.setInsertionPointAfter(at);
    return offset(at, cursor, 1);
  }
  /// A put that is switched off fills no slot.
  Value nextWhen(Operation *at, Value cursor, Value when) {
    rewriter.setInsertionPointAfter(at);
    Value one = arith::ExtUIOp::create(rewriter, at->getLoc(),
                                       rewriter.getI32Type(), when);
    return arith::AddIOp::create(rewriter, at->getLoc(), cursor, one);
  }
  Value minusOne(Operation *at, Value cursor) {
    rewriter.setInsertionPoint(at);
    return offset(at, cursor, -1);
  }

  /// Values of an inner block do not reach its surroundings.
  Value runInside(Block &block, Value cursor) {
    SmallVector<Value> outside;
    std::swap(outside, taken);
    Value result = run(block, cursor);
    taken.clear();
    return result;
  }

  /// Makes a loop or a choice carry the cursor.
  Value enter(Operation &op, Value cursor) {
    rewriter.setInsertionPoint(&op);
    if (auto work = dyn_cast<tile::ForWorkOp>(op))
      return enterLoop(work, cursor, [&](ValueRange inits, TypeRange types) {
        return tile::ForWorkOp::create(
            rewriter, work.getLoc(), types, work.getBatch(), work.getHeads(),
            work.getRows(), work.getStep(), work.getStarts(),
            work.getTogether(), work.getClaim(), work.getMail(), inits);
      });
    if (auto keys = dyn_cast<tile::ForKeysOp>(op))
      return enterLoop(keys, cursor, [&](ValueRange inits, TypeRange types) {
        return tile::ForKeysOp::create(
            rewriter, keys.getLoc(), types, keys.getKind(), keys.getBegin(),
            keys.getEnd(), keys.getFullEnd(), keys.getStep(), inits);
      });
    auto choice = cast<scf::IfOp>(op);
    SmallVector<Type> types(choice.getResultTypes());
    types.push_back(cursor.getType());
    auto wider = scf::IfOp::create(rewriter, op.getLoc(), types,
                                   choice.getCondition(), /*addThenBlock=*/true,
                                   /*addElseBlock=*/true);
    auto fill = [&](Region &from, Block *to) {
      Value after = cursor;
      SmallVector<Value> values;
      if (!from.empty()) {
        Operation *yield = from.front().getTerminator();
        after = runInside(from.front(), cursor);
        llvm::append_range(values, yield->getOperands());
        yield->erase();
        to->getOperations().splice(to->begin(), from.front().getOperations());
      }
      values.push_back(after);
      rewriter.setInsertionPointToEnd(to);
      scf::YieldOp::create(rewriter, op.getLoc(), values);
    };
    fill(choice.getThenRegion(), wider.thenBlock());
    fill(choice.getElseRegion(), wider.elseBlock());
    rewriter.replaceOp(choice, wider.getResults().drop_back());
    return wider.getResults().back();
  }

  template <typename Loop, typename Create>
  Value enterLoop(Loop loop, Value cursor, Create create) {
    SmallVector<Value> inits(loop.getInits());
    inits.push_back(cursor);
    SmallVector<Type> types(loop.getResultTypes());
    types.push_back(cursor.getType());
    auto wider = create(inits, types);
    wider.getBody().takeBody(loop.getBody());
    Block &body = wider.getBody().front();
    Value argument = body.addArgument(cursor.getType(), loop.getLoc());
    Value after = runInside(body, argument);
    auto yield = cast<tile::YieldOp>(body.getTerminator());
    yield.getValuesMutable().append(after);
    rewriter.replaceOp(loop, wider.getResults().drop_back());
    return wider.getResults().back();
  }

  Value channel;
  Side side;
  IRRewriter rewriter;
  /// Ordinals of the tiles taken so far in this block.
  SmallVector<Value> taken;
};

using ChannelSet = llvm::SmallSetVector<Value, 4>;

/// The fed channels that a role puts into or takes from. One cursor counts one
/// side of a channel.
template <typename Op> ChannelSet channelsOf(pipe::RoleOp role) {
  ChannelSet channels;
  role.walk([&](Op op) {
    if (pipe::isSignalled(op.getChannel()))
      channels.insert(op.getChannel());
  });
  return channels;
}

LogicalResult number(pipe::RoleOp role) {
  ChannelSet filled = channelsOf<pipe::PutOp>(role);
  ChannelSet taken = channelsOf<pipe::TakeOp>(role);
  for (Value channel : taken)
    if (pipe::isFed(channel) && filled.contains(channel)) {
      auto open = channel.getDefiningOp<pipe::OpenOp>();
      return role.emitError()
             << "role '" << role.getName()
             << "' puts into and takes from channel '"
             << (open ? open.getName() : "?")
             << "'; expected a fed channel to be filled by another role "
                "(attn-partition-roles)";
    }
  Block &body = role.getBody().front();
  auto thread = [&](Value channel, CursorThreader::Side side) {
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    Value zero = arith::ConstantIntOp::create(builder, role.getLoc(),
                                              builder.getI32Type(), 0);
    CursorThreader(channel, side).run(body, zero);
  };
  for (Value channel : filled)
    thread(channel, CursorThreader::Puts);
  for (Value channel : taken)
    thread(channel, CursorThreader::Takes);
  return success();
}

struct NumberTiles : attn::impl::NumberTilesBase<NumberTiles> {
  void runOnOperation() override {
    SmallVector<pipe::RoleOp> roles;
    getOperation()->walk([&](pipe::RoleOp role) { roles.push_back(role); });
    for (pipe::RoleOp role : roles)
      if (failed(number(role)))
        return signalPassFailure();
  }
};

} // namespace
