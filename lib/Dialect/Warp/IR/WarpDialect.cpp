//===- WarpDialect.cpp - Types of the warp dialect ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::warp;

#include "attn/Dialect/Warp/IR/WarpDialect.cpp.inc"
#include "attn/Dialect/Warp/IR/WarpEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Warp/IR/WarpTypes.cpp.inc"

void WarpDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Warp/IR/WarpTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Warp/IR/WarpOps.cpp.inc"
      >();
}

/// Parses `128x64xf32` of a given rank.
static ParseResult parseShape(AsmParser &parser, unsigned rank,
                              SmallVectorImpl<int64_t> &shape, Type &element) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseDimensionList(shape, /*allowDynamic=*/false))
    return failure();
  if (shape.size() != rank)
    return parser.emitError(loc)
           << "expected " << rank << " dimensions, found " << shape.size();
  return parser.parseType(element);
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape,
                       Type element) {
  for (int64_t size : shape)
    printer << size << "x";
  printer << element;
}

//===----------------------------------------------------------------------===//
// FragType
//===----------------------------------------------------------------------===//

Type FragType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  StringRef keyword;
  int64_t warps;
  if (parser.parseLess() || parseShape(parser, 2, shape, element) ||
      parser.parseComma())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<FragKind> kind = symbolizeFragKind(keyword);
  if (!kind) {
    parser.emitError(loc) << "expected acc, a, b, row or row_partial, found '"
                          << keyword << "'";
    return {};
  }
  if (parser.parseComma() || parser.parseKeyword("warps") ||
      parser.parseEqual() || parser.parseInteger(warps) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<FragType>(loc, parser.getContext(), shape[0],
                                     shape[1], element, *kind, warps);
}

void FragType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, {getRows(), getColumns()}, getElementType());
  printer << ", " << stringifyFragKind(getKind()) << ", warps = " << getWarps()
          << ">";
}

LogicalResult FragType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rows, int64_t columns, Type elementType,
                               FragKind kind, int64_t warps) {
  StringRef name = stringifyFragKind(kind);
  // F1
  if (warps < 1)
    return emitError() << "expected at least 1 warp, found " << warps;
  // F2
  int64_t multiple = kind == FragKind::B ? 8 : 16 * warps;
  if (rows < 1 || rows % multiple != 0)
    return emitError() << "expected the rows of kind " << name
                       << " to be a multiple of " << multiple << ", found "
                       << rows;
  // F3
  if (kind == FragKind::Acc && (columns < 1 || columns % 8 != 0))
    return emitError() << "expected the columns of kind acc to be a multiple "
                          "of 8, found "
                       << columns;
  bool operand = kind == FragKind::A || kind == FragKind::B;
  int64_t expected = operand ? 16 : kind == FragKind::Row ? 1 : 4;
  if (kind != FragKind::Acc && columns != expected)
    return emitError() << "expected " << expected << " column(s) for kind "
                       << name << ", found " << columns;
  // F4
  bool is16 = elementType.isF16() || elementType.isBF16();
  bool perRow = kind == FragKind::Row || kind == FragKind::RowPartial;
  if (!(is16 && !perRow) && !(elementType.isF32() && !operand))
    return emitError() << "expected an element type of "
                       << (operand  ? "bf16 or f16"
                           : perRow ? "f32"
                                    : "f32, bf16 or f16")
                       << " for kind " << name << ", found " << elementType;
  return success();
}

int64_t FragType::getNumRegisters() const {
  switch (getKind()) {
  case FragKind::Acc:
    return getRowTiles() * getN8Tiles() * (isPacked() ? 2 : 4);
  case FragKind::A:
    return getRowTiles() * 4;
  case FragKind::B:
    return getN8Tiles() * 2;
  case FragKind::Row:
  case FragKind::RowPartial:
    return getRowTiles() * 2;
  }
  llvm_unreachable("all kinds are handled");
}

//===----------------------------------------------------------------------===//
// BufferType
//===----------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShape(parser, 3, shape, element) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(loc, parser.getContext(), shape[0],
                                       shape[1], shape[2], element);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, {getSlots(), getRows(), getColumns()}, getElementType());
  printer << ">";
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t slots, int64_t rows, int64_t columns,
                                 Type elementType) {
  // B1
  if (slots < 1)
    return emitError() << "expected at least 1 slot, found " << slots;
  // B2
  if (rows < 1 || rows % 8 != 0 || columns < 1 || columns % 8 != 0)
    return emitError()
           << "expected rows and columns to be multiples of 8, found " << rows
           << "x" << columns;
  // B3
  if (!elementType.isF16() && !elementType.isBF16() && !elementType.isF32())
    return emitError() << "expected an element type of bf16, f16 or f32, found "
                       << elementType;
  return success();
}

attn::layout::SharedTile BufferType::getTile() const {
  return {getRows(), getColumns(),
          getElementType().getIntOrFloatBitWidth() / 8};
}

//===----------------------------------------------------------------------===//
// BarriersType
//===----------------------------------------------------------------------===//

LogicalResult BarriersType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t slots) {
  // BR1
  if (slots < 1)
    return emitError() << "expected at least 1 slot, found " << slots;
  return success();
}
