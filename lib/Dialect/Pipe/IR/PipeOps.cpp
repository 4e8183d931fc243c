//===- PipeOps.cpp - The pipe dialect -------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Pipe/IR/Pipe.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::pipe;

#include "attn/Dialect/Pipe/IR/PipeDialect.cpp.inc"
#include "attn/Dialect/Pipe/IR/PipeEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Pipe/IR/PipeAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Pipe/IR/PipeTypes.cpp.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/Pipe/IR/PipeOps.cpp.inc"

void PipeDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Pipe/IR/PipeAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Pipe/IR/PipeTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Pipe/IR/PipeOps.cpp.inc"
      >();
}

Type ChannelType::parse(AsmParser &parser) {
  FailureOr<attn::tile::ValType> tile;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      failed(tile = FieldParser<attn::tile::ValType>::parse(parser)))
    return {};
  bool fed = succeeded(parser.parseOptionalComma());
  if ((fed && parser.parseKeyword("fed")) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    *tile, fed);
}

void ChannelType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printStrippedAttrOrType(getTile());
  printer << (getFed() ? ", fed>" : ">");
}

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  attn::tile::ValType tile, bool) {
  if (!tile.isShared() || tile.getSizes().size() != 2)
    return emitError() << "P1: expected a shared tile of two axes, found "
                       << tile;
  return success();
}

LogicalResult AtAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             int64_t ahead, int64_t order) {
  if (ahead < 0 || order < 0)
    return emitError() << "P8: expected ahead and order of at least 0, found "
                       << ahead << " and " << order;
  return success();
}

LogicalResult RoleOp::verify() {
  constexpr int64_t maxWarps = 32; // 1024 threads per block
  auto warps = static_cast<int64_t>(getWarps());
  if (warps < 1 || warps > maxWarps)
    return emitOpError() << "P2: expected 1 to " << maxWarps << " warps, found "
                         << warps;
  return success();
}

LogicalResult RoleOp::verifyRegions() {
  llvm::StringMap<OpenOp> opened;
  for (OpenOp open : getBody().getOps<OpenOp>()) {
    auto [first, isNew] = opened.try_emplace(open.getName(), open);
    if (isNew)
      continue;
    InFlightDiagnostic diagnostic =
        open.emitOpError() << "P4: expected a name of its own, found a second "
                              "channel '"
                           << open.getName() << "'";
    diagnostic.attachNote(first->second.getLoc()) << "the first is here";
    return diagnostic;
  }
  return success();
}

LogicalResult OpenOp::verify() {
  if (getAlias() && !getAlias().getDefiningOp<OpenOp>())
    return emitOpError() << "P6: expected the aliased channel to be opened by "
                            "pipe.open";
  if (getAlias() && getAlias().getType().getFed())
    return emitOpError() << "P6: expected the aliased channel not to be fed by "
                            "another role, which may fill it at any time";
  bool needsMap = getVia() == Via::Tma;
  if (getVia() != Via::Store && needsMap != !!getMap())
    return emitOpError() << "P10: a channel via " << stringifyVia(getVia())
                         << (getMap() ? " has no map" : " needs a map");
  return success();
}

LogicalResult AwaitOp::verify() {
  auto pending = static_cast<int64_t>(getPending());
  if (getValues().empty() || pending < 0)
    return emitOpError() << "P11: expected a value and pending of at least 0, "
                            "found "
                         << getValues().size() << " values and pending "
                         << pending;
  return success();
}

LogicalResult PutOp::verify() {
  attn::tile::ValType tile = getChannel().getType().getTile();
  attn::tile::ViewType view = getView().getType();
  if (view.getElementType() != tile.getElementType() ||
      view.getColumns() > tile.getSizes()[1])
    return emitOpError() << "P3: expected a view of at most "
                         << tile.getSizes()[1] << " columns of "
                         << tile.getElementType() << ", found " << view;
  auto ahead = static_cast<int64_t>(getAhead());
  if (ahead < 0)
    return emitOpError() << "P8: expected ahead of at least 0, found " << ahead;
  return success();
}

LogicalResult TakeOp::verify() {
  if (getTile().getType() != getChannel().getType().getTile())
    return emitOpError() << "P3: expected " << getChannel().getType().getTile()
                         << ", found " << getTile().getType();
  if (getJoined() && getPending())
    return emitOpError() << "P7: a joined take leaves pending to the take that "
                            "waits";
  if (getPending() && static_cast<int64_t>(*getPending()) < 0)
    return emitOpError() << "P8: expected pending of at least 0, found "
                         << static_cast<int64_t>(*getPending());
  return success();
}

LogicalResult DrainOp::verify() {
  attn::tile::ValType expected =
      getChannel().getType().getTile().withSharedSlots(0);
  attn::tile::ViewType view = getView().getType();
  if (getTile().getType() != expected)
    return emitOpError() << "P5: expected " << expected << ", found "
                         << getTile().getType();
  if (view.getElementType() != expected.getElementType() ||
      view.getColumns() > expected.getSizes()[1])
    return emitOpError() << "P5: expected a view of at most "
                         << expected.getSizes()[1] << " columns of "
                         << expected.getElementType() << ", found " << view;
  return success();
}

LogicalResult DrainedOp::verify() {
  if (!drainMapOf(getChannel()))
    return emitOpError()
           << "P12: expected a channel via st with a map, through "
              "which pipe.drain starts copies";
  return success();
}
