//===- RandomKernelTest.cpp - Kernels of random masks against the oracle --===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What is compiled of random masks, with their block lists where they have any,
// on the simulator: every output against the oracle's. ATTN_MASK_CASES says for
// how many masks, ATTN_MASK_SEED for which. A nightly run takes 10,000.
//
//===----------------------------------------------------------------------===//

#include "../Analysis/MaskValues.h"

#include "CheckRun.h"
#include "attn/Pipelines/Compile.h"
#include "attn/Runtime/Device.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iostream>

using namespace attn;
using namespace attn::run;
using namespace attn::test;

namespace {

/// Random Q, K and V with the values of a mask's params and tensors.
Inputs inputsOf(const Problem &problem, const Values &values,
                test::Lengths lengths) {
  InputOptions options;
  options.lengths.batch = batch;
  options.lengths.qLen = lengths.q;
  options.lengths.kLen = lengths.k;
  for (const Tensor &tensor : problem.tensors)
    options.tensors.push_back({tensor.name, "zeros"});
  Inputs inputs = makeInputs(problem, options);
  for (const auto &[name, value] : values.inputs.params)
    inputs.params[name.str()] = ParamValue::ofInt(value);
  for (auto &[name, tensor] : inputs.tensors)
    std::memcpy(tensor.bytes.data(), values.bindings.tensors.at(name).data,
                tensor.bytes.size());
  return inputs;
}

/// As every schedule sees it: small tiles, so that short sequences have some of
/// each kind.
Problem problemOf(RandomMask &random, bool isHopper) {
  constexpr unsigned maxDepth = 4;
  Problem problem = problemWithMask(random.mask(random.below(maxDepth)));
  problem.headDimQK = problem.headDimV = isHopper ? 64 : 16;
  problem.schedule.kind = isHopper ? ScheduleKind::Fa3 : ScheduleKind::Fa2;
  problem.schedule.tileM = isHopper ? 128 : 64;
  problem.schedule.tileN = 16 << random.below(3);
  if (random.below(3) == 0)
    problem.align = Alignment::TopLeft;
  return problem;
}

TEST(RandomKernel, AgreesWithTheOracle) {
  constexpr unsigned masks = 30;
  unsigned first = option("ATTN_MASK_SEED", 0);
  unsigned end = first + option("ATTN_MASK_CASES", masks);
  std::cout << "seeds " << first << " .. " << end - 1 << '\n';
  unsigned listed = 0;
  for (unsigned seed = first; seed < end; ++seed) {
    RandomMask random(seed);
    bool isHopper = seed % 3 == 0;
    Problem problem = problemOf(random, isHopper);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", tile of " +
                 std::to_string(*problem.schedule.tileN) + " keys");
    std::string diagnostics;
    CompileOptions options;
    options.target = isHopper ? "sm_90a" : "sm_80";
    std::optional<Package> package = compile(problem, options, diagnostics);
    ASSERT_TRUE(package) << diagnostics;
    listed +=
        package->kernels.back().name.find("_block_list") != std::string::npos;
    // No more queries than keys: tensors are then read inside.
    for (test::Lengths lengths :
         {test::Lengths{1, 1}, test::Lengths{40, 100}, test::Lengths{75, 75}}) {
      SCOPED_TRACE("q_len " + std::to_string(lengths.q) + ", k_len " +
                   std::to_string(lengths.k));
      Values values(random, lengths);
      Inputs inputs = inputsOf(package->problem, values, lengths);
      std::unique_ptr<Device> device = openSimulator();
      LoadedPackage loaded(*package, *device);
      CheckResult result =
          checkRun(*device, loaded, {{"random", inputs}}, CheckOptions());
      ASSERT_TRUE(result.passed()) << result.text();
    }
  }
  EXPECT_LE((end - first) / 10, listed);
}

} // namespace
