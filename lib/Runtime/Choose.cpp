//===- Choose.cpp - Which kernel of a package runs ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentNames.h"
#include "LaunchChecks.h"
#include "MapArguments.h"

#include <algorithm>

using namespace attn;

bool attn::targetRunsOn(const std::string &target, int smMajor, int smMinor) {
  std::optional<TargetName> name = parseTarget(target);
  if (!name)
    throw PackageError("target '" + target +
                       "': expected sm_NN, sm_NNa or sm_NNf");
  // PTX ISA, ".target": base targets run on everything later, "a" targets on
  // one architecture, "f" targets on later members of their family.
  if (name->suffix == 'a')
    return smMajor == name->smMajor && smMinor == name->smMinor;
  if (name->suffix == 'f')
    return smMajor == name->smMajor && smMinor >= name->smMinor;
  return std::make_pair(smMajor, smMinor) >=
         std::make_pair(name->smMajor, name->smMinor);
}

/// Largest power of two, at most 256, that divides the address.
static int64_t addressAlignment(DevicePtr address) {
  constexpr int64_t maxReported = 256;
  int64_t alignment = 1;
  while (alignment < maxReported && address % (2 * alignment) == 0)
    alignment *= 2;
  return alignment;
}

static int64_t guardValue(const Problem &problem, const LaunchArguments &args,
                          const std::string &name) {
  if (std::optional<StrideName> stride = parseStrideName(name))
    return strideOf(operandView(args, stride->operand), stride->axis);
  size_t at = name.find("_align");
  if (at != std::string::npos)
    if (std::optional<LaunchOperand> operand = parseOperand(name.substr(0, at)))
      return addressAlignment(operandView(args, *operand).data);
  return workExtent(problem, args, name);
}

static int64_t termValue(const Problem &problem, const LaunchArguments &args,
                         const GuardTerm &term) {
  if (term.name.empty())
    return term.number;
  int64_t value = guardValue(problem, args, term.name);
  return term.modulo ? value % term.modulo : value;
}

static bool holds(const Problem &problem, const LaunchArguments &args,
                  const Guard &guard) {
  int64_t lhs = termValue(problem, args, guard.lhs);
  int64_t rhs = termValue(problem, args, guard.rhs);
  switch (guard.op) {
  case GuardOp::Eq:
    return lhs == rhs;
  case GuardOp::Ne:
    return lhs != rhs;
  case GuardOp::Lt:
    return lhs < rhs;
  case GuardOp::Le:
    return lhs <= rhs;
  case GuardOp::Gt:
    return lhs > rhs;
  case GuardOp::Ge:
    return lhs >= rhs;
  }
  return false;
}

/// Why no launch of `kernel` runs on the device; empty when some can.
static std::string deviceObstacle(const Kernel &kernel,
                                  const DeviceInfo &device) {
  if (!targetRunsOn(kernel.target, device.smMajor, device.smMinor))
    return "needs " + kernel.target + ", the device is sm_" +
           std::to_string(device.smMajor) + std::to_string(device.smMinor);
  if (kernel.sharedBytes > device.sharedBytesPerBlock)
    return "needs " + std::to_string(kernel.sharedBytes) +
           " bytes of shared memory, the device has " +
           std::to_string(device.sharedBytesPerBlock);
  return "";
}

/// Why `kernel` cannot run this launch; empty when it can.
static std::string obstacle(const Package &package, const Kernel &kernel,
                            const LaunchArguments &args,
                            const DeviceInfo &device) {
  std::string limit = deviceObstacle(kernel, device);
  if (!limit.empty())
    return limit;
  for (const std::string &name : kernel.auxiliaries) {
    limit = deviceObstacle(*package.findKernel(name), device);
    if (!limit.empty())
      return "its kernel '" + name + "' " + limit;
  }
  for (const Guard &guard : kernel.guards)
    if (!holds(package.problem, args, guard))
      return "guard " + toString(guard) + " does not hold";
  for (const KernelArgument &argument : kernel.arguments) {
    limit = mapObstacle(package.problem, args, argument);
    if (!limit.empty())
      return limit;
  }
  return "";
}

static std::vector<const Kernel *> inOrder(const Package &package) {
  std::vector<const Kernel *> order;
  for (const std::string &name : package.chooser)
    if (const Kernel *kernel = package.findKernel(name))
      order.push_back(kernel);
  if (package.chooser.empty())
    for (const Kernel &kernel : package.kernels)
      if (kernel.role == KernelRole::Attention)
        order.push_back(&kernel);
  return order;
}

/// Whether a kernel without tensor maps would have had one obstacle less.
static bool failsByMaps(const Package &package, const LaunchArguments &args) {
  for (const Kernel *kernel : inOrder(package))
    for (const KernelArgument &argument : kernel->arguments)
      if (!mapObstacle(package.problem, args, argument).empty())
        return true;
  return false;
}

const Kernel &attn::chooseKernel(const Package &package,
                                 const LaunchArguments &arguments,
                                 const DeviceInfo &device,
                                 std::string &reason) {
  std::string passedOver;
  for (const Kernel *kernel : inOrder(package)) {
    std::string problem = obstacle(package, *kernel, arguments, device);
    if (!problem.empty()) {
      passedOver +=
          (passedOver.empty() ? "" : "; ") + kernel->name + ": " + problem;
      continue;
    }
    reason = kernel->name + " (" + kernel->target;
    for (const Guard &guard : kernel->guards)
      reason += ", " + toString(guard);
    reason += passedOver.empty() ? ")" : "; passed over " + passedOver + ")";
    return *kernel;
  }
  throw LaunchError("no kernel of the package runs this launch: " + passedOver +
                    (failsByMaps(package, arguments)
                         ? "; a schedule without 'loader = tma' has a kernel "
                           "that needs no tensor map"
                         : ""));
}

static bool usesWorkCounter(const Kernel &kernel) {
  return std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                     [](const KernelArgument &argument) {
                       return argument.name == "work_counter";
                     });
}

int64_t attn::workCounterBytes(const Package &package) {
  // Two i32, and what follows stays aligned.
  return std::any_of(package.kernels.begin(), package.kernels.end(),
                     usesWorkCounter)
             ? accessAlignmentBytes
             : 0;
}

int64_t attn::kernelWorkspaceBytes(const Package &package, const Kernel &kernel,
                                   int64_t workItems) {
  if (kernel.workspaceBytesPerItem == 0 && !usesWorkCounter(kernel))
    return 0;
  return workCounterBytes(package) + kernel.workspaceBytesPerItem * workItems;
}

int64_t attn::workspaceBytes(const Package &package,
                             const LaunchArguments &arguments,
                             const DeviceInfo &device) {
  checkLengths(arguments);
  if (isEmptyLaunch(arguments))
    return 0;
  std::string reason;
  const Kernel &kernel = chooseKernel(package, arguments, device, reason);
  return kernelWorkspaceBytes(
      package, kernel, workItemCount(kernel, package.problem, arguments));
}
