//===- attn-run.cpp - Runs, checks and times attention --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "attn/Runtime/Device.h"

#include <iostream>
#include <new>

using namespace attn;
using namespace attn::run;

static ExitCode report(const char *message, ExitCode code) {
  std::cerr << "attn-run: error: " << message << "\n";
  return code;
}

int main(int argc, char **argv) {
  try {
    return runSession(parseOptions(argc, argv));
  } catch (const ModuleError &error) {
    return report(error.what(), BadInput);
  } catch (const KernelError &error) {
    return report(error.what(), CheckFailed);
  } catch (const DeviceError &error) {
    return report(error.what(), NoDevice);
  } catch (const std::bad_alloc &) {
    return report("this host has too little memory for the problem: expected "
                  "room for every tensor twice; give a smaller --batch, "
                  "--q-len or --k-len",
                  BadInput);
  } catch (const std::exception &error) {
    return report(error.what(), BadInput);
  }
}
