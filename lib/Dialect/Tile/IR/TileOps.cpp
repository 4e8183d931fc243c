//===- TileOps.cpp - Operations of the tile dialect -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace attn::tile;

#define GET_OP_CLASSES
#include "attn/Dialect/Tile/IR/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// for_work
//===----------------------------------------------------------------------===//

/// `iter(%arg = %init, ...) : (types)`, if it is there.
static ParseResult
parseCarried(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::Argument> &args,
             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inits,
             SmallVectorImpl<Type> &types) {
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword("iter")))
    return success();
  SmallVector<OpAsmParser::Argument> carried;
  if (parser.parseAssignmentList(carried, inits) || parser.parseColon() ||
      parser.parseLParen() || parser.parseTypeList(types) ||
      parser.parseRParen())
    return failure();
  if (types.size() != carried.size())
    return parser.emitError(loc)
           << "expected " << carried.size() << " types, found " << types.size();
  for (auto [arg, type] : llvm::zip(carried, types)) {
    arg.type = type;
    args.push_back(arg);
  }
  return success();
}

static void printCarried(OpAsmPrinter &printer, ValueRange arguments,
                         ValueRange inits) {
  if (inits.empty())
    return;
  printer << " iter(";
  llvm::interleaveComma(llvm::zip(arguments, inits), printer, [&](auto pair) {
    printer << std::get<0>(pair) << " = " << std::get<1>(pair);
  });
  printer << ") : (" << inits.getTypes() << ")";
}

ParseResult ForWorkOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<OpAsmParser::UnresolvedOperand> operands, inits;
  SmallVector<Type> types;
  int64_t step;
  Type i32 = builder.getI32Type();
  if (parser.parseArgumentList(args, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("in") ||
      parser.parseOperandList(operands, 3, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("step") || parser.parseInteger(step) ||
      parser.resolveOperands(operands, i32, state.operands))
    return failure();
  for (auto &arg : args)
    arg.type = i32;
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext(), 1);
  bool isPacked = succeeded(parser.parseOptionalKeyword("packed"));
  OpAsmParser::UnresolvedOperand starts;
  if (isPacked && (parser.parseOperand(starts) ||
                   parser.resolveOperand(starts, pointer, state.operands)))
    return failure();
  bool hasTogether = succeeded(parser.parseOptionalKeyword("together"));
  if (hasTogether) {
    OpAsmParser::UnresolvedOperand together;
    if (parser.parseOperand(together) ||
        parser.resolveOperand(together, i32, state.operands))
      return failure();
  }
  bool hasClaim = succeeded(parser.parseOptionalKeyword("claim"));
  OpAsmParser::UnresolvedOperand counter, mail;
  if (hasClaim && (parser.parseOperand(counter) ||
                   parser.resolveOperand(counter, pointer, state.operands)))
    return failure();
  bool hasMail = succeeded(parser.parseOptionalKeyword("through"));
  Type mailType;
  if (hasMail &&
      (parser.parseOperand(mail) || parser.parseColonType(mailType) ||
       parser.resolveOperand(mail, mailType, state.operands)))
    return failure();
  SMLoc initLoc = parser.getCurrentLocation();
  if (parseCarried(parser, args, inits, types) ||
      parser.resolveOperands(inits, types, initLoc, state.operands))
    return failure();
  state.addTypes(types);
  state.addAttribute(getOperandSegmentSizesAttrName(state.name),
                     builder.getDenseI32ArrayAttr(
                         {1, 1, 1, isPacked, hasTogether, hasClaim, hasMail,
                          static_cast<int32_t>(inits.size())}));
  state.addAttribute("step", builder.getI64IntegerAttr(step));
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, args) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  ForWorkOp::ensureTerminator(*body, builder, state.location);
  return success();
}

void ForWorkOp::print(OpAsmPrinter &printer) {
  printer << " (" << getB() << ", " << getH() << ", " << getM0() << ") in ("
          << getBatch() << ", " << getHeads() << ", " << getRows() << ") step "
          << getStep();
  if (getStarts())
    printer << " packed " << getStarts();
  if (getTogether())
    printer << " together " << getTogether();
  if (getClaim())
    printer << " claim " << getClaim();
  if (getMail())
    printer << " through " << getMail() << " : " << getMail().getType();
  printCarried(printer, getIterArgs(), getInits());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!getInits().empty());
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {"step", getOperandSegmentSizesAttrName().getValue()});
}

