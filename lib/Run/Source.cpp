//===- Source.cpp - From a file to a package ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source.h"
#include "Inputs.h"

#include "attn/Layout/GpuTarget.h"
#include "attn/Pipelines/Compile.h"
#include "attn/Runtime/Launch.h"
#include "attn/Spec/Spec.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <cctype>
#include <iostream>

using namespace attn;
using namespace attn::run;

static std::string readFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    throw InputError(path + ": " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

static Problem parseProblem(const std::string &path, const std::string &text,
                            const std::string &attention) {
  llvm::SourceMgr sources;
  spec::ParseOptions options;
  options.attentionName = attention;
  std::optional<Problem> problem =
      spec::parseSpec(path, text, sources, options);
  if (!problem)
    throw InputError(path + ": the spec has errors");
  return *problem;
}

Source run::readSource(const std::string &path, const std::string &attention) {
  Source source;
  source.path = path;
  source.text = readFile(path);
  // JSON starts with a brace, which no spec does.
  size_t first = source.text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || source.text[first] != '{') {
    source.problem = parseProblem(path, source.text, attention);
    return source;
  }
  try {
    source.package = packageFromJson(source.text);
  } catch (const PackageError &error) {
    throw PackageError(path + ": " + error.what());
  }
  if (!attention.empty() && attention != source.package->problem.name)
    throw InputError("--attention=" + attention + ": the package holds '" +
                     source.package->problem.name + "'");
  return source;
}

std::string run::targetFor(const DeviceInfo &device) {
  std::string best, known;
  for (const layout::GpuTarget &target : layout::gpuTargets()) {
    std::string name(target.name);
    known += (known.empty() ? "" : ", ") + name;
    // The table is in order of compute capability, and what only one
    // architecture has comes behind what its successors have too.
    if (targetRunsOn(name, device.smMajor, device.smMinor))
      best = name;
  }
  if (best.empty())
    throw DeviceError(device.name + " is sm_" + std::to_string(device.smMajor) +
                      std::to_string(device.smMinor) +
                      ": kernels are made for " + known);
  return best;
}

Package run::toPackage(const Source &source, const std::string &target,
                       const std::string &alternative) {
  if (source.package)
    return *source.package;
  CompileOptions options;
  options.target = target;
  options.alternative = alternative;
  std::string diagnostics;
  std::optional<Package> package =
      compile(*source.problem, options, diagnostics);
  std::cerr << diagnostics;
  if (!package)
    throw InputError(source.path + ": no kernel for " + target);
  return *package;
}
