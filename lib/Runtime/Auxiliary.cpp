//===- Auxiliary.cpp - Plans: what auxiliary kernels fill -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Auxiliary.h"
#include "LaunchChecks.h"

#include <algorithm>

using namespace attn;

/// Buffers follow each other; a line of the L2 cache belongs to one.
static constexpr int64_t bufferAlignmentBytes = 128;

/// The least of a buffer: only a launch that reads none has a plan of 0 bytes.
static constexpr int64_t leastBufferBytes = 16;

/// Bytes of the buffer that `kernel` fills.
static int64_t bufferBytes(const Kernel &kernel, const Problem &problem,
                           const LaunchArguments &arguments) {
  // No device holds more; the bound keeps products from wrapping.
  constexpr __int128 maxBytes = __int128(1) << 48;
  __int128 total = 0;
  for (const BufferTerm &term : kernel.bufferBytes) {
    __int128 bytes = term.bytes;
    for (const WorkFactor &factor : term.factors) {
      bytes *= factorValue(factor, problem, arguments);
      if (bytes > maxBytes)
        break;
    }
    total += bytes;
    if (total > maxBytes)
      throw LaunchError("kernel '" + kernel.name +
                        "': a buffer of more than 2^48 bytes (batch = " +
                        std::to_string(arguments.batch) +
                        ", q_len = " + std::to_string(arguments.qLen) +
                        ", k_len = " + std::to_string(arguments.kLen) + ")");
  }
  return std::max(int64_t(total), leastBufferBytes);
}

/// The launches for `kernel`, one behind the other, without their arguments.
static AuxiliaryPlan layOut(const Package &package, const Kernel &kernel,
                            const LaunchArguments &arguments) {
  AuxiliaryPlan plan;
  plan.package = &package;
  for (const std::string &name : kernel.auxiliaries) {
    AuxiliaryLaunch launch;
    launch.kernel = package.findKernel(name);
    launch.offset = (plan.bytes + bufferAlignmentBytes - 1) /
                    bufferAlignmentBytes * bufferAlignmentBytes;
    launch.bytes = bufferBytes(*launch.kernel, package.problem, arguments);
    plan.bytes = launch.offset + launch.bytes;
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

int64_t attn::auxiliaryBytes(const Package &package,
                             const LaunchArguments &arguments,
                             const DeviceInfo &device) {
  checkLengths(arguments);
  if (isEmptyLaunch(arguments))
    return 0;
  std::string reason;
  return layOut(package, chooseKernel(package, arguments, device, reason),
                arguments)
      .bytes;
}

AuxiliaryPlan attn::planAuxiliaries(const Package &package,
                                    const LaunchArguments &arguments,
                                    const DeviceInfo &device, DevicePtr memory,
                                    int64_t bytes) {
  checkLaunch(package.problem, arguments);
  AuxiliaryPlan plan;
  plan.package = &package;
  if (isEmptyLaunch(arguments))
    return plan;
  std::string reason;
  const Kernel &kernel = chooseKernel(package, arguments, device, reason);
  plan = layOut(package, kernel, arguments);
  if (plan.bytes > 0 &&
      (bytes < plan.bytes || !memory || memory % accessAlignmentBytes))
    throw LaunchError("plan memory of " + std::to_string(bytes) +
                      " bytes: expected " + std::to_string(plan.bytes) +
                      " bytes or more, " +
                      std::to_string(accessAlignmentBytes) + "-byte aligned");
  plan.memory = memory;
  for (AuxiliaryLaunch &launch : plan.launches) {
    launch.config = shapeOf(
        *launch.kernel,
        workItemCount(*launch.kernel, package.problem, arguments), device);
    std::vector<MapArgument> none;
    marshalArguments(package, *launch.kernel, arguments,
                     {{launch.kernel->role, memory + DevicePtr(launch.offset)}},
                     launch.config, none);
  }
  return plan;
}

/// Throws unless `built` was made with the arguments of `wanted`, the same
/// kernel's.
static void checkSameArguments(const AuxiliaryLaunch &built,
                               const LaunchConfig &wanted) {
  const Kernel &kernel = *built.kernel;
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument &argument = kernel.arguments[i];
    const std::vector<uint8_t> &before = built.config.arguments[i],
                               &now = wanted.arguments[i];
    if (before != now)
      throw LaunchError("plan: it was built for " + argument.name + " = " +
                        describeValue(argument.type, before) +
                        ", this launch has " + argument.name + " = " +
                        describeValue(argument.type, now) + "; build it again");
  }
}

BufferAddresses attn::builtBuffers(const Package &package, const Kernel &kernel,
                                   const LaunchArguments &arguments) {
  const AuxiliaryPlan &plan = *arguments.plan;
  if (plan.package != &package)
    throw LaunchError("plan: it was built for another package");
  BufferAddresses buffers;
  for (const std::string &name : kernel.auxiliaries) {
    auto built = std::find_if(plan.launches.begin(), plan.launches.end(),
                              [&](const AuxiliaryLaunch &launch) {
                                return launch.kernel->name == name;
                              });
    if (built == plan.launches.end())
      throw LaunchError(
          "plan: kernel '" + kernel.name + "' reads what kernel '" + name +
          "' fills, and the plan was built " +
          (plan.launches.empty()
               ? "for a launch that reads nothing"
               : "with kernel '" + plan.launches.front().kernel->name + "'") +
          "; build it again");
    DevicePtr address = plan.memory + DevicePtr(built->offset);
    LaunchConfig wanted;
    std::vector<MapArgument> none;
    marshalArguments(package, *built->kernel, arguments,
                     {{built->kernel->role, address}}, wanted, none);
    checkSameArguments(*built, wanted);
    // Lengths that only the size depends on.
    int64_t bytes = bufferBytes(*built->kernel, package.problem, arguments);
    if (bytes != built->bytes)
      throw LaunchError("plan: it was built with " +
                        std::to_string(built->bytes) + " bytes for '" + name +
                        "', this launch needs " + std::to_string(bytes) +
                        "; build it again");
    buffers[built->kernel->role] = address;
  }
  return buffers;
}
