//===- MapArguments.h - Tensor maps as kernel arguments ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the box that a manifest asks for and the view that a launch binds to the
// description that a device encodes. A map has the dimensions (head dim,
// position, head, batch) of its operand.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_MAPARGUMENTS_H
#define ATTN_LIB_RUNTIME_MAPARGUMENTS_H

#include "attn/Runtime/Launch.h"

namespace attn {

/// Looks the argument's name up, and checks its type and box. Why no launch can
/// bind it; empty when one can.
std::string resolveArgument(const Problem &problem, KernelArgument &argument);

/// Where an argument's value comes from. Throws PackageError where a package
/// that was not read has one that no launch can bind.
ArgumentSource sourceOf(const Problem &problem, const KernelArgument &argument);

/// Why no tensor map can express the operand as it is bound: the stride of an
/// axis with more than one element is 0 or too large. Empty when one can, and
/// for other arguments.
std::string mapObstacle(const Problem &problem,
                        const LaunchArguments &arguments,
                        const KernelArgument &argument);

/// The map of a launch for which mapObstacle is empty. An operand without
/// elements gets a map of one element, whose rest reads as zero.
TensorMap tensorMapOf(const Problem &problem, const LaunchArguments &arguments,
                      const KernelArgument &argument);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_MAPARGUMENTS_H
