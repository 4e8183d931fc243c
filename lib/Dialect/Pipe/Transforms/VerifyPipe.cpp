//===- VerifyPipe.cpp - Closes the pipe level -----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChannelTrace.h"
#include "SharedReads.h"
#include "TilePositions.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYPIPE
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::pipe;

namespace {

/// V1 .. V10 and V13 of the pass' description, for one role.
class RoleVerifier {
public:
  RoleVerifier(RoleOp role, Rounds rounds)
      : role(role), rounds(rounds), trace(role, rounds) {}

  LogicalResult run() {
    if (rounds == Rounds::Several && failed(verifyOps()))
      return failure();
    for (int64_t at = 0, end = trace.getEvents().size(); at < end; ++at)
      if (failed(verifyEvent(at)))
        return failure();
    return verifyTilePositions(role);
  }

private:
  LogicalResult verifyOps();
  /// Whether a choice is around an operation that all warps count on which not
  /// all of them make alike.
  static bool isConditional(Operation *op) {
    for (auto choice = op->getParentOfType<scf::IfOp>(); choice;
         choice = choice->getParentOfType<scf::IfOp>())
      if (!isUniform(choice.getCondition()))
        return true;
    return false;
  }
  /// Whether a scalar is the same for all warps: it does not say what a warp's
  /// rows hold.
  static bool isUniform(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<tile::ForKeysOp, tile::ForWorkOp>(op))
      return true;
    return !isa<tile::AnyOp>(op) && llvm::all_of(op->getOperands(), isUniform);
  }
  LogicalResult verifyReads(ReleaseOp release);
  LogicalResult verifyJoined(TakeOp take);
  LogicalResult verifyEvent(int64_t at);
  LogicalResult verifyTake(int64_t at);
  LogicalResult verifyPut(int64_t at);
  LogicalResult verifyMemoryFree(int64_t at);
  LogicalResult verifyDrained(int64_t at);

  InFlightDiagnostic emitChannelError(Operation *op, Value channel);
  int64_t before(int64_t at, ChannelEvent::Kind kind, int64_t tile) const {
    return trace.findBefore(at, kind, trace.getEvents()[at].channel, tile);
  }

  RoleOp role;
  Rounds rounds;
  ChannelTrace trace;
};

/// The channel whose memory `channel` lies in.
Value memoryOf(Value channel) {
  auto open = channel.getDefiningOp<OpenOp>();
  return open && open.getAlias() ? memoryOf(open.getAlias()) : channel;
}

