//===- PackageNames.h - Words of a manifest ---------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The spellings of what a manifest enumerates, for its writer and its reader.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_PACKAGENAMES_H
#define ATTN_LIB_RUNTIME_PACKAGENAMES_H

#include "attn/Runtime/Package.h"

#include <array>
#include <optional>
#include <string>

namespace attn {

/// One word and what it stands for.
template <typename T> struct NamedValue {
  T value;
  const char *name;
};

constexpr std::array<NamedValue<ArgumentType>, 5> argumentTypeNames = {
    {{ArgumentType::Ptr, "ptr"},
     {ArgumentType::I64, "i64"},
     {ArgumentType::I32, "i32"},
     {ArgumentType::F32, "f32"},
     {ArgumentType::TensorMap, "tensor_map"}}};
constexpr std::array<NamedValue<GridKind>, 2> gridKindNames = {
    {{GridKind::PerItem, "per_item"}, {GridKind::Resident, "resident"}}};
constexpr std::array<NamedValue<GuardOp>, 6> guardOpNames = {
    {{GuardOp::Eq, "=="},
     {GuardOp::Ne, "!="},
     {GuardOp::Lt, "<"},
     {GuardOp::Le, "<="},
     {GuardOp::Gt, ">"},
     {GuardOp::Ge, ">="}}};
/// An auxiliary role is also the name of the buffer's argument.
constexpr std::array<NamedValue<KernelRole>, 2> kernelRoleNames = {
    {{KernelRole::Attention, "attention"},
     {KernelRole::BlockList, "block_list"}}};

template <typename T, size_t N>
const char *nameOf(const std::array<NamedValue<T>, N> &names, T value) {
  for (const NamedValue<T> &entry : names)
    if (entry.value == value)
      return entry.name;
  return "?";
}

template <typename T, size_t N>
std::optional<T> valueOf(const std::array<NamedValue<T>, N> &names,
                         const std::string &name) {
  for (const NamedValue<T> &entry : names)
    if (name == entry.name)
      return entry.value;
  return std::nullopt;
}

/// "a, b or c": what was expected in place of an unknown word.
template <typename T, size_t N>
std::string listNames(const std::array<NamedValue<T>, N> &names) {
  std::string text;
  for (size_t i = 0; i < N; ++i)
    text += (i == 0       ? ""
             : i + 1 == N ? " or "
                          : ", ") +
            std::string(names[i].name);
  return text;
}

/// Why the kernels of a package do not belong together, with the place:
/// "kernels[1].auxiliary: ...". Empty when they do.
std::string roleFault(const Package &package);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_PACKAGENAMES_H
