//===- MapArguments.cpp - Tensor maps as kernel arguments -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MapArguments.h"
#include "ArgumentNames.h"
#include "LaunchChecks.h"

#include "attn/Layout/RaggedMap.h"

#include <array>

using namespace attn;

// CUDA Driver API, cuTensorMapEncodeTiled.
static constexpr int64_t unitBytes = 16, maxBoxExtent = 256;
static constexpr __int128 strideLimitBytes = __int128(1) << 40;

static std::optional<TensorMap::Swizzle> swizzleOf(int64_t spanBytes) {
  switch (spanBytes) {
  case 0:
    return TensorMap::Swizzle::None;
  case 32:
    return TensorMap::Swizzle::Span32;
  case 64:
    return TensorMap::Swizzle::Span64;
  case 128:
    return TensorMap::Swizzle::Span128;
  default:
    return std::nullopt;
  }
}

static TensorMap::Format formatOf(DType type) {
  switch (type) {
  case DType::BF16:
    return TensorMap::Format::BF16;
  case DType::F16:
    return TensorMap::Format::F16;
  case DType::F32:
    return TensorMap::Format::F32;
  case DType::I32:
    return TensorMap::Format::I32;
  case DType::I64:
    return TensorMap::Format::I64;
  case DType::E4M3:
  case DType::E5M2:
  case DType::I8:
  case DType::U8:
  case DType::Bool:
    return TensorMap::Format::U8;
  }
  return TensorMap::Format::U8;
}

static std::string boxFault(const Problem &problem,
                            const KernelArgument &argument) {
  const TensorBox &box = argument.box;
  if (box.rows < 1 || box.rows > maxBoxExtent)
    return "box_rows = " + std::to_string(box.rows) + ": allowed 1 .. " +
           std::to_string(maxBoxExtent);
  if (box.columns < 1 || box.columns > maxBoxExtent)
    return "box_columns = " + std::to_string(box.columns) + ": allowed 1 .. " +
           std::to_string(maxBoxExtent);
  if (!swizzleOf(box.swizzleBytes))
    return "swizzle = " + std::to_string(box.swizzleBytes) +
           ": allowed 0, 32, 64, 128 bytes";
  // The type does not depend on the lengths of a launch.
  DType type =
      operandShape(problem, LaunchArguments(), argument.source.operand).type;
  int64_t rowBytes = box.columns * byteSize(type);
  std::string row = "box_columns = " + std::to_string(box.columns) +
                    " elements (" + std::to_string(rowBytes) + " bytes): ";
  if (rowBytes % unitBytes)
    return row + "allowed multiples of " + std::to_string(unitBytes) + " bytes";
  if (box.swizzleBytes && rowBytes > box.swizzleBytes)
    return row + "allowed up to the swizzle's span of " +
           std::to_string(box.swizzleBytes) + " bytes";
  return "";
}

std::string attn::resolveArgument(const Problem &problem,
                                  KernelArgument &argument) {
  argument.source = findSource(problem, argument.name);
  if (argument.source.kind == ArgumentSource::Kind::Unknown)
    return "nothing can bind an argument named '" + argument.name + "'";
  std::string fault;
  ArgumentType expected = typeOf(problem, argument.source);
  if (argument.type != expected)
    fault = std::string(" has type ") + spelling(argument.type) +
            ", expected " + spelling(expected);
  else if (expected == ArgumentType::TensorMap)
    if (std::string box = boxFault(problem, argument); !box.empty())
      fault = ": " + box;
  if (fault.empty())
    return "";
  argument.source = {};
  return "argument '" + argument.name + "'" + fault;
}

ArgumentSource attn::sourceOf(const Problem &problem,
                              const KernelArgument &argument) {
  if (argument.source.kind != ArgumentSource::Kind::Unknown)
    return argument.source;
  KernelArgument copy = argument;
  if (std::string fault = resolveArgument(problem, copy); !fault.empty())
    throw PackageError(fault);
  return copy.source;
}

namespace {
/// A dimension of a map beyond the head dim.
struct Axis {
  char name;
  int64_t extent, stride; ///< stride in elements
};
} // namespace

/// In the order of a map's dimensions.
static std::array<Axis, 3> axesOf(const OperandShape &shape,
                                  const TensorView &view) {
  return {Axis{'s', shape.positions, view.strideS},
          Axis{'h', shape.heads, view.strideH},
          Axis{'b', shape.batch, view.strideB}};
}

static bool isEmpty(const OperandShape &shape) {
  return shape.batch == 0 || shape.heads == 0 || shape.positions == 0;
}

