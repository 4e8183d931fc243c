//===- LaunchChecks.cpp - What a launch may bind --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchChecks.h"
#include "ArgumentNames.h"

#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

using namespace attn;

[[noreturn]] static void refuse(const std::string &message) {
  throw LaunchError(message);
}

template <typename T>
static void checkRange(const std::string &field, T value, T low, T high) {
  if (value < low || value > high)
    refuse(field + " = " + std::to_string(value) + ": allowed " +
           std::to_string(low) + " .. " + std::to_string(high));
}

//===----------------------------------------------------------------------===//
// Extents and names
//===----------------------------------------------------------------------===//

const TensorView &attn::operandView(const LaunchArguments &arguments,
                                    LaunchOperand operand) {
  switch (operand) {
  case LaunchOperand::Q:
    return arguments.q;
  case LaunchOperand::K:
    return arguments.k;
  case LaunchOperand::V:
    return arguments.v;
  case LaunchOperand::O:
    return arguments.o;
  case LaunchOperand::Lse:
    break;
  }
  return arguments.lse;
}

int64_t attn::strideOf(const TensorView &view, char axis) {
  if (axis == 'b')
    return view.strideB;
  return axis == 'h' ? view.strideH : view.strideS;
}

OperandShape attn::operandShape(const Problem &problem,
                                const LaunchArguments &arguments,
                                LaunchOperand operand) {
  bool isKey = operand == LaunchOperand::K || operand == LaunchOperand::V;
  OperandShape shape;
  shape.heads = isKey ? problem.kvHeads : problem.heads;
  shape.isPacked = isKey ? arguments.cuSeqlensK : arguments.cuSeqlensQ;
  shape.batch = shape.isPacked ? 1 : arguments.batch;
  shape.positions = isKey
                        ? (shape.isPacked ? arguments.totalK : arguments.kLen)
                        : (shape.isPacked ? arguments.totalQ : arguments.qLen);
  switch (operand) {
  case LaunchOperand::Q:
  case LaunchOperand::K:
    shape.headDim = problem.headDimQK;
    shape.type = isKey ? problem.kvDtype : problem.dtype;
    break;
  case LaunchOperand::V:
  case LaunchOperand::O:
    shape.headDim = problem.headDimV;
    shape.type = isKey ? problem.kvDtype : problem.out;
    break;
  case LaunchOperand::Lse:
    shape.headDim = 1;
    shape.type = DType::F32;
    break;
  }
  return shape;
}

int64_t attn::passedStride(const Problem &problem,
                           const LaunchArguments &arguments,
                           LaunchOperand operand, char axis) {
  // Batch entries of packed rows begin at their first row alone.
  if (axis == 'b' && operandShape(problem, arguments, operand).isPacked)
    return 0;
  return strideOf(operandView(arguments, operand), axis);
}

int64_t attn::workExtent(const Problem &problem,
                         const LaunchArguments &arguments,
                         const std::string &name) {
  if (name == "batch")
    return arguments.batch;
  if (name == "heads")
    return problem.heads;
  if (name == "kv_heads")
    return problem.kvHeads;
  if (name == "total_q")
    return arguments.totalQ;
  return name == "q_len" ? arguments.qLen : arguments.kLen;
}

int64_t attn::factorValue(const WorkFactor &factor, const Problem &problem,
                          const LaunchArguments &arguments) {
  int64_t extent = workExtent(problem, arguments, factor.extent);
  int64_t count = (extent + factor.divisor - 1) / factor.divisor;
  return factor.plus.empty()
             ? count
             : count + workExtent(problem, arguments, factor.plus);
}

int64_t attn::workItemCount(const Kernel &kernel, const Problem &problem,
                            const LaunchArguments &arguments) {
  // Factors are at most 2^31, and the product is checked at every step.
  int64_t items = 1;
  for (const WorkFactor &factor : kernel.workItems) {
    items *= factorValue(factor, problem, arguments);
    if (items > maxGrid)
      refuse(
          "kernel '" + kernel.name + "': more than " + std::to_string(maxGrid) +
          " work items (batch = " + std::to_string(arguments.batch) +
          ", q_len = " + std::to_string(arguments.qLen) + "): split the batch");
  }
  return items;
}

std::vector<int64_t> attn::extents(const Problem &problem, const Tensor &tensor,
                                   const LaunchArguments &arguments) {
  std::vector<int64_t> result;
  for (const Dim &dim : tensor.dims) {
    switch (dim.kind) {
    case DimKind::Literal:
      result.push_back(dim.literal);
      break;
    case DimKind::Batch:
      result.push_back(arguments.batch);
      break;
    case DimKind::Heads:
      result.push_back(problem.heads);
      break;
    case DimKind::KvHeads:
      result.push_back(problem.kvHeads);
      break;
    case DimKind::QLen:
      result.push_back(arguments.qLen);
      break;
    case DimKind::KLen:
      result.push_back(arguments.kLen);
      break;
    case DimKind::TotalQ:
      result.push_back(arguments.totalQ);
      break;
    case DimKind::TotalK:
      result.push_back(arguments.totalK);
      break;
    }
  }
  return result;
}