LogicalResult ForWorkOp::verifyRegions() {
  SmallVector<Type> expected(3, IntegerType::get(getContext(), 32));
  llvm::append_range(expected, getInits().getTypes());
  TypeRange arguments(ValueRange(getBody().getArguments()));
  if (arguments != TypeRange(expected))
    return emitOpError() << "T11: expected block arguments (" << expected
                         << "), found (" << arguments << ")";
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().getTypes() != getInits().getTypes() ||
      getResultTypes() != getInits().getTypes())
    return emitOpError() << "T11: expected the body to yield ("
                         << getInits().getTypes() << ")";
  if (static_cast<int64_t>(getStep()) < 1)
    return emitOpError() << "T11: expected a positive step, found "
                         << static_cast<int64_t>(getStep());
  return success();
}

//===----------------------------------------------------------------------===//
// for_keys
//===----------------------------------------------------------------------===//

ParseResult ForKeysOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  Type i32 = builder.getI32Type();
  StringRef kindName;
  SMLoc kindLoc = parser.getCurrentLocation();
  OpAsmParser::Argument place;
  SmallVector<OpAsmParser::UnresolvedOperand> bounds, full, inits;
  SmallVector<OpAsmParser::Argument> args;
  SmallVector<Type> types;
  int64_t step;
  if (parser.parseKeyword(&kindName))
    return failure();
  auto kind = symbolizeRangeKind(kindName);
  if (!kind)
    return parser.emitError(kindLoc)
           << "expected mixed, partial or full, found '" << kindName << "'";
  place.type = i32;
  if (parser.parseLParen() || parser.parseArgument(place) ||
      parser.parseRParen() || parser.parseKeyword("in") ||
      parser.parseOperandList(bounds, 2, OpAsmParser::Delimiter::Paren))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("full")) &&
      (parser.parseKeyword("below") ||
       parser.parseOperand(full.emplace_back())))
    return failure();
  if (parser.parseKeyword("step") || parser.parseInteger(step))
    return failure();
  args.push_back(place);
  SMLoc initLoc = parser.getCurrentLocation();
  if (parseCarried(parser, args, inits, types))
    return failure();
  if (parser.resolveOperands(bounds, i32, state.operands) ||
      parser.resolveOperands(full, i32, state.operands) ||
      parser.resolveOperands(inits, types, initLoc, state.operands))
    return failure();
  state.addTypes(types);
  bool hasFull = !full.empty();
  state.addAttribute(getOperandSegmentSizesAttrName(state.name),
                     builder.getDenseI32ArrayAttr(
                         {1, 1, hasFull, static_cast<int32_t>(inits.size())}));
  state.addAttribute("kind", RangeKindAttr::get(builder.getContext(), *kind));
  state.addAttribute("step", builder.getI64IntegerAttr(step));
  Region *body = state.addRegion();
  return failure(parser.parseRegion(*body, args) ||
                 parser.parseOptionalAttrDict(state.attributes));
}

void ForKeysOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyRangeKind(getKind()) << " (" << getPlace()
          << ") in (" << getBegin() << ", " << getEnd() << ")";
  if (getFullEnd())
    printer << " full below " << getFullEnd();
  printer << " step " << getStep();
  printCarried(printer, getIterArgs(), getInits());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {"kind", "step", getOperandSegmentSizesAttrName().getValue()});
}

LogicalResult ForKeysOp::verify() {
  bool isMixed = getKind() == RangeKind::Mixed;
  if (isMixed != !!getFullEnd())
    return emitOpError() << "T12: a " << stringifyRangeKind(getKind())
                         << (isMixed ? " loop says" : " loop does not say")
                         << " where its full tiles end";
  if (static_cast<int64_t>(getStep()) < 1)
    return emitOpError() << "T12: expected a positive step, found "
                         << static_cast<int64_t>(getStep());
  return success();
}

LogicalResult ForKeysOp::verifyRegions() {
  SmallVector<Type> expected = {IntegerType::get(getContext(), 32)};
  llvm::append_range(expected, getInits().getTypes());
  TypeRange arguments(ValueRange(getBody().getArguments()));
  if (arguments != TypeRange(expected))
    return emitOpError() << "T13: expected block arguments (" << expected
                         << "), found (" << arguments << ")";
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError() << "T13: expected tile.yield at the end of the body";
  if (yield.getValues().getTypes() != getResultTypes() ||
      getInits().getTypes() != getResultTypes())
    return emitOpError() << "T13: expected initial values ("
                         << getInits().getTypes() << "), yielded values ("
                         << yield.getValues().getTypes() << ") and results ("
                         << getResultTypes() << ") of the same types";
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  ValType tile = getTile().getType();
  ViewType view = getView().getType();
  if (tile.getElementType() != view.getElementType())
    return emitOpError() << "T4: expected element type "
                         << view.getElementType() << ", found "
                         << tile.getElementType();
  if (tile.getSizes().size() != 2 || tile.getSizes()[1] < view.getColumns())
    return emitOpError() << "T4: a tile of " << view.getColumns()
                         << " columns needs a second axis at least that long";
  return success();
}

