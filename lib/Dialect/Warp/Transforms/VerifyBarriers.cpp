//===- VerifyBarriers.cpp - Checks of barriers, registers and fences ------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyAsync.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn::warp;

//===----------------------------------------------------------------------===//
// W5: mbarriers
//===----------------------------------------------------------------------===//

/// The barriers that an operation waits for, arrives at or signals.
static Value usedBarriers(Operation *op) {
  if (auto wait = dyn_cast<MbarWaitOp>(op))
    return wait.getBarriers();
  if (auto expect = dyn_cast<MbarExpectOp>(op))
    return expect.getBarriers();
  if (auto arrive = dyn_cast<MbarArriveOp>(op))
    return arrive.getBarriers();
  if (auto signal = dyn_cast<MbarSignalOp>(op))
    return signal.getBarriers();
  if (auto arrive = dyn_cast<CpAsyncArriveOp>(op))
    return arrive.getBarriers();
  if (auto load = dyn_cast<TmaLoadOp>(op))
    return load.getBarriers();
  return Value();
}

/// The one initialisation of `alloc`, or null with an error at `use`.
static MbarInitOp findInit(Operation *use, MbarAllocOp alloc) {
  MbarInitOp init;
  for (Operation *user : alloc.getResult().getUsers()) {
    auto other = dyn_cast<MbarInitOp>(user);
    if (other && init) {
      other.emitError() << "W5: expected one warp.mbar_init of these barriers, "
                           "found another";
      return nullptr;
    }
    if (other)
      init = other;
  }
  if (!init)
    use->emitError() << "W5: expected warp.mbar_init of these barriers before "
                        "their use";
  return init;
}

