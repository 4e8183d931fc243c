//===- AttnAttrs.cpp - Attributes of the attn dialect ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::ir;

#include "attn/Dialect/Attn/IR/AttnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"

void AttnDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"
      >();
}

/// M and N of the tile that one mma.sync m16n8k16 gives.
static constexpr int64_t mmaM = 16, mmaN = 8;

//===----------------------------------------------------------------------===//
// Facts of a problem
//===----------------------------------------------------------------------===//

LogicalResult KvAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                             Kv kind, int64_t page, PageLayout layout) {
  if (kind == Kv::Paged && page <= 0)
    return emitError() << "a paged kv needs 'page', a positive number of keys; "
                          "found "
                       << page;
  if (kind == Kv::Contiguous && (page != 0 || layout != PageLayout::Nhd))
    return emitError() << "a contiguous kv has no 'page' and no 'layout'";
  return success();
}

LogicalResult SplitAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                Split kind, int64_t value) {
  bool hasValue = kind == Split::Count || kind == Split::Fixed;
  if (hasValue && value <= 0)
    return emitError() << "split '" << stringifySplit(kind)
                       << "' needs a positive 'value'; found " << value;
  if (!hasValue && value != 0)
    return emitError() << "split '" << stringifySplit(kind)
                       << "' has no 'value'; found " << value;
  return success();
}

LogicalResult DimAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              DimKind kind, int64_t size) {
  if (kind == DimKind::Literal && size <= 0)
    return emitError() << "(A11) a literal dimension must be positive; found "
                       << size;
  if (kind != DimKind::Literal && size != 0)
    return emitError() << "dimension '" << stringifyDimKind(kind)
                       << "' has no size of its own; found " << size;
  return success();
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

namespace {
/// The parameters of a schedule while it is parsed.
struct Knobs {
  std::optional<int64_t> tileM, tileN, warps, stages, consumers, overlap;
  std::optional<bool> turns, persistent, producer;
  std::optional<MaxMode> max;
  std::optional<MmaKind> mma;
  std::optional<Loader> loader;
  std::optional<Store> store;
};
} // namespace

static ParseResult parseFlag(AsmParser &parser, std::optional<bool> &flag) {
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  if (word != "true" && word != "false")
    return parser.emitError(parser.getCurrentLocation())
           << "expected true or false, found '" << word << "'";
  flag = word == "true";
  return success();
}

template <typename Enum>
static ParseResult parseWord(AsmParser &parser, std::optional<Enum> &word) {
  FailureOr<Enum> value = FieldParser<Enum>::parse(parser);
  if (failed(value))
    return failure();
  word = *value;
  return success();
}

static ParseResult parseTile(AsmParser &parser, Knobs &knobs) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> sizes;
  if (parser.parseDimensionList(sizes, /*allowDynamic=*/false,
                                /*withTrailingX=*/false))
    return failure();
  if (sizes.size() != 2)
    return parser.emitError(loc) << "expected a tile such as 128x64, found "
                                 << sizes.size() << " sizes";
  knobs.tileM = sizes[0];
  knobs.tileN = sizes[1];
  return success();
}

static ParseResult parseKnob(AsmParser &parser, Knobs &knobs) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  if (name == "tile")
    return parseTile(parser, knobs);
  if (name == "turns")
    return parseFlag(parser, knobs.turns);
  if (name == "persistent")
    return parseFlag(parser, knobs.persistent);
  if (name == "producer")
    return parseFlag(parser, knobs.producer);
  if (name == "max")
    return parseWord(parser, knobs.max);
  if (name == "mma")
    return parseWord(parser, knobs.mma);
  if (name == "loader")
    return parseWord(parser, knobs.loader);
  if (name == "store")
    return parseWord(parser, knobs.store);
  auto *number = llvm::StringSwitch<std::optional<int64_t> *>(name)
                     .Case("warps", &knobs.warps)
                     .Case("stages", &knobs.stages)
                     .Case("consumers", &knobs.consumers)
                     .Case("overlap", &knobs.overlap)
                     .Default(nullptr);
  if (!number)
    return parser.emitError(loc) << "expected a knob (tile, warps, stages, "
                                    "consumers, overlap, turns, persistent, "
                                    "max, mma, loader, producer, store), "
                                    "found '"
                                 << name << "'";
  return parser.parseInteger(number->emplace());
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  FailureOr<ScheduleKind> kind = FieldParser<ScheduleKind>::parse(parser);
  if (failed(kind))
    return {};
  Knobs knobs;
  while (succeeded(parser.parseOptionalComma()))
    if (parseKnob(parser, knobs))
      return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    *kind, knobs.tileM, knobs.tileN, knobs.warps, knobs.stages,
                    knobs.consumers, knobs.overlap, knobs.turns,
                    knobs.persistent, knobs.max, knobs.mma, knobs.loader,
                    knobs.producer, knobs.store);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyScheduleKind(getKind());
  if (getTileM())
    printer << ", tile = " << *getTileM() << "x" << *getTileN();
  auto number = [&](StringRef name, std::optional<int64_t> value) {
    if (value)
      printer << ", " << name << " = " << *value;
  };
  auto flag = [&](StringRef name, std::optional<bool> value) {
    if (value)
      printer << ", " << name << " = " << (*value ? "true" : "false");
  };
  number("warps", getWarps());
  number("stages", getStages());
  number("consumers", getConsumers());
  number("overlap", getOverlap());
  flag("turns", getTurns());
  flag("persistent", getPersistent());
  if (getMax())
    printer << ", max = " << stringifyMaxMode(*getMax());
  if (getMma())
    printer << ", mma = " << stringifyMmaKind(*getMma());
  if (getLoader())
    printer << ", loader = " << stringifyLoader(*getLoader());
  flag("producer", getProducer());
  if (getStore())
    printer << ", store = " << stringifyStore(*getStore());
  printer << ">";
}

LogicalResult ScheduleAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, ScheduleKind,
    std::optional<int64_t> tileM, std::optional<int64_t> tileN,
    std::optional<int64_t> warps, std::optional<int64_t> stages,
    std::optional<int64_t> consumers, std::optional<int64_t> overlap,
    std::optional<bool>, std::optional<bool>, std::optional<MaxMode>,
    std::optional<MmaKind>, std::optional<Loader>, std::optional<bool>,
    std::optional<Store>) {
  auto atLeast = [&](StringRef name, std::optional<int64_t> value,
                     int64_t least) -> LogicalResult {
    if (value && *value < least)
      return emitError() << "(A1) '" << name << "' must be at least " << least
                         << "; found " << *value;
    return success();
  };
  if (failed(atLeast("tile M", tileM, 1)) ||
      failed(atLeast("tile N", tileN, 1)) ||
      failed(atLeast("warps", warps, 1)) ||
      failed(atLeast("stages", stages, 1)) ||
      failed(atLeast("consumers", consumers, 1)) ||
      failed(atLeast("overlap", overlap, 0)))
    return failure();
  if (tileM.has_value() != tileN.has_value())
    return emitError() << "(A2) a tile has both M and N";
  if (tileM && (*tileM % mmaM || *tileN % mmaN))
    return emitError() << "(A2) tile M must be a multiple of " << mmaM
                       << " and tile N a multiple of " << mmaN << "; found "
                       << *tileM << "x" << *tileN;
  return success();
}
