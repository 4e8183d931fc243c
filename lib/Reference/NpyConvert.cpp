//===- NpyConvert.cpp - From a file's elements to a spec's ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Npy.h"
#include "attn/Reference/Numbers.h"

#include <cstring>
#include <optional>
#include <stdexcept>

namespace attn {
namespace {

/// The element type whose bits the file holds when `want` is asked for; none
/// for <f8, which no DType stands for.
std::optional<DType> storedType(const NpyArray &array, DType want) {
  bool eightBitFloat = want == DType::E4M3 || want == DType::E5M2;
  switch (array.type) {
  case NpyType::F16:
    return DType::F16;
  case NpyType::F32:
    return DType::F32;
  case NpyType::I8:
    return DType::I8;
  case NpyType::I32:
    return DType::I32;
  case NpyType::I64:
    return DType::I64;
  case NpyType::Bool:
    return DType::Bool;
  case NpyType::U8:
    return eightBitFloat ? want : DType::U8;
  case NpyType::Raw1:
    return eightBitFloat ? std::optional(want) : std::nullopt;
  case NpyType::U16:
  case NpyType::Raw2:
    return want == DType::BF16 ? std::optional(want) : std::nullopt;
  case NpyType::F64:
    return std::nullopt;
  }
  return std::nullopt;
}

/// What may be given where `want` is expected, for messages.
std::string legalTypes(DType want) {
  switch (want) {
  case DType::BF16:
    return "bf16 ('|V2' or '<u2'), '<f4', '<f8' or '<f2'";
  case DType::F16:
    return "f16 ('<f2'), '<f4' or '<f8'";
  case DType::F32:
    return "f32 ('<f4'), '<f8' or '<f2'";
  case DType::E4M3:
  case DType::E5M2:
    return std::string(spelling(want)) + " ('|u1' or '|V1'), '<f4', '<f8' or "
                                         "'<f2'";
  default:
    return std::string(spelling(want)) + " (any integer or bool dtype)";
  }
}

std::string indexOf(const NpyArray &array, int64_t flat) {
  std::vector<int64_t> index(array.shape.size());
  for (size_t dim = array.shape.size(); dim-- > 0;) {
    index[dim] = flat % array.shape[dim];
    flat /= array.shape[dim];
  }
  return spellShape(index);
}

int64_t elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

std::vector<uint8_t> convertFloats(const NpyArray &array,
                                   std::optional<DType> stored, DType want) {
  int64_t count = elementCount(array.shape);
  std::vector<uint8_t> bytes(size_t(count * byteSize(want)));
  for (int64_t at = 0; at < count; ++at) {
    double value;
    if (stored)
      value = loadElement(*stored, array.bytes.data(), at);
    else
      std::memcpy(&value, array.bytes.data() + at * sizeof value, sizeof value);
    if (overflows(want, value))
      throw std::runtime_error(array.path + ": " + spellNumber(value) + " at " +
                               indexOf(array, at) + overflowText(want));
    storeElement(want, bytes.data(), at, value);
  }
  return bytes;
}

std::vector<uint8_t> convertInts(const NpyArray &array, DType stored,
                                 DType want) {
  int64_t count = elementCount(array.shape);
  std::vector<uint8_t> bytes(size_t(count * byteSize(want)));
  for (int64_t at = 0; at < count; ++at) {
    int64_t value = loadInt(stored, array.bytes.data(), at);
    uint8_t *out = bytes.data() + at * byteSize(want);
    // The lowest bytes of a value that fits are its narrow form.
    std::memcpy(out, &value, size_t(byteSize(want)));
    bool fits = want == DType::Bool ? value == 0 || value == 1
                                    : loadInt(want, out, 0) == value;
    if (!fits)
      throw std::runtime_error(array.path + ": " + std::to_string(value) +
                               " at " + indexOf(array, at) + " does not fit " +
                               spelling(want));
  }
  return bytes;
}

} // namespace

NpyConversion convertNpy(const NpyArray &array, DType want,
                         const std::vector<int64_t> &wantShape,
                         const std::string &shapeNames) {
  std::string names = shapeNames.empty() ? "" : " " + shapeNames;
  if (array.shape != wantShape)
    throw std::runtime_error(array.path + ": expected shape " +
                             spellShape(wantShape) + names + ", found " +
                             spellShape(array.shape));
  std::optional<DType> stored = storedType(array, want);
  bool isDouble = array.type == NpyType::F64;
  bool legal = isFloat(want) ? isDouble || (stored && isFloat(*stored))
                             : stored && !isFloat(*stored);
  if (!legal)
    throw std::runtime_error(array.path + ": expected dtype " +
                             legalTypes(want) + ", found '" + array.descr +
                             "'");
  if (stored == want)
    return {array.bytes, ""};
  NpyConversion out;
  out.bytes = isFloat(want) ? convertFloats(array, stored, want)
                            : convertInts(array, *stored, want);
  out.note = array.path + ": " + (isFloat(want) ? "rounded" : "converted") +
             " from " + array.descr + " to " + spelling(want);
  return out;
}

} // namespace attn
