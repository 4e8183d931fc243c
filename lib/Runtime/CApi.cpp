//===- CApi.cpp - The C interface -----------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CApiSupport.h"
#include "Gpu.h"

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace attn;

std::string &attn::lastError() {
  static thread_local std::string text;
  return text;
}

void attn::checkCount(const char *name, const void *array, int64_t count) {
  if (count < 0 || (count > 0 && !array))
    throw LaunchError(std::string(name) + " = " + std::to_string(count) +
                      ": expected 0 or more entries and an array for them");
}

void attn::checkStructBytes(int64_t found, size_t expected) {
  if (found != int64_t(expected))
    throw LaunchError("struct_bytes = " + std::to_string(found) +
                      ": this library expects " + std::to_string(expected) +
                      " (header and library differ)");
}

static TensorView convert(const attn_view &view) {
  return {view.data, view.stride_b, view.stride_h, view.stride_s};
}

CallArguments attn::convert(const attn_launch_args *pointer) {
  const attn_launch_args &args = required(pointer, "args");
  checkStructBytes(args.struct_bytes, sizeof(attn_launch_args));
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
  result.cuSeqlensQ = args.cu_seqlens_q;
  result.cuSeqlensK = args.cu_seqlens_k;
  result.totalQ = args.total_q;
  result.totalK = args.total_k;
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
  return {result, args.plan};
}

Place attn::placeOf(attn_package &package) {
  std::lock_guard<std::mutex> lock(package.mutex);
  const void *key = package.chosen ? package.chosen.get() : currentGpuContext();
  OnDevice &entry = package.loaded[key];
  if (!entry.loaded) {
    entry.device = package.chosen ? package.chosen
                                  : std::shared_ptr<Device>(openCurrentGpu());
    entry.loaded =
        std::make_unique<LoadedPackage>(*package.package, *entry.device);
  }
  return {*entry.loaded, key};
}

namespace {
/// A call with arguments on the package where it is to run, and the plan that
/// it was given.
struct Call {
  Call(attn_package *package, const attn_launch_args *args)
      : converted(convert(args)), arguments(converted.arguments),
        place(placeOf(required(package, "package"))) {
    if (!converted.plan)
      return;
    built = converted.plan->get();
    if (!built)
      throw LaunchError("plan: it was not built, or was invalidated; expected "
                        "attn_plan_build before the launch");
    if (built->place != place.key)
      throw LaunchError("plan: it was built on another device or context");
    arguments.plan = &built->plan;
  }
  LaunchPlan plan() const {
    return planLaunch(place.loaded.package(), arguments,
                      place.loaded.deviceInfo());
  }

  CallArguments converted;
  LaunchArguments &arguments;
  Place place;
  std::shared_ptr<const BuiltPlan> built;
};
} // namespace

static void parse(const std::string &text, attn_package **package) {
  auto result = std::make_unique<attn_package>();
  result->package = std::make_shared<Package>(packageFromJson(text));
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

int attn_package_use(attn_package *package, attn_device *device) {
  return guarded([&] {
    attn_package &handle = required(package, "package");
    std::lock_guard<std::mutex> lock(handle.mutex);
    handle.chosen = device ? device->device : nullptr;
  });
}

static int32_t convert(DType type) {
  switch (type) {
  case DType::BF16:
    return ATTN_BF16;
  case DType::F16:
    return ATTN_F16;
  case DType::F32:
    return ATTN_F32;
  case DType::E4M3:
    return ATTN_E4M3;
  case DType::E5M2:
    return ATTN_E5M2;
  default:
    throw LaunchError(std::string("element type ") + spelling(type) +
                      ": this interface has no name for it");
  }
}

int attn_query_problem(const attn_package *package, attn_problem *result) {
  return guarded([&] {
    attn_problem &out = required(result, "problem");
    checkStructBytes(out.struct_bytes, sizeof(attn_problem));
    const Problem &problem = required(package, "package").package->problem;
    out.name = problem.name.c_str();
    out.heads = problem.heads;
    out.kv_heads = problem.kvHeads;
    out.head_dim_qk = problem.headDimQK;
    out.head_dim_v = problem.headDimV;
    out.q_type = convert(problem.dtype);
    out.kv_type = convert(problem.kvDtype);
    out.o_type = convert(problem.out);
    out.has_o = problem.outputO;
    out.has_lse = problem.outputLse;
  });
}

int attn_query_workspace(attn_package *package, const attn_launch_args *args,
                         int64_t *bytes) {
  return guarded([&] {
    required(bytes, "bytes") = 0;
    LaunchArguments arguments = convert(args).arguments;
    Place place = placeOf(required(package, "package"));
    *bytes = workspaceBytes(place.loaded.package(), arguments,
                            place.loaded.deviceInfo());
  });
}

int attn_prepare(attn_package *package, const attn_launch_args *args) {
  return guarded([&] {
    Call call(package, args);
    call.place.loaded.prepare(call.plan());
  });
}

int attn_launch(attn_package *package, const attn_launch_args *args,
                void *stream) {
  return guarded([&] {
    Call call(package, args);
    call.place.loaded.launch(call.plan(), stream);
  });
}

int attn_explain(attn_package *package, const attn_launch_args *args,
                 char *text, int64_t bytes) {
  return guarded([&] {
    if (bytes < 1)
      throw LaunchError("bytes = " + std::to_string(bytes) +
                        ": expected 1 or more");
    required(text, "text") = '\0';
    std::string reason = Call(package, args).plan().reason;
    size_t length = std::min(reason.size(), size_t(bytes - 1));
    std::copy_n(reason.begin(), length, text);
    text[length] = '\0';
  });
}

const char *attn_last_error(void) { return lastError().c_str(); }
