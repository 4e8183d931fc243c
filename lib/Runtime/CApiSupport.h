//===- CApiSupport.h - What the C functions share ---------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_CAPISUPPORT_H
#define ATTN_LIB_RUNTIME_CAPISUPPORT_H

#include "attn/Runtime/Launch.h"
#include "attn/Runtime/attn_runtime.h"

#include <map>
#include <memory>
#include <mutex>
#include <new>

struct attn_device {
  /// Packages that use the device share it, so that it may be closed first.
  std::shared_ptr<attn::Device> device;
};

namespace attn {

/// A package on one device, or on one context of the caller's.
struct OnDevice {
  std::shared_ptr<Device> device;
  std::unique_ptr<LoadedPackage> loaded;
};

/// What attn_plan_build leaves.
struct BuiltPlan {
  std::shared_ptr<const Package> package; ///< may be freed before the plan
  const void *place = nullptr; ///< the device or context that built it
  AuxiliaryPlan plan;
};

} // namespace attn

struct attn_package {
  /// Plans share it.
  std::shared_ptr<const attn::Package> package;
  std::mutex mutex;
  std::shared_ptr<attn::Device> chosen; ///< null: the caller's context
  /// By context or device. A device is kept alive here, so no two are alike.
  std::map<const void *, attn::OnDevice> loaded;
};

struct attn_plan {
  mutable std::mutex mutex;
  std::shared_ptr<const attn::BuiltPlan> built; ///< null: not built

  std::shared_ptr<const attn::BuiltPlan> get() const {
    std::lock_guard<std::mutex> lock(mutex);
    return built;
  }
  void set(std::shared_ptr<const attn::BuiltPlan> value) {
    std::lock_guard<std::mutex> lock(mutex);
    built = std::move(value);
  }
};

namespace attn {

/// The arguments of a call, and what they point to.
struct CallArguments {
  LaunchArguments arguments; ///< without the plan
  const attn_plan *plan = nullptr;
};
/// Throws LaunchError for what no launch can have.
CallArguments convert(const attn_launch_args *args);

/// Where a call runs.
struct Place {
  LoadedPackage &loaded;
  const void *key; ///< of the device or context
};
/// The package where it is to run: loaded at the first call there.
Place placeOf(attn_package &package);

/// The text of the calling thread's last failed call.
std::string &lastError();

/// Runs `body`; no exception crosses the C interface.
template <typename Body> int guarded(Body body) {
  auto failed = [](const char *message, int code) {
    lastError() = message;
    return code;
  };
  try {
    lastError().clear();
    body();
    return ATTN_OK;
  } catch (const ModuleError &error) {
    return failed(error.what(), ATTN_ERROR_INPUT);
  } catch (const DeviceError &error) {
    return failed(error.what(), ATTN_ERROR_DEVICE);
  } catch (const std::bad_alloc &) {
    // Short enough to need no memory of its own.
    return failed("out of memory", ATTN_ERROR_DEVICE);
  } catch (const std::exception &error) {
    return failed(error.what(), ATTN_ERROR_INPUT);
  }
}

template <typename T> T &required(T *pointer, const char *name) {
  if (!pointer)
    throw LaunchError(std::string(name) + ": null pointer");
  return *pointer;
}

/// Throws unless there are 0 or more entries, and an array if there are any.
void checkCount(const char *name, const void *array, int64_t count);
/// Throws unless `found`, a struct_bytes, is the size here.
void checkStructBytes(int64_t found, size_t expected);

} // namespace attn

#endif // ATTN_LIB_RUNTIME_CAPISUPPORT_H