LogicalResult StoreOp::verify() {
  ValType tile = getTile().getType();
  ViewType view = getView().getType();
  int64_t columns = tile.getSizes().size() == 2 ? tile.getSizes()[1] : 1;
  if (columns < view.getColumns())
    return emitOpError() << "T14: expected at least " << view.getColumns()
                         << " columns, found " << columns;
  if (!tile.getElementType().isF32() &&
      tile.getElementType() != view.getElementType())
    return emitOpError() << "T14: expected a tile of f32 or "
                         << view.getElementType() << ", found " << tile;
  return success();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

LogicalResult FillOp::verify() {
  ValType tile = getTile().getType();
  if (tile.getElementType() != getScalar().getType() || tile.isShared())
    return emitOpError() << "T15: expected a tile of " << getScalar().getType()
                         << " in registers, found " << tile;
  return success();
}

LogicalResult MakeViewOp::verify() {
  if ((getPosition().empty() && !getRagged()) || getPosition().size() == 2)
    return success();
  return emitOpError() << "T23: expected a head and a "
                       << (getRagged() ? "first row" : "batch entry")
                       << ", found " << getPosition().size() << " indices";
}

LogicalResult DotOp::verify() {
  ValType lhs = getLhs().getType(), rhs = getRhs().getType(),
          result = getResult().getType();
  auto lhsOver = lhs.findAxis(getOver()), rhsOver = rhs.findAxis(getOver());
  if (!lhsOver || !rhsOver || lhs.getSizes().size() != 2 ||
      rhs.getSizes().size() != 2 ||
      lhs.getSizes()[*lhsOver] != rhs.getSizes()[*rhsOver])
    return emitOpError() << "T5: expected operands of two axes, one of them '"
                         << getOver() << "' in the same size, found " << lhs
                         << " and " << rhs;
  unsigned x = 1 - *lhsOver, y = 1 - *rhsOver;
  if (lhs.getAxes()[x] == rhs.getAxes()[y])
    return emitOpError() << "T6: expected the operands' other axes to differ, "
                            "both are "
                         << lhs.getAxes()[x];
  ValType expected =
      ValType::get(getContext(), {lhs.getAxes()[x], rhs.getAxes()[y]},
                   {lhs.getSizes()[x], rhs.getSizes()[y]},
                   Float32Type::get(getContext()), 0);
  if (result != expected)
    return emitOpError() << "T6: expected result " << expected << ", found "
                         << result;
  if (getInit() && getInit().getType() != expected)
    return emitOpError() << "T6: expected init " << expected << ", found "
                         << getInit().getType();
  if (lhs.getElementType() != rhs.getElementType() ||
      !(lhs.getElementType().isBF16() || lhs.getElementType().isF16()))
    return emitOpError() << "T7: expected two bf16 or two f16 tiles, found "
                         << lhs.getElementType() << " and "
                         << rhs.getElementType();
  return success();
}

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, bases;
  SmallVector<Attribute> axes;
  SmallVector<Type> types;
  Type result;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(inputs))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("index"))) {
    auto parseIndex = [&]() -> ParseResult {
      StringAttr axis;
      if (parser.parseAttribute(axis) || parser.parseLParen() ||
          parser.parseOperand(bases.emplace_back()) || parser.parseRParen())
        return failure();
      axes.push_back(axis);
      return success();
    };
    if (parser.parseCommaSeparatedList(parseIndex))
      return failure();
  }
  if (parser.parseColon() || (!inputs.empty() && parser.parseTypeList(types)) ||
      parser.parseArrow() || parser.parseType(result) ||
      parser.resolveOperands(inputs, types, loc, state.operands) ||
      parser.resolveOperands(bases, builder.getI32Type(), state.operands))
    return failure();
  state.addTypes(result);
  state.addAttribute(getIndexAxesAttrName(state.name),
                     builder.getArrayAttr(axes));
  state.addAttribute(
      "operandSegmentSizes",
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(inputs.size()),
                                    static_cast<int32_t>(bases.size())}));
  Region *body = state.addRegion();
  return failure(parser.parseRegion(*body) ||
                 parser.parseOptionalAttrDict(state.attributes));
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << " " << getInputs();
  if (!getBases().empty()) {
    printer << " index ";
    llvm::interleaveComma(
        llvm::zip(getIndexAxes(), getBases()), printer, [&](auto pair) {
          printer << std::get<0>(pair) << "(" << std::get<1>(pair) << ")";
        });
  }
  printer << " : " << getInputs().getTypes() << " -> " << getResult().getType()
          << " ";
  printer.printRegion(getBody());
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getIndexAxesAttrName().getValue(), "operandSegmentSizes"});
}

