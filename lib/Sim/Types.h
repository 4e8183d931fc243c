//===- Types.h - PTX fundamental types and state spaces ----------*- C++
//-*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA sections 5.1 (state spaces) and 5.2 (types).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIM_TYPES_H
#define ATTN_LIB_SIM_TYPES_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace attn::sim {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  U16x2,
  S16x2,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  E4M3x2,
  E5M2x2,
};

/// The type that a modifier or directive without its dot names ("s32").
std::optional<Type> parseType(std::string_view name);
/// Bits of one value; 1 for predicates.
unsigned typeBits(Type type);
bool isSignedInteger(Type type);
/// Signed, unsigned or untyped bits.
bool isIntegerLike(Type type);

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };

/// How one lane's access to a state space is spoken of in messages.
const char *spaceName(Space space);

} // namespace attn::sim

#endif // ATTN_LIB_SIM_TYPES_H
