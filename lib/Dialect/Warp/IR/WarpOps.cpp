//===- WarpOps.cpp - Verifiers of the warp dialect's operations -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The labels in comments are the constraints of the operations' descriptions.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn::warp;
using attn::layout::tileAlignment;

#define GET_OP_CLASSES
#include "attn/Dialect/Warp/IR/WarpOps.cpp.inc"

/// Columns of k that one mma.sync.m16n8k16 consumes.
static constexpr int64_t mmaDepth = 16;

/// Columns per 16-byte chunk.
static int64_t chunkColumns(BufferType type) {
  return attn::layout::chunkBytes / type.getTile().elementBytes;
}

/// `cols` of a copy between global memory and `type`.
static LogicalResult verifyCopiedColumns(Operation *op, BufferType type,
                                         int64_t cols) {
  int64_t multiple = chunkColumns(type);
  if (cols < 1 || cols % multiple != 0 || cols > type.getColumns())
    return op->emitOpError("expected cols to be a multiple of ")
           << multiple << " between " << multiple << " and "
           << type.getColumns() << ", found " << cols;
  return success();
}

/// `value` selects 16 of `size` rows or columns.
static LogicalResult verifyStep(Operation *op, StringRef name, int64_t value,
                                int64_t size) {
  if (value < 0 || value % mmaDepth != 0 || value + mmaDepth > size)
    return op->emitOpError("expected ")
           << name << " to be a multiple of 16 between 0 and "
           << size - mmaDepth << ", found " << value;
  return success();
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LogicalResult AllocOp::verify() {
  // AL1
  std::optional<int64_t> offset = getOffset();
  if (offset && (*offset < 0 || *offset % tileAlignment != 0))
    return emitOpError("expected an offset that is a multiple of ")
           << tileAlignment << ", found " << *offset;
  return success();
}

LogicalResult CpAsyncOp::verify() {
  // CP1
  return verifyCopiedColumns(*this, getBuffer().getType(), getCols());
}

LogicalResult CopyOutOp::verify() {
  // CO1
  BufferType buffer = getBuffer().getType();
  if (failed(verifyCopiedColumns(*this, buffer, getCols())))
    return failure();
  // CO2
  auto multiple = static_cast<int64_t>(16 * getWarps());
  if (getOwnRows() && buffer.getRows() % multiple != 0)
    return emitOpError("expected a buffer whose rows are a multiple of ")
           << multiple << " for own_rows, found " << buffer.getRows();
  return success();
}

LogicalResult LdmatrixOp::verify() {
  BufferType buffer = getBuffer().getType();
  FragType result = getResult().getType();
  // LD1
  if (getColumn().has_value() == getRow().has_value())
    return emitOpError("expected either column or row");
  if (getRow() && result.getKind() != FragKind::B)
    return emitOpError("expected column for a result of kind a, found row");
  // LD2
  LogicalResult inside =
      getRow() ? verifyStep(*this, "row", *getRow(), buffer.getRows())
               : verifyStep(*this, "column", *getColumn(), buffer.getColumns());
  if (failed(inside))
    return failure();
  // LD3
  if (result.getElementType() != buffer.getElementType())
    return emitOpError("expected a result of ")
           << buffer.getElementType() << ", found " << result.getElementType();
  // LD4
  int64_t rows = getRow() ? buffer.getColumns() : buffer.getRows();
  if (getRow() ? result.getRows() > rows : result.getRows() != rows)
    return emitOpError("expected a result of ")
           << (getRow() ? "at most " : "") << rows << " rows, found "
           << result.getRows();
  return success();
}

LogicalResult StoreSharedOp::verify() {
  FragType value = getValue().getType();
  BufferType buffer = getBuffer().getType();
  // ST1
  if (value.getRows() != buffer.getRows() ||
      value.getColumns() > buffer.getColumns() ||
      value.getElementType() != buffer.getElementType())
    return emitOpError("expected a buffer of ")
           << value.getRows() << " rows, at least " << value.getColumns()
           << " columns and " << value.getElementType() << ", found "
           << buffer.getRows() << "x" << buffer.getColumns() << "x"
           << buffer.getElementType();
  return success();
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Rows and warps of `type` are those of `expected`.
static LogicalResult verifySameRows(Operation *op, FragType expected,
                                    FragType type) {
  if (type.getRows() != expected.getRows() ||
      type.getWarps() != expected.getWarps())
    return op->emitOpError("expected ")
           << expected.getRows() << " rows over " << expected.getWarps()
           << " warp(s), found " << type.getRows() << " over "
           << type.getWarps();
  return success();
}

LogicalResult MmaOp::verify() {
  FragType acc = getAcc().getType(), a = getA().getType(), b = getB().getType();
  // MM2
  if (a.getRows() != acc.getRows() || b.getRows() != acc.getColumns())
    return emitOpError("expected a of ")
           << acc.getRows() << " rows and b of " << acc.getColumns()
           << " rows, found " << a.getRows() << " and " << b.getRows();
  // MM3
  if (a.getElementType() != b.getElementType())
    return emitOpError("expected a and b of one element type, found ")
           << a.getElementType() << " and " << b.getElementType();
  // MM4
  if (a.getWarps() != acc.getWarps() || b.getWarps() != acc.getWarps())
    return emitOpError("expected ")
           << acc.getWarps() << " warp(s) for a and b, found " << a.getWarps()
           << " and " << b.getWarps();
  return success();
}

LogicalResult CastOp::verify() {
  FragType source = getSource().getType(), result = getResult().getType();
  // CA1
  if (failed(verifySameRows(*this, source, result)))
    return failure();
  if (source.getColumns() != result.getColumns())
    return emitOpError("expected ")
           << source.getColumns() << " columns, found " << result.getColumns();
  return success();
}

LogicalResult AsOperandOp::verify() {
  FragType source = getSource().getType(), result = getResult().getType();
  // AO1
  if (failed(verifyStep(*this, "column", getColumn(), source.getColumns())))
    return failure();
  // AO2
  if (source.getElementType() != result.getElementType())
    return emitOpError("expected a result of ")
           << source.getElementType() << ", found " << result.getElementType();
  return verifySameRows(*this, source, result);
}

LogicalResult ReduceOp::verify() {
  FragType source = getSource().getType(), result = getResult().getType();
  // RE1
  bool fromAcc = source.getKind() == FragKind::Acc && result.isPerRow();
  bool overQuad = source.getKind() == FragKind::RowPartial &&
                  result.getKind() == FragKind::Row;
  if (!fromAcc && !overQuad)
    return emitOpError("expected acc -> row, acc -> row_partial or row_partial "
                       "-> row, found ")
           << stringifyFragKind(source.getKind()) << " -> "
           << stringifyFragKind(result.getKind());
  // RE2
  return verifySameRows(*this, source, result);
}

/// The region of `map` and `any`: an f32 per input, an i32 per origin given,
/// and one `yielded`.
static LogicalResult verifyElementRegion(Operation *op, Block &body,
                                         unsigned inputs, unsigned origins,
                                         Type yielded) {
  // MA3, AN2
  TypeRange types = body.getArgumentTypes();
  bool good = types.size() == inputs + origins;
  for (unsigned i = 0; good && i < types.size(); ++i)
    good = i < inputs ? types[i].isF32() : types[i].isInteger(32);
  if (!good)
    return op->emitOpError("expected a region of ")
           << inputs << " f32 and " << origins << " i32 argument(s), found ("
           << types << ")";
  // MA5, AN4
  auto yield = dyn_cast_or_null<YieldOp>(body.empty() ? nullptr : &body.back());
  if (!yield)
    return op->emitOpError("expected the region to end with warp.yield");
  if (yield.getValue().getType() != yielded)
    return yield.emitOpError("expected a value of ")
           << yielded << ", found " << yield.getValue().getType();
  return success();
}

LogicalResult MapOp::verify() {
  FragType result = getResult().getType();
  // MA1
  if (getInputs().empty())
    return emitOpError("expected at least one input, found none");
  for (Value input : getInputs()) {
    auto type = cast<FragType>(input.getType());
    if (failed(verifySameRows(*this, result, type)))
      return failure();
    // MA2
    bool same = type.getKind() == result.getKind();
    bool isOfRow = type.getKind() == FragKind::Row ||
                   (type.isPerRow() && result.getKind() == FragKind::Acc);
    if (!same && !isOfRow)
      return emitOpError("expected inputs of kind ")
             << stringifyFragKind(result.getKind()) << " or row, found "
             << stringifyFragKind(type.getKind());
    if (same && type.getColumns() != result.getColumns())
      return emitOpError("expected inputs of ")
             << result.getColumns() << " columns, found " << type.getColumns();
  }
  // MA4
  if (getColumnOrigin() && result.getKind() == FragKind::Row)
    return emitOpError("expected column only for a result of kind acc or "
                       "row_partial, found row");
  if (getInClass() && (!getColumnOrigin() || result.getKind() != FragKind::Acc))
    return emitOpError("expected in_class only with column, for a result of "
                       "kind acc");
  return verifyElementRegion(*this, getBody().front(), getInputs().size(),
                             !!getRowOrigin() + !!getColumnOrigin(),
                             Float32Type::get(getContext()));
}

FragType AnyOp::getWidestInput() {
  auto widest = cast<FragType>(getInputs().front().getType());
  for (Value input : getInputs().drop_front()) {
    auto type = cast<FragType>(input.getType());
    if (widest.getKind() == FragKind::Row)
      widest = type;
  }
  return widest;
}

LogicalResult AnyOp::verify() {
  // AN1
  if (getInputs().empty())
    return emitOpError("expected at least one input, found none");
  FragType widest = getWidestInput();
  for (Value input : getInputs()) {
    auto type = cast<FragType>(input.getType());
    if (failed(verifySameRows(*this, widest, type)))
      return failure();
    if (type.getKind() != FragKind::Row && type != widest)
      return emitOpError("expected all inputs that are not of kind row to be ")
             << widest << ", found " << type;
  }
  // AN3
  if (getColumnOrigin() && widest.getKind() != FragKind::Acc)
    return emitOpError("expected column only with an input of kind acc");
  return verifyElementRegion(*this, getBody().front(), getInputs().size(),
                             !!getRowOrigin() + !!getColumnOrigin(),
                             IntegerType::get(getContext(), 1));
}

//===----------------------------------------------------------------------===//
// Fragments to global memory
//===----------------------------------------------------------------------===//

LogicalResult StoreGlobalOp::verify() {
  // SG1
  int64_t columns = getValue().getType().getColumns();
  auto cols = static_cast<int64_t>(getCols());
  if (cols < 1 || cols % 8 != 0 || cols > columns)
    return emitOpError("expected cols to be a multiple of 8 between 8 and ")
           << columns << ", found " << cols;
  return success();
}
