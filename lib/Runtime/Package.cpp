//===- Package.cpp - Packages, and writing them ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Package.h"
#include "PackageNames.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace attn;
// Keeps the manifest in the order it is documented in.
using nlohmann::ordered_json;

const Kernel *Package::findKernel(const std::string &name) const {
  auto it =
      std::find_if(kernels.begin(), kernels.end(),
                   [&](const Kernel &kernel) { return kernel.name == name; });
  return it == kernels.end() ? nullptr : &*it;
}

//===----------------------------------------------------------------------===//
// Spellings
//===----------------------------------------------------------------------===//

const char *attn::spelling(ArgumentType type) {
  return nameOf(argumentTypeNames, type);
}

const char *attn::spelling(KernelRole role) {
  return nameOf(kernelRoleNames, role);
}

static std::string toString(const GuardTerm &term) {
  if (term.name.empty())
    return std::to_string(term.number);
  if (term.modulo == 0)
    return term.name;
  return term.name + " % " + std::to_string(term.modulo);
}

std::string attn::toString(const Guard &guard) {
  return ::toString(guard.lhs) + " " + nameOf(guardOpNames, guard.op) + " " +
         ::toString(guard.rhs);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static bool hasArgument(const Kernel &kernel, const std::string &name) {
  return std::any_of(
      kernel.arguments.begin(), kernel.arguments.end(),
      [&](const KernelArgument &argument) { return argument.name == name; });
}

/// An auxiliary kernel runs by itself, before anything is chosen by alignment
/// or stride, and its buffer is all that it writes.
static std::string auxiliaryFault(const Kernel &kernel) {
  std::string role = spelling(kernel.role);
  if (!kernel.auxiliaries.empty())
    return ".auxiliary: expected only of an attention kernel";
  if (!kernel.guards.empty())
    return ".guards: expected only of an attention kernel";
  if (kernel.bufferBytes.empty())
    return ".buffer_bytes: expected the size of " + role + ", found nothing";
  if (kernel.workspaceBytesPerItem)
    return ".workspace_bytes_per_item: expected only of an attention kernel";
  if (!hasArgument(kernel, role))
    return ".arguments: expected '" + role + "', which the kernel fills";
  for (const KernelArgument &argument : kernel.arguments) {
    bool isOtherBuffer = argument.name != role &&
                         valueOf(kernelRoleNames, argument.name).has_value();
    if (isOtherBuffer || argument.type == ArgumentType::TensorMap ||
        argument.name == "workspace" || argument.name == "work_counter")
      return ".arguments: '" + argument.name +
             "' cannot be bound for an auxiliary kernel";
  }
  return "";
}

static std::string attentionFault(const Package &package,
                                  const Kernel &kernel) {
  if (!kernel.bufferBytes.empty())
    return ".buffer_bytes: expected only of an auxiliary kernel";
  std::set<KernelRole> filled;
  for (const std::string &name : kernel.auxiliaries) {
    const Kernel *auxiliary = package.findKernel(name);
    if (!auxiliary || auxiliary->role == KernelRole::Attention)
      return ".auxiliary: '" + name +
             "' is not the name of an auxiliary kernel";
    if (!filled.insert(auxiliary->role).second)
      return ".auxiliary: two kernels fill '" +
             std::string(spelling(auxiliary->role)) + "'";
  }
  for (const NamedValue<KernelRole> &role : kernelRoleNames) {
    bool reads = hasArgument(kernel, role.name);
    if (reads && !filled.count(role.value))
      return std::string(".auxiliary: no kernel fills the argument '") +
             role.name + "'";
    if (!reads && filled.count(role.value))
      return std::string(".auxiliary: the kernel has no argument '") +
             role.name + "' to read";
  }
  return "";
}

std::string attn::roleFault(const Package &package) {
  bool hasAttention = false;
  for (size_t i = 0; i < package.kernels.size(); ++i) {
    const Kernel &kernel = package.kernels[i];
    bool isAttention = kernel.role == KernelRole::Attention;
    hasAttention |= isAttention;
    std::string fault =
        isAttention ? attentionFault(package, kernel) : auxiliaryFault(kernel);
    if (!fault.empty())
      return "kernels[" + std::to_string(i) + "]" + fault;
  }
  if (!hasAttention)
    return "kernels: expected at least one kernel of role attention, found "
           "none";
  for (const std::string &name : package.chooser) {
    const Kernel *kernel = package.findKernel(name);
    if (!kernel)
      return "chooser: \"" + name + "\" is not the name of a kernel";
    if (kernel->role != KernelRole::Attention)
      return "chooser: \"" + name + "\" is an auxiliary kernel";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static ordered_json termToJson(const GuardTerm &term) {
  if (term.name.empty())
    return term.number;
  if (term.modulo == 0)
    return term.name;
  return {{"mod", ordered_json::array({term.name, term.modulo})}};
}

static ordered_json argumentToJson(const KernelArgument &argument) {
  ordered_json result = {{"name", argument.name},
                         {"type", spelling(argument.type)}};
  if (argument.type == ArgumentType::TensorMap) {
    result["box_rows"] = argument.box.rows;
    result["box_columns"] = argument.box.columns;
    result["swizzle"] = argument.box.swizzleBytes;
    if (argument.box.ragged)
      result["ragged"] = true;
  }
  return result;
}

static ordered_json factorsToJson(const std::vector<WorkFactor> &factors) {
  ordered_json result = ordered_json::array();
  for (const WorkFactor &factor : factors) {
    if (factor.divisor == 1)
      result.push_back(factor.extent);
    else
      result.push_back(
          {{"ceildiv", ordered_json::array({factor.extent, factor.divisor})}});
    if (!factor.plus.empty())
      result.back()["plus"] = factor.plus;
  }
  return result;
}

/// What belongs to one kind of kernel.
static void writeRole(const Kernel &kernel, ordered_json &result) {
  result["role"] = spelling(kernel.role);
  if (!kernel.auxiliaries.empty())
    result["auxiliary"] = kernel.auxiliaries;
  if (kernel.role == KernelRole::Attention)
    return;
  ordered_json terms = ordered_json::array();
  for (const BufferTerm &term : kernel.bufferBytes)
    terms.push_back(
        {{"bytes", term.bytes}, {"times", factorsToJson(term.factors)}});
  result["buffer_bytes"] = terms;
}

static ordered_json kernelToJson(const Kernel &kernel) {
  ordered_json arguments = ordered_json::array();
  for (const KernelArgument &argument : kernel.arguments)
    arguments.push_back(argumentToJson(argument));
  ordered_json guards = ordered_json::array();
  for (const Guard &guard : kernel.guards)
    guards.push_back({{"lhs", termToJson(guard.lhs)},
                      {"op", nameOf(guardOpNames, guard.op)},
                      {"rhs", termToJson(guard.rhs)}});
  ordered_json result = {{"name", kernel.name}, {"target", kernel.target}};
  writeRole(kernel, result);
  result["block"] = kernel.block;
  result["shared_bytes"] = kernel.sharedBytes;
  result["tile_m"] = kernel.tileM;
  result["tile_n"] = kernel.tileN;
  result["schedule"] = kernel.schedule;
  result["arguments"] = arguments;
  result["work_items"] = factorsToJson(kernel.workItems);
  result["grid"] = nameOf(gridKindNames, kernel.grid);
  if (kernel.grid == GridKind::Resident)
    result["blocks_per_sm"] = kernel.blocksPerMultiprocessor;
  result["workspace_bytes_per_item"] = kernel.workspaceBytesPerItem;
  result["guards"] = guards;
  result["ptx"] = kernel.ptx;
  return result;
}

std::string attn::toJson(const Package &package) {
  ordered_json kernels = ordered_json::array();
  for (const Kernel &kernel : package.kernels)
    kernels.push_back(kernelToJson(kernel));
  ordered_json result = {
      {"attn_package", packageVersion},
      {"compiler", package.compiler},
      {"problem", ordered_json::parse(toJson(package.problem))},
      {"chooser", package.chooser},
      {"kernels", kernels}};
  constexpr int indent = 1;
  return result.dump(indent) + "\n";
}
