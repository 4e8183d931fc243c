//===- FillSpec.cpp - Values given as a word or a rule --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FillSpec.h"
#include "Inputs.h"

#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>

using namespace attn;
using namespace attn::run;

/// The prime modulus of Fill::Pattern: no tile size is a multiple of it.
static constexpr double patternModulus = 61;
/// Positions are below it, and doubles hold it exactly.
static constexpr double maxModulus = double(int64_t(1) << 53);
/// No number drawn from the normal distribution is larger: its uniform numbers
/// have 53 bits, and sqrt(-2 ln 2^-53) is 8.6.
static constexpr double largestDraw = 9;

std::optional<double> run::parseNumber(const std::string &text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])))
    return std::nullopt;
  char *end = nullptr;
  errno = 0;
  double value = std::strtod(text.c_str(), &end);
  // 1e999 is no way to write inf.
  bool overflows = errno == ERANGE && std::isinf(value);
  if (*end != '\0' || overflows)
    return std::nullopt;
  return value;
}

std::optional<int64_t> run::parseInteger(const std::string &text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])))
    return std::nullopt;
  char *end = nullptr;
  constexpr int decimal = 10;
  errno = 0;
  int64_t value = std::strtoll(text.c_str(), &end, decimal);
  if (*end != '\0' || errno == ERANGE)
    return std::nullopt;
  return value;
}

std::vector<std::string> run::splitAt(const std::string &text, char separator) {
  std::vector<std::string> pieces;
  size_t start = 0;
  for (size_t at; (at = text.find(separator, start)) != std::string::npos;
       start = at + 1)
    pieces.push_back(text.substr(start, at - start));
  pieces.push_back(text.substr(start));
  return pieces;
}

FillSpec FillSpec::pattern() {
  FillSpec spec;
  spec.base = Mod;
  spec.number = patternModulus;
  return spec;
}

void FillSpec::parseBase(const std::string &text) {
  size_t colon = text.find(':');
  std::string word = text.substr(0, colon);
  std::optional<double> operand;
  if (colon != std::string::npos) {
    operand = parseNumber(text.substr(colon + 1));
    if (!operand)
      throw InputError("'" + text.substr(colon + 1) + "' is not a number");
  }
  struct Word {
    const char *word;
    Base base;
    double value; ///< without an operand
    bool takesOperand;
  };
  static constexpr Word words[] = {{"random", Random, 1, false},
                                   {"normal", Random, 1, true},
                                   {"pattern", Mod, patternModulus, false},
                                   {"onehot", OneHot, 0, false},
                                   {"iota", Iota, 0, true},
                                   {"ones", Constant, 1, false},
                                   {"zeros", Constant, 0, false}};
  if (word == "onehot" && operand) {
    base = OneHotDim;
    number = *operand;
    return;
  }
  if ((word == "mod" || word == "const") && operand) {
    base = word == "mod" ? Mod : Constant;
    number = *operand;
    if (base == Mod && !(number >= 1 && number <= maxModulus &&
                         number == double(int64_t(number))))
      throw InputError("the modulus is a positive integer");
    return;
  }
  for (const Word &entry : words) {
    if (word != entry.word || (operand && !entry.takesOperand))
      continue;
    base = entry.base;
    number = operand.value_or(entry.value);
    return;
  }
  std::optional<double> value = parseNumber(text);
  if (!value)
    throw InputError("expected random, normal[:FACTOR], pattern, mod:N, "
                     "onehot[:DIM], iota[:OFFSET], ones, zeros or a number, "
                     "found '" +
                     text + "'");
  base = Constant;
  number = *value;
}

void FillSpec::parseOverride(const std::string &text) {
  size_t equals = text.find('=');
  std::string range = text.substr(0, equals);
  size_t dots = range.find("..");
  std::optional<int64_t> first = parseInteger(range.substr(0, dots));
  std::optional<int64_t> last =
      dots == std::string::npos ? first : parseInteger(range.substr(dots + 2));
  std::optional<double> value;
  if (equals != std::string::npos)
    value = parseNumber(text.substr(equals + 1));
  if (!first || !last || !value || *first < 0 || *last < *first)
    throw InputError("expected POSITION=NUMBER or FIRST..LAST=NUMBER, found '" +
                     text + "'");
  overrides.push_back({*first, *last, *value});
}

FillSpec FillSpec::parse(const std::string &option, const std::string &text) {
  FillSpec spec;
  std::vector<std::string> pieces = splitAt(text, ',');
  try {
    spec.parseBase(pieces[0]);
    for (size_t i = 1; i < pieces.size(); ++i)
      spec.parseOverride(pieces[i]);
  } catch (const InputError &error) {
    throw InputError(option + "=" + text + ": " + error.what());
  }
  return spec;
}

double FillSpec::largest(int64_t rows, int64_t dim) const {
  switch (base) {
  case Random:
    return number * largestDraw;
  case Mod:
    return std::min(number, double(rows)) - 1;
  case Iota:
    return std::max(std::abs(number), std::abs(number + double(dim - 1)));
  case OneHot:
  case OneHotDim:
    return 1;
  case Constant:
    break;
  }
  return number;
}

void FillSpec::checkFits(const std::string &option, int64_t rows, int64_t dim,
                         DType type) const {
  if (base == OneHotDim && !(number >= 0 && number < double(dim) &&
                             number == double(int64_t(number))))
    throw InputError(option + ": onehot: expected a dim of 0 .. " +
                     std::to_string(dim - 1));
  for (const Override &entry : overrides)
    if (entry.last >= rows)
      throw InputError(option + ": position " + std::to_string(entry.last) +
                       " is past the last of " + std::to_string(rows));
  auto checkHeld = [&](double value) {
    if (overflows(type, value))
      throw InputError(option + ": " + spellNumber(value) + overflowText(type));
  };
  checkHeld(largest(rows, dim));
  for (const Override &entry : overrides)
    checkHeld(entry.value);
}

double FillSpec::at(int64_t s, int64_t d, int64_t dim) const {
  for (auto it = overrides.rbegin(); it != overrides.rend(); ++it)
    if (s >= it->first && s <= it->last)
      return it->value;
  switch (base) {
  case Mod:
    return double(s % int64_t(number));
  case OneHot:
    return d == s % dim;
  case OneHotDim:
    return double(d) == number;
  case Iota:
    return number + double(d);
  case Random:
  case Constant:
    break;
  }
  return number;
}

void FillSpec::fill(const RowTarget &target, uint64_t seed,
                    Stream stream) const {
  if (base == Random)
    fillRows(target, Fill::Normal, seed, stream, number);
  for (int64_t b = 0; b < target.batch; ++b)
    for (int64_t h = 0; h < target.heads; ++h)
      for (int64_t s = 0; s < target.rows; ++s) {
        bool overridden = std::any_of(
            overrides.begin(), overrides.end(), [&](const Override &entry) {
              return s >= entry.first && s <= entry.last;
            });
        if (base == Random && !overridden)
          continue;
        int64_t row =
            b * target.strideB + h * target.strideH + s * target.strideS;
        for (int64_t d = 0; d < target.dim; ++d)
          storeElement(target.type, target.data, row + d, at(s, d, target.dim));
      }
}
