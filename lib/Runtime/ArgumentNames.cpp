//===- ArgumentNames.cpp - Names a kernel argument may have ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentNames.h"

#include <algorithm>
#include <cctype>

using namespace attn;

std::optional<std::string> attn::afterPrefix(const std::string &text,
                                             const std::string &prefix) {
  if (text.compare(0, prefix.size(), prefix) != 0)
    return std::nullopt;
  return text.substr(prefix.size());
}

std::optional<StrideName> attn::parseStrideName(const std::string &name) {
  const std::string middle = "_stride_";
  size_t at = name.find(middle);
  if (at == std::string::npos || at + middle.size() + 1 != name.size())
    return std::nullopt;
  StrideName result{name.substr(0, at), name.back()};
  bool knownOperand = result.operand == "q" || result.operand == "k" ||
                      result.operand == "v" || result.operand == "o" ||
                      result.operand == "lse";
  bool knownAxis =
      result.axis == 'b' || result.axis == 'h' || result.axis == 's';
  if (!knownOperand || !knownAxis)
    return std::nullopt;
  return result;
}

std::optional<std::string> attn::parseMapName(const std::string &name) {
  const std::string ending = "_map";
  if (name.size() != ending.size() + 1 ||
      name.compare(1, ending.size(), ending) != 0)
    return std::nullopt;
  std::string operand = name.substr(0, 1);
  if (std::string("qkvo").find(operand) == std::string::npos)
    return std::nullopt;
  return operand;
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

static ArgumentType paramArgumentType(const Param &param) {
  if (param.type == DType::F32)
    return ArgumentType::F32;
  return param.type == DType::I64 ? ArgumentType::I64 : ArgumentType::I32;
}

std::optional<ArgumentType> attn::argumentType(const Problem &problem,
                                               const std::string &name) {
  static const char *const pointers[] = {
      "q",         "k",         "v",
      "o",         "lse",       "q_lens",
      "k_lens",    "workspace", "work_counter",
      "block_list"};
  if (std::find(std::begin(pointers), std::end(pointers), name) !=
      std::end(pointers))
    return ArgumentType::Ptr;
  if (name == "batch" || name == "q_len" || name == "k_len")
    return ArgumentType::I32;
  if (name == "scale")
    return ArgumentType::F32;
  if (parseStrideName(name))
    return ArgumentType::I64;
  // A pointer may be null, a tensor map never: there is none of a missing o.
  if (std::optional<std::string> operand = parseMapName(name))
    return *operand != "o" || problem.outputO
               ? std::optional<ArgumentType>(ArgumentType::TensorMap)
               : std::nullopt;
  if (auto tensor = afterPrefix(name, "tensor:"))
    return findTensor(problem, *tensor)
               ? std::optional<ArgumentType>(ArgumentType::Ptr)
               : std::nullopt;
  if (auto paramName = afterPrefix(name, "param:"))
    if (const Param *param = findParam(problem, *paramName))
      return paramArgumentType(*param);
  return std::nullopt;
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
         name == "q_len" || name == "k_len";
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
