//===- CApi.cpp - The C interface -----------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"
#include "attn/Runtime/Launch.h"
#include "attn/Runtime/attn_runtime.h"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace attn;

namespace {
/// A package on one context.
struct OnContext {
  std::unique_ptr<Device> device;
  std::unique_ptr<LoadedPackage> loaded;
};
} // namespace

struct attn_package {
  Package package;
  std::mutex mutex;
  std::map<void *, OnContext> contexts;
};

static thread_local std::string lastError;

/// Runs `body`; no exception crosses the C interface.
template <typename Body> static int guarded(Body body) {
  try {
    lastError.clear();
    body();
    return ATTN_OK;
  } catch (const ModuleError &error) {
    lastError = error.what();
    return ATTN_ERROR_INPUT;
  } catch (const DeviceError &error) {
    lastError = error.what();
    return ATTN_ERROR_DEVICE;
  } catch (const std::exception &error) {
    lastError = error.what();
    return ATTN_ERROR_INPUT;
  }
}

template <typename T> static T &required(T *pointer, const char *name) {
  if (!pointer)
    throw LaunchError(std::string(name) + ": null pointer");
  return *pointer;
}

static void checkCount(const char *name, const void *array, int64_t count) {
  if (count < 0 || (count > 0 && !array))
    throw LaunchError(std::string(name) + " = " + std::to_string(count) +
                      ": expected 0 or more entries and an array for them");
}

static TensorView convert(const attn_view &view) {
  return {view.data, view.stride_b, view.stride_h, view.stride_s};
}

static LaunchArguments convert(const attn_launch_args *pointer) {
  const attn_launch_args &args = required(pointer, "args");
  if (args.struct_bytes != int64_t(sizeof(attn_launch_args)))
    throw LaunchError("struct_bytes = " + std::to_string(args.struct_bytes) +
                      ": this library expects " +
                      std::to_string(sizeof(attn_launch_args)) +
                      " (header and library differ)");
  LaunchArguments result;
  result.batch = args.batch;
  result.qLen = args.q_len;
  result.kLen = args.k_len;
  result.q = convert(args.q);
  result.k = convert(args.k);
  result.v = convert(args.v);
  result.o = convert(args.o);
  result.lse = convert(args.lse);
  result.qLens = args.q_lens;
  result.kLens = args.k_lens;
  result.workspace = args.workspace;
  result.workspaceBytes = args.workspace_bytes;
  if (args.grid != 0)
    result.grid = args.grid;
  checkCount("param_count", args.params, args.param_count);
  for (int64_t i = 0; i < args.param_count; ++i) {
    const attn_param &param = args.params[i];
    result.params[&required(param.name, "name of a param")] =
        param.is_float ? ParamValue::ofFloat(param.float_value)
                       : ParamValue::ofInt(param.int_value);
  }
  checkCount("tensor_count", args.tensors, args.tensor_count);
  for (int64_t i = 0; i < args.tensor_count; ++i) {
    const attn_tensor &tensor = args.tensors[i];
    result.tensors[&required(tensor.name, "name of a tensor")] = {
        tensor.data, tensor.elements};
  }
  return result;
}

static LoadedPackage &onCurrentContext(attn_package &package) {
  void *context = currentGpuContext();
  std::lock_guard<std::mutex> lock(package.mutex);
  OnContext &entry = package.contexts[context];
  if (!entry.loaded) {
    entry.device = openCurrentGpu();
    entry.loaded =
        std::make_unique<LoadedPackage>(package.package, *entry.device);
  }
  return *entry.loaded;
}

static void parse(const std::string &text, attn_package **package) {
  auto result = std::make_unique<attn_package>();
  result->package = packageFromJson(text);
  *package = result.release();
}

int attn_package_load(const char *path, attn_package **package) {
  return guarded([&] {
    required(package, "package") = nullptr;
    required(path, "path");
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf()))
      throw PackageError(std::string(path) + ": cannot read the file");
    try {
      parse(text.str(), package);
    } catch (const PackageError &error) {
      throw PackageError(std::string(path) + ": " + error.what());
    }
  });
}

int attn_package_parse(const char *text, int64_t bytes,
                       attn_package **package) {
  return guarded([&] {
    required(package, "package") = nullptr;
    checkCount("bytes", text, bytes);
    parse(std::string(text, size_t(bytes)), package);
  });
}

void attn_package_free(attn_package *package) { delete package; }

int attn_query_workspace(attn_package *package, const attn_launch_args *args,
                         int64_t *bytes) {
  return guarded([&] {
    required(bytes, "bytes") = 0;
    LaunchArguments arguments = convert(args);
    attn_package &handle = required(package, "package");
    *bytes = workspaceBytes(handle.package, arguments,
                            onCurrentContext(handle).deviceInfo());
  });
}

int attn_prepare(attn_package *package, const attn_launch_args *args) {
  return guarded([&] {
    LaunchArguments arguments = convert(args);
    LoadedPackage &loaded = onCurrentContext(required(package, "package"));
    LaunchPlan plan =
        planLaunch(loaded.package(), arguments, loaded.deviceInfo());
    if (plan.kernel)
      loaded.module(*plan.kernel)
          .occupancy(plan.kernel->name, int(plan.kernel->block),
                     plan.kernel->sharedBytes);
  });
}

int attn_launch(attn_package *package, const attn_launch_args *args,
                void *stream) {
  return guarded([&] {
    LaunchArguments arguments = convert(args);
    onCurrentContext(required(package, "package")).launch(arguments, stream);
  });
}

int attn_explain(attn_package *package, const attn_launch_args *args,
                 char *text, int64_t bytes) {
  return guarded([&] {
    if (bytes < 1)
      throw LaunchError("bytes = " + std::to_string(bytes) +
                        ": expected 1 or more");
    required(text, "text") = '\0';
    LaunchArguments arguments = convert(args);
    LoadedPackage &loaded = onCurrentContext(required(package, "package"));
    std::string reason =
        planLaunch(loaded.package(), arguments, loaded.deviceInfo()).reason;
    size_t length = std::min(reason.size(), size_t(bytes - 1));
    std::copy_n(reason.begin(), length, text);
    text[length] = '\0';
  });
}

const char *attn_last_error(void) { return lastError.c_str(); }
