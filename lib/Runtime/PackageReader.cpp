//===- PackageReader.cpp - Reading and checking packages ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentNames.h"
#include "MapArguments.h"
#include "PackageNames.h"
#include "PtxEntry.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace attn;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

[[noreturn]] static void fail(const std::string &where,
                              const std::string &problem) {
  throw PackageError("malformed package: " + where + ": " + problem);
}

static const json &member(const json &object, const char *name,
                          const std::string &where) {
  if (!object.is_object())
    fail(where, std::string("expected an object, found ") + object.type_name());
  auto it = object.find(name);
  if (it == object.end())
    fail(where, std::string("the field '") + name + "' is missing");
  return *it;
}

static std::string readString(const json &object, const char *name,
                              const std::string &where) {
  const json &value = member(object, name, where);
  if (!value.is_string())
    fail(where + "." + name,
         std::string("expected a string, found ") + value.type_name());
  return value.get<std::string>();
}

/// One of `names`; the field is present.
template <typename T, size_t N>
static T readWord(const json &object, const char *name,
                  const std::array<NamedValue<T>, N> &names,
                  const std::string &where) {
  std::string word = readString(object, name, where);
  if (std::optional<T> value = valueOf(names, word))
    return *value;
  fail(where + "." + name,
       "expected " + listNames(names) + ", found '" + word + "'");
}

static int64_t asInteger(const json &value, const std::string &where,
                         int64_t low, int64_t high) {
  if (!value.is_number_integer())
    fail(where, std::string("expected an integer, found ") + value.type_name());
  // A number past i64 is stored unsigned and would wrap.
  bool wraps = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
  if (wraps || value.get<int64_t>() < low || value.get<int64_t>() > high)
    fail(where, "expected " + std::to_string(low) + " .. " +
                    std::to_string(high) + ", found " + value.dump());
  return value.get<int64_t>();
}

static const json &readArray(const json &object, const char *name,
                             const std::string &where) {
  const json &value = member(object, name, where);
  if (!value.is_array())
    fail(where + "." + name,
         std::string("expected an array, found ") + value.type_name());
  return value;
}

