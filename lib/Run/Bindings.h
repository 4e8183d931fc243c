//===- Bindings.h - Params and tensors of the command line ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_BINDINGS_H
#define ATTN_TOOLS_RUN_BINDINGS_H

#include "Inputs.h"

namespace attn::run {

/// Binds --param and --tensor to the declarations of the spec. Lengths must be
/// known for tensors. Throws InputError.
void bindParams(const InputOptions &options, Inputs &inputs);
void bindTensors(const InputOptions &options, Inputs &inputs);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_BINDINGS_H
