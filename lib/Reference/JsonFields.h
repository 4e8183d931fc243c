//===- JsonFields.h - Typed fields of a JSON object -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors are std::runtime_error and name the field, what was expected and what
// was found.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_JSONFIELDS_H
#define ATTN_LIB_REFERENCE_JSONFIELDS_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace attn::detail {

/// `value` as a T: std::string, bool, double or int64_t.
template <typename T>
T valueAs(const nlohmann::json &value, const std::string &what) {
  auto refuse = [&](const char *expected) {
    throw std::runtime_error(what + ": expected " + expected + ", found " +
                             value.type_name());
  };
  if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string())
      refuse("a string");
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean())
      refuse("true or false");
  } else if constexpr (std::is_same_v<T, double>) {
    if (!value.is_number())
      refuse("a number");
  } else {
    static_assert(std::is_same_v<T, int64_t>, "a type without a JSON form");
    bool fits = value.is_number_integer() &&
                (!value.is_number_unsigned() ||
                 value.template get<uint64_t>() <=
                     uint64_t(std::numeric_limits<int64_t>::max()));
    if (!fits)
      refuse("an integer of 64 bits");
  }
  return value.template get<T>();
}

inline const nlohmann::json &member(const nlohmann::json &object,
                                    const std::string &name) {
  if (!object.is_object())
    throw std::runtime_error("expected an object with '" + name + "', found " +
                             object.type_name());
  auto it = object.find(name);
  if (it == object.end())
    throw std::runtime_error("the field '" + name + "' is missing");
  return *it;
}

template <typename T>
T fieldOf(const nlohmann::json &object, const std::string &name) {
  return valueAs<T>(member(object, name), name);
}

inline const nlohmann::json &listOf(const nlohmann::json &object,
                                    const std::string &name) {
  const nlohmann::json &list = member(object, name);
  if (!list.is_array())
    throw std::runtime_error(name + ": expected a list, found " +
                             list.type_name());
  return list;
}

/// [line, column], each from 0.
inline std::pair<unsigned, unsigned> placeOf(const nlohmann::json &value) {
  auto number = [&](size_t i) {
    auto found = valueAs<int64_t>(value[i], "at");
    if (found < 0 || found > std::numeric_limits<unsigned>::max())
      throw std::runtime_error("at: expected [line, column]");
    return unsigned(found);
  };
  if (!value.is_array() || value.size() != 2)
    throw std::runtime_error("at: expected [line, column], found " +
                             std::string(value.type_name()));
  return {number(0), number(1)};
}

} // namespace attn::detail

#endif // ATTN_LIB_REFERENCE_JSONFIELDS_H
