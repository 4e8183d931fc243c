//===- AttnOps.cpp - Operations of the attn dialect -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace attn::ir;

//===----------------------------------------------------------------------===//
// Printing and parsing
//===----------------------------------------------------------------------===//

static ParseResult parseDims(OpAsmParser &parser, ArrayAttr &dims) {
  SmallVector<Attribute> parsed;
  auto parseDim = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    auto emitError = [&] { return parser.emitError(loc); };
    int64_t size = 0;
    OptionalParseResult literal = parser.parseOptionalInteger(size);
    DimAttr dim;
    if (literal.has_value()) {
      if (failed(*literal))
        return failure();
      dim = DimAttr::getChecked(emitError, parser.getContext(),
                                DimKind::Literal, size);
    } else {
      FailureOr<DimKind> kind = FieldParser<DimKind>::parse(parser);
      if (failed(kind))
        return failure();
      dim = DimAttr::getChecked(emitError, parser.getContext(), *kind, size);
    }
    if (!dim)
      return failure();
    parsed.push_back(dim);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return failure();
  dims = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printDims(OpAsmPrinter &printer, Operation *, ArrayAttr dims) {
  printer << "[";
  llvm::interleaveComma(dims, printer, [&](Attribute attr) {
    auto dim = cast<DimAttr>(attr);
    if (dim.getKind() == DimKind::Literal)
      printer << dim.getSize();
    else
      printer << stringifyDimKind(dim.getKind());
  });
  printer << "]";
}

static ParseResult
parseIndices(OpAsmParser &parser,
             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &indices,
             SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    Type type = parser.getBuilder().getI32Type();
    if (parser.parseOperand(indices.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
      return failure();
    types.push_back(type);
    return success();
  });
}

static void printIndices(OpAsmPrinter &printer, Operation *,
                         OperandRange indices, TypeRange) {
  llvm::interleaveComma(indices, printer, [&](Value index) {
    printer << index;
    if (!index.getType().isInteger(32))
      printer << " : " << index.getType();
  });
}

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

/// A kernel has at most one rule of a kind (A8).
template <typename RuleOp> static RuleOp getRule(KernelOp kernel) {
  auto rules = kernel.getBody().getOps<RuleOp>();
  return rules.empty() ? RuleOp() : *rules.begin();
}

MaskOp KernelOp::getMask() { return getRule<MaskOp>(*this); }
ScoreOp KernelOp::getScore() { return getRule<ScoreOp>(*this); }
SinkOp KernelOp::getSink() { return getRule<SinkOp>(*this); }
BoundsOp KernelOp::getBounds() { return getRule<BoundsOp>(*this); }
FactorOp KernelOp::getFactor() { return getRule<FactorOp>(*this); }
RampOp KernelOp::getRamp() { return getRule<RampOp>(*this); }

FlatSymbolRefAttr KernelOp::getScaleParam() {
  return dyn_cast_or_null<FlatSymbolRefAttr>(getScaleAttr());
}

std::optional<double> KernelOp::getStaticScale() {
  if (getScaleParam())
    return std::nullopt;
  if (auto number = dyn_cast_or_null<FloatAttr>(getScaleAttr()))
    return number.getValueAsDouble();
  return 1.0 / std::sqrt(static_cast<double>(getHeadDimQk()));
}

Location KernelOp::getFieldLoc(StringRef field) {
  auto fused = dyn_cast<FusedLoc>(getLoc());
  if (!fused)
    return getLoc();
  for (Location part : fused.getLocations())
    if (auto named = dyn_cast<NameLoc>(part))
      if (named.getName() == field)
        return named.getChildLoc();
  return getLoc();
}

static LogicalResult verifyTypes(KernelOp kernel) {
  auto isElement = [](Type type) {
    return isa<BFloat16Type, Float16Type, Float8E4M3FNType>(type);
  };
  if (!isElement(kernel.getDtype()))
    return kernel.emitOpError()
           << "(A3) dtype must be bf16, f16 or f8E4M3FN; found "
           << kernel.getDtype();
  Type kv = kernel.getKvType();
  if (!isElement(kv) && !isa<Float8E5M2Type>(kv))
    return kernel.emitOpError()
           << "(A3) kv_dtype must be bf16, f16, f8E4M3FN or f8E5M2; found "
           << kv;
  if (!isa<BFloat16Type, Float16Type, Float32Type>(kernel.getOut()))
    return kernel.emitOpError()
           << "(A3) out must be bf16, f16 or f32; found " << kernel.getOut();
  return success();
}

static LogicalResult verifySizes(KernelOp kernel) {
  int64_t heads = kernel.getHeads(), kvHeads = kernel.getKvHeads();
  if (heads <= 0 || kvHeads <= 0 || heads % kvHeads)
    return kernel.emitOpError()
           << "(A4) heads and kv_heads must be positive and heads a multiple "
              "of kv_heads; found "
           << heads << " and " << kvHeads;
  constexpr int64_t headDimStep = 8;
  int64_t qk = kernel.getHeadDimQk(), v = kernel.getHeadDimV();
  if (qk <= 0 || v <= 0 || qk % headDimStep || v % headDimStep)
    return kernel.emitOpError()
           << "(A5) head dimensions must be positive multiples of "
           << headDimStep << "; found " << qk << " and " << v;
  return success();
}

static LogicalResult verifyScale(KernelOp kernel) {
  if (auto name = kernel.getScaleParam()) {
    auto param = kernel.lookupSymbol<ParamOp>(name.getAttr());
    if (!param || !param.getType().isF32())
      return kernel.emitOpError()
             << "(A6) scale names " << name << ", which is no f32 param";
    return success();
  }
  double scale = *kernel.getStaticScale();
  if (!std::isfinite(scale) || scale <= 0)
    return kernel.emitOpError()
           << "(A6) scale must be finite and greater than 0; found " << scale;
  return success();
}

LogicalResult KernelOp::verify() {
  if (failed(verifyTypes(*this)) || failed(verifySizes(*this)))
    return failure();
  if (!getOutputsO() && !getOutputsLse())
    return emitOpError() << "(A7) stores nothing: expected outputs_o, "
                            "outputs_lse or both";
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  llvm::SmallDenseMap<OperationName, Operation *> rules;
  for (Operation &op : getBody().front()) {
    if (isa<ParamOp, TensorOp>(op))
      continue;
    if (!isa<MaskOp, ScoreOp, SinkOp, BoundsOp, FactorOp, RampOp>(op))
      return op.emitOpError() << "(A8) is no param, tensor or rule; a kernel "
                                 "holds only these";
    auto [first, isNew] = rules.try_emplace(op.getName(), &op);
    if (!isNew) {
      InFlightDiagnostic diag =
          op.emitOpError() << "(A8) is the second of its kind in this kernel";
      diag.attachNote(first->second->getLoc()) << "the first is here";
      return diag;
    }
  }
  return verifyScale(*this);
}

//===----------------------------------------------------------------------===//
// Run-time values
//===----------------------------------------------------------------------===//

LogicalResult ParamOp::verify() {
  Type type = getType();
  if (!type.isInteger(1) && !type.isInteger(32) && !type.isInteger(64) &&
      !type.isF32())
    return emitOpError() << "(A9) type must be i1, i32, i64 or f32; found "
                         << type;
  if (getDefaultValue().getType() != type)
    return emitOpError() << "(A9) default must have type " << type << "; found "
                         << getDefaultValue();
  return success();
}

Type TensorOp::getReadType(Type elementType) {
  MLIRContext *context = elementType.getContext();
  auto i32 = IntegerType::get(context, 32);
  return llvm::TypeSwitch<Type, Type>(elementType)
      .Case<BFloat16Type, Float16Type, Float32Type>(
          [&](Type) { return Float32Type::get(context); })
      .Case<IntegerType>([&](IntegerType type) -> Type {
        bool isSignless = type.isSignless();
        switch (type.getWidth()) {
        case 1:
        case 64:
          return isSignless ? type : Type();
        case 8:
          return isSignless || type.isUnsigned() ? i32 : Type();
        case 32:
          return isSignless ? i32 : Type();
        default:
          return Type();
        }
      })
      .Default(Type());
}

LogicalResult TensorOp::verify() {
  if (!getReadType(getElementType()))
    return emitOpError() << "(A10) element type must be i8, ui8, i32, i64, i1, "
                            "f16, bf16 or f32; found "
                         << getElementType();
  if (getDims().empty())
    return emitOpError() << "(A11) must have at least one dimension";
  return success();
}

LogicalResult GetParamOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto param =
      symbolTable.lookupNearestSymbolFrom<ParamOp>(*this, getParamAttr());
  if (!param)
    return emitOpError() << "(A12) names " << getParamAttr()
                         << ", which is no param of the kernel";
  if (param.getType() != getType()) {
    InFlightDiagnostic diag = emitOpError()
                              << "(A12) has type " << getType()
                              << ", but the param has " << param.getType();
    diag.attachNote(param.getLoc()) << "the param is here";
    return diag;
  }
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto tensor =
      symbolTable.lookupNearestSymbolFrom<TensorOp>(*this, getTensorAttr());
  if (!tensor)
    return emitOpError() << "(A13) names " << getTensorAttr()
                         << ", which is no tensor of the kernel";
  auto report = [&](const Twine &what) -> LogicalResult {
    InFlightDiagnostic diag = emitOpError() << "(A13) " << what;
    diag.attachNote(tensor.getLoc()) << "the tensor is here";
    return diag;
  };
  if (tensor.getDims().size() != getIndices().size())
    return report("has " + Twine(getIndices().size()) +
                  " indices, but the tensor has " +
                  Twine(tensor.getDims().size()) + " dimensions");
  if (TensorOp::getReadType(tensor.getElementType()) != getType())
    return report("must have the tensor's element type, widened");
  return success();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Checks (A14) and (A15); `yieldTypes` are the types the rule must yield.
static LogicalResult verifyRule(Operation *op, ArrayRef<StringLiteral> names,
                                ArrayRef<Type> yieldTypes) {
  Block &body = op->getRegion(0).front();
  auto i32 = IntegerType::get(op->getContext(), 32);
  auto f32 = Float32Type::get(op->getContext());
  if (body.getNumArguments() != names.size())
    return op->emitOpError()
           << "(A14) must have " << names.size() << " block arguments; found "
           << body.getNumArguments();
  for (auto [name, argument] : llvm::zip(names, body.getArguments())) {
    Type expected = name == "s" ? Type(f32) : Type(i32);
    if (argument.getType() != expected)
      return op->emitOpError()
             << "(A14) block argument #" << argument.getArgNumber() << " ("
             << name << ") must be " << expected << "; found "
             << argument.getType();
  }
  for (Operation &inner : body.without_terminator())
    if (inner.getNumRegions() || !isMemoryEffectFree(&inner))
      return inner.emitOpError()
             << "(A15) has side effects or a region; a rule is scalar code "
                "without";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || TypeRange(yield.getResults()) != TypeRange(yieldTypes)) {
    InFlightDiagnostic diag = body.getTerminator()->emitOpError()
                              << "(A14) must be an attn.yield of ";
    llvm::interleaveComma(yieldTypes, diag);
    return diag;
  }
  return success();
}

