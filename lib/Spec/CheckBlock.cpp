//===- CheckBlock.cpp - From an attention block to a Problem --------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckBlock.h"
#include "CheckFields.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::ast;
using llvm::StringRef;
using llvm::Twine;

static constexpr DType paramTypes[] = {DType::I32, DType::I64, DType::F32,
                                       DType::Bool};
static constexpr DType tensorTypes[] = {DType::I8,   DType::U8,   DType::I32,
                                        DType::I64,  DType::Bool, DType::F16,
                                        DType::BF16, DType::F32};
/// S11: bounds of a tensor's literal dimensions, so that its number of elements
/// fits 64 bits with room for the others.
static constexpr size_t maxRank = 8;
static constexpr int64_t maxLiteralElements = int64_t(1) << 40;

BlockChecker::BlockChecker(const File &file, const Block &block,
                           Diagnostics &diagnostics)
    : file(file), block(block), diagnostics(diagnostics),
      buffer(diagnostics.sourceMgr().FindBufferContainingLoc(
          block.name.range().Start)),
      inliner(diagnostics, buffer) {}

Problem BlockChecker::check() {
  problem.name = block.name.name.str();
  problem.file = file.name;
  problem.text = file.text.str();
  for (const ParamDecl &decl : block.params)
    checkParam(decl);
  for (const TensorDecl &decl : block.tensors)
    checkTensor(decl);
  FieldChecker(block, problem, diagnostics).check();
  checkRules();
  addLocations();
  if (diagnostics.errorCount() == 0)
    warnUnused();
  return std::move(problem);
}

std::pair<unsigned, unsigned> BlockChecker::locate(llvm::SMRange range) const {
  return diagnostics.sourceMgr().getLineAndColumn(range.Start, buffer);
}

//===----------------------------------------------------------------------===//
// Params
//===----------------------------------------------------------------------===//

void BlockChecker::checkParam(const ParamDecl &decl) {
  Param param;
  param.name = decl.name.name.str();
  std::tie(param.line, param.column) = locate(decl.name.range());
  std::optional<DType> type = findType(decl.type.name, paramTypes);
  if (!type) {
    diagnostics.error(decl.type.range(), "expected " + listedTypes(paramTypes) +
                                             " for a param's type, found '" +
                                             decl.type.name + "'");
    return;
  }
  param.type = *type;
  if (checkDefault(decl, param))
    problem.params.push_back(param);
}

