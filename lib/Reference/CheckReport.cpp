//===- CheckReport.cpp - A check's result in words and in JSON --*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExprJson.h"
#include "attn/Reference/Check.h"
#include "attn/Reference/Numbers.h"

#include <cmath>

using nlohmann::json;

namespace attn {
namespace {

std::string place(const Difference &difference) {
  std::string text = difference.d < 0 ? "lse" : "o";
  text += " at b = " + std::to_string(difference.b) +
          ", h = " + std::to_string(difference.h) + ", row " +
          std::to_string(difference.i) +
          " (q = " + std::to_string(difference.q) + ")";
  if (difference.d >= 0)
    text += ", d = " + std::to_string(difference.d);
  return text;
}

std::string values(const Difference &difference) {
  if (std::isnan(difference.expected))
    return "got " + spellNumber(difference.got) +
           ", but the reference itself is nan there, which nothing matches";
  return "got " + spellNumber(difference.got) + ", expected " +
         spellNumber(difference.expected) + ", error " +
         spellNumber(difference.error) + ", bound " +
         spellNumber(difference.bound);
}

std::string spellIndex(const std::vector<int64_t> &index) {
  std::string text;
  for (int64_t position : index)
    text += (text.empty() ? "" : ", ") + std::to_string(position);
  return "[" + text + "]";
}

json differenceToJson(const std::optional<Difference> &difference) {
  if (!difference)
    return nullptr;
  json out = {{"output", difference->d < 0 ? "lse" : "o"},
              {"b", difference->b},
              {"h", difference->h},
              {"row", difference->i},
              {"q", difference->q},
              {"got", detail::numberToJson(difference->got)},
              {"expected", detail::numberToJson(difference->expected)},
              {"error", detail::numberToJson(difference->error)},
              {"bound", detail::numberToJson(difference->bound)}};
  if (difference->d >= 0)
    out["d"] = difference->d;
  return out;
}

json faultToJson(const std::optional<Fault> &fault) {
  if (!fault)
    return nullptr;
  json out = {{"b", fault->b},       {"h", fault->h},
              {"q", fault->q},       {"k", fault->k},
              {"line", fault->line}, {"column", fault->column}};
  if (fault->kind == Fault::OutOfRange) {
    out["tensor"] = fault->tensor;
    out["index"] = fault->index;
    out["extents"] = fault->extents;
  }
  return out;
}

} // namespace

std::string CheckReport::text() const {
  std::string text = passed ? "check passed: " : "check FAILED: ";
  text += "compared " + selection.description + ", " +
          std::to_string(elements) + " numbers of o";
  if (emptyRows)
    text += ", " + std::to_string(emptyRows) + " rows without a visible key";
  text += ".";
  if (failures || lseFailures) {
    text += " " + std::to_string(failures) + " numbers of o and " +
            std::to_string(lseFailures) + " of lse are out of bound";
    if (nanGot)
      text += ", " + std::to_string(nanGot) + " of them NaN";
    text += ".";
  }
  if (first)
    text += " First: " + place(*first) + ": " + values(*first) + ".";
  if (worst)
    text +=
        " Worst for its bound: " + place(*worst) + ": " + values(*worst) + ".";
  if (worstLse)
    text += " Worst " + place(*worstLse) + ": " + values(*worstLse) + ".";
  if (worst)
    text += " Largest error " + spellNumber(maxError) +
            "; a plain implementation " +
            (plainRuleFailed ? "has only " : "has ") + spellNumber(plainError) +
            " (limit " + spellNumber(plainLimit) + ").";
  if (outOfRange)
    text += " Read out of range: " + outOfRange->message() + ".";
  for (const MonotoneFailure &failure : monotone)
    text += " Tensor '" + failure.tensor +
            "' is declared monotone but decreases at " +
            spellIndex(failure.index) + ", from " +
            spellNumber(failure.before) + " to " + spellNumber(failure.after) +
            ".";
  for (const std::string &warning : warnings)
    text += " Warning: " + warning + ".";
  return text;
}

std::string CheckReport::json() const {
  ::json failed = ::json::array();
  for (const MonotoneFailure &failure : monotone)
    failed.push_back({{"tensor", failure.tensor},
                      {"index", failure.index},
                      {"before", detail::numberToJson(failure.before)},
                      {"after", detail::numberToJson(failure.after)}});
  ::json out = {{"passed", passed},
                {"rows", selection.description},
                {"rows_compared", selection.rows.size()},
                {"rows_total", selection.total},
                {"elements", elements},
                {"failures", failures},
                {"lse_failures", lseFailures},
                {"nan_got", nanGot},
                {"nan_expected", nanExpected},
                {"empty_rows", emptyRows},
                {"worst", differenceToJson(worst)},
                {"worst_lse", differenceToJson(worstLse)},
                {"first_failure", differenceToJson(first)},
                {"max_error", detail::numberToJson(maxError)},
                {"plain_error", detail::numberToJson(plainError)},
                {"plain_limit", detail::numberToJson(plainLimit)},
                {"plain_rule_failed", plainRuleFailed},
                {"max_abs_logit", detail::numberToJson(maxAbsLogit)},
                {"out_of_range", faultToJson(outOfRange)},
                {"division_by_zero", faultToJson(divisionByZero)},
                {"monotone_failures", std::move(failed)},
                {"warnings", warnings}};
  return out.dump();
}

} // namespace attn
