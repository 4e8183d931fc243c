//===- ExprJson.h - Rules in a manifest -------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule is stored as the list of its nodes, operands before users, the root
// last: sharing survives, so a tree that is small in memory stays small on
// disk.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_EXPRJSON_H
#define ATTN_LIB_REFERENCE_EXPRJSON_H

#include "attn/Reference/Expr.h"

#include <nlohmann/json.hpp>

namespace attn::detail {

/// JSON has no infinity and no NaN: they are the words "inf", "-inf", "nan".
nlohmann::json numberToJson(double value);
double numberFromJson(const nlohmann::json &json);

/// Null for a null rule.
nlohmann::json exprToJson(const ExprPtr &root);

/// Throws std::runtime_error when a node is not well formed (operand count,
/// types): the evaluator relies on it.
ExprPtr exprFromJson(const nlohmann::json &json, const std::string &what);

} // namespace attn::detail

#endif // ATTN_LIB_REFERENCE_EXPRJSON_H
