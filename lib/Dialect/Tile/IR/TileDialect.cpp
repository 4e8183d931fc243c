//===- TileDialect.cpp - Types of the tile dialect ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::tile;

#include "attn/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "attn/Dialect/Tile/IR/TileEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Tile/IR/TileTypes.cpp.inc"

void TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

ValType ValType::get(MLIRContext *context,
                     ArrayRef<std::pair<StringRef, int64_t>> axes,
                     Type elementType, int64_t sharedSlots) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (auto [name, size] : axes) {
    names.push_back(StringAttr::get(context, name));
    sizes.push_back(size);
  }
  return get(context, names, sizes, elementType, sharedSlots);
}

std::optional<unsigned> ValType::findAxis(StringRef name) const {
  for (auto [index, axis] : llvm::enumerate(getAxes()))
    if (axis.getValue() == name)
      return index;
  return std::nullopt;
}

int64_t ValType::getSize(StringRef name) const {
  return getSizes()[*findAxis(name)];
}

ValType ValType::withElementType(Type elementType) const {
  return get(getContext(), getAxes(), getSizes(), elementType,
             getSharedSlots());
}

ValType ValType::withSharedSlots(int64_t slots) const {
  return get(getContext(), getAxes(), getSizes(), getElementType(), slots);
}

// `<[q:128, k:64] x f32, shared 2>`
Type ValType::parse(AsmParser &parser) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  Type elementType;
  int64_t sharedSlots = 0;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseColon() ||
        parser.parseInteger(sizes.emplace_back()))
      return failure();
    axes.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis) ||
      parser.parseKeyword("x") || parser.parseType(elementType))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    SMLoc slotsLoc;
    if (parser.parseKeyword("shared") || parser.getCurrentLocation(&slotsLoc) ||
        parser.parseInteger(sharedSlots))
      return {};
    if (sharedSlots < 1) {
      parser.emitError(slotsLoc)
          << "T3: expected a positive number of slots, found " << sharedSlots;
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ValType>(loc, parser.getContext(), axes, sizes,
                                    elementType, sharedSlots);
}

void ValType::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(
      llvm::zip(getAxes(), getSizes()), printer, [&](auto pair) {
        printer << std::get<0>(pair).getValue() << ":" << std::get<1>(pair);
      });
  printer << "] x " << getElementType();
  if (isShared())
    printer << ", shared " << getSharedSlots();
  printer << ">";
}

static LogicalResult
verifyElementType(function_ref<InFlightDiagnostic()> emitError, Type type) {
  if (!isa<FloatType>(type))
    return emitError() << "T22: expected a float element type, found " << type;
  return success();
}

LogicalResult ValType::verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<StringAttr> axes,
                              ArrayRef<int64_t> sizes, Type elementType,
                              int64_t sharedSlots) {
  if (axes.empty() || axes.size() > 2)
    return emitError() << "T1: expected one or two axes, found " << axes.size();
  if (axes.size() == 2 && axes[0] == axes[1])
    return emitError() << "T2: axis " << axes[0] << " appears twice";
  for (int64_t size : sizes)
    if (size < 1)
      return emitError() << "T3: expected a positive axis size, found " << size;
  if (sharedSlots < 0)
    return emitError() << "T3: expected a positive number of slots, found "
                       << sharedSlots;
  return verifyElementType(emitError, elementType);
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t columns, Type elementType) {
  if (columns < 1)
    return emitError() << "T3: expected a positive number of columns, found "
                       << columns;
  return verifyElementType(emitError, elementType);
}
