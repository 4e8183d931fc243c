//===- CheckFields.cpp - Values of a block's fields -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckFields.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::ast;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

/// S24: more heads than any model; keeps head arithmetic far from 32 bits.
static constexpr int64_t maxHeads = 1 << 16;
/// S25: what the present schedules hold in registers and shared memory.
static constexpr int64_t headDimStep = 8, maxHeadDim = 256;
/// S23: q_len and k_len are at most this, so positions fit 32 bits.
static constexpr int64_t maxLength = int64_t(1) << 30;

template <typename Value> using Choices = ArrayRef<std::pair<StringRef, Value>>;

static constexpr DType inputTypes[] = {DType::BF16, DType::F16, DType::E4M3};
static constexpr DType outputTypes[] = {DType::BF16, DType::F16, DType::F32};
static constexpr DType kvTypes[] = {DType::BF16, DType::F16, DType::E4M3,
                                    DType::E5M2};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Field *FieldChecker::find(StringRef name) const {
  for (const Field &field : block.fields)
    if (field.keyword.name == name)
      return &field;
  return nullptr;
}

/// S19. `usage` says how the field is written.
bool FieldChecker::checkShape(const Field &field, const Shape &shape,
                              StringRef usage) {
  std::optional<llvm::SMRange> extra;
  if (field.second && !shape.second)
    extra = field.second->range;
  else if (!field.more.empty() && !shape.more)
    extra = field.more.front().range;
  else if (field.options && !shape.options)
    extra = field.optionsRange;
  if (!extra)
    return true;
  diagnostics.error(*extra, "too many values for '" + field.keyword.name +
                                "': expected '" + usage + "'");
  return false;
}

std::optional<int64_t> FieldChecker::integer(const Atom &atom, StringRef what,
                                             Bounds bounds) {
  if (atom.isFloat() || atom.isWord()) {
    diagnostics.error(atom.range, "expected an integer for " + what +
                                      ", found '" + atom.text() + "'");
    return std::nullopt;
  }
  uint64_t magnitude = atom.token.intValue;
  bool fits = magnitude <= static_cast<uint64_t>(bounds.high) &&
              static_cast<int64_t>(magnitude) >= bounds.low &&
              (!atom.negative || magnitude == 0);
  if (fits)
    return magnitude;
  diagnostics.error(atom.range, what + " is from " + Twine(bounds.low) +
                                    " to " + Twine(bounds.high) + ", found " +
                                    atom.text());
  return std::nullopt;
}

/// Each at most once, and only the known ones.
bool FieldChecker::checkOptionNames(const Field &field,
                                    ArrayRef<StringRef> names) {
  if (!field.options)
    return true;
  bool ok = true;
  llvm::SmallVector<Ident> seen;
  for (const Option &option : *field.options) {
    const Ident *first = llvm::find_if(seen, [&](const Ident &ident) {
      return ident.name == option.name.name;
    });
    if (first != seen.end()) {
      diagnostics.error(option.name.range(),
                        "'" + option.name.name + "' is given twice");
      diagnostics.note(first->range(), "first given here");
      ok = false;
    } else if (!llvm::is_contained(names, option.name.name)) {
      diagnostics.error(option.name.range(),
                        "unknown option '" + option.name.name + "' of '" +
                            field.first.text() + "': expected " +
                            listed(names) +
                            didYouMean(option.name.name, names));
      ok = false;
    }
    seen.push_back(option.name);
  }
  return ok;
}

std::optional<int64_t> FieldChecker::optionInteger(const Option &option,
                                                   Bounds bounds) {
  if (!option.value || option.second) {
    diagnostics.error(option.name.range(),
                      "expected '" + option.name.name + " = N'");
    return std::nullopt;
  }
  return integer(*option.value, ("'" + option.name.name + "'").str(), bounds);
}