int64_t attn::elementCount(const Problem &problem, const Tensor &tensor,
                           const LaunchArguments &arguments) {
  // No device holds more; the bound keeps the product from wrapping.
  constexpr int64_t maxElements = int64_t(1) << 48;
  int64_t count = 1;
  for (int64_t extent : extents(problem, tensor, arguments)) {
    if (extent == 0)
      return 0;
    if (count > maxElements / extent)
      refuse("tensor '" + tensor.name + "': more than 2^48 elements");
    count *= extent;
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// A view with its extents: what is checked about q, k, v, o and lse.
struct BoundOperand {
  const char *name;
  const TensorView &view;
  OperandShape shape;
  int64_t alignmentBytes;
  bool isOutput;
};
} // namespace

static std::string strideField(const BoundOperand &operand, char axis) {
  return std::string(operand.name) + "_stride_" + axis;
}

static void checkStrides(const BoundOperand &operand) {
  // Device addresses have at most 57 bits (five-level paging).
  constexpr __int128 maxReachBytes = __int128(1) << 57;
  struct Axis {
    char name;
    int64_t extent, stride;
  };
  std::array<Axis, 3> axes = {
      Axis{'b', operand.shape.batch, operand.view.strideB},
      Axis{'h', operand.shape.heads, operand.view.strideH},
      Axis{'s', operand.shape.positions, operand.view.strideS}};
  int64_t elementBytes = byteSize(operand.shape.type);
  __int128 reach = operand.shape.headDim;
  for (const Axis &axis : axes) {
    // The stride of an axis with one element is never multiplied by more than
    // zero, and frameworks leave any value there.
    if (axis.extent <= 1)
      continue;
    auto field = [&] { return strideField(operand, axis.name); };
    if (axis.stride < 0)
      refuse(field() + " = " + std::to_string(axis.stride) +
             ": negative strides are not supported, allowed 0 and up");
    if (__int128(axis.stride) * elementBytes % operand.alignmentBytes)
      refuse(field() + " = " + std::to_string(axis.stride) + " elements (" +
             std::to_string(axis.stride * elementBytes) +
             " bytes): allowed multiples of " +
             std::to_string(operand.alignmentBytes) + " bytes");
    reach += __int128(axis.stride) * (axis.extent - 1);
    if (reach * elementBytes > maxReachBytes)
      refuse(field() + " = " + std::to_string(axis.stride) +
             ": the tensor would span more than 2^57 bytes");
  }
  if (!operand.isOutput)
    return;
  // An output element must have one place: sorted by stride, each axis must
  // step over everything inside it.
  std::sort(axes.begin(), axes.end(),
            [](const Axis &a, const Axis &b) { return a.stride < b.stride; });
  __int128 inner = operand.shape.headDim;
  for (const Axis &axis : axes) {
    if (axis.extent <= 1)
      continue;
    if (axis.stride < inner)
      refuse(strideField(operand, axis.name) + " = " +
             std::to_string(axis.stride) +
             ": elements of the output overlap, allowed " +
             std::to_string(int64_t(inner)) + " and up");
    inner = __int128(axis.stride) * (axis.extent - 1) + inner;
  }
}

static void checkOperand(const BoundOperand &operand) {
  bool hasElements = operand.shape.batch > 0 && operand.shape.heads > 0 &&
                     operand.shape.positions > 0;
  if (!hasElements)
    return;
  if (operand.view.data == 0)
    refuse(std::string(operand.name) +
           ": null pointer, expected device memory");
  if (operand.view.data % operand.alignmentBytes) {
    std::ostringstream address;
    address << std::hex << operand.view.data;
    refuse(std::string(operand.name) + " = 0x" + address.str() +
           ": the base address is " +
           std::to_string(operand.view.data % operand.alignmentBytes) +
           " bytes past a multiple of " +
           std::to_string(operand.alignmentBytes) + ", allowed multiples of " +
           std::to_string(operand.alignmentBytes));
  }
  checkStrides(operand);
}

static void checkOperands(const Problem &problem, const LaunchArguments &args) {
  auto check = [&](LaunchOperand operand, int64_t alignmentBytes,
                   bool isOutput) {
    checkOperand({spelling(operand), operandView(args, operand),
                  operandShape(problem, args, operand), alignmentBytes,
                  isOutput});
  };
  for (LaunchOperand input :
       {LaunchOperand::Q, LaunchOperand::K, LaunchOperand::V})
    check(input, accessAlignmentBytes, /*isOutput=*/false);
  if (problem.outputO)
    check(LaunchOperand::O, accessAlignmentBytes, /*isOutput=*/true);
  else if (args.o.data)
    refuse("o: bound, but attention '" + problem.name + "' outputs lse only");
  // lse is stored by single elements: any float address will do.
  if (problem.outputLse)
    check(LaunchOperand::Lse, sizeof(float), /*isOutput=*/true);
  else if (args.lse.data)
    refuse("lse: bound, but attention '" + problem.name + "' outputs o only");
}

//===----------------------------------------------------------------------===//
// Params and tensors
//===----------------------------------------------------------------------===//

template <typename Declaration>
static std::string declaredNames(const std::vector<Declaration> &declarations) {
  std::string names;
  for (const Declaration &declaration : declarations)
    names += (names.empty() ? "" : ", ") + declaration.name;
  return names.empty() ? "it declares none" : "it declares " + names;
}

static void checkParam(const Param &param, const ParamValue &value) {
  std::string field = "param '" + param.name + "'";
  if (param.type == DType::F32) {
    double number = value.isFloat ? value.floatValue : double(value.intValue);
    if (std::isnan(number))
      refuse(field + " = nan: allowed any f32 but nan");
    if (overflows(DType::F32, number))
      refuse(field + " = " + spellNumber(number) + ": the number" +
             overflowText(DType::F32) + "; inf is written inf");
    return;
  }
  if (value.isFloat)
    refuse(field + " = " + spellNumber(value.floatValue) +
           ": expected an integer (" + spelling(param.type) + ")");
  if (param.type == DType::I32)
    checkRange<int64_t>(field, value.intValue, INT32_MIN, INT32_MAX);
  if (param.type == DType::Bool)
    checkRange<int64_t>(field, value.intValue, 0, 1);
}

static void checkParams(const Problem &problem, const LaunchArguments &args) {
  for (const auto &[name, value] : args.params) {
    const Param *param = findParam(problem, name);
    if (!param)
      refuse("param '" + name + "': attention '" + problem.name +
             "' has no such param; " + declaredNames(problem.params));
    checkParam(*param, value);
  }
  double scale = launchScale(problem, args);
  if (!(float(scale) > 0) || !std::isfinite(float(scale)))
    refuse("scale = " + spellNumber(scale) +
           ": allowed positive finite numbers of f32");
}

static std::string describeType(const Problem &problem, const Tensor &tensor,
                                const LaunchArguments &args) {
  std::string text = std::string(spelling(tensor.type)) + "[";
  bool first = true;
  for (int64_t extent : extents(problem, tensor, args)) {
    text += (first ? "" : ", ") + std::to_string(extent);
    first = false;
  }
  return text + "]";
}

static void checkTensors(const Problem &problem, const LaunchArguments &args) {
  for (const auto &[name, binding] : args.tensors)
    if (!findTensor(problem, name))
      refuse("tensor '" + name + "': attention '" + problem.name +
             "' has no such tensor; " + declaredNames(problem.tensors));
  for (const Tensor &tensor : problem.tensors) {
    std::string field = "tensor '" + tensor.name + "'";
    auto it = args.tensors.find(tensor.name);
    std::string type = describeType(problem, tensor, args);
    if (it == args.tensors.end())
      refuse(field + ": not bound, expected " + type);
    int64_t expected = elementCount(problem, tensor, args);
    if (it->second.elements != expected)
      refuse(field + " has " + std::to_string(it->second.elements) +
             " elements: expected " + std::to_string(expected) + " (" + type +
             ")");
    if (expected > 0 && !it->second.data)
      refuse(field + ": null pointer, expected " + type);
    if (it->second.data % byteSize(tensor.type))
      refuse(field + ": the address is not a multiple of " +
             std::to_string(byteSize(tensor.type)) + " bytes (" + type + ")");
  }
}

double attn::launchScale(const Problem &problem,
                         const LaunchArguments &arguments) {
  if (std::optional<double> scale = problem.staticScale())
    return *scale;
  auto it = arguments.params.find(problem.scaleParam);
  if (it != arguments.params.end())
    return it->second.isFloat ? it->second.floatValue
                              : double(it->second.intValue);
  const Param *param = findParam(problem, problem.scaleParam);
  if (!param)
    refuse("scale: the spec names the param '" + problem.scaleParam +
           "', which it does not declare");
  return param->type == DType::F32 ? param->floatDefault
                                   : double(param->intDefault);
}

void attn::checkLaunch(const Problem &problem,
                       const LaunchArguments &arguments) {
  checkLengths(arguments);
  if (arguments.grid)
    checkRange<int64_t>("grid", *arguments.grid, 1, maxGrid);
  if (problem.kv == KvKind::Paged)
    refuse("kv = paged: this runtime launches contiguous keys and values");
  checkParams(problem, arguments);
  if (isEmptyLaunch(arguments))
    return;
  checkLengthArrays(problem, arguments);
  checkOperands(problem, arguments);
  checkTensors(problem, arguments);
}