bool BlockChecker::checkDefault(const ParamDecl &decl, Param &param) {
  const Atom &value = decl.value;
  std::string what = ("'" + decl.name.name + "' : " + decl.type.name).str();
  auto refuse = [&](const Twine &message) {
    diagnostics.error(value.range, message);
    return false;
  };
  StringRef word = value.isWord() ? value.token.text : StringRef();
  if (param.type == DType::Bool) {
    param.intDefault = word == "true";
    return (word == "true" || word == "false") && value.text() == word
               ? true
               : refuse("expected true or false for " + what + ", found '" +
                        value.text() + "'");
  }
  if (param.type == DType::F32) {
    double magnitude = value.isInt() ? static_cast<float>(value.token.intValue)
                                     : value.token.floatValue;
    if (word == "inf")
      magnitude = std::numeric_limits<double>::infinity();
    else if (value.isWord())
      return refuse("expected a number for " + what + ", found '" +
                    value.text() + "'");
    param.floatDefault = value.negative ? -magnitude : magnitude;
    return true;
  }
  if (word == "unbounded")
    return refuse("'unbounded' can be bound at launch only; write 2147483647");
  if (!value.isInt())
    return refuse("expected an integer for " + what + ", found '" +
                  value.text() + "'");
  // The most negative value has no positive counterpart.
  uint64_t limit = param.type == DType::I32 ? static_cast<uint64_t>(INT32_MAX)
                                            : static_cast<uint64_t>(INT64_MAX);
  uint64_t magnitude = value.token.intValue;
  if (magnitude > limit + value.negative)
    return refuse("the default of " + what + " is out of range, found " +
                  value.text());
  param.intDefault =
      static_cast<int64_t>(value.negative ? 0 - magnitude : magnitude);
  return true;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

void BlockChecker::checkTensor(const TensorDecl &decl) {
  Tensor tensor;
  tensor.name = decl.name.name.str();
  std::tie(tensor.line, tensor.column) = locate(decl.name.range());
  std::optional<DType> type = findType(decl.type.name, tensorTypes);
  if (!type)
    diagnostics.error(decl.type.range(), "expected " +
                                             listedTypes(tensorTypes) +
                                             " for a tensor's type, found '" +
                                             decl.type.name + "'");
  bool ok = checkDims(decl, tensor) && type;
  if (!ok)
    return;
  tensor.type = *type;
  tensor.monotone = decl.monotone.has_value();
  if (tensor.monotone && *type == DType::Bool)
    diagnostics.error(*decl.monotone, "only numbers can be monotone, and '" +
                                          decl.name.name + "' is bool");
  problem.tensors.push_back(std::move(tensor));
}

bool BlockChecker::checkDims(const TensorDecl &decl, Tensor &tensor) {
  if (decl.dims.size() > maxRank) {
    diagnostics.error(decl.name.range(),
                      "a tensor has at most " + Twine(maxRank) +
                          " dimensions, found " + Twine(decl.dims.size()));
    return false;
  }
  int64_t elements = 1;
  for (const Token &token : decl.dims) {
    Dim dim;
    if (token.is(TokenKind::Integer)) {
      bool fits =
          token.intValue > 0 && token.intValue <= INT32_MAX &&
          !llvm::MulOverflow<int64_t>(elements, token.intValue, elements) &&
          elements <= maxLiteralElements;
      if (!fits) {
        diagnostics.error(token.range(), "a literal dimension is from 1 to " +
                                             Twine(INT32_MAX) +
                                             ", and their product at most " +
                                             Twine(maxLiteralElements) +
                                             ", found " + token.text);
        return false;
      }
      dim.literal = token.intValue;
    } else if (std::optional<DimKind> kind = findDim(token.text)) {
      dim.kind = *kind;
    } else {
      diagnostics.error(token.range(),
                        "expected a number, " + listed(dimNames()) +
                            " for a dimension, found '" + token.text + "'" +
                            didYouMean(token.text, dimNames()));
      return false;
    }
    tensor.dims.push_back(dim);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

void BlockChecker::checkRules() {
  for (const ParamDecl &decl : block.params)
    for (const Param &param : problem.params)
      if (param.name == decl.name.name)
        inliner.addParam(decl, param);
  for (const TensorDecl &decl : block.tensors)
    for (const Tensor &tensor : problem.tensors)
      if (tensor.name == decl.name.name)
        inliner.addTensor(decl, tensor);
  for (const Rule &rule : block.rules) {
    ExprPtr tree = inliner.inlineRule(rule);
    StringRef keyword = rule.keyword.name;
    (keyword == "mask"    ? problem.mask
     : keyword == "score" ? problem.score
                          : problem.sink) = tree;
  }
}

/// S33: a param or tensor nobody uses is a likely mistake, but a legal one.
void BlockChecker::warnUnused() {
  for (const ParamDecl &decl : block.params)
    if (!inliner.isUsed(&decl) && problem.scaleParam != decl.name.name)
      diagnostics.warning(decl.name.range(),
                          "param '" + decl.name.name + "' is never used");
  bool hasScales =
      problem.kvDtype == DType::E4M3 || problem.kvDtype == DType::E5M2;
  for (const TensorDecl &decl : block.tensors) {
    StringRef name = decl.name.name;
    bool isScale = hasScales && (name == "k_scale" || name == "v_scale");
    if (!inliner.isUsed(&decl) && !isScale)
      diagnostics.warning(decl.name.range(),
                          "tensor '" + name + "' is never used");
  }
}

void BlockChecker::addLocations() {
  problem.locations["attention"] = locate(block.name.range());
  for (const Rule &rule : block.rules)
    problem.locations[rule.keyword.name.str()] = locate(rule.keyword.range());
  for (const Field &field : block.fields) {
    std::string keyword = field.keyword.name.str();
    problem.locations[keyword] = locate(field.keyword.range());
    if (field.options)
      for (const Option &option : *field.options)
        problem.locations[keyword + "." + option.name.name.str()] =
            locate(option.name.range());
  }
}
