//===- ExprJson.cpp - Rules in a manifest -----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExprJson.h"
#include "JsonFields.h"
#include "Spelling.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>

using nlohmann::json;

namespace attn::detail {
namespace {

constexpr Word<ExprType> typeWords[] = {{ExprType::Int, "int"},
                                        {ExprType::Float, "float"},
                                        {ExprType::Bool, "bool"}};

constexpr Word<IndexVar> indexWords[] = {
    {IndexVar::B, "b"},        {IndexVar::H, "h"},        {IndexVar::G, "g"},
    {IndexVar::I, "i"},        {IndexVar::Q, "q"},        {IndexVar::K, "k"},
    {IndexVar::QLen, "q_len"}, {IndexVar::KLen, "k_len"}, {IndexVar::S, "s"}};

constexpr Word<ExprKind> kindWords[] = {{ExprKind::IntConst, "int"},
                                        {ExprKind::FloatConst, "float"},
                                        {ExprKind::BoolConst, "bool"},
                                        {ExprKind::Index, "index"},
                                        {ExprKind::Param, "param"},
                                        {ExprKind::Read, "read"},
                                        {ExprKind::ToFloat, "to_float"},
                                        {ExprKind::Neg, "neg"},
                                        {ExprKind::Not, "not"},
                                        {ExprKind::Add, "add"},
                                        {ExprKind::Sub, "sub"},
                                        {ExprKind::Mul, "mul"},
                                        {ExprKind::Div, "div"},
                                        {ExprKind::Mod, "mod"},
                                        {ExprKind::Eq, "eq"},
                                        {ExprKind::Ne, "ne"},
                                        {ExprKind::Lt, "lt"},
                                        {ExprKind::Le, "le"},
                                        {ExprKind::Gt, "gt"},
                                        {ExprKind::Ge, "ge"},
                                        {ExprKind::And, "and"},
                                        {ExprKind::Or, "or"},
                                        {ExprKind::Select, "select"},
                                        {ExprKind::Min, "min"},
                                        {ExprKind::Max, "max"},
                                        {ExprKind::Abs, "abs"},
                                        {ExprKind::Exp, "exp"},
                                        {ExprKind::Exp2, "exp2"},
                                        {ExprKind::Log, "log"},
                                        {ExprKind::Log2, "log2"},
                                        {ExprKind::Tanh, "tanh"},
                                        {ExprKind::Sigmoid, "sigmoid"},
                                        {ExprKind::Sqrt, "sqrt"}};

/// Whether operand types and result type fit the kind.
bool isWellTyped(const Expr &node) {
  auto operandsAre = [&](size_t count, ExprType type) {
    if (node.operands.size() != count)
      return false;
    for (const ExprPtr &operand : node.operands)
      if (operand->type != type)
        return false;
    return true;
  };
  bool arithmetic = node.type != ExprType::Bool;
  switch (node.kind) {
  case ExprKind::IntConst:
    return node.operands.empty() && node.type == ExprType::Int;
  case ExprKind::FloatConst:
    return node.operands.empty() && node.type == ExprType::Float;
  case ExprKind::BoolConst:
    return node.operands.empty() && node.type == ExprType::Bool;
  case ExprKind::Index:
    return node.operands.empty() &&
           node.type ==
               (node.index == IndexVar::S ? ExprType::Float : ExprType::Int);
  case ExprKind::Param:
    return node.operands.empty();
  case ExprKind::Read:
    return !node.operands.empty() &&
           operandsAre(node.operands.size(), ExprType::Int);
  case ExprKind::ToFloat:
    return node.type == ExprType::Float && operandsAre(1, ExprType::Int);
  case ExprKind::Neg:
  case ExprKind::Abs:
    return arithmetic && operandsAre(1, node.type);
  case ExprKind::Not:
    return node.type == ExprType::Bool && operandsAre(1, ExprType::Bool);
  case ExprKind::Add:
  case ExprKind::Sub:
  case ExprKind::Mul:
  case ExprKind::Div:
  case ExprKind::Min:
  case ExprKind::Max:
    return arithmetic && operandsAre(2, node.type);
  case ExprKind::Mod:
    return node.type == ExprType::Int && operandsAre(2, ExprType::Int);
  case ExprKind::Eq:
  case ExprKind::Ne:
    return node.type == ExprType::Bool &&
           (operandsAre(2, ExprType::Int) || operandsAre(2, ExprType::Float) ||
            operandsAre(2, ExprType::Bool));
  case ExprKind::Lt:
  case ExprKind::Le:
  case ExprKind::Gt:
  case ExprKind::Ge:
    return node.type == ExprType::Bool &&
           (operandsAre(2, ExprType::Int) || operandsAre(2, ExprType::Float));
  case ExprKind::And:
  case ExprKind::Or:
    return node.type == ExprType::Bool && operandsAre(2, ExprType::Bool);
  case ExprKind::Select:
    return node.operands.size() == 3 &&
           node.operands[0]->type == ExprType::Bool &&
           node.operands[1]->type == node.type &&
           node.operands[2]->type == node.type;
  case ExprKind::Exp:
  case ExprKind::Exp2:
  case ExprKind::Log:
  case ExprKind::Log2:
  case ExprKind::Tanh:
  case ExprKind::Sigmoid:
  case ExprKind::Sqrt:
    return node.type == ExprType::Float && operandsAre(1, ExprType::Float);
  }
  return false;
}

json nodeToJson(const Expr &node, json operands) {
  json out = {{"op", wordOf(kindWords, node.kind)},
              {"type", wordOf(typeWords, node.type)}};
  if (!operands.empty())
    out["args"] = std::move(operands);
  switch (node.kind) {
  case ExprKind::IntConst:
  case ExprKind::BoolConst:
    out["value"] = node.intValue;
    break;
  case ExprKind::FloatConst:
    out["value"] = numberToJson(node.floatValue);
    break;
  case ExprKind::Index:
    out["name"] = wordOf(indexWords, node.index);
    break;
  case ExprKind::Param:
  case ExprKind::Read:
    out["name"] = node.name;
    break;
  default:
    break;
  }
  if (node.line)
    out["at"] = {node.line, node.column};
  return out;
}

size_t append(const ExprPtr &node, json &nodes,
              std::unordered_map<const Expr *, size_t> &numbers) {
  auto known = numbers.find(node.get());
  if (known != numbers.end())
    return known->second;
  json operands = json::array();
  for (const ExprPtr &operand : node->operands)
    operands.push_back(append(operand, nodes, numbers));
  nodes.push_back(nodeToJson(*node, std::move(operands)));
  return numbers[node.get()] = nodes.size() - 1;
}

ExprPtr nodeFromJson(const json &in, const std::vector<ExprPtr> &earlier,
                     const std::string &what) {
  auto node = std::make_shared<Expr>();
  node->kind = valueOf(kindWords, fieldOf<std::string>(in, "op"), what + ".op");
  node->type =
      valueOf(typeWords, fieldOf<std::string>(in, "type"), what + ".type");
  if (in.contains("args"))
    for (const json &number : listOf(in, "args")) {
      auto operand = valueAs<int64_t>(number, what + ".args");
      if (operand < 0 || size_t(operand) >= earlier.size())
        throw std::runtime_error(what + ".args: operand " +
                                 std::to_string(operand) +
                                 " is not an earlier node");
      node->operands.push_back(earlier[size_t(operand)]);
    }
  switch (node->kind) {
  case ExprKind::IntConst:
  case ExprKind::BoolConst:
    node->intValue = fieldOf<int64_t>(in, "value");
    break;
  case ExprKind::FloatConst:
    node->floatValue = numberFromJson(member(in, "value"));
    break;
  case ExprKind::Index:
    node->index =
        valueOf(indexWords, fieldOf<std::string>(in, "name"), what + ".name");
    break;
  case ExprKind::Param:
  case ExprKind::Read:
    node->name = fieldOf<std::string>(in, "name");
    break;
  default:
    break;
  }
  if (in.contains("at")) {
    std::tie(node->line, node->column) = placeOf(member(in, "at"));
  }
  if (!isWellTyped(*node))
    throw std::runtime_error(what +
                             ": the operands or the type do not fit op '" +
                             wordOf(kindWords, node->kind) + "'");
  return node;
}

} // namespace

json numberToJson(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return value;
}

double numberFromJson(const json &in) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (in.is_number())
    return in.get<double>();
  auto word = valueAs<std::string>(in, "a number");
  if (word == "inf" || word == "-inf")
    return word == "inf" ? infinity : -infinity;
  if (word == "nan")
    return std::numeric_limits<double>::quiet_NaN();
  throw std::runtime_error("expected a number, found '" + word + "'");
}

json exprToJson(const ExprPtr &root) {
  if (!root)
    return nullptr;
  json nodes = json::array();
  std::unordered_map<const Expr *, size_t> numbers;
  append(root, nodes, numbers);
  return nodes;
}

ExprPtr exprFromJson(const json &in, const std::string &what) {
  if (in.is_null())
    return nullptr;
  if (!in.is_array() || in.empty())
    throw std::runtime_error(what +
                             ": expected null or a non-empty list of nodes");
  std::vector<ExprPtr> nodes;
  for (const json &node : in)
    nodes.push_back(nodeFromJson(
        node, nodes, what + "[" + std::to_string(nodes.size()) + "]"));
  return nodes.back();
}

} // namespace attn::detail
