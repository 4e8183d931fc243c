//===- CheckRunTest.cpp - The harness finds every kind of mistake ---------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckRun.h"
#include "HostDevice.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace attn;
using namespace attn::run;
using namespace attn::test;

namespace {

struct Case {
  int64_t batch = 2, qLen = 19, kLen = 33;
  TensorLayout layout = TensorLayout::Bshd;
  CheckOptions check;
  OperandSource q, k, v;
  bool list = false; ///< the package whose kernel reads one
};

CheckResult runCheck(HostDevice &device, const Case &setup = {}) {
  Package package = setup.list ? listPackage(4, 2, 8) : hostPackage(4, 2, 8);
  InputOptions options;
  options.lengths.batch = setup.batch;
  options.lengths.qLen = setup.qLen;
  options.lengths.kLen = setup.kLen;
  options.layout = setup.layout;
  options.q = setup.q;
  options.k = setup.k;
  options.v = setup.v;
  options.tails = true;
  Inputs inputs = makeInputs(package.problem, options);
  options.tails = false;
  options.v.fill = FillSpec::pattern();
  Inputs tight = makeInputs(package.problem, options);
  std::vector<DataSet> sets = {{"random", inputs}, {"patterned", tight}};
  if (setup.v.fill)
    sets.pop_back();
  LoadedPackage loaded(package, device);
  return checkRun(device, loaded, sets, setup.check);
}

CheckResult runCheck(Mistake mistake, const Case &setup = {}) {
  HostDevice device(mistake);
  CheckResult result = runCheck(device, setup);
  EXPECT_EQ(device.liveBuffers(), 0u);
  return result;
}

/// Whether a failure starts with `text`.
bool mentions(const CheckResult &result, const std::string &text) {
  for (const std::string &failure : result.failures)
    if (failure.rfind(text, 0) == 0)
      return true;
  return false;
}

TEST(CheckRun, RightKernelPasses) {
  for (TensorLayout layout : {TensorLayout::Bshd, TensorLayout::Bhsd}) {
    Case setup;
    setup.layout = layout;
    HostDevice device;
    CheckResult result = runCheck(device, setup);
    EXPECT_TRUE(result.passed()) << result.text();
    ASSERT_EQ(result.dataSets.size(), 2u);
    EXPECT_EQ(result.dataSets[1].name, "patterned");
    // 2 x 4 x 2 work items, and two thirds of that.
    EXPECT_EQ(result.grids, (std::vector<int64_t>{16, 10}));
    EXPECT_EQ(device.launches, 6);
    EXPECT_TRUE(nlohmann::json::parse(result.json())["passed"]);
  }
}

TEST(CheckRun, EmptyRowsPass) {
  Case setup;
  setup.qLen = 9;
  setup.kLen = 4;
  EXPECT_TRUE(runCheck(Mistake::None, setup).passed());
  setup.kLen = 0;
  CheckResult result = runCheck(Mistake::None, setup);
  EXPECT_TRUE(result.passed()) << result.text();
  EXPECT_EQ(result.dataSets[0].report.emptyRows, 2 * 4 * 9);
}

TEST(CheckRun, NothingToLaunch) {
  Case setup;
  setup.qLen = 0;
  HostDevice device;
  CheckResult result = runCheck(device, setup);
  EXPECT_TRUE(result.passed()) << result.text();
  EXPECT_EQ(device.launches, 0);
  EXPECT_EQ(result.kernel, "no launch: q_len is 0, there is no output");
}

TEST(CheckRun, UnwrittenElements) {
  CheckResult result = runCheck(Mistake::SkipsLastRow);
  EXPECT_FALSE(result.passed());
  EXPECT_TRUE(mentions(result,
                       "random: 64 elements of o were not written, first o at "
                       "b = 0, h = 0, i = 18, d = 0"))
      << result.text();
  EXPECT_TRUE(
      mentions(runCheck(Mistake::SkipsLse),
               "random: 8 elements of lse were not written, first lse at b = "
               "0, h = 0, i = 0"));
}

TEST(CheckRun, StrayWrites) {
  EXPECT_TRUE(
      mentions(runCheck(Mistake::WritesTail),
               "random: the gaps of o were written, first element 608 of the "
               "buffer (strides b, h, s: 4736, 8, 32)"));
  EXPECT_TRUE(mentions(runCheck(Mistake::WritesBeforeO),
                       "random: wrote 6 bytes before the start of o"));
  EXPECT_TRUE(mentions(runCheck(Mistake::WritesPastLse),
                       "random: wrote 0 bytes past the end of lse"));
  EXPECT_TRUE(mentions(runCheck(Mistake::ChangesK),
                       "random: the kernel changed its input k"));
}

TEST(CheckRun, WorkCounterIsReset) {
  CheckResult result = runCheck(Mistake::LeavesCounter);
  EXPECT_FALSE(result.passed());
  EXPECT_TRUE(mentions(result, "random: the kernel left its work counter at 7, "
                               "0, expected 0, 0 (grid 16)"))
      << result.text();
}

TEST(CheckRun, TailsArePoisoned) {
  CheckResult result = runCheck(Mistake::ReadsTail);
  EXPECT_FALSE(result.passed());
  ASSERT_FALSE(result.dataSets.empty());
  EXPECT_GT(result.dataSets[0].report.nanGot, 0);
}

TEST(CheckRun, PatternedVShowsWhichKeysWereRead) {
  // With equal logits and V drawn at random a shift by one key is a small
  // error; the pattern makes it a large one.
  Case setup;
  setup.q.fill = FillSpec::parse("--q-fill", "zeros");
  CheckResult result = runCheck(Mistake::ShiftsKeys, setup);
  ASSERT_EQ(result.dataSets.size(), 2u);
  EXPECT_FALSE(result.dataSets[1].report.passed);
  EXPECT_NEAR(result.dataSets[1].report.maxError, 1.0, 0.1);
}

TEST(CheckRun, BitsThatVary) {
  EXPECT_TRUE(mentions(runCheck(Mistake::DependsOnCalls),
                       "random: two runs on grid 16 give other bits: "
                       "o at b = 0, h = 0, i = 0, d = 0: 0x"));
  Case setup;
  setup.check.grid = 15; // and 10
  EXPECT_TRUE(mentions(runCheck(Mistake::DependsOnGrid, setup),
                       "random: grids 15 and 10 give other bits: o at "
                       "b = 0, h = 0, i = 0, d = 0: 0x"));
  setup.check.grid = 1; // and 2
  EXPECT_FALSE(runCheck(Mistake::DependsOnGrid, setup).passed());
}

TEST(CheckRun, WrongNumbers) {
  CheckResult result = runCheck(Mistake::ScalesTwice);
  EXPECT_FALSE(result.passed());
  EXPECT_TRUE(result.failures.empty());
  EXPECT_GT(result.dataSets[0].report.lseFailures, 0);
  EXPECT_NE(result.text().find("FAIL"), std::string::npos);
}

TEST(CheckRun, FaultsAreFailures) {
  CheckResult result = runCheck(Mistake::Faults);
  EXPECT_FALSE(result.passed());
  EXPECT_TRUE(mentions(result,
                       "random: the kernel faulted: running a kernel: an "
                       "illegal address"));
}

TEST(CheckRun, PlansAreBuiltAndWatched) {
  Case setup;
  setup.list = true;
  HostDevice device;
  CheckResult result = runCheck(device, setup);
  EXPECT_TRUE(result.passed()) << result.text();
  // For each of three launches of two data sets.
  EXPECT_EQ(device.builds, 6);
  ASSERT_TRUE(result.plan);
  EXPECT_NE(result.text().find("plan: 16 bytes by list, built in 2 ms"),
            std::string::npos)
      << result.text();
  EXPECT_EQ(nlohmann::json::parse(result.json())["plan"],
            "16 bytes by list, built in 2 ms");
  setup.qLen = 0;
  EXPECT_TRUE(runCheck(Mistake::None, setup).passed());
}

TEST(CheckRun, MistakesOfPlans) {
  Case setup;
  setup.list = true;
  // What was not written is poison, and not the list before.
  EXPECT_FALSE(runCheck(Mistake::SkipsList, setup).passed());
  setup.batch = 3; // as many words as the buffer has
  EXPECT_TRUE(mentions(runCheck(Mistake::PastList, setup),
                       "random: wrote 0 bytes past the end of the plan"));
  EXPECT_TRUE(mentions(runCheck(Mistake::ListVaries, setup),
                       "random: two builds of the plan give other bits"));
  EXPECT_TRUE(mentions(runCheck(Mistake::ChangesList, setup),
                       "random: the kernel changed the plan that it reads "
                       "(grid "));
}

TEST(CheckRun, ClosedForms) {
  // Row i sees i + 15 keys with equal logits and V = 1.
  Case setup;
  setup.q.fill = FillSpec::parse("--q-fill", "zeros");
  setup.v.fill = FillSpec::parse("--v-fill", "ones");
  setup.check.expect.o = FillSpec::parse("--expect-o", "1");
  setup.check.expect.lse =
      FillSpec::parse("--expect-lse", "0,0=2.7080502,18..18=3.4965076");
  CheckResult result = runCheck(Mistake::None, setup);
  EXPECT_TRUE(mentions(result, "lse at b = 0, h = 0, i = 1 is 2.77258873, the "
                               "closed form is 0 (bound 0.001)"))
      << result.text();
  setup.check.expect.lse.reset();
  EXPECT_TRUE(runCheck(Mistake::None, setup).passed());
  setup.check.expect.o = FillSpec::parse("--expect-o", "1.01");
  EXPECT_TRUE(mentions(runCheck(Mistake::None, setup),
                       "o at b = 0, h = 0, i = 0, d = 0 is 1, the closed form "
                       "is 1.01"));
}

} // namespace