/// Why a ragged map cannot express the operand; empty when it can. It has no
/// dimension for batch entries: a row of one is a row of all.
static std::string raggedObstacle(const std::string &field,
                                  const OperandShape &shape,
                                  const TensorView &view) {
  if (view.strideS == 0)
    return field + "s = 0: a map of sequences allows strides above 0";
  if (shape.batch == 1)
    return "";
  int64_t last = view.strideB / view.strideS * (shape.batch - 1);
  if (view.strideB % view.strideS ||
      last + shape.positions > layout::maxRaggedRows)
    return field + "b = " + std::to_string(view.strideB) +
           ": a map of sequences allows multiples of the row stride " +
           std::to_string(view.strideS) + " and up to 2^30 rows in all";
  return "";
}

std::string attn::mapObstacle(const Problem &problem,
                              const LaunchArguments &arguments,
                              const KernelArgument &argument) {
  if (argument.type != ArgumentType::TensorMap)
    return "";
  LaunchOperand operand = sourceOf(problem, argument).operand;
  OperandShape shape = operandShape(problem, arguments, operand);
  const TensorView &view = operandView(arguments, operand);
  if (isEmpty(shape))
    return "";
  int64_t elementBytes = byteSize(shape.type);
  std::string stride = argument.name + ": " + spelling(operand) + "_stride_";
  for (const Axis &axis : axesOf(shape, view)) {
    // Also a single row is found by the stride of rows.
    bool isUsed = axis.extent > 1 || (argument.box.ragged && axis.name == 's');
    __int128 bytes = __int128(axis.stride) * elementBytes;
    if (isUsed && (bytes < 0 || bytes % unitBytes || bytes >= strideLimitBytes))
      return stride + axis.name + " = " + std::to_string(axis.stride) +
             " elements of " + std::to_string(elementBytes) +
             " bytes: a tensor map allows multiples of " +
             std::to_string(unitBytes) + " bytes below 2^40";
  }
  return argument.box.ragged ? raggedObstacle(stride, shape, view) : "";
}

/// The dimensions of attn/Layout/RaggedMap.h.
static void setRaggedAxes(const OperandShape &shape, const TensorView &view,
                          TensorMap &map) {
  auto elementBytes = uint64_t(byteSize(shape.type));
  uint64_t rowStride = uint64_t(view.strideS) * elementBytes;
  map.rank = 5;
  map.box[4] = 1;
  // Coordinates of the second kind of row are i32.
  constexpr uint64_t allRows = uint64_t(1) << 31;
  map.dims = {map.dims[0], layout::raggedBound, uint64_t(shape.heads), allRows,
              uint64_t(layout::raggedBound) + 1};
  uint64_t headStride =
      shape.heads == 1 ? rowStride : uint64_t(view.strideH) * elementBytes;
  map.strides = {rowStride, headStride, rowStride,
                 uint64_t(layout::raggedWrap) * elementBytes - rowStride};
}

TensorMap attn::tensorMapOf(const Problem &problem,
                            const LaunchArguments &arguments,
                            const KernelArgument &argument) {
  LaunchOperand operand = sourceOf(problem, argument).operand;
  OperandShape shape = operandShape(problem, arguments, operand);
  const TensorView &view = operandView(arguments, operand);
  int64_t elementBytes = byteSize(shape.type);
  bool empty = isEmpty(shape);
  TensorMap map;
  map.format = formatOf(shape.type);
  map.swizzle = *swizzleOf(argument.box.swizzleBytes);
  // A swizzled row of a box is one line of the L2 cache.
  map.promotion = TensorMap::L2Promotion::Bytes128;
  map.rank = 4;
  // An empty operand may have any address; q has elements in every launch.
  map.base = empty ? arguments.q.data : view.data;
  map.dims[0] = empty ? 1 : uint64_t(shape.headDim);
  map.box = {uint32_t(argument.box.columns), uint32_t(argument.box.rows), 1, 1,
             0};
  if (argument.box.ragged && !empty) {
    setRaggedAxes(shape, view, map);
    return map;
  }
  // A stride that is never used must still be legal.
  int64_t rowBytes = shape.headDim * elementBytes;
  uint64_t anyStride = (rowBytes + unitBytes - 1) / unitBytes * unitBytes;
  size_t dim = 1;
  for (const Axis &axis : axesOf(shape, view)) {
    bool single = empty || axis.extent == 1;
    map.dims[dim] = single ? 1 : uint64_t(axis.extent);
    map.strides[dim - 1] =
        single ? anyStride : uint64_t(axis.stride * elementBytes);
    ++dim;
  }
  if (argument.box.ragged) {
    map.rank = 5;
    map.box[4] = 1;
    map.dims[4] = 1;
    map.strides[3] = anyStride;
  }
  return map;
}
