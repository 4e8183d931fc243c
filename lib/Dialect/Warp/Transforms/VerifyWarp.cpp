//===- VerifyWarp.cpp - Closes the warp level -----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyAsync.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Warp/IR/Warp.h"
#include "attn/Dialect/Warp/Transforms/Passes.h"
#include "attn/Layout/GpuTarget.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYWARP
#include "attn/Dialect/Warp/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {

/// Bytes of shared memory that an operation reserves.
struct Place {
  Operation *op;
  int64_t begin, end;
};

class KernelVerifier {
public:
  KernelVerifier(gpu::GPUFuncOp func, StringRef target)
      : func(func), target(target) {}

  LogicalResult run() {
    return success(succeeded(verifyNoHigherLevel()) &&
                   succeeded(verifyShared()) && succeeded(verifyCopies()) &&
                   succeeded(warp::verifyBarriers(func)) &&
                   succeeded(warp::verifyRegisters(func)) &&
                   succeeded(warp::verifyNamedBarriers(func)) &&
                   succeeded(warp::verifyProducts(func)) &&
                   succeeded(warp::verifyFences(func)) &&
                   succeeded(warp::verifyPhases(func)) &&
                   succeeded(warp::verifyTensorStores(func)));
  }

private:
  LogicalResult verifyNoHigherLevel() {
    WalkResult result = func.walk([](Operation *op) {
      StringRef dialect = op->getName().getDialectNamespace();
      if (dialect != "tile" && dialect != "pipe" && dialect != "attn")
        return WalkResult::advance();
      op->emitError() << "expected no operation of a higher level at the warp "
                         "level, found '"
                      << op->getName() << "'";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// W1: every ring has a place. W2: it ends inside the target's shared memory.
  LogicalResult verifyShared() {
    const layout::GpuTarget *gpu = layout::findGpuTarget(target);
    if (!gpu)
      return func.emitError()
             << "W2: expected a supported attn.target, found '" << target
             << "'; supported: " << layout::gpuTargetNames();
    int64_t limit = gpu->sharedBytesPerBlock;
    int64_t needed = 0;
    SmallVector<Place> places;
    WalkResult result = func.walk([&](Operation *op) {
      std::optional<Place> place = placeOf(op);
      if (!place)
        return WalkResult::advance();
      if (place->begin < 0) {
        op->emitError() << "W1: expected an offset at the warp level "
                           "(attn-allocate-shared)";
        return WalkResult::interrupt();
      }
      needed = std::max(needed, place->end);
      places.push_back(*place);
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || failed(verifyApart(places)))
      return failure();
    if (needed <= limit)
      return success();
    InFlightDiagnostic diagnostic =
        func.emitError() << "W2: kernel '" << func.getName() << "' needs "
                         << needed << " bytes of shared memory, " << target
                         << " has " << limit
                         << " per block; choose a smaller tile or fewer stages";
    for (const Place &place : places)
      diagnostic.attachNote(place.op->getLoc())
          << place.end - place.begin << " bytes at " << place.begin << " for "
          << place.op->getResult(0).getType();
    return diagnostic;
  }

  /// The bytes that an operation reserves; negative without an offset.
  static std::optional<Place> placeOf(Operation *op) {
    auto make = [&](std::optional<int64_t> offset, int64_t bytes) {
      int64_t begin = offset.value_or(-1);
      return Place{op, begin, begin + bytes};
    };
    if (auto ring = dyn_cast<warp::AllocOp>(op))
      return make(ring.getOffset(), ring.getType().getBytes());
    if (auto barriers = dyn_cast<warp::MbarAllocOp>(op))
      return make(barriers.getOffset(), barriers.getType().getBytes());
    if (auto mail = dyn_cast<warp::MailAllocOp>(op))
      return make(mail.getOffset(), warp::MailAllocOp::mailBytes);
    return std::nullopt;
  }

  /// Tiles may share bytes, one after the other; barriers never do.
  static LogicalResult verifyApart(ArrayRef<Place> places) {
    for (const Place &barriers : places)
      for (const Place &other : places)
        if (isa<warp::MbarAllocOp>(barriers.op) && barriers.op != other.op &&
            barriers.begin < other.end && other.begin < barriers.end) {
          InFlightDiagnostic diagnostic =
              barriers.op->emitError()
              << "W1: expected barriers at bytes of their own, found "
              << barriers.begin << " .. " << barriers.end - 1;
          diagnostic.attachNote(other.op->getLoc())
              << "which are also used here";
          return diagnostic;
        }
    return success();
  }

  /// W3: a copy is committed in its block. W4: a barrier follows a wait in its
  /// block before anything reads shared memory.
  LogicalResult verifyCopies() {
    WalkResult result = func.walk([](Block *block) {
      Operation *uncommitted = nullptr, *waited = nullptr;
      for (Operation &op : *block) {
        if (isa<warp::CpAsyncOp>(op))
          uncommitted = &op;
        else if (isa<warp::CpAsyncCommitOp, warp::CpAsyncArriveOp>(op))
          uncommitted = nullptr;
        else if (isa<warp::CpAsyncWaitOp>(op))
          waited = &op;
        else if (isa<warp::BarrierOp>(op))
          waited = nullptr;
        else if (waited &&
                 isa<warp::LdmatrixOp, warp::CopyOutOp, warp::WgmmaOp>(op)) {
          op.emitError() << "W4: expected a barrier between the wait for a "
                            "copy and this read";
          return WalkResult::interrupt();
        }
      }
      if (!uncommitted)
        return WalkResult::advance();
      uncommitted->emitError() << "W3: expected warp.cp_async_commit or "
                                  "warp.cp_async_arrive after this copy";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  gpu::GPUFuncOp func;
  StringRef target;
};

struct VerifyWarp : attn::impl::VerifyWarpBase<VerifyWarp> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](gpu::GPUFuncOp func) {
      auto module = func->getParentOfType<ModuleOp>();
      StringRef target = module ? ir::getTarget(module) : "";
      return failed(KernelVerifier(func, target).run())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
