//===- Session.h - One run of the tool --------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_RUN_SESSION_H
#define ATTN_TOOLS_RUN_SESSION_H

#include "Options.h"

namespace attn::run {

/// Exit codes of attn-run.
enum ExitCode { Right = 0, CheckFailed = 1, BadInput = 2, NoDevice = 3 };

/// Reads the source, opens the device, launches, checks, times, saves and
/// reports on stdout. Throws InputError, PackageError, LaunchError or
/// DeviceError; nothing has then been written.
ExitCode runSession(const RunOptions &options);

} // namespace attn::run

#endif // ATTN_TOOLS_RUN_SESSION_H
