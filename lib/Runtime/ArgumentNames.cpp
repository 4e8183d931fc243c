//===- ArgumentNames.cpp - Names a kernel argument may have ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentNames.h"
#include "PackageNames.h"

#include <algorithm>
#include <cctype>

using namespace attn;

std::optional<std::string> attn::afterPrefix(const std::string &text,
                                             const std::string &prefix) {
  if (text.compare(0, prefix.size(), prefix) != 0)
    return std::nullopt;
  return text.substr(prefix.size());
}

static constexpr NamedValue<LaunchOperand> operandNames[] = {
    {LaunchOperand::Q, "q"},
    {LaunchOperand::K, "k"},
    {LaunchOperand::V, "v"},
    {LaunchOperand::O, "o"},
    {LaunchOperand::Lse, "lse"}};

std::optional<LaunchOperand> attn::parseOperand(const std::string &name) {
  for (const NamedValue<LaunchOperand> &entry : operandNames)
    if (name == entry.name)
      return entry.value;
  return std::nullopt;
}

const char *attn::spelling(LaunchOperand operand) {
  return operandNames[size_t(operand)].name;
}

std::optional<StrideName> attn::parseStrideName(const std::string &name) {
  const std::string middle = "_stride_";
  size_t at = name.find(middle);
  if (at == std::string::npos || at + middle.size() + 1 != name.size())
    return std::nullopt;
  std::optional<LaunchOperand> operand = parseOperand(name.substr(0, at));
  char axis = name.back();
  if (!operand || (axis != 'b' && axis != 'h' && axis != 's'))
    return std::nullopt;
  return StrideName{*operand, axis};
}

/// The operand of a tensor map: "k_map" -> K.
static std::optional<LaunchOperand> parseMapName(const std::string &name) {
  const std::string ending = "_map";
  if (name.size() != ending.size() + 1 ||
      name.compare(1, ending.size(), ending) != 0)
    return std::nullopt;
  return parseOperand(name.substr(0, 1));
}

const Param *attn::findParam(const Problem &problem, const std::string &name) {
  auto it = std::find_if(problem.params.begin(), problem.params.end(),
                         [&](const Param &p) { return p.name == name; });
  return it == problem.params.end() ? nullptr : &*it;
}

const Tensor *attn::findTensor(const Problem &problem,
                               const std::string &name) {
  auto it = std::find_if(problem.tensors.begin(), problem.tensors.end(),
                         [&](const Tensor &t) { return t.name == name; });
  return it == problem.tensors.end() ? nullptr : &*it;
}

template <typename Declaration>
static std::optional<uint32_t>
numberOf(const std::vector<Declaration> &declarations,
         const std::optional<std::string> &name) {
  for (size_t i = 0; name && i < declarations.size(); ++i)
    if (declarations[i].name == *name)
      return uint32_t(i);
  return std::nullopt;
}

ArgumentSource attn::findSource(const Problem &problem,
                                const std::string &name) {
  using Kind = ArgumentSource::Kind;
  static constexpr NamedValue<Kind> values[] = {
      {Kind::QLens, "q_lens"},
      {Kind::KLens, "k_lens"},
      {Kind::Workspace, "workspace"},
      {Kind::WorkCounter, "work_counter"},
      {Kind::Batch, "batch"},
      {Kind::QLen, "q_len"},
      {Kind::KLen, "k_len"},
      {Kind::Scale, "scale"},
      {Kind::TotalQ, "total_q"},
      {Kind::TotalK, "total_k"},
      {Kind::CuSeqlensQ, "cu_seqlens_q"},
      {Kind::CuSeqlensK, "cu_seqlens_k"}};
  ArgumentSource source;
  for (const NamedValue<Kind> &value : values)
    if (name == value.name)
      source.kind = value.value;
  if (std::optional<LaunchOperand> operand = parseOperand(name)) {
    source.kind = Kind::Pointer;
    source.operand = *operand;
  } else if (std::optional<StrideName> stride = parseStrideName(name)) {
    source.kind = Kind::Stride;
    source.operand = stride->operand;
    source.axis = stride->axis;
  } else if (std::optional<LaunchOperand> map = parseMapName(name)) {
    // A pointer may be null, a tensor map never: there is none of a missing o.
    if (*map != LaunchOperand::O || problem.outputO)
      source.kind = Kind::Map;
    source.operand = *map;
  } else if (auto tensor =
                 numberOf(problem.tensors, afterPrefix(name, "tensor:"))) {
    source.kind = Kind::Tensor;
    source.index = *tensor;
  } else if (auto param =
                 numberOf(problem.params, afterPrefix(name, "param:"))) {
    source.kind = Kind::Param;
    source.index = *param;
  } else if (std::optional<KernelRole> role = valueOf(kernelRoleNames, name);
             role && *role != KernelRole::Attention) {
    source.kind = Kind::Buffer;
    source.index = uint32_t(*role);
  }
  return source;
}

ArgumentType attn::typeOf(const Problem &problem,
                          const ArgumentSource &source) {
  using Kind = ArgumentSource::Kind;
  switch (source.kind) {
  case Kind::Stride:
    return ArgumentType::I64;
  case Kind::Map:
    return ArgumentType::TensorMap;
  case Kind::Batch:
  case Kind::QLen:
  case Kind::KLen:
  case Kind::TotalQ:
  case Kind::TotalK:
    return ArgumentType::I32;
  case Kind::Scale:
    return ArgumentType::F32;
  case Kind::Param: {
    DType type = problem.params[source.index].type;
    if (type == DType::F32)
      return ArgumentType::F32;
    return type == DType::I64 ? ArgumentType::I64 : ArgumentType::I32;
  }
  default:
    return ArgumentType::Ptr;
  }
}

bool attn::isGuardName(const std::string &name) {
  static const char *const names[] = {"batch",   "q_len",    "k_len",
                                      "heads",   "kv_heads", "q_align",
                                      "k_align", "v_align",  "o_align"};
  return std::find(std::begin(names), std::end(names), name) !=
             std::end(names) ||
         parseStrideName(name);
}

bool attn::isWorkExtent(const std::string &name) {
  return name == "batch" || name == "heads" || name == "kv_heads" ||
         name == "q_len" || name == "k_len" || name == "total_q";
}

std::optional<TargetName> attn::parseTarget(const std::string &target) {
  auto version = afterPrefix(target, "sm_");
  if (!version || version->empty())
    return std::nullopt;
  TargetName result;
  std::string digits = *version;
  if (digits.back() == 'a' || digits.back() == 'f') {
    result.suffix = digits.back();
    digits.pop_back();
  }
  // The last digit is the minor version: sm_120 is 12.0.
  constexpr size_t maxDigits = 3;
  bool numeric = std::all_of(digits.begin(), digits.end(),
                             [](unsigned char c) { return std::isdigit(c); });
  if (!numeric || digits.size() < 2 || digits.size() > maxDigits)
    return std::nullopt;
  int version10 = std::stoi(digits);
  result.smMajor = version10 / 10;
  result.smMinor = version10 % 10;
  return result;
}
