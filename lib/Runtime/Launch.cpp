//===- Launch.cpp - Planning and starting launches ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Launch.h"
#include "ArgumentNames.h"
#include "LaunchChecks.h"
#include "MapArguments.h"

#include <algorithm>
#include <cstring>

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
                           const std::string &name) {
  if (std::optional<std::string> tensor = afterPrefix(name, "tensor:")) {
    auto it = args.tensors.find(*tensor);
    return it == args.tensors.end() ? 0 : it->second.data;
  }
  if (name == "q_lens")
    return args.qLens;
  if (name == "k_lens")
    return args.kLens;
  if (name == "work_counter")
    return args.workspace;
  if (name == "workspace")
    return args.workspace + DevicePtr(workCounterBytes(package));
  return operandView(args, name).data;
}

/// Names and boxes were checked against the problem when the package was read;
/// a package built in process is checked here.
static void checkArgument(const Problem &problem,
                          const KernelArgument &argument) {
  std::optional<ArgumentType> type = argumentType(problem, argument.name);
  std::string fault;
  if (!type)
    fault = "nothing can bind it";
  else if (*type != argument.type)
    fault = std::string("expected ") + spelling(*type);
  else if (*type == ArgumentType::TensorMap)
    fault = boxFault(problem, argument);
  if (!fault.empty())
    throw PackageError("argument '" + argument.name +
                       "' : " + spelling(argument.type) + ": " + fault);
}

/// The binary form of one parameter.
static std::vector<uint8_t> marshal(const Package &package,
                                    const LaunchArguments &args,
                                    const KernelArgument &argument) {
  const Problem &problem = package.problem;
  const std::string &name = argument.name;
  if (std::optional<std::string> param = afterPrefix(name, "param:"))
    return paramBytes(*findParam(problem, *param), args);
  if (std::optional<StrideName> stride = parseStrideName(name))
    return bytesOf<int64_t>(
        strideOf(operandView(args, stride->operand), stride->axis));
  if (name == "scale")
    return bytesOf<float>(launchScale(problem, args));
  if (argument.type == ArgumentType::I32)
    return bytesOf<int32_t>(workExtent(problem, args, name));
  return bytesOf<DevicePtr>(pointerOf(package, args, name));
}

/// Blocks when the caller asks for none; at least one.
static int64_t defaultGrid(const Kernel &kernel, int64_t workItems,
                           const DeviceInfo &device) {
  int64_t blocks = workItems;
  if (kernel.grid == GridKind::Resident)
    blocks = std::min(blocks, kernel.blocksPerMultiprocessor *
                                  int64_t(device.multiprocessors));
  return std::max<int64_t>(blocks, 1);
}

LaunchPlan attn::planLaunch(const Package &package,
                            const LaunchArguments &arguments,
                            const DeviceInfo &device) {
  checkLaunch(package.problem, arguments);
  LaunchPlan plan;
  if (isEmptyLaunch(arguments)) {
    plan.reason =
        "no launch: " + std::string(arguments.batch == 0 ? "batch" : "q_len") +
        " is 0, there is no output";
    return plan;
  }
  const Kernel &kernel = chooseKernel(package, arguments, device, plan.reason);
  plan.workItems = workItemCount(kernel, package.problem, arguments);
  int64_t workspace = kernelWorkspaceBytes(package, kernel, plan.workItems);
  if (workspace > 0 &&
      (arguments.workspaceBytes < workspace ||
       arguments.workspace % accessAlignmentBytes || !arguments.workspace))
    throw LaunchError("workspace of " +
                      std::to_string(arguments.workspaceBytes) +
                      " bytes: expected " + std::to_string(workspace) +
                      " bytes or more, 16-byte aligned");
  plan.kernel = &kernel;
  int64_t grid =
      arguments.grid.value_or(defaultGrid(kernel, plan.workItems, device));
  plan.config.grid[0] = static_cast<uint32_t>(grid);
  plan.config.block[0] = static_cast<uint32_t>(kernel.block);
  plan.config.sharedBytes = static_cast<uint32_t>(kernel.sharedBytes);
  for (const KernelArgument &argument : kernel.arguments) {
    checkArgument(package.problem, argument);
    std::vector<uint8_t> bytes;
    if (argument.type == ArgumentType::TensorMap)
      plan.maps.push_back({plan.config.arguments.size(),
                           tensorMapOf(package.problem, arguments, argument)});
    else
      bytes = marshal(package, arguments, argument);
    plan.config.arguments.push_back(std::move(bytes));
  }
  return plan;
}

LoadedPackage::LoadedPackage(const Package &package, Device &device)
    : thePackage(package), device(device), info(device.info()) {}

DeviceModule &LoadedPackage::module(const Kernel &kernel) {
  auto find = [&]() -> Slot & {
    std::lock_guard<std::mutex> lock(mutex);
    return modules[&kernel];
  };
  Slot &slot = find();
  std::lock_guard<std::mutex> lock(slot.loading);
  if (!slot.module)
    slot.module = device.loadModule(kernel.ptx);
  return *slot.module;
}

void LoadedPackage::prepare(const LaunchPlan &plan) {
  if (!plan.kernel)
    return;
  // The occupancy is asked for what it makes the device do: find the entry
  // point, load it and allow it its shared memory.
  module(*plan.kernel)
      .occupancy(plan.kernel->name, int(plan.kernel->block),
                 plan.kernel->sharedBytes);
  for (const MapArgument &argument : plan.maps)
    device.encodeTensorMap(argument.map);
}

void LoadedPackage::launch(const LaunchPlan &plan, StreamHandle stream) {
  if (!plan.kernel)
    return;
  LaunchConfig config = plan.config;
  config.stream = stream;
  for (const MapArgument &argument : plan.maps) {
    EncodedTensorMap encoded = device.encodeTensorMap(argument.map);
    config.arguments[argument.index].assign(encoded.begin(), encoded.end());
  }
  module(*plan.kernel).launch(plan.kernel->name, config);
}

LaunchPlan LoadedPackage::launch(const LaunchArguments &arguments,
                                 StreamHandle stream) {
  LaunchPlan plan = planLaunch(thePackage, arguments, info);
  launch(plan, stream);
  return plan;
}
