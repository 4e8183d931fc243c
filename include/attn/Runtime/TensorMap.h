//===- TensorMap.h - A tensor as bulk copies see it -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cp.async.bulk.tensor needs to know about a tensor in global memory and
// its tile in shared memory (PTX ISA 5.5; CUDA Driver API,
// cuTensorMapEncodeTiled). A kernel takes it as 128 opaque bytes in a
// `.param .align 64`, which Device::encodeTensorMap makes.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_TENSORMAP_H
#define ATTN_RUNTIME_TENSORMAP_H

#include <array>
#include <cstdint>

namespace attn {

/// The 128 bytes that a kernel receives; they are the device's own.
using EncodedTensorMap = std::array<uint8_t, 128>;

/// Elements follow each other (element strides are 1) and are not interleaved.
struct TensorMap {
  static constexpr unsigned maxRank = 5;

  enum class Format : uint8_t {
    U8, ///< also e4m3 and e5m2, which are only copied
    U16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
    BF16,
  };
  /// XOR of 16-byte units inside a span, by the address bits from 7 on.
  enum class Swizzle : uint8_t { None, Span32, Span64, Span128 };
  /// What elements outside the tensor read as.
  enum class Fill : uint8_t { Zero, NaN };
  enum class L2Promotion : uint8_t { None, Bytes64, Bytes128, Bytes256 };

  uint64_t base = 0; ///< device address, a multiple of 16
  Format format = Format::BF16;
  unsigned rank = 1; ///< 1 to 5
  /// Elements along each dimension, innermost first; 1 to 2^32.
  std::array<uint64_t, maxRank> dims{};
  /// Bytes between neighbours along dimension i + 1; a multiple of 16 below
  /// 2^40. Dimension 0 is contiguous.
  std::array<uint64_t, maxRank - 1> strides{};
  /// Elements of the tile along each dimension; 1 to 256. A row of it has a
  /// multiple of 16 bytes and no more than the swizzle's span.
  std::array<uint32_t, maxRank> box{};
  Swizzle swizzle = Swizzle::None;
  Fill fill = Fill::Zero;
  L2Promotion promotion = L2Promotion::None;
};

unsigned elementBytes(TensorMap::Format format);
/// Bytes that a row is swizzled in; 0 for none.
unsigned spanBytes(TensorMap::Swizzle swizzle);

/// Throws DeviceError with the rule that `map` breaks. Every Device encodes
/// after this check, so that they refuse the same maps.
void checkTensorMap(const TensorMap &map);

} // namespace attn

#endif // ATTN_RUNTIME_TENSORMAP_H
