//===- VerifyPipe.cpp - Closes the pipe level -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChannelTrace.h"
#include "attn/Dialect/Pipe/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYPIPE
#include "attn/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::pipe;

namespace {

InFlightDiagnostic emitChannelError(const ChannelEvent &event) {
  auto open = event.channel.getDefiningOp<OpenOp>();
  InFlightDiagnostic diagnostic = event.op->emitError()
                                  << "channel '" << open.getName() << "': ";
  diagnostic.attachNote(open.getLoc()) << "the channel is opened here";
  return diagnostic;
}

/// V1: a take follows a put of its tile. V2: a put follows the release of the
/// tile that was in its slot, with a point in between where all warps met.
/// V3: a release follows a take. V4: a tile is put once.
LogicalResult verifyEvent(const ChannelTrace &trace, int64_t at) {
  const ChannelEvent &event = trace.getEvents()[at];
  if (event.kind == ChannelEvent::Sync)
    return success();
  int64_t depth = cast<ChannelType>(event.channel.getType()).getDepth();
  auto before = [&](ChannelEvent::Kind kind, int64_t tile) {
    return trace.findBefore(at, kind, event.channel, tile);
  };
  switch (event.kind) {
  case ChannelEvent::Take:
    if (before(ChannelEvent::Put, event.tile) < 0)
      return emitChannelError(event) << "V1: taken before it was put";
    break;
  case ChannelEvent::Release:
    if (before(ChannelEvent::Take, event.tile) < 0)
      return emitChannelError(event) << "V3: released before it was taken";
    break;
  case ChannelEvent::Put: {
    if (before(ChannelEvent::Put, event.tile) >= 0)
      return emitChannelError(event) << "V4: put twice";
    if (ChannelTrace::isFirstTiles(event.tile, depth))
      break;
    int64_t release = before(ChannelEvent::Release, event.tile - depth);
    if (release < 0)
      return emitChannelError(event)
             << "V2: put into a slot that is still in use (depth " << depth
             << ")";
    if (trace.count(release, at, ChannelEvent::Sync) == 0)
      return emitChannelError(event)
             << "V2: put while another warp may still read the slot";
    break;
  }
  case ChannelEvent::Sync:
    break;
  }
  return success();
}

LogicalResult verifyRole(RoleOp role) {
  WalkResult loads = role.walk([](tile::LoadOp load) {
    load.emitError() << "expected every load to go through a channel at the "
                        "pipe level";
    return WalkResult::interrupt();
  });
  if (loads.wasInterrupted())
    return failure();
  ChannelTrace trace(role);
  for (size_t at = 0; at < trace.getEvents().size(); ++at)
    if (failed(verifyEvent(trace, at)))
      return failure();
  return success();
}

struct VerifyPipe : attn::impl::VerifyPipeBase<VerifyPipe> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](gpu::GPUFuncOp func) {
      if (func.getBody().front().getOps<RoleOp>().empty()) {
        func.emitError() << "expected a role in kernel '" << func.getName()
                         << "' at the pipe level";
        return WalkResult::interrupt();
      }
      for (RoleOp role : func.getBody().front().getOps<RoleOp>())
        if (failed(verifyRole(role)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
