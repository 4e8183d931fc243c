//===- TensorMap.cpp - The rules of tensor maps ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/TensorMap.h"
#include "attn/Runtime/Device.h"

using namespace attn;

unsigned attn::elementBytes(TensorMap::Format format) {
  switch (format) {
  case TensorMap::Format::U8:
    return 1;
  case TensorMap::Format::U16:
  case TensorMap::Format::F16:
  case TensorMap::Format::BF16:
    return 2;
  case TensorMap::Format::U32:
  case TensorMap::Format::I32:
  case TensorMap::Format::F32:
    return 4;
  case TensorMap::Format::U64:
  case TensorMap::Format::I64:
  case TensorMap::Format::F64:
    return 8;
  }
  return 0;
}

unsigned attn::spanBytes(TensorMap::Swizzle swizzle) {
  switch (swizzle) {
  case TensorMap::Swizzle::None:
    return 0;
  case TensorMap::Swizzle::Span32:
    return 32;
  case TensorMap::Swizzle::Span64:
    return 64;
  case TensorMap::Swizzle::Span128:
    return 128;
  }
  return 0;
}

static bool isFloat(TensorMap::Format format) {
  return format == TensorMap::Format::F16 || format == TensorMap::Format::F32 ||
         format == TensorMap::Format::F64 || format == TensorMap::Format::BF16;
}

[[noreturn]] static void refuse(const std::string &what, uint64_t found,
                                const std::string &expected) {
  throw DeviceError("tensor map: " + what + " is " + std::to_string(found) +
                    ", expected " + expected);
}

static void checkRow(const TensorMap &map) {
  uint64_t row = uint64_t(map.box[0]) * elementBytes(map.format);
  if (row % 16)
    refuse("a row of the box", row, "a multiple of 16 bytes");
  unsigned span = spanBytes(map.swizzle);
  if (span && row > span)
    refuse("a row of the box", row,
           "at most the swizzle's span of " + std::to_string(span) + " bytes");
}

void attn::checkTensorMap(const TensorMap &map) {
  constexpr uint64_t unit = 16, maxDim = uint64_t(1) << 32,
                     maxStride = uint64_t(1) << 40;
  constexpr unsigned maxBox = 256;
  if (map.rank < 1 || map.rank > TensorMap::maxRank)
    refuse("rank", map.rank, "1 to 5");
  if (map.base == 0 || map.base % unit)
    refuse("base", map.base, "a device address that is a multiple of 16");
  for (unsigned i = 0; i < map.rank; ++i) {
    std::string at = "[" + std::to_string(i) + "]";
    if (map.dims[i] < 1 || map.dims[i] > maxDim)
      refuse("dims" + at, map.dims[i], "1 to 2^32");
    if (map.box[i] < 1 || map.box[i] > maxBox)
      refuse("box" + at, map.box[i], "1 to 256");
    if (i + 1 < map.rank &&
        (map.strides[i] % unit || map.strides[i] >= maxStride))
      refuse("strides" + at, map.strides[i],
             "a multiple of 16 bytes below 2^40");
  }
  checkRow(map);
  if (map.fill == TensorMap::Fill::NaN && !isFloat(map.format))
    throw DeviceError(
        "tensor map: the fill is NaN, expected zero for an integer format");
}