/// `{key: [name, number]}`, the shape of "ceildiv" and "mod".
static std::pair<std::string, int64_t>
readPair(const json &object, const char *key, const std::string &where) {
  const json &pair = readArray(object, key, where);
  if (pair.size() != 2 || !pair[0].is_string())
    fail(where, std::string("expected {\"") + key + "\": [name, number]}");
  return {pair[0].get<std::string>(),
          asInteger(pair[1], where + "." + key + "[1]", 1, INT32_MAX)};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static GuardTerm readTerm(const json &value, const std::string &where) {
  GuardTerm term;
  if (value.is_number()) {
    term.number = asInteger(value, where, INT64_MIN, INT64_MAX);
    return term;
  }
  if (value.is_string())
    term.name = value.get<std::string>();
  else
    std::tie(term.name, term.modulo) = readPair(value, "mod", where);
  if (!isGuardName(term.name))
    fail(where, "'" + term.name + "' is not a launch value");
  return term;
}

static Guard readGuard(const json &value, const std::string &where) {
  Guard guard;
  guard.lhs = readTerm(member(value, "lhs", where), where + ".lhs");
  guard.rhs = readTerm(member(value, "rhs", where), where + ".rhs");
  guard.op = readWord(value, "op", guardOpNames, where);
  return guard;
}

static WorkFactor readFactor(const json &value, const std::string &where) {
  WorkFactor factor;
  if (value.is_string())
    factor.extent = value.get<std::string>();
  else
    std::tie(factor.extent, factor.divisor) = readPair(value, "ceildiv", where);
  auto check = [&](const std::string &extent) {
    if (!isWorkExtent(extent))
      fail(where, "expected batch, heads, kv_heads, q_len, k_len or total_q, "
                  "found '" +
                      extent + "'");
  };
  check(factor.extent);
  if (value.is_object() && value.contains("plus")) {
    factor.plus = readString(value, "plus", where);
    check(factor.plus);
  }
  return factor;
}

static std::vector<WorkFactor> readFactors(const json &object, const char *name,
                                           const std::string &where) {
  std::vector<WorkFactor> factors;
  for (const json &entry : readArray(object, name, where))
    factors.push_back(readFactor(entry, where + "." + name + "[" +
                                            std::to_string(factors.size()) +
                                            "]"));
  return factors;
}

static KernelArgument readArgument(const json &value, const Problem &problem,
                                   const std::string &where) {
  KernelArgument argument;
  argument.name = readString(value, "name", where);
  argument.type = readWord(value, "type", argumentTypeNames, where);
  if (argument.type == ArgumentType::TensorMap) {
    auto integer = [&](const char *name) {
      return asInteger(member(value, name, where), where + "." + name, 0,
                       INT32_MAX);
    };
    argument.box = {integer("box_rows"), integer("box_columns"),
                    integer("swizzle")};
    if (value.contains("ragged")) {
      if (!value["ragged"].is_boolean())
        fail(where + ".ragged", std::string("expected true or false, found ") +
                                    value["ragged"].type_name());
      argument.box.ragged = value["ragged"].get<bool>();
    }
  }
  std::string fault = resolveArgument(problem, argument);
  if (!fault.empty())
    fail(where, fault);
  return argument;
}

static void readGrid(const json &value, const std::string &where,
                     Kernel &kernel) {
  // CUDA programming guide, "Technical Specifications": resident blocks.
  constexpr int64_t maxResidentBlocks = 32;
  if (!value.contains("grid"))
    return;
  kernel.grid = readWord(value, "grid", gridKindNames, where);
  if (!value.contains("blocks_per_sm"))
    return;
  if (kernel.grid != GridKind::Resident)
    fail(where + ".blocks_per_sm", "expected only with \"grid\": \"resident\"");
  kernel.blocksPerMultiprocessor = asInteger(
      value["blocks_per_sm"], where + ".blocks_per_sm", 1, maxResidentBlocks);
}

/// What the kernel is for, and the buffers that go with it.
static void readRole(const json &value, const std::string &where,
                     Kernel &kernel) {
  constexpr int64_t maxTermBytes = int64_t(1) << 30;
  if (value.contains("role"))
    kernel.role = readWord(value, "role", kernelRoleNames, where);
  if (value.contains("auxiliary"))
    for (const json &entry : readArray(value, "auxiliary", where)) {
      if (!entry.is_string())
        fail(where + ".auxiliary",
             "expected names of kernels, found " + entry.dump());
      kernel.auxiliaries.push_back(entry.get<std::string>());
    }
  if (!value.contains("buffer_bytes"))
    return;
  for (const json &entry : readArray(value, "buffer_bytes", where)) {
    std::string at = where + ".buffer_bytes[" +
                     std::to_string(kernel.bufferBytes.size()) + "]";
    int64_t bytes =
        asInteger(member(entry, "bytes", at), at + ".bytes", 1, maxTermBytes);
    kernel.bufferBytes.push_back({bytes, readFactors(entry, "times", at)});
  }
}

static Kernel readKernel(const json &value, const Problem &problem,
                         const std::string &where) {
  // CUDA programming guide, "Technical Specifications": threads per block; the
  // byte limit only keeps the launcher's arithmetic in range, a device's own
  // limit is checked at launch.
  constexpr int64_t maxThreads = 1024, maxSharedBytes = int64_t(1) << 30;
  constexpr int64_t maxTile = 1 << 20;
  Kernel kernel;
  kernel.name = readString(value, "name", where);
  kernel.target = readString(value, "target", where);
  if (!parseTarget(kernel.target))
    fail(where + ".target",
         "expected sm_NN, sm_NNa or sm_NNf, found '" + kernel.target + "'");
  kernel.ptx = readString(value, "ptx", where);
  kernel.schedule = readString(value, "schedule", where);
  auto integer = [&](const char *name, int64_t low, int64_t high) {
    return asInteger(member(value, name, where), where + "." + name, low, high);
  };
  kernel.block = integer("block", 1, maxThreads);
  kernel.sharedBytes = integer("shared_bytes", 0, maxSharedBytes);
  kernel.tileM = integer("tile_m", 0, maxTile);
  kernel.tileN = integer("tile_n", 0, maxTile);
  if (value.contains("workspace_bytes_per_item"))
    kernel.workspaceBytesPerItem =
        integer("workspace_bytes_per_item", 0, maxSharedBytes);
  readGrid(value, where, kernel);
  readRole(value, where, kernel);
  auto element = [&](const char *name, size_t i) {
    return where + "." + name + "[" + std::to_string(i) + "]";
  };
  for (const json &entry : readArray(value, "arguments", where))
    kernel.arguments.push_back(readArgument(
        entry, problem, element("arguments", kernel.arguments.size())));
  kernel.workItems = readFactors(value, "work_items", where);
  if (value.contains("guards"))
    for (const json &entry : readArray(value, "guards", where))
      kernel.guards.push_back(
          readGuard(entry, element("guards", kernel.guards.size())));
  return kernel;
}

static int64_t byteSize(ArgumentType type) {
  if (type == ArgumentType::TensorMap)
    return sizeof(EncodedTensorMap);
  return type == ArgumentType::Ptr || type == ArgumentType::I64 ? 8 : 4;
}

/// The list of arguments and the PTX, which nothing else compares.
static void checkArguments(const Kernel &kernel, const std::string &where) {
  std::optional<std::vector<int64_t>> declared =
      ptxParameterBytes(kernel.ptx, kernel.name);
  if (!declared)
    fail(where + ".ptx", "expected .entry " + kernel.name + ", found none");
  if (declared->size() != kernel.arguments.size())
    fail(where + ".arguments", "expected the " +
                                   std::to_string(declared->size()) +
                                   " parameters of the PTX, found " +
                                   std::to_string(kernel.arguments.size()));
  for (size_t i = 0; i < declared->size(); ++i)
    if ((*declared)[i] != byteSize(kernel.arguments[i].type))
      fail(where + ".arguments[" + std::to_string(i) + "]",
           "'" + kernel.arguments[i].name + "' has " +
               std::to_string(byteSize(kernel.arguments[i].type)) +
               " bytes, the parameter of the PTX " +
               std::to_string((*declared)[i]));
}

static void readChooser(const json &root, Package &package) {
  std::set<std::string> names;
  for (const Kernel &kernel : package.kernels)
    if (!names.insert(kernel.name).second)
      fail("kernels", "two kernels are named '" + kernel.name + "'");
  if (!root.contains("chooser"))
    return;
  for (const json &entry : readArray(root, "chooser", "package")) {
    if (!entry.is_string())
      fail("chooser", entry.dump() + " is not the name of a kernel");
    package.chooser.push_back(entry.get<std::string>());
  }
}

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

/// What a package of another format says of its writer: " (attn 0.1)".
static std::string writerOf(const json &root) {
  auto it = root.find("compiler");
  return it != root.end() && it->is_string()
             ? " (written by " + it->get<std::string>() + ")"
             : "";
}

Package attn::packageFromJson(const std::string &text) {
  json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded())
    throw PackageError("not an attn package: the text is not JSON");
  if (!root.is_object() || !root.contains("attn_package"))
    throw PackageError(
        "not an attn package: the field 'attn_package' is missing");
  const json &version = root["attn_package"];
  if (!version.is_number_integer() || version != packageVersion)
    throw PackageError("package format " + version.dump() + writerOf(root) +
                       ": expected format " + std::to_string(packageVersion) +
                       "; write the package again with this build's attn-opt "
                       "(attn-opt SPEC --emit=package)");
  Package package;
  package.compiler = readString(root, "compiler", "package");
  const json &problem = member(root, "problem", "package");
  try {
    package.problem = problemFromJson(problem.dump());
  } catch (const std::exception &error) {
    fail("problem", error.what());
  }
  for (const json &entry : readArray(root, "kernels", "package"))
    package.kernels.push_back(
        readKernel(entry, package.problem,
                   "kernels[" + std::to_string(package.kernels.size()) + "]"));
  if (package.kernels.empty())
    fail("kernels", "expected at least one kernel, found none");
  readChooser(root, package);
  if (std::string fault = roleFault(package); !fault.empty())
    throw PackageError("malformed package: " + fault);
  for (size_t i = 0; i < package.kernels.size(); ++i)
    checkArguments(package.kernels[i], "kernels[" + std::to_string(i) + "]");
  return package;
}
