//===- Problem.cpp - A checked attention specification ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Problem.h"

#include <cmath>

namespace attn {

std::optional<double> Problem::staticScale() const {
  if (!scaleParam.empty())
    return std::nullopt;
  return scale ? *scale : 1.0 / std::sqrt(double(headDimQK));
}

const char *spelling(DType type) {
  switch (type) {
  case DType::BF16:
    return "bf16";
  case DType::F16:
    return "f16";
  case DType::F32:
    return "f32";
  case DType::E4M3:
    return "e4m3";
  case DType::E5M2:
    return "e5m2";
  case DType::I8:
    return "i8";
  case DType::U8:
    return "u8";
  case DType::I32:
    return "i32";
  case DType::I64:
    return "i64";
  case DType::Bool:
    return "bool";
  }
  return "";
}

int64_t byteSize(DType type) {
  switch (type) {
  case DType::E4M3:
  case DType::E5M2:
  case DType::I8:
  case DType::U8:
  case DType::Bool:
    return 1;
  case DType::BF16:
  case DType::F16:
    return 2;
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::I64:
    return 8;
  }
  return 0;
}

} // namespace attn
