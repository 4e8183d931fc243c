//===- Bindings.cpp - Params and tensors of the command line --------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"

#include "attn/Reference/Npy.h"
#include "attn/Reference/Numbers.h"

#include <cmath>
#include <set>

using namespace attn;
using namespace attn::run;

ParamValue run::parseParam(const Param &param, const std::string &text) {
  std::string field = "--param " + param.name + "=" + text;
  if (text == "unbounded") {
    if (param.type == DType::F32 || param.type == DType::Bool)
      throw InputError(field + ": unbounded is for integer params, '" +
                       param.name + "' is " + spelling(param.type));
    return ParamValue::ofInt(INT32_MAX);
  }
  if (param.type == DType::F32) {
    std::optional<double> value = parseNumber(text);
    if (!value)
      throw InputError(field + ": expected a number");
    return ParamValue::ofFloat(*value);
  }
  if (param.type == DType::Bool && (text == "true" || text == "false"))
    return ParamValue::ofInt(text == "true");
  std::optional<int64_t> value = parseInteger(text);
  if (!value)
    throw InputError(field + ": expected " +
                     (param.type == DType::Bool ? "true or false"
                                                : "an integer or unbounded"));
  return ParamValue::ofInt(*value);
}

template <typename Declaration>
static const Declaration &declared(const char *kind,
                                   const std::vector<Declaration> &all,
                                   const std::string &name) {
  std::string known;
  for (const Declaration &declaration : all) {
    if (declaration.name == name)
      return declaration;
    known += (known.empty() ? "" : ", ") + declaration.name;
  }
  throw InputError(std::string("--") + kind + " " + name +
                   ": the spec has no " + kind + " of that name" +
                   (known.empty() ? "" : " (it has " + known + ")"));
}

void run::bindParams(const InputOptions &options, Inputs &inputs) {
  for (const NamedValue &bound : options.params) {
    const Param &param = declared("param", inputs.problem->params, bound.name);
    if (!inputs.params.emplace(bound.name, parseParam(param, bound.value))
             .second)
      throw InputError("--param " + bound.name + ": given twice");
  }
}

/// One number for all elements, or as many numbers as there are elements.
static std::vector<uint8_t> tensorOfNumbers(const Tensor &tensor,
                                            int64_t elements,
                                            const std::string &text) {
  std::string field = "--tensor " + tensor.name + "=" + text;
  std::vector<double> numbers;
  for (const std::string &piece : splitAt(text, ',')) {
    std::optional<double> number = parseNumber(piece);
    if (!number)
      throw InputError(field + ": expected a .npy file, random, zeros, ones, "
                               "pattern, a number or a list of numbers");
    // Numbers pass through double, which holds integers up to 2^53.
    constexpr double maxExact = double(int64_t(1) << 53);
    if (tensor.type == DType::I64 && std::abs(*number) > maxExact)
      throw InputError(field + ": " + piece +
                       " is beyond 2^53; give such numbers in a .npy file");
    if (isFloat(tensor.type) && overflows(tensor.type, *number))
      throw InputError(field + ": " + piece + overflowText(tensor.type));
    if (!isFloat(tensor.type) && roundTo(tensor.type, *number) != *number)
      throw InputError(field + ": " + piece + " is not a value of " +
                       spelling(tensor.type));
    numbers.push_back(*number);
  }
  if (numbers.size() != 1 && int64_t(numbers.size()) != elements)
    throw InputError(field + ": " + std::to_string(numbers.size()) +
                     " numbers, expected 1 or " + std::to_string(elements));
  std::vector<uint8_t> bytes(size_t(elements * byteSize(tensor.type)));
  for (int64_t i = 0; i < elements; ++i)
    storeElement(tensor.type, bytes.data(), i,
                 numbers.size() == 1 ? numbers[0] : numbers[size_t(i)]);
  return bytes;
}

static std::string dimNames(const Tensor &tensor) {
  static constexpr struct {
    DimKind kind;
    const char *name;
  } names[] = {{DimKind::Batch, "batch"},      {DimKind::Heads, "heads"},
               {DimKind::KvHeads, "kv_heads"}, {DimKind::QLen, "q_len"},
               {DimKind::KLen, "k_len"},       {DimKind::TotalQ, "total_q"},
               {DimKind::TotalK, "total_k"}};
  std::string text = "[";
  for (const Dim &dim : tensor.dims) {
    std::string name = std::to_string(dim.literal);
    for (const auto &entry : names)
      if (entry.kind == dim.kind)
        name = entry.name;
    text += (text.size() > 1 ? ", " : "") + name;
  }
  return text + "]";
}

static std::vector<uint8_t> tensorContents(const Tensor &tensor,
                                           const std::string &value,
                                           const std::vector<int64_t> &dims,
                                           uint64_t seed, Inputs &inputs) {
  int64_t elements = elementCount(*inputs.problem, tensor, inputs.arguments());
  const std::string suffix = ".npy";
  bool isFile =
      value.size() > suffix.size() &&
      value.compare(value.size() - suffix.size(), suffix.size(), suffix) == 0;
  if (isFile) {
    NpyConversion conversion =
        convertNpy(readNpy(value), tensor.type, dims, dimNames(tensor));
    if (!conversion.note.empty())
      inputs.notes.push_back(conversion.note);
    return conversion.bytes;
  }
  static const std::set<std::string> words = {"random", "zeros", "ones",
                                              "pattern"};
  if (words.count(value)) {
    auto ordinal = uint64_t(&tensor - inputs.problem->tensors.data());
    return makeTensor(tensor, dims, parseFill(value), seed, ordinal);
  }
  return tensorOfNumbers(tensor, elements, value);
}

void run::bindTensors(const InputOptions &options, Inputs &inputs) {
  for (const NamedValue &bound : options.tensors) {
    const Tensor &tensor =
        declared("tensor", inputs.problem->tensors, bound.name);
    HostAuxiliary data;
    data.type = tensor.type;
    data.dims = extents(*inputs.problem, tensor, inputs.arguments());
    data.bytes =
        tensorContents(tensor, bound.value, data.dims, options.seed, inputs);
    if (!inputs.tensors.emplace(bound.name, std::move(data)).second)
      throw InputError("--tensor " + bound.name + ": given twice");
  }
  for (const Tensor &tensor : inputs.problem->tensors)
    if (!inputs.tensors.count(tensor.name))
      throw InputError("tensor '" + tensor.name +
                       "' : " + spelling(tensor.type) + dimNames(tensor) +
                       " is not bound: give --tensor " + tensor.name +
                       "=FILE.npy, random, zeros or a number");
}