/// `turns`, `turns = true` or `turns = false`.
std::optional<bool> FieldChecker::optionBool(const Option &option) {
  if (!option.value)
    return true;
  if (option.second) {
    diagnostics.error(option.second->range,
                      "expected '" + option.name.name + " = true' or 'false'");
    return std::nullopt;
  }
  return word<bool>(*option.value, option.name.name,
                    {{"true", true}, {"false", false}});
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// S18 and each field.
void FieldChecker::check() {
  problem.split = SplitKind::Auto;
  llvm::SmallVector<Ident> seen;
  auto checkOnce = [&](const Ident &keyword) {
    const Ident *first = llvm::find_if(
        seen, [&](const Ident &ident) { return ident.name == keyword.name; });
    bool isNew = first == seen.end();
    if (!isNew) {
      diagnostics.error(keyword.range(),
                        "'" + keyword.name + "' is given twice");
      diagnostics.note(first->range(), "first given here");
    }
    seen.push_back(keyword);
    return isNew;
  };
  for (const Rule &rule : block.rules)
    checkOnce(rule.keyword);
  for (const Field &field : block.fields)
    if (checkOnce(field.keyword))
      checkField(field);
  checkRequired();
  fillTypes();
  checkKvScales();
  checkRaggedDims();
}

void FieldChecker::checkRequired() {
  llvm::SmallVector<StringRef> missing;
  for (StringRef name : {"dtype", "heads", "head_dim"})
    if (!find(name))
      missing.push_back(name);
  if (!missing.empty())
    diagnostics.error(block.name.range(),
                      "attention '" + block.name.name + "' needs the field" +
                          (missing.size() > 1 ? "s " : " ") +
                          listed(missing, " and "));
}

void FieldChecker::checkField(const Field &field) {
  using Check = void (FieldChecker::*)(const Field &);
  static const std::pair<StringRef, Check> checks[] = {
      {"dtype", &FieldChecker::checkType},
      {"kv_dtype", &FieldChecker::checkKvType},
      {"out", &FieldChecker::checkOutType},
      {"heads", &FieldChecker::checkHeads},
      {"head_dim", &FieldChecker::checkHeadDim},
      {"scale", &FieldChecker::checkScale},
      {"align", &FieldChecker::checkAlign},
      {"batch", &FieldChecker::checkBatch},
      {"kv", &FieldChecker::checkKv},
      {"split", &FieldChecker::checkSplit},
      {"outputs", &FieldChecker::checkOutputs},
      {"schedule", &FieldChecker::checkSchedule},
  };
  for (const auto &[name, check] : checks)
    if (name == field.keyword.name)
      return (this->*check)(field);
}

//===----------------------------------------------------------------------===//
// Types, heads, scale
//===----------------------------------------------------------------------===//

static llvm::SmallVector<std::pair<StringRef, DType>>
typeChoices(ArrayRef<DType> types) {
  llvm::SmallVector<std::pair<StringRef, DType>> choices;
  for (DType type : types)
    choices.push_back({typeName(type), type});
  return choices;
}

/// S20.
void FieldChecker::checkType(const Field &field) {
  if (checkShape(field, {}, "dtype TYPE"))
    if (auto type = word<DType>(field.first, "dtype", typeChoices(inputTypes)))
      problem.dtype = *type;
}

void FieldChecker::checkKvType(const Field &field) {
  if (checkShape(field, {}, "kv_dtype TYPE"))
    if (auto type = word<DType>(field.first, "kv_dtype", typeChoices(kvTypes)))
      problem.kvDtype = *type;
}

void FieldChecker::checkOutType(const Field &field) {
  if (checkShape(field, {}, "out TYPE"))
    if (auto type = word<DType>(field.first, "out", typeChoices(outputTypes)))
      problem.out = *type;
}

/// S24.
void FieldChecker::checkHeads(const Field &field) {
  if (!checkShape(field, {true, false, false}, "heads Hq / Hkv"))
    return;
  auto heads = integer(field.first, "the number of query heads", {1, maxHeads});
  if (!heads)
    return;
  problem.heads = problem.kvHeads = *heads;
  if (!field.second)
    return;
  auto kvHeads =
      integer(*field.second, "the number of kv heads", {1, maxHeads});
  if (!kvHeads)
    return;
  problem.kvHeads = *kvHeads;
  if (*heads % *kvHeads != 0)
    diagnostics.error(span(field.first.range, field.second->range),
                      "the number of query heads must be a multiple of the "
                      "number of kv heads, found " +
                          Twine(*heads) + " / " + Twine(*kvHeads));
}

/// S25.
void FieldChecker::checkHeadDim(const Field &field) {
  if (!checkShape(field, {true, false, false}, "head_dim d' or 'dqk / dv"))
    return;
  auto checkDim = [&](const Atom &atom) -> int64_t {
    auto dim = integer(atom, "a head dimension the present schedules support",
                       {headDimStep, maxHeadDim});
    if (dim && *dim % headDimStep != 0)
      diagnostics.error(atom.range,
                        "head_dim must be a multiple of " + Twine(headDimStep) +
                            ", found " + Twine(*dim) +
                            "; the nearest larger one is " +
                            Twine((*dim / headDimStep + 1) * headDimStep));
    return dim.value_or(headDimStep);
  };
  problem.headDimQK = problem.headDimV = checkDim(field.first);
  if (field.second)
    problem.headDimV = checkDim(*field.second);
}

/// S26.
void FieldChecker::checkScale(const Field &field) {
  if (!checkShape(field, {}, "scale NUMBER"))
    return;
  const Atom &atom = field.first;
  if (atom.isWord())
    return checkScaleParam(field);
  double value = atom.isInt() ? static_cast<float>(atom.token.intValue)
                              : atom.token.floatValue;
  if (atom.negative || value == 0)
    diagnostics.error(atom.range,
                      "scale must be greater than 0, found " + atom.text());
  else
    problem.scale = value;
}

void FieldChecker::checkScaleParam(const Field &field) {
  const Atom &atom = field.first;
  StringRef name = atom.token.text;
  if (!atom.negative && name == "auto")
    return;
  auto param = llvm::find_if(problem.params,
                             [&](const Param &p) { return p.name == name; });
  bool known = param != problem.params.end();
  // A param with an error of its own is not among the problem's.
  bool declared = llvm::any_of(
      block.params, [&](const ParamDecl &p) { return p.name.name == name; });
  if (!atom.negative && declared && !known)
    return;
  if (atom.negative || !known) {
    llvm::SmallVector<StringRef> names = {"auto"};
    for (const Param &p : problem.params)
      names.push_back(p.name);
    diagnostics.error(atom.range,
                      "expected auto, a positive number or a param for "
                      "'scale', found '" +
                          atom.text() + "'" + didYouMean(name, names));
    return;
  }
  if (param->type != DType::F32)
    diagnostics.error(atom.range, "scale expects a param of type f32, and '" +
                                      name + "' is " + typeName(param->type));
  else if (!(param->floatDefault > 0) || std::isinf(param->floatDefault))
    diagnostics.error(atom.range, "scale must be greater than 0 and finite, "
                                  "and the default of '" +
                                      name + "' is not");
  problem.scaleParam = name.str();
}

//===----------------------------------------------------------------------===//
// Batches, caches, outputs
//===----------------------------------------------------------------------===//

/// S27.
void FieldChecker::checkAlign(const Field &field) {
  if (!checkShape(field, {}, "align WORD"))
    return;
  if (auto align = word<Alignment>(field.first, "align",
                                   {{"bottom_right", Alignment::BottomRight},
                                    {"top_left", Alignment::TopLeft}}))
    problem.align = *align;
}

/// S28.
void FieldChecker::checkBatch(const Field &field) {
  if (!checkShape(field, {}, "batch WORD"))
    return;
  if (auto batch = word<BatchKind>(field.first, "batch",
                                   {{"dense", BatchKind::Dense},
                                    {"padded", BatchKind::Padded},
                                    {"varlen", BatchKind::Varlen}}))
    problem.batch = *batch;
}

/// S29.
void FieldChecker::checkKv(const Field &field) {
  if (!checkShape(field, {false, false, true}, "kv contiguous' or 'paged(...)"))
    return;
  auto kind = word<KvKind>(
      field.first, "kv",
      {{"contiguous", KvKind::Contiguous}, {"paged", KvKind::Paged}});
  if (!kind)
    return;
  problem.kv = *kind;
  if (*kind == KvKind::Contiguous) {
    checkShape(field, {}, "kv contiguous");
    return;
  }
  if (!checkOptionNames(field, {"page", "layout"}))
    return;
  bool hasPage = false;
  for (const Option &option : field.options.value_or(std::vector<Option>())) {
    if (option.name.name == "page") {
      hasPage = true;
      problem.pageSize = optionInteger(option, {1, maxLength}).value_or(1);
    } else if (!option.value || option.second) {
      diagnostics.error(option.name.range(),
                        "expected 'layout = nhd', 'hnd' or 'vllm'");
    } else if (auto layout = word<PageLayout>(*option.value, "layout",
                                              {{"nhd", PageLayout::Nhd},
                                               {"hnd", PageLayout::Hnd},
                                               {"vllm", PageLayout::Vllm}})) {
      problem.pageLayout = *layout;
    }
  }
  if (!hasPage)
    diagnostics.error(field.first.range,
                      "a paged kv needs its page size; write 'kv paged(page = "
                      "16)'");
}

/// S30.
void FieldChecker::checkSplit(const Field &field) {
  constexpr StringRef usage = "split none', 'N', 'auto' or 'fixed(tokens = N)";
  if (!checkShape(field, {false, false, true}, usage))
    return;
  if (field.first.isNumber()) {
    problem.split = SplitKind::Count;
    if (checkShape(field, {}, "split N"))
      problem.splitValue =
          integer(field.first, "the number of pieces", {1, maxLength})
              .value_or(1);
    return;
  }
  auto kind = word<SplitKind>(field.first, "split",
                              {{"none", SplitKind::None},
                               {"auto", SplitKind::Auto},
                               {"fixed", SplitKind::Fixed}});
  if (!kind)
    return;
  problem.split = *kind;
  if (*kind != SplitKind::Fixed) {
    checkShape(field, {}, usage);
    return;
  }
  if (!checkOptionNames(field, {"tokens"}))
    return;
  if (!field.options || field.options->empty()) {
    diagnostics.error(field.first.range,
                      "a fixed split needs its length; write 'split "
                      "fixed(tokens = 1024)'");
    return;
  }
  problem.splitValue =
      optionInteger(field.options->front(), {1, maxLength}).value_or(1);
}

/// S31.
void FieldChecker::checkOutputs(const Field &field) {
  if (!checkShape(field, {false, true, false}, "outputs o, lse"))
    return;
  problem.outputO = problem.outputLse = false;
  llvm::SmallVector<Atom> atoms = {field.first};
  atoms.append(field.more.begin(), field.more.end());
  for (const Atom &atom : atoms) {
    auto isO = word<bool>(atom, "outputs", {{"o", true}, {"lse", false}});
    if (!isO)
      return;
    bool &output = *isO ? problem.outputO : problem.outputLse;
    if (output)
      diagnostics.error(atom.range,
                        "output '" + atom.text() + "' is given twice");
    output = true;
  }
}
