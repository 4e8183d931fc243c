//===- Source.h - From a file to a package ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_SOURCE_H
#define ATTN_TOOLS_RUN_SOURCE_H

#include "attn/Runtime/Device.h"
#include "attn/Runtime/Package.h"

#include <optional>
#include <string>

namespace attn::run {

/// A spec or package as read, before the device is known.
struct Source {
  std::string path, text;
  std::optional<Package> package; ///< read from a package file
  std::optional<Problem> problem; ///< parsed from a spec
};

/// Reads a file; a package is told from a spec by its first character. A spec
/// is parsed and checked. Throws InputError or PackageError with one line;
/// diagnostics of a spec have then been printed.
Source readSource(const std::string &path, const std::string &attention);

/// The newest target that the compiler knows and the device runs ("sm_90a" on a
/// 9.0). Throws DeviceError when the device is older than all of them.
std::string targetFor(const DeviceInfo &device);

/// The package of a source: the one that was read, or the spec compiled for
/// `target`, with all alternatives or the one that is named. Throws InputError;
/// the compiler's diagnostics are printed.
Package toPackage(const Source &source, const std::string &target,
                  const std::string &alternative);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_SOURCE_H