InFlightDiagnostic RoleVerifier::emitChannelError(Operation *op,
                                                  Value channel) {
  auto open = channel.getDefiningOp<OpenOp>();
  InFlightDiagnostic diagnostic =
      op->emitError() << "channel '" << (open ? open.getName() : "?") << "': ";
  diagnostic.attachNote(channel.getLoc()) << "the channel is opened here";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// What holds of the text
//===----------------------------------------------------------------------===//

LogicalResult RoleVerifier::verifyOps() {
  llvm::SmallPtrSet<Operation *, 32> traced;
  for (const ChannelEvent &event : trace.getEvents())
    traced.insert(event.op);
  WalkResult result = role.walk([&](Operation *op) {
    LogicalResult verified = success();
    if (isa<tile::LoadOp>(op))
      verified = op->emitError() << "expected every load to go through a "
                                    "channel at the pipe level";
    else if (isa<PutOp, TakeOp, ReleaseOp, SyncOp, DrainOp, DrainedOp>(op) &&
             (!traced.contains(op) || isConditional(op)))
      verified = op->emitError() << "V9: expected '" << op->getName()
                                 << "' directly in the work loop of the role "
                                    "or in a key loop of it";
    else if (auto release = dyn_cast<ReleaseOp>(op))
      verified = verifyReads(release);
    else if (auto take = dyn_cast<TakeOp>(op); take && take.getJoined())
      verified = verifyJoined(take);
    return failed(verified) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// V5, for the takes of the same tile in the same block.
LogicalResult RoleVerifier::verifyReads(ReleaseOp release) {
  Block *block = release->getBlock();
  for (auto take : block->getOps<TakeOp>()) {
    if (take.getChannel() != release.getChannel() ||
        take.getOrdinal() != release.getOrdinal() ||
        !take->isBeforeInBlock(release))
      continue;
    for (Operation *user : take.getTile().getUsers())
      if (release->isBeforeInBlock(block->findAncestorOpInBlock(*user))) {
        InFlightDiagnostic diagnostic =
            emitChannelError(user, release.getChannel());
        diagnostic << "V5: read after its release";
        diagnostic.attachNote(release.getLoc()) << "released here";
        return diagnostic;
      }
  }
  return success();
}

/// V7
LogicalResult RoleVerifier::verifyJoined(TakeOp take) {
  Operation *next = take->getNextNode();
  while (next && isPure(next) && !readsSharedTile(next))
    next = next->getNextNode();
  if (isa_and_nonnull<TakeOp>(next))
    return success();
  return emitChannelError(take, take.getChannel())
         << "V7: expected another take to follow this joined one before a tile "
            "is read";
}

//===----------------------------------------------------------------------===//
// What holds of the order
//===----------------------------------------------------------------------===//

LogicalResult RoleVerifier::verifyEvent(int64_t at) {
  const ChannelEvent &event = trace.getEvents()[at];
  switch (event.kind) {
  case ChannelEvent::Take:
    return verifyTake(at);
  case ChannelEvent::Release:
    if (!isFed(event.channel) && before(at, ChannelEvent::Take, event.tile) < 0)
      return emitChannelError(event.op, event.channel)
             << "V3: released before it was taken";
    return success();
  case ChannelEvent::Put:
    if (isFed(event.channel))
      return success(); // verifyFlow
    return success(succeeded(verifyPut(at)) && succeeded(verifyMemoryFree(at)));
  case ChannelEvent::Drain:
    return success(succeeded(verifyMemoryFree(at)) &&
                   succeeded(verifyDrained(at)));
  case ChannelEvent::Drained:
  case ChannelEvent::Sync:
    return success();
  }
  llvm_unreachable("all events are handled");
}

/// V1 and V6
LogicalResult RoleVerifier::verifyTake(int64_t at) {
  ArrayRef<ChannelEvent> events = trace.getEvents();
  const ChannelEvent &event = events[at];
  if (isFed(event.channel))
    return success(); // verifyFlow
  int64_t put = before(at, ChannelEvent::Put, event.tile);
  if (put < 0)
    return emitChannelError(event.op, event.channel)
           << "V1: taken before it was put";
  if (!trace.happensWith(events[put], event))
    return emitChannelError(event.op, event.channel)
           << "V9: a choice is around its put that is not around this take";
  if (isSignalled(event.channel))
    return success(); // waits for its tile alone
  // The take that waits for a joined one follows it (V7).
  int64_t waits = at;
  while (cast<TakeOp>(events[waits].op).getJoined())
    ++waits;
  auto pending = static_cast<int64_t>(
      cast<TakeOp>(events[waits].op).getPending().value_or(0));
  int64_t later = trace.countGroups(put, waits);
  if (pending <= later)
    return success();
  return emitChannelError(event.op, event.channel)
         << "V6: waits with " << pending << " pending, but only " << later
         << " puts follow its own";
}

/// V2 inside a work item, and V4
LogicalResult RoleVerifier::verifyPut(int64_t at) {
  const ChannelEvent &event = trace.getEvents()[at];
  int64_t depth = cast<ChannelType>(event.channel.getType()).getDepth();
  if (before(at, ChannelEvent::Put, event.tile) >= 0)
    return emitChannelError(event.op, event.channel) << "V4: put twice";
  if (ChannelTrace::isFirstTiles(event.tile, depth))
    return success();
  int64_t release = before(at, ChannelEvent::Release, event.tile - depth);
  if (release < 0)
    return emitChannelError(event.op, event.channel)
           << "V2: put into a slot that is still in use (depth " << depth
           << ")";
  if (trace.countSyncs(release, at) == 0)
    return emitChannelError(event.op, event.channel)
           << "V2: put while another warp may still read the slot";
  return success();
}

/// V2 between work items and V8: whoever took a tile from this memory before,
/// for an earlier item or through another channel, is done with it.
LogicalResult RoleVerifier::verifyMemoryFree(int64_t at) {
  ArrayRef<ChannelEvent> events = trace.getEvents();
  const ChannelEvent &event = events[at];
  for (int64_t earlier = 0; earlier < at; ++earlier) {
    const ChannelEvent &take = events[earlier];
    if (take.kind != ChannelEvent::Take ||
        memoryOf(take.channel) != memoryOf(event.channel))
      continue;
    bool isAlias = take.channel != event.channel;
    // A slot that another role fills is this role's until its release.
    if (isAlias && isFed(take.channel))
      continue;
    if (!isAlias &&
        ChannelTrace::itemOf(take.tile) == ChannelTrace::itemOf(event.tile))
      continue;
    StringRef label = isAlias ? "V8" : "V2";
    int64_t release = trace.findAfter(earlier, ChannelEvent::Release,
                                      take.channel, take.tile);
    if (release < 0 || release > at) {
      InFlightDiagnostic diagnostic = emitChannelError(event.op, event.channel);
      diagnostic << label << ": its memory is still in use";
      diagnostic.attachNote(take.op->getLoc())
          << "by the tile taken here, which was not released";
      return diagnostic;
    }
    if (trace.countSyncs(release, at) == 0)
      return emitChannelError(event.op, event.channel)
             << label << ": put while another warp may still read the slot";
  }
  return success();
}

/// V13
LogicalResult RoleVerifier::verifyDrained(int64_t at) {
  ArrayRef<ChannelEvent> events = trace.getEvents();
  const ChannelEvent &drain = events[at];
  if (!drainMapOf(drain.channel))
    return success();
  for (const ChannelEvent &later : events.drop_front(at + 1)) {
    if (later.kind == ChannelEvent::Drained && later.channel == drain.channel &&
        trace.happensWith(later, drain))
      return success();
    bool writes =
        later.kind == ChannelEvent::Put || later.kind == ChannelEvent::Drain;
    if (!writes || memoryOf(later.channel) != memoryOf(drain.channel))
      continue;
    InFlightDiagnostic diagnostic = emitChannelError(drain.op, drain.channel);
    diagnostic << "V13: expected pipe.drained before its memory is written";
    diagnostic.attachNote(later.op->getLoc()) << "written here";
    return diagnostic;
  }
  return emitChannelError(drain.op, drain.channel)
         << "V13: expected pipe.drained before the role ends";
}

/// What is left of a role's run while all roles run together.
struct Runner {
  ChannelTrace trace;
  size_t at = 0;

  explicit Runner(RoleOp role) : trace(role) {}
  const ChannelEvent *next() {
    ArrayRef<ChannelEvent> events = trace.getEvents();
    while (at < events.size() &&
           (!events[at].channel || !isFed(events[at].channel)))
      ++at;
    return at < events.size() ? &events[at] : nullptr;
  }
};

/// V11 and V12, for all roles of a kernel: runs their traces against each other
/// with the depth of each channel.
class FlowVerifier {
public:
  explicit FlowVerifier(gpu::GPUFuncOp func) {
    for (RoleOp role : func.getBody().front().getOps<RoleOp>())
      runners.emplace_back(role);
  }

  LogicalResult run() {
    while (advanceAny())
      ;
    for (Runner &runner : runners)
      if (const ChannelEvent *event = runner.next())
        return emitBlocked(*event);
    for (auto &[channel, state] : states)
      if (state.released != state.filled || state.taken != state.filled)
        return emitError(channel.getLoc())
               << "V11: expected as many takes and releases as puts, found "
               << state.filled << " puts, " << state.taken << " takes and "
               << state.released << " releases";
    return success();
  }

private:
  struct State {
    int64_t filled = 0, taken = 0, released = 0;
  };

  bool advanceAny() {
    bool any = false;
    for (Runner &runner : runners)
      while (const ChannelEvent *event = runner.next()) {
        if (!advance(*event))
          break;
        ++runner.at;
        any = true;
      }
    return any;
  }

  bool advance(const ChannelEvent &event) {
    State &state = states[event.channel];
    int64_t depth = cast<ChannelType>(event.channel.getType()).getDepth();
    switch (event.kind) {
    case ChannelEvent::Put:
      return state.filled - state.released < depth && ++state.filled;
    case ChannelEvent::Take:
      return state.taken < state.filled && ++state.taken;
    case ChannelEvent::Release:
      return state.released < state.taken && ++state.released;
    case ChannelEvent::Drain:
    case ChannelEvent::Drained:
    case ChannelEvent::Sync:
      return true;
    }
    llvm_unreachable("all events are handled");
  }

  LogicalResult emitBlocked(const ChannelEvent &event) {
    InFlightDiagnostic diagnostic =
        event.op->emitError()
        << "V12: expected the roles to pass every tile on, found all that are "
           "left waiting for each other";
    for (Runner &runner : runners)
      if (const ChannelEvent *other = runner.next();
          other && other->op != event.op)
        diagnostic.attachNote(other->op->getLoc()) << "another role waits here";
    return diagnostic;
  }

  std::vector<Runner> runners;
  llvm::MapVector<Value, State> states;
};

struct VerifyPipe : attn::impl::VerifyPipeBase<VerifyPipe> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](gpu::GPUFuncOp func) {
      if (func->hasAttr(attn::ir::blockListAttrName))
        return WalkResult::advance();
      if (func.getBody().front().getOps<RoleOp>().empty()) {
        func.emitError() << "expected a role in kernel '" << func.getName()
                         << "' at the pipe level";
        return WalkResult::interrupt();
      }
      for (RoleOp role : func.getBody().front().getOps<RoleOp>())
        for (Rounds rounds : {Rounds::Several, Rounds::None})
          if (failed(RoleVerifier(role, rounds).run()))
            return WalkResult::interrupt();
      return failed(FlowVerifier(func).run()) ? WalkResult::interrupt()
                                              : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
