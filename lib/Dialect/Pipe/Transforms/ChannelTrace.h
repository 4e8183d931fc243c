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
  enum Kind { Put, Take, Release, Drain, Drained, Sync } kind;
  mlir::Operation *op;
  mlir::Value channel; ///< null for Sync
  /// Which tile of the channel, counted over the key loop of a work item; the
  /// tiles of the next work item follow after a gap.
  int64_t tile = 0;
  /// The choice around it that was made for it to happen; 0: none.
  int choice = 0;
};

/// How often a traced run goes round the key loops of a work item.
enum class Rounds { Several, None };

/// A run of a role as a flat list of events: two work items, each key loop
/// several times round, or never. Since puts, takes and releases stand in
/// straight-line code whose order does not depend on data, what holds in these
/// runs holds in every one. What a role drained last it may wait for behind its
/// work loop.
class ChannelTrace {
public:
  explicit ChannelTrace(RoleOp role, Rounds rounds = Rounds::Several);

  llvm::ArrayRef<ChannelEvent> getEvents() const { return events; }
  /// The last event before `before` of this kind, channel and tile; -1 if none.
  int64_t findBefore(int64_t before, ChannelEvent::Kind kind,
                     mlir::Value channel, int64_t tile) const;
  /// The last release of any tile of the channel before `before`; -1 if none.
  int64_t findLastRelease(int64_t before, mlir::Value channel) const;
  /// The first event after `after` of this kind, channel and tile; -1 if none.
  int64_t findAfter(int64_t after, ChannelEvent::Kind kind, mlir::Value channel,
                    int64_t tile) const;
  /// Syncs in (from, to) that happen whenever one of these two events does.
  int64_t countSyncs(int64_t from, int64_t to) const;
  /// Such puts that are groups of cp.async of the role's threads.
  int64_t countGroups(int64_t from, int64_t to) const;
  /// Whether the event happens whenever `other` does.
  bool happensWith(const ChannelEvent &event, const ChannelEvent &other) const;
  /// The work item that `tile` belongs to.
  static int64_t itemOf(int64_t tile);
  /// Whether `tile` is among the first `depth` of its work item, so that no
  /// tile of the same item was in its slot before.
  static bool isFirstTiles(int64_t tile, int64_t depth);

private:
  void traceBlock(mlir::Block &block);
  void traceLoop(tile::ForKeysOp keys, int count);
  void append(ChannelEvent::Kind kind, mlir::Operation *op, mlir::Value channel,
              int64_t ahead = 0);

  Rounds rounds;
  std::vector<ChannelEvent> events;
  /// By choice, the one around it. There is none around choice 0.
  std::vector<int> choices = {0};
  int choice = 0;
  /// First tile of the work item at hand.
  int64_t base = 0;
  /// Of each channel, the tiles of this work item that were taken, and those of
  /// them before the code at hand: the body of a key loop, or what stands
  /// between the loops.
  llvm::DenseMap<mlir::Value, int64_t> taken, takenBefore;
};

} // namespace attn::pipe

#endif // ATTN_LIB_DIALECT_PIPE_TRANSFORMS_CHANNELTRACE_H
