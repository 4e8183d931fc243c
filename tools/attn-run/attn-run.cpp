//===- attn-run.cpp - Runs, checks and times attention --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "attn/Runtime/Device.h"

#include <iostream>

using namespace attn;
using namespace attn::run;

static ExitCode report(const std::exception &error, ExitCode code) {
  std::cerr << "attn-run: error: " << error.what() << "\n";
  return code;
}

int main(int argc, char **argv) {
  try {
    std::optional<RunOptions> options = parseOptions(argc, argv);
    return options ? runSession(*options) : BadInput;
  } catch (const DeviceError &error) {
    return report(error, NoDevice);
  } catch (const std::exception &error) {
    return report(error, BadInput);
  }
}
