//===- KeyAt.cpp - The keys at a place ------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace attn::tile;

LogicalResult KeyAtOp::verify() {
  size_t ranges = getShifts().size();
  if (ranges != getThresholds().size() + 1)
    return emitOpError()
           << "T24: expected one shift more than thresholds, found " << ranges
           << " and " << getThresholds().size();
  if (getPartial() > ranges || getFull() > ranges)
    return emitOpError() << "T24: expected partial and full tiles in the "
                         << ranges << " ranges that there are, found "
                         << getPartial() << " and " << getFull();
  if (static_cast<bool>(getList()) != getStep().has_value() ||
      static_cast<int64_t>(getStep().value_or(1)) <= 0)
    return emitOpError() << "T24: expected a list and a positive step, or none "
                            "of both";
  return success();
}

OpFoldResult KeyAtOp::fold(FoldAdaptor adaptor) {
  auto shift = dyn_cast_or_null<IntegerAttr>(adaptor.getShifts().front());
  if (!getList() && getThresholds().empty() && shift &&
      shift.getValue().isZero())
    return getPlace();
  return {};
}
