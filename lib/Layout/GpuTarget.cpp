//===- GpuTarget.cpp - The supported GPU architectures --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Layout/GpuTarget.h"

using namespace attn::layout;

const std::vector<GpuTarget> &attn::layout::gpuTargets() {
  constexpr int64_t kib = 1024;
  static const std::vector<GpuTarget> targets = {
      {"sm_80", 163 * kib}, {"sm_86", 99 * kib},         {"sm_89", 99 * kib},
      {"sm_90", 227 * kib}, {"sm_90a", 227 * kib, true}, {"sm_120", 99 * kib},
  };
  return targets;
}

const GpuTarget *attn::layout::findGpuTarget(std::string_view name) {
  for (const GpuTarget &target : gpuTargets())
    if (target.name == name)
      return &target;
  return nullptr;
}

std::string attn::layout::gpuTargetNames() {
  std::string names;
  for (const GpuTarget &target : gpuTargets()) {
    if (!names.empty())
      names += ", ";
    names += target.name;
  }
  return names;
}
