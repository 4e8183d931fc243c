//===- Driver.cpp - The NVIDIA driver, opened at run time -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "attn/Runtime/Device.h"

#include <dlfcn.h>

using namespace attn;
using namespace attn::driver;

static Driver lookUp(void *library, const char *name) {
  Driver table;
  const char *missing = nullptr;
#define ATTN_DRIVER(symbol, parameters)                                        \
  table.symbol =                                                               \
      reinterpret_cast<decltype(table.symbol)>(dlsym(library, #symbol));       \
  if (!table.symbol && !missing)                                               \
    missing = #symbol;
#include "DriverEntryPoints.def"
  if (missing)
    throw DeviceError(std::string("NVIDIA driver too old: ") + name +
                      " has no " + missing + "; install a newer driver");
  return table;
}

Driver driver::loadDriver(const char *name) {
  // Never closed: the driver does not support being unloaded.
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    throw DeviceError(std::string("no NVIDIA driver: cannot open ") + name +
                      (reason ? std::string(" (") + reason + ")" : ""));
  }
  Driver table = lookUp(library, name);
  CUresult result = table.cuInit(0);
  if (result == errorNoDevice)
    throw DeviceError("no NVIDIA GPU: the driver is installed but finds no "
                      "device");
  check(table, result, "starting the NVIDIA driver");
  check(table, table.cuDriverGetVersion(&table.version), "cuDriverGetVersion");
  return table;
}

const Driver &driver::driver() {
  // Immutable once loaded; a throwing initialisation is tried again next time.
  static const Driver table = loadDriver("libcuda.so.1");
  return table;
}

std::string driver::describe(const Driver &driver, CUresult error) {
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(error, &name);
  driver.cuGetErrorString(error, &text);
  return std::string(name ? name : "unknown error " + std::to_string(error)) +
         (text ? std::string(": ") + text : "");
}

bool driver::isKernelFault(CUresult result) {
  return result == errorIllegalAddress || result == errorLaunchTimeout ||
         result == errorAssert ||
         (result >= errorHardwareStack && result <= errorLaunchFailed);
}

void driver::check(const Driver &driver, CUresult result, const char *what) {
  if (result == success)
    return;
  std::string text = std::string(what) + ": " + describe(driver, result);
  if (isKernelFault(result))
    throw KernelError(text);
  throw DeviceError(text);
}

std::string driver::versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}