static void nameArguments(Region &region, ArrayRef<StringLiteral> names,
                          OpAsmSetValueNameFn setName) {
  // Not yet verified: there may be another number of arguments.
  for (auto [name, argument] : llvm::zip(names, region.getArguments()))
    setName(argument, name);
}

/// Index variables of mask and score rules, in block argument order.
static constexpr StringLiteral pairNames[] = {"b", "h", "g",     "i",
                                              "q", "k", "q_len", "k_len"};
static constexpr StringLiteral scoreNames[] = {"s", "b", "h",     "g",    "i",
                                               "q", "k", "q_len", "k_len"};
static constexpr StringLiteral sinkNames[] = {"b", "h", "g"};
static constexpr StringLiteral boundsNames[] = {
    "b", "h", "g", "q_first", "q_last", "q_len", "k_len"};
static constexpr StringLiteral rampNames[] = {"b", "h",     "g",    "i",
                                              "q", "q_len", "k_len"};

ArrayRef<StringLiteral> MaskOp::argumentNames() { return pairNames; }
ArrayRef<StringLiteral> ScoreOp::argumentNames() { return scoreNames; }
ArrayRef<StringLiteral> SinkOp::argumentNames() { return sinkNames; }
ArrayRef<StringLiteral> BoundsOp::argumentNames() { return boundsNames; }
ArrayRef<StringLiteral> FactorOp::argumentNames() { return {}; }
ArrayRef<StringLiteral> RampOp::argumentNames() { return rampNames; }

