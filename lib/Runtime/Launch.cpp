//===- Launch.cpp - Planning and starting launches ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Launch.h"
#include "Auxiliary.h"
#include "LaunchChecks.h"
#include "PackageNames.h"

using namespace attn;

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
  plan.config = shapeOf(kernel, plan.workItems, device);
  if (arguments.grid)
    plan.config.grid[0] = static_cast<uint32_t>(*arguments.grid);
  BufferAddresses buffers;
  for (const std::string &name : kernel.auxiliaries)
    plan.auxiliaries.push_back(package.findKernel(name));
  if (arguments.plan)
    buffers = builtBuffers(package, kernel, arguments);
  else if (!kernel.auxiliaries.empty())
    plan.missing = "kernel '" + kernel.name + "' reads what kernel '" +
                   kernel.auxiliaries.front() +
                   "' fills: expected a plan that was built for this launch, "
                   "found none";
  marshalArguments(package, kernel, arguments, buffers, plan.config, plan.maps);
  return plan;
}

LoadedPackage::LoadedPackage(const Package &package, Device &device)
    : thePackage(package), device(device), info(device.info()) {
  // Of a package that was read this holds; one made in process is checked here.
  if (std::string fault = roleFault(package); !fault.empty())
    throw PackageError(fault);
}

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
  auto load = [&](const Kernel &kernel) {
    module(kernel).occupancy(kernel.name, int(kernel.block),
                             kernel.sharedBytes);
  };
  load(*plan.kernel);
  for (const Kernel *auxiliary : plan.auxiliaries)
    load(*auxiliary);
  for (const MapArgument &argument : plan.maps)
    device.encodeTensorMap(argument.map);
}

void LoadedPackage::launch(const LaunchPlan &plan, StreamHandle stream) {
  if (!plan.kernel)
    return;
  if (!plan.missing.empty())
    throw LaunchError(plan.missing);
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

void LoadedPackage::build(const AuxiliaryPlan &plan, StreamHandle stream) {
  for (const AuxiliaryLaunch &auxiliary : plan.launches) {
    LaunchConfig config = auxiliary.config;
    config.stream = stream;
    module(*auxiliary.kernel).launch(auxiliary.kernel->name, config);
  }
}