LogicalResult attn::warp::verifyBarriers(gpu::GPUFuncOp kernel) {
  DominanceInfo dominance(kernel);
  SmallVector<MbarPublishOp> published;
  kernel.walk([&](MbarPublishOp op) { published.push_back(op); });
  WalkResult result = kernel.walk([&](Operation *op) {
    Value barriers = usedBarriers(op);
    if (!barriers)
      return WalkResult::advance();
    auto alloc = barriers.getDefiningOp<MbarAllocOp>();
    if (!alloc) {
      op->emitError() << "W5: expected barriers of warp.mbar_alloc";
      return WalkResult::interrupt();
    }
    MbarInitOp init = findInit(op, alloc);
    if (!init)
      return WalkResult::interrupt();
    for (MbarPublishOp publish : published)
      if (dominance.properlyDominates(init.getOperation(), publish) &&
          dominance.properlyDominates(publish.getOperation(), op))
        return WalkResult::advance();
    op->emitError() << "W5: expected warp.mbar_publish between the "
                       "initialisation of these barriers and their use";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// W10: what a phase waits for
//===----------------------------------------------------------------------===//

/// Arrivals of one phase: one for each warp of the roles that arrive, and one
/// for the thread that expects bytes. Nothing when some arrive outside a role.
static std::optional<int64_t> countArrivals(MbarAllocOp alloc) {
  constexpr int64_t warpThreads = 32;
  llvm::SmallSetVector<RoleOp, 2> arriving, copying;
  int64_t arrivals = 0;
  for (Operation *user : alloc.getResult().getUsers()) {
    if (isa<MbarExpectOp, MbarSignalOp>(user))
      arrivals = 1;
    if (!isa<MbarArriveOp, CpAsyncArriveOp>(user))
      continue;
    auto role = user->getParentOfType<RoleOp>();
    if (!role)
      return std::nullopt;
    (isa<MbarArriveOp>(user) ? arriving : copying).insert(role);
  }
  for (RoleOp role : copying)
    arrivals += static_cast<int64_t>(role.getWarps()) * warpThreads;
  for (RoleOp role : arriving)
    arrivals += static_cast<int64_t>(role.getWarps());
  return arrivals;
}

static LogicalResult verifyArrivals(MbarInitOp init) {
  auto alloc = init.getBarriers().getDefiningOp<MbarAllocOp>();
  std::optional<int64_t> arrivals = alloc ? countArrivals(alloc) : std::nullopt;
  auto expected = static_cast<int64_t>(init.getArrivals());
  if (!arrivals || *arrivals == 0 || *arrivals == expected)
    return success();
  return init.emitError() << "W10: expected " << *arrivals
                          << " arrivals, as many as the roles and copies of "
                             "this kernel make, found "
                          << expected;
}

/// The copies behind an expectation, up to the next one, bring its bytes. Those
/// in another block are not followed.
static LogicalResult verifyBytes(MbarExpectOp expect) {
  int64_t bytes = 0;
  for (Operation *op = expect->getNextNode(); op; op = op->getNextNode()) {
    auto next = dyn_cast<MbarExpectOp>(op);
    if (next && next.getBarriers() == expect.getBarriers())
      break;
    auto load = dyn_cast<TmaLoadOp>(op);
    if (load && load.getBarriers() == expect.getBarriers())
      bytes += load.getBuffer().getType().getSlotBytes();
    else if (op->getNumRegions() != 0)
      return success();
  }
  auto expected = static_cast<int64_t>(expect.getBytes());
  if (bytes == expected)
    return success();
  return expect.emitError()
         << "W10: expected " << bytes
         << " bytes, what the copies behind bring, found " << expected;
}

LogicalResult attn::warp::verifyPhases(gpu::GPUFuncOp kernel) {
  WalkResult result = kernel.walk([](Operation *op) {
    auto init = dyn_cast<MbarInitOp>(op);
    auto expect = dyn_cast<MbarExpectOp>(op);
    bool good = (!init || succeeded(verifyArrivals(init))) &&
                (!expect || succeeded(verifyBytes(expect)));
    return good ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// W6: registers
//===----------------------------------------------------------------------===//

/// Registers of a thread at launch: what the assembler chooses when it knows
/// the block's threads and one block per SM.
static int64_t launchRegisters(int64_t threads) {
  constexpr int64_t blockRegisters = 65536, granularity = 8, most = 240;
  return std::min(most, blockRegisters / threads / granularity * granularity);
}

LogicalResult attn::warp::verifyRegisters(gpu::GPUFuncOp kernel) {
  constexpr int64_t warpThreads = 32;
  SmallVector<SetRegistersOp> changes;
  kernel.walk([&](SetRegistersOp op) { changes.push_back(op); });
  if (changes.empty())
    return success();
  std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
  if (!block)
    return kernel.emitError() << "W6: expected known_block_size on a kernel "
                                 "whose roles set their registers";
  int64_t threads = 1;
  for (int32_t size : *block)
    threads *= size;
  int64_t atLaunch = launchRegisters(threads);
  // Warps that set nothing keep what they have.
  int64_t used = atLaunch * threads;
  llvm::SmallPtrSet<Operation *, 4> seen;
  for (SetRegistersOp change : changes) {
    auto role = cast<RoleOp>(change->getParentOp());
    auto count = static_cast<int64_t>(change.getCount());
    if (!seen.insert(role).second)
      return change.emitError() << "W6: expected one warp.set_registers in a "
                                   "role, found another";
    if (change.getGrow() ? count < atLaunch : count > atLaunch)
      return change.emitError()
             << "W6: expected a count of at "
             << (change.getGrow() ? "least" : "most") << " the " << atLaunch
             << " that a thread has at launch, found " << count;
    used += (count - atLaunch) * static_cast<int64_t>(role.getWarps()) *
            warpThreads;
  }
  if (used <= atLaunch * threads)
    return success();
  return kernel.emitError()
         << "W6: the roles ask for " << used << " registers, a launch of "
         << threads << " threads has " << atLaunch << " each, "
         << atLaunch * threads << " in all: a role would wait for ever";
}

//===----------------------------------------------------------------------===//
// W7: named barriers
//===----------------------------------------------------------------------===//

namespace {
/// How a named barrier is used: by whom, for what, and by how many warps.
struct Purpose {
  Operation *role; ///< null: the block
  bool isTurn;
  int64_t first; ///< of the turns' barriers
  int64_t warps; ///< who meet; of turns, all that take them

  bool agreesWith(const Purpose &other) const {
    // The whole block meets before or after its roles do.
    if (!role != !other.role)
      return !isTurn && !other.isTurn;
    return role == other.role && isTurn == other.isTurn &&
           first == other.first && warps == other.warps;
  }
};
} // namespace

/// The purpose of the barriers that `op` uses, and how many they are.
static std::optional<std::pair<Purpose, int64_t>> purposeOf(Operation *op) {
  constexpr int64_t groupWarps = 4;
  Operation *role = op->getParentOfType<RoleOp>();
  auto turn = [&](int64_t groups, int64_t first) {
    return std::make_pair(Purpose{role, true, first, groups * groupWarps},
                          groups);
  };
  if (auto start = dyn_cast<TurnStartOp>(op))
    return turn(start.getGroups(), start.getBarrier());
  if (auto wait = dyn_cast<TurnWaitOp>(op))
    return turn(wait.getGroups(), wait.getBarrier());
  if (auto pass = dyn_cast<TurnPassOp>(op))
    return turn(pass.getGroups(), pass.getBarrier());
  auto meeting = [&](int64_t id, int64_t warps) {
    return std::make_pair(Purpose{role, false, id, warps}, int64_t(1));
  };
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return meeting(barrier.getId(), barrier.getWarps());
  if (auto publish = dyn_cast<MbarPublishOp>(op))
    return meeting(0, publish.getWarps());
  return std::nullopt;
}

LogicalResult attn::warp::verifyNamedBarriers(gpu::GPUFuncOp kernel) {
  llvm::DenseMap<int64_t, SmallVector<std::pair<Purpose, Operation *>>> users;
  WalkResult result = kernel.walk([&](Operation *op) {
    auto found = purposeOf(op);
    if (!found)
      return WalkResult::advance();
    auto [purpose, count] = *found;
    auto role = dyn_cast_or_null<RoleOp>(purpose.role);
    if (role && static_cast<int64_t>(role.getWarps()) != purpose.warps) {
      op->emitError() << "W7: expected the role's " << role.getWarps()
                      << " warps, found " << purpose.warps;
      return WalkResult::interrupt();
    }
    for (int64_t id = purpose.first; id < purpose.first + count; ++id) {
      for (auto &[other, user] : users[id])
        if (!purpose.agreesWith(other)) {
          InFlightDiagnostic diagnostic =
              op->emitError() << "W7: expected a barrier of its own, found "
                              << id << ", which is used otherwise";
          diagnostic.attachNote(user->getLoc()) << "here";
          return WalkResult::interrupt();
        }
      users[id].push_back({purpose, op});
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// W9: fences
//===----------------------------------------------------------------------===//

ByteRange attn::warp::rangeOf(Value buffer) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  if (!alloc || !alloc.getOffset())
    return {0, std::numeric_limits<int64_t>::max()};
  auto begin = static_cast<int64_t>(*alloc.getOffset());
  return {begin, begin + alloc.getType().getBytes()};
}

namespace {

/// Where products and tensor copies read.
void appendReads(Operation *op, SmallVectorImpl<ByteRange> &ranges) {
  if (auto store = dyn_cast<TmaStoreOp>(op))
    ranges.push_back(rangeOf(store.getBuffer()));
  auto product = dyn_cast<WgmmaOp>(op);
  if (!product)
    return;
  if (product.getASlot())
    ranges.push_back(rangeOf(product.getA()));
  ranges.push_back(rangeOf(product.getB()));
}

/// A store on its way to the asynchronous proxy, or the wait for copies that
/// count as such.
struct Store {
  Operation *op;
  ByteRange range;
  bool isOwn; ///< each thread fences for itself: no barrier need follow
  bool isFenced;
};

/// The bytes of a kernel that stores have to be fenced for.
struct AsyncBytes {
  SmallVector<ByteRange> touched; ///< by products or tensor copies
  SmallVector<ByteRange> copied;  ///< by cp.async, and read by products
};

/// The stores of one block, in order.
class StoreTracker {
public:
  explicit StoreTracker(const AsyncBytes &bytes) : bytes(bytes) {}

  LogicalResult visit(Operation &op) {
    if (auto store = dyn_cast<StoreSharedOp>(op))
      add(store);
    else if (isa<CpAsyncWaitOp>(op))
      addCopies(op, /*isOwn=*/false);
    else if (auto wait = dyn_cast<MbarWaitOp>(op); wait && waitsForCopies(wait))
      addCopies(op, /*isOwn=*/true);
    else if (isa<FenceAsyncOp>(op))
      fence();
    else if (isa<BarrierOp, SyncWarpOp, MbarArriveOp>(op))
      llvm::erase_if(stores, [](const Store &store) { return store.isFenced; });
    SmallVector<ByteRange> reads;
    appendReads(&op, reads);
    for (const ByteRange &read : reads)
      for (const Store &store : stores)
        if (store.range.overlaps(read))
          return report(store);
    return success();
  }

  LogicalResult finish() {
    return stores.empty() ? success() : report(stores.front());
  }

private:
  void add(StoreSharedOp store) {
    ByteRange range = rangeOf(store.getBuffer());
    if (llvm::any_of(bytes.touched, [&](const ByteRange &other) {
          return range.overlaps(other);
        }))
      stores.push_back({store, range, /*isOwn=*/false, /*isFenced=*/false});
  }

  void addCopies(Operation &wait, bool isOwn) {
    for (const ByteRange &range : bytes.copied)
      stores.push_back({&wait, range, isOwn, /*isFenced=*/false});
  }

  /// Whether the phase is one that cp.async arrive at.
  static bool waitsForCopies(MbarWaitOp wait) {
    return llvm::any_of(wait.getBarriers().getUsers(),
                        llvm::IsaPred<CpAsyncArriveOp>);
  }

  void fence() {
    for (Store &store : stores)
      store.isFenced = true;
    llvm::erase_if(stores, [](const Store &store) { return store.isOwn; });
  }

  static LogicalResult report(const Store &store) {
    return store.op->emitError()
           << "W9: expected "
           << (store.isFenced ? "a barrier, warp.sync_warp or warp.mbar_arrive "
                                "behind the warp.fence_async after this "
                              : "warp.fence_async after this ")
           << (isa<StoreSharedOp>(store.op) ? "store" : "wait for copies")
           << ": products or tensor copies touch the same bytes";
  }

  const AsyncBytes &bytes;
  SmallVector<Store> stores;
};

} // namespace

LogicalResult attn::warp::verifyFences(gpu::GPUFuncOp kernel) {
  AsyncBytes bytes;
  kernel.walk([&](WgmmaOp product) { appendReads(product, bytes.touched); });
  kernel.walk([&](CpAsyncOp copy) {
    ByteRange range = rangeOf(copy.getBuffer());
    if (llvm::any_of(bytes.touched, [&](const ByteRange &read) {
          return range.overlaps(read);
        }))
      bytes.copied.push_back(range);
  });
  // What leaves by tensor copies the role's own stores wrote, over what was
  // copied there before.
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<TmaLoadOp>(op))
      bytes.touched.push_back(rangeOf(load.getBuffer()));
    if (auto store = dyn_cast<TmaStoreOp>(op))
      bytes.touched.push_back(rangeOf(store.getBuffer()));
  });
  WalkResult result = kernel.walk([&](Block *block) {
    StoreTracker tracker(bytes);
    for (Operation &op : *block)
      if (failed(tracker.visit(op)))
        return WalkResult::interrupt();
    return failed(tracker.finish()) ? WalkResult::interrupt()
                                    : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
