//===- TileVisits.cpp - The key tiles that code visits --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileVisits.h"

#include "attn/Analysis/KeyTiles.h"

using namespace mlir;
using namespace attn;

PlacedTiles::PlacedTiles(ir::BoundsOp bounds, int64_t tileKeys)
    : bounds(bounds), tileKeys(tileKeys) {
  ir::YieldOp yield = bounds.getYield();
  SmallVector<Value> yielded(yield.getResults());
  OpBuilder builder(yield);
  KeyTileBuilder::Bounds keys;
  keys.firstRow = bounds.getArgument("q_first");
  keys.lastRow = bounds.getArgument("q_last");
  keys.tail = yielded.pop_back_val();
  ArrayRef<Value> pairs = yielded;
  keys.visible.assign(pairs.take_front(2 * bounds.getVisible()));
  keys.hidden.assign(pairs.drop_front(2 * bounds.getVisible()));
  KeyTileBuilder tiles(builder, bounds.getLoc(), tileKeys);
  KeyTileBuilder::Places places = tiles.place(tiles.classify(keys));
  SmallVector<Value> results = {places.begin, places.fullEnd, places.end};
  llvm::append_range(results, places.thresholds);
  llvm::append_range(results, places.shifts);
  ranges = places.shifts.size();
  yield->setOperands(results);
}

TileVisits PlacedTiles::run(const std::vector<int64_t> &arguments,
                            const RuleInputs &inputs) {
  std::vector<int64_t> results =
      interpret(bounds.getBody().front(), arguments, inputs);
  int64_t begin = results[0], fullEnd = results[1], end = results[2];
  const int64_t *thresholds = results.data() + 3;
  const int64_t *shifts = thresholds + ranges - 1;
  TileVisits visits;
  for (int64_t place = end - tileKeys; place >= begin; place -= tileKeys) {
    size_t range = 0;
    while (range + 1 < ranges && place < thresholds[range])
      ++range;
    visits.push_back({place + shifts[range], place < fullEnd});
  }
  return visits;
}