template <typename RuleOp>
static BlockArgument findArgument(RuleOp rule, StringRef name) {
  ArrayRef<StringLiteral> names = RuleOp::argumentNames();
  const auto *found = llvm::find(names, name);
  assert(found != names.end() && "no such argument");
  return rule.getBody().getArgument(found - names.begin());
}

BlockArgument MaskOp::getArgument(StringRef name) {
  return findArgument(*this, name);
}
BlockArgument ScoreOp::getArgument(StringRef name) {
  return findArgument(*this, name);
}
BlockArgument SinkOp::getArgument(StringRef name) {
  return findArgument(*this, name);
}
BlockArgument BoundsOp::getArgument(StringRef name) {
  return findArgument(*this, name);
}
BlockArgument FactorOp::getArgument(StringRef name) {
  return findArgument(*this, name);
}
BlockArgument RampOp::getArgument(StringRef name) {
  return findArgument(*this, name);
}

template <typename RuleOp> static YieldOp yieldOf(RuleOp rule) {
  return cast<YieldOp>(rule.getBody().front().getTerminator());
}

YieldOp MaskOp::getYield() { return yieldOf(*this); }
YieldOp ScoreOp::getYield() { return yieldOf(*this); }
YieldOp SinkOp::getYield() { return yieldOf(*this); }
YieldOp BoundsOp::getYield() { return yieldOf(*this); }
YieldOp FactorOp::getYield() { return yieldOf(*this); }
YieldOp RampOp::getYield() { return yieldOf(*this); }

