//===- Marshal.cpp - From a launch to the parameters of a kernel ----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Marshal.h"
#include "ArgumentNames.h"
#include "LaunchChecks.h"
#include "MapArguments.h"
#include "PackageNames.h"

#include "attn/Reference/Numbers.h"

#include <algorithm>
#include <cstring>
#include <sstream>

using namespace attn;

template <typename T> static std::vector<uint8_t> bytesOf(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

static std::vector<uint8_t> paramBytes(const Param &param,
                                       const LaunchArguments &args) {
  auto it = args.params.find(param.name);
  bool bound = it != args.params.end();
  if (param.type == DType::F32) {
    if (!bound)
      return bytesOf<float>(param.floatDefault);
    return bytesOf<float>(it->second.isFloat ? it->second.floatValue
                                             : double(it->second.intValue));
  }
  int64_t value = bound ? it->second.intValue : param.intDefault;
  return param.type == DType::I64 ? bytesOf<int64_t>(value)
                                  : bytesOf<int32_t>(value);
}

static DevicePtr pointerOf(const Package &package, const LaunchArguments &args,
                           const BufferAddresses &buffers,
                           const ArgumentSource &source) {
  using Kind = ArgumentSource::Kind;
  switch (source.kind) {
  case Kind::QLens:
    return args.qLens;
  case Kind::KLens:
    return args.kLens;
  case Kind::CuSeqlensQ:
    return args.cuSeqlensQ;
  case Kind::CuSeqlensK:
    return args.cuSeqlensK;
  case Kind::WorkCounter:
    return args.workspace;
  case Kind::Workspace:
    return args.workspace + DevicePtr(workCounterBytes(package));
  case Kind::Buffer: {
    auto it = buffers.find(KernelRole(source.index));
    return it == buffers.end() ? 0 : it->second;
  }
  case Kind::Tensor: {
    auto it = args.tensors.find(package.problem.tensors[source.index].name);
    return it == args.tensors.end() ? 0 : it->second.data;
  }
  default:
    return operandView(args, source.operand).data;
  }
}

/// The binary form of one parameter that is no tensor map.
static std::vector<uint8_t> marshal(const Package &package,
                                    const LaunchArguments &args,
                                    const BufferAddresses &buffers,
                                    const ArgumentSource &source) {
  using Kind = ArgumentSource::Kind;
  const Problem &problem = package.problem;
  switch (source.kind) {
  case Kind::Param:
    return paramBytes(problem.params[source.index], args);
  case Kind::Stride:
    return bytesOf<int64_t>(
        passedStride(problem, args, source.operand, source.axis));
  case Kind::Scale:
    return bytesOf<float>(launchScale(problem, args));
  case Kind::Batch:
    return bytesOf<int32_t>(args.batch);
  case Kind::QLen:
    return bytesOf<int32_t>(args.qLen);
  case Kind::KLen:
    return bytesOf<int32_t>(args.kLen);
  case Kind::TotalQ:
    return bytesOf<int32_t>(args.totalQ);
  case Kind::TotalK:
    return bytesOf<int32_t>(args.totalK);
  default:
    return bytesOf<DevicePtr>(pointerOf(package, args, buffers, source));
  }
}

LaunchConfig attn::shapeOf(const Kernel &kernel, int64_t workItems,
                           const DeviceInfo &device) {
  int64_t blocks = workItems;
  if (kernel.grid == GridKind::Resident)
    blocks = std::min(blocks, kernel.blocksPerMultiprocessor *
                                  int64_t(device.multiprocessors));
  LaunchConfig config;
  config.grid[0] = static_cast<uint32_t>(std::max<int64_t>(blocks, 1));
  config.block[0] = static_cast<uint32_t>(kernel.block);
  config.sharedBytes = static_cast<uint32_t>(kernel.sharedBytes);
  return config;
}

void attn::marshalArguments(const Package &package, const Kernel &kernel,
                            const LaunchArguments &arguments,
                            const BufferAddresses &buffers,
                            LaunchConfig &config,
                            std::vector<MapArgument> &maps) {
  for (const KernelArgument &argument : kernel.arguments) {
    ArgumentSource source = sourceOf(package.problem, argument);
    std::vector<uint8_t> bytes;
    if (argument.type == ArgumentType::TensorMap)
      maps.push_back({config.arguments.size(),
                      tensorMapOf(package.problem, arguments, argument)});
    else
      bytes = marshal(package, arguments, buffers, source);
    config.arguments.push_back(std::move(bytes));
  }
}

template <typename T> static T fromBytes(const std::vector<uint8_t> &bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(T)));
  return value;
}

std::string attn::describeValue(ArgumentType type,
                                const std::vector<uint8_t> &bytes) {
  switch (type) {
  case ArgumentType::I32:
    return std::to_string(fromBytes<int32_t>(bytes));
  case ArgumentType::I64:
    return std::to_string(fromBytes<int64_t>(bytes));
  case ArgumentType::F32:
    return spellNumber(fromBytes<float>(bytes));
  case ArgumentType::Ptr:
    break;
  case ArgumentType::TensorMap:
    return "a tensor map";
  }
  std::ostringstream text;
  text << "0x" << std::hex << fromBytes<DevicePtr>(bytes);
  return text.str();
}