void MapOp::build(OpBuilder &builder, OperationState &state, ValType result,
                  ValueRange inputs, ArrayRef<StringRef> indexAxes,
                  ValueRange bases,
                  function_ref<Value(OpBuilder &, Location, ValueRange)> body,
                  bool inClass) {
  build(builder, state, result, inputs, builder.getStrArrayAttr(indexAxes),
        bases, inClass);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.regions.front().get());
  for (Value input : inputs)
    block->addArgument(cast<ValType>(input.getType()).getElementType(),
                       state.location);
  for (size_t i = 0; i < bases.size(); ++i)
    block->addArgument(builder.getI32Type(), state.location);
  Value value = body(builder, state.location, block->getArguments());
  YieldOp::create(builder, state.location, value);
}

static LogicalResult verifyYields(Operation *op, Region &body, Type expected) {
  auto yield = dyn_cast<YieldOp>(body.front().getTerminator());
  if (!yield || yield.getValues().size() != 1 ||
      yield.getValues()[0].getType() != expected)
    return op->emitOpError()
           << "T10: expected the region to yield one " << expected;
  return success();
}

LogicalResult MapOp::verifyRegions() {
  ValType result = getResult().getType();
  SmallVector<Type> expected;
  for (Value input : getInputs()) {
    auto type = cast<ValType>(input.getType());
    for (auto [axis, size] : llvm::zip(type.getAxes(), type.getSizes())) {
      auto found = result.findAxis(axis);
      bool isClass = axis.getValue() == "r" && result.findAxis("k");
      if (!isClass && (!found || result.getSizes()[*found] != size))
        return emitOpError() << "T8: input axis " << axis << ":" << size
                             << " is not an axis of the result " << result;
    }
    expected.push_back(type.getElementType());
  }
  if (getIndexAxes().size() != getBases().size())
    return emitOpError() << "T9: expected one base per index axis";
  for (Attribute axis : getIndexAxes()) {
    if (!result.findAxis(cast<StringAttr>(axis).getValue()))
      return emitOpError() << "T9: index axis " << axis
                           << " is not an axis of the result";
    if (llvm::count(getIndexAxes(), axis) > 1)
      return emitOpError() << "T9: index axis " << axis << " appears twice";
  }
  if (getInClass() &&
      !llvm::is_contained(getIndexAxes().getAsValueRange<StringAttr>(), "k"))
    return emitOpError() << "T9b: expected in_class with an index along \"k\"";
  expected.append(getBases().size(), IntegerType::get(getContext(), 32));
  if (TypeRange(ValueRange(getBody().getArguments())) != TypeRange(expected))
    return emitOpError() << "T9: expected block arguments (" << expected << ")";
  return verifyYields(*this, getBody(), result.getElementType());
}

LogicalResult MaskOp::verify() {
  ValType input = getInput().getType();
  if (input.findAxis("q") != 0u || input.findAxis("k") != 1u ||
      !input.getElementType().isF32())
    return emitOpError() << "T16: expected an f32 tile with the axes q and k, "
                            "found "
                         << input;
  return success();
}

LogicalResult MaskOp::verifyRegions() {
  Type i32 = IntegerType::get(getContext(), 32);
  if (TypeRange(ValueRange(getBody().getArguments())) != TypeRange({i32, i32}))
    return emitOpError() << "T9: expected block arguments (i32, i32)";
  return verifyYields(*this, getBody(), IntegerType::get(getContext(), 1));
}

LogicalResult ReduceOp::verify() {
  ValType input = getInput().getType(), result = getResult().getType();
  if (!input.findAxis(getOver()) || result.findAxis(getOver()))
    return emitOpError() << "T17: reduces an axis '" << getOver()
                         << "' that the input has and the result lacks";
  for (auto [axis, size] : llvm::zip(input.getAxes(), input.getSizes()))
    if (axis != getOver() &&
        (!result.findAxis(axis) || result.getSize(axis) != size))
      return emitOpError() << "T17: expected the result to keep axis " << axis;
  for (StringAttr axis : result.getAxes())
    if (!input.findAxis(axis) && axis != "r")
      return emitOpError() << "T17: the result may only add the axis r, found "
                           << axis;
  if (input.getElementType() != result.getElementType())
    return emitOpError() << "T17: expected element type "
                         << input.getElementType() << ", found "
                         << result.getElementType();
  return success();
}

LogicalResult CastOp::verify() {
  ValType input = getInput().getType(), result = getResult().getType();
  if (result != input.withElementType(result.getElementType()))
    return emitOpError() << "T18: expected the axes of " << input << ", found "
                         << result;
  return success();
}
