//===- ChannelTrace.h - The order of puts, takes and releases ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_DIALECT_PIPE_TRANSFORMS_CHANNELTRACE_H
#define ATTN_LIB_DIALECT_PIPE_TRANSFORMS_CHANNELTRACE_H

#include "attn/Dialect/Pipe/IR/Pipe.h"

namespace attn::pipe {

/// What one channel operation does at one time.
struct ChannelEvent {
  enum Kind { Put, Take, Release, Drain, Sync } kind;
  mlir::Operation *op;
  mlir::Value channel; ///< null for Sync
  /// Which tile of the channel, counted over the key loop of a work item; the
  /// tiles of the next work item follow after a gap.
  int64_t tile = 0;
};

/// A run of a role as a flat list of events: two work items, each key loop
/// several times round. Since puts, takes and releases stand in straight-line
/// code whose order does not depend on data, what holds in this run holds in
/// every one.
class ChannelTrace {
public:
  explicit ChannelTrace(RoleOp role);

  llvm::ArrayRef<ChannelEvent> getEvents() const { return events; }
  /// The last event before `before` of this kind, channel and tile; -1 if none.
  int64_t findBefore(int64_t before, ChannelEvent::Kind kind,
                     mlir::Value channel, int64_t tile) const;
  /// The last release of any tile of the channel before `before`; -1 if none.
  int64_t findLastRelease(int64_t before, mlir::Value channel) const;
  /// The first event after `after` of this kind, channel and tile; -1 if none.
  int64_t findAfter(int64_t after, ChannelEvent::Kind kind, mlir::Value channel,
                    int64_t tile) const;
  /// Events of this kind in (from, to).
  int64_t count(int64_t from, int64_t to, ChannelEvent::Kind kind) const;
  /// The work item that `tile` belongs to.
  static int64_t itemOf(int64_t tile);
  /// Whether `tile` is among the first `depth` of its work item, so that no
  /// tile of the same item was in its slot before.
  static bool isFirstTiles(int64_t tile, int64_t depth);

private:
  void traceBlock(mlir::Block &block, int64_t base, int64_t &iteration);
  std::vector<ChannelEvent> events;
};

} // namespace attn::pipe

#endif // ATTN_LIB_DIALECT_PIPE_TRANSFORMS_CHANNELTRACE_H
