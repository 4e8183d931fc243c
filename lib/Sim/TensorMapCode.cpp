//===- TensorMapCode.cpp - Tensor maps as 128 bytes -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMapCode.h"
#include "attn/Runtime/Device.h"

#include <cstring>

namespace attn::sim {
namespace {

constexpr uint64_t magic = 0x70616d2d6e747461; // "attn-map"

struct Code {
  uint64_t magic, device, base;
  uint64_t strides[TensorMap::maxRank - 1];
  uint32_t lastElement[TensorMap::maxRank]; ///< dims - 1
  uint16_t box[TensorMap::maxRank];
  uint8_t rank, format, swizzle, fill, promotion;
  uint8_t unused[37];
};
static_assert(sizeof(Code) == sizeof(EncodedTensorMap), "128 bytes");

} // namespace

EncodedTensorMap encodeTensorMap(const TensorMap &map, uint64_t device) {
  checkTensorMap(map);
  unsigned span = spanBytes(map.swizzle);
  unsigned row = map.box[0] * elementBytes(map.format);
  if (span && row != span)
    throw DeviceError(
        "simulator: tensor map: a row of the box is " + std::to_string(row) +
        " bytes, expected the swizzle's span of " + std::to_string(span) +
        " (shorter swizzled rows are not modelled)");
  Code code{};
  code.magic = magic;
  code.device = device;
  code.base = map.base;
  for (unsigned i = 0; i < map.rank; ++i) {
    if (i + 1 < map.rank)
      code.strides[i] = map.strides[i];
    code.lastElement[i] = static_cast<uint32_t>(map.dims[i] - 1);
    code.box[i] = static_cast<uint16_t>(map.box[i]);
  }
  code.rank = static_cast<uint8_t>(map.rank);
  code.format = static_cast<uint8_t>(map.format);
  code.swizzle = static_cast<uint8_t>(map.swizzle);
  code.fill = static_cast<uint8_t>(map.fill);
  code.promotion = static_cast<uint8_t>(map.promotion);
  EncodedTensorMap bytes;
  std::memcpy(bytes.data(), &code, sizeof(code));
  return bytes;
}

std::string decodeTensorMap(const uint8_t *bytes, uint64_t device,
                            TensorMap &map) {
  Code code;
  std::memcpy(&code, bytes, sizeof(code));
  if (code.magic != magic)
    return "these 128 bytes are no tensor map of the simulator's";
  if (code.device != device)
    return "this tensor map was encoded by another device";
  map = TensorMap();
  map.base = code.base;
  map.rank = code.rank;
  for (unsigned i = 0; i < map.rank; ++i) {
    if (i + 1 < map.rank)
      map.strides[i] = code.strides[i];
    map.dims[i] = uint64_t(code.lastElement[i]) + 1;
    map.box[i] = code.box[i];
  }
  map.format = static_cast<TensorMap::Format>(code.format);
  map.swizzle = static_cast<TensorMap::Swizzle>(code.swizzle);
  map.fill = static_cast<TensorMap::Fill>(code.fill);
  map.promotion = static_cast<TensorMap::L2Promotion>(code.promotion);
  return "";
}

} // namespace attn::sim
