//===- FormRunner.h - Forms in processes of their own -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fault leaves a GPU's context unusable and a hung kernel never returns. So
// the forms run in child processes: one that met a fault ends after its row,
// one that gives no row in time is killed, and another one goes on behind that
// form.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_GPU_FORMRUNNER_H
#define ATTN_TEST_GPU_FORMRUNNER_H

#include "FormTable.h"

#include <functional>

namespace attn::simtest {

/// Compares one form on the simulator and, unless null, the GPU.
using CompareForm = std::function<Row(Device &simulator, Device *gpu)>;

struct NamedForm {
  std::string name;
  CompareForm compare;
};

struct RunnerOptions {
  bool useGpu = true;
  unsigned jobs = 1;            ///< processes at a time
  unsigned secondsPerForm = 60; ///< with the opening of the GPU
};

struct RunnerResult {
  std::vector<Row> rows; ///< in the order of the forms
  std::string device;    ///< the GPU's name
  std::string noGpu;     ///< why there is none; then no rows
};

/// Must be called before anything opens the GPU or starts a thread: children
/// are forked.
RunnerResult runForms(const std::vector<NamedForm> &forms,
                      const RunnerOptions &options);

} // namespace attn::simtest

#endif // ATTN_TEST_GPU_FORMRUNNER_H
