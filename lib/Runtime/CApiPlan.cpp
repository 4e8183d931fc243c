//===- CApiPlan.cpp - The C interface to plans ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CApiSupport.h"

using namespace attn;

int attn_plan_size(attn_package *package, const attn_launch_args *args,
                   int64_t *bytes) {
  return guarded([&] {
    required(bytes, "bytes") = 0;
    LaunchArguments arguments = convert(args).arguments;
    Place place = placeOf(required(package, "package"));
    *bytes = auxiliaryBytes(place.loaded.package(), arguments,
                            place.loaded.deviceInfo());
  });
}

int attn_plan_create(attn_plan **plan) {
  return guarded([&] {
    required(plan, "plan") = nullptr;
    *plan = new attn_plan;
  });
}

int attn_plan_build(attn_package *package, const attn_launch_args *args,
                    attn_plan *plan, uint64_t memory, int64_t bytes,
                    void *stream) {
  return guarded([&] {
    attn_plan &handle = required(plan, "plan");
    handle.set(nullptr);
    LaunchArguments arguments = convert(args).arguments;
    attn_package &source = required(package, "package");
    Place place = placeOf(source);
    auto built = std::make_shared<BuiltPlan>();
    built->package = source.package;
    built->place = place.key;
    built->plan = planAuxiliaries(*source.package, arguments,
                                  place.loaded.deviceInfo(), memory, bytes);
    place.loaded.build(built->plan, stream);
    handle.set(std::move(built));
  });
}

int attn_plan_invalidate(attn_plan *plan) {
  return guarded([&] { required(plan, "plan").set(nullptr); });
}

void attn_plan_free(attn_plan *plan) { delete plan; }
