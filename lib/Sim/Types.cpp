//===- Types.cpp - PTX fundamental types and state spaces -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Types.h"

#include <unordered_map>

namespace attn::sim {

std::optional<Type> parseType(std::string_view name) {
  static const std::unordered_map<std::string_view, Type> types = {
      {"pred", Type::Pred},     {"b8", Type::B8},
      {"b16", Type::B16},       {"b32", Type::B32},
      {"b64", Type::B64},       {"u8", Type::U8},
      {"u16", Type::U16},       {"u32", Type::U32},
      {"u64", Type::U64},       {"s8", Type::S8},
      {"s16", Type::S16},       {"s32", Type::S32},
      {"s64", Type::S64},       {"u16x2", Type::U16x2},
      {"s16x2", Type::S16x2},   {"f16", Type::F16},
      {"f16x2", Type::F16x2},   {"bf16", Type::BF16},
      {"bf16x2", Type::BF16x2}, {"tf32", Type::TF32},
      {"f32", Type::F32},       {"f64", Type::F64},
      {"e4m3x2", Type::E4M3x2}, {"e5m2x2", Type::E5M2x2}};
  auto found = types.find(name);
  if (found == types.end())
    return std::nullopt;
  return found->second;
}

unsigned typeBits(Type type) {
  switch (type) {
  case Type::None:
    return 0;
  case Type::Pred:
    return 1;
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 8;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return 16;
  case Type::B32:
  case Type::U32:
  case Type::S32:
  case Type::U16x2:
  case Type::S16x2:
  case Type::F16x2:
  case Type::BF16x2:
  case Type::TF32:
  case Type::F32:
    return 32;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 64;
  }
  return 0;
}

bool isSignedInteger(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 ||
         type == Type::S64;
}

bool isIntegerLike(Type type) { return type >= Type::B8 && type <= Type::S64; }

const char *spaceName(Space space) {
  switch (space) {
  case Space::Generic:
    return "generic";
  case Space::Global:
    return "global";
  case Space::Shared:
    return "shared";
  case Space::Local:
    return "local";
  case Space::Const:
    return "constant";
  case Space::Param:
    return "parameter";
  }
  return "";
}

} // namespace attn::sim