LogicalResult MaskOp::verifyRegions() {
  return verifyRule(*this, pairNames, IntegerType::get(getContext(), 1));
}
LogicalResult ScoreOp::verifyRegions() {
  return verifyRule(*this, scoreNames, Float32Type::get(getContext()));
}
LogicalResult SinkOp::verifyRegions() {
  return verifyRule(*this, sinkNames, Float32Type::get(getContext()));
}
LogicalResult BoundsOp::verifyRegions() {
  // Pairs, at least the visible ones, and the last key.
  auto visible = static_cast<int64_t>(getVisible());
  if (visible < 0)
    return emitOpError() << "(A14) must have no negative number of visible "
                            "intervals; found "
                         << visible;
  int64_t count = getBody().front().getTerminator()->getNumOperands();
  if (count % 2 == 0 || count < 2 * visible + 1)
    return emitOpError() << "(A14) must yield " << visible
                         << " visible intervals as pairs, then pairs of hidden "
                            "ones and a single key; found "
                         << count << " values";
  if (getListed() && !getApproximate())
    return emitOpError() << "(A16) must be approximate to be listed";
  int heads = 0;
  for (Attribute dim :
       getListed() ? getListed()->getValue() : ArrayRef<Attribute>()) {
    DimKind kind = cast<DimAttr>(dim).getKind();
    heads += kind == DimKind::Heads || kind == DimKind::KvHeads;
    if (kind != DimKind::Batch && kind != DimKind::Heads &&
        kind != DimKind::KvHeads)
      return emitOpError() << "(A16) may be listed by batch, heads or kv_heads;"
                              " found "
                           << stringifyDimKind(kind);
  }
  if (heads > 1)
    return emitOpError() << "(A16) may be listed by heads or by kv_heads; "
                            "found both";
  SmallVector<Type> i32s(count, IntegerType::get(getContext(), 32));
  return verifyRule(*this, boundsNames, i32s);
}
LogicalResult FactorOp::verifyRegions() {
  return verifyRule(*this, {}, Float32Type::get(getContext()));
}
LogicalResult RampOp::verifyRegions() {
  Type slope = Float32Type::get(getContext());
  Type shift = IntegerType::get(getContext(), 32);
  return verifyRule(*this, rampNames, {slope, shift});
}

void MaskOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  nameArguments(region, pairNames, set);
}
void ScoreOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn set) {
  nameArguments(region, scoreNames, set);
}
void SinkOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  nameArguments(region, sinkNames, set);
}
void BoundsOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn set) {
  nameArguments(region, boundsNames, set);
}
void FactorOp::getAsmBlockArgumentNames(Region &, OpAsmSetValueNameFn) {}
void RampOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn set) {
  nameArguments(region, rampNames, set);
}
