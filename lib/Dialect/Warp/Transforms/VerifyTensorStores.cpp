//===- VerifyTensorStores.cpp - Checks of copies out of shared memory -----===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyAsync.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace attn::warp;

namespace {

/// Copies that may still read shared memory: of the warp that started them, or
/// as far as other threads know.
struct Reading {
  TmaStoreOp store;
  bool isWaitedFor; ///< by the warp; the other lanes have not heard of it

  bool operator==(const Reading &other) const {
    return store == other.store && isWaitedFor == other.isWaitedFor;
  }
};

/// Goes through a kernel as a warp does: loops twice, both arms of a choice.
class ReadingTracker {
public:
  LogicalResult visit(Block &block) {
    for (Operation &op : block)
      if (failed(visit(op)))
        return failure();
    return success();
  }

  /// Where a role, or a kernel without roles, ends.
  LogicalResult finish() {
    for (Reading &reading : readings)
      if (!reading.isWaitedFor)
        return reading.store.emitError()
               << "W11: expected warp.tma_store_wait between this copy and the "
                  "end: it may still read shared memory";
    readings.clear();
    return success();
  }

private:
  LogicalResult visit(Operation &op) {
    if (auto store = dyn_cast<TmaStoreOp>(op)) {
      add({store, /*isWaitedFor=*/false});
      return success();
    }
    if (isa<TmaStoreWaitOp>(op))
      for (Reading &reading : readings)
        reading.isWaitedFor = true;
    if (isa<BarrierOp, SyncWarpOp>(op))
      llvm::erase_if(
          readings, [](const Reading &reading) { return reading.isWaitedFor; });
    if (Value written = writtenBuffer(op))
      for (Reading &reading : readings)
        if (rangeOf(written).overlaps(rangeOf(reading.store.getBuffer())))
          return report(op, reading);
    return visitRegions(op);
  }

  LogicalResult visitRegions(Operation &op) {
    bool isRole = isa<RoleOp>(op);
    if (isRole && failed(finish()))
      return failure();
    bool isLoop = isa<LoopLikeOpInterface>(op);
    SmallVector<Reading> before = readings, after;
    // It may not run at all.
    if (isLoop)
      after = before;
    for (int round = 0; round < (isLoop ? 2 : 1); ++round)
      for (Region &region : op.getRegions()) {
        // The regions of a loop follow each other.
        if (!isLoop)
          readings = before;
        for (Block &block : region)
          if (failed(visit(block)))
            return failure();
        after.append(readings);
      }
    if (op.getNumRegions() != 0)
      readings.clear();
    for (const Reading &reading : after)
      add(reading);
    return isRole ? finish() : success();
  }

  void add(const Reading &reading) {
    if (!llvm::is_contained(readings, reading))
      readings.push_back(reading);
  }

  static Value writtenBuffer(Operation &op) {
    if (auto store = dyn_cast<StoreSharedOp>(op))
      return store.getBuffer();
    if (auto copy = dyn_cast<CpAsyncOp>(op))
      return copy.getBuffer();
    if (auto load = dyn_cast<TmaLoadOp>(op))
      return load.getBuffer();
    return Value();
  }

  static LogicalResult report(Operation &op, Reading &reading) {
    InFlightDiagnostic diagnostic =
        op.emitError() << "W11: expected "
                       << (reading.isWaitedFor
                               ? "warp.sync_warp or a barrier behind the "
                                 "warp.tma_store_wait"
                               : "warp.tma_store_wait")
                       << " before this writes what a tensor copy reads";
    diagnostic.attachNote(reading.store.getLoc()) << "the copy starts here";
    return diagnostic;
  }

  SmallVector<Reading> readings;
};

} // namespace

LogicalResult attn::warp::verifyTensorStores(gpu::GPUFuncOp kernel) {
  ReadingTracker tracker;
  for (Block &block : kernel.getBody())
    if (failed(tracker.visit(block)))
      return failure();
  return tracker.finish();
}
