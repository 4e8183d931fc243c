//===- WgmmaFindingTest.cpp - wgmma used wrongly --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../Gpu/WgmmaCase.h"
#include "SimHarness.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::simtest;

namespace {

constexpr const char *fence = "wgmma.fence.sync.aligned;\n";
constexpr const char *commit = "wgmma.commit_group.sync.aligned;\n";
constexpr const char *waitAll = "wgmma.wait_group.sync.aligned 0;\n";

/// Replaces the first `from` of the kernel's text.
std::string changed(std::string text, const std::string &from,
                    const std::string &to) {
  size_t at = text.find(from);
  if (at == std::string::npos)
    throw std::runtime_error("no '" + from + "' in the kernel");
  return text.replace(at, from.size(), to);
}

struct Result {
  std::string checks, error;
  std::vector<SimFinding> findings;
  std::vector<uint32_t> bits;
};

Result run(const WgmmaCase &wgmma, const std::string &ptx,
           unsigned threads = 128) {
  WgmmaData data(wgmma, /*seed=*/9);
  Harness harness;
  DevicePtr d = harness.upload(data.accumulators);
  LaunchConfig config;
  config.block[0] = threads;
  config.arguments = {argument(harness.upload(data.shared)),
                      argument(harness.upload(data.fragments)),
                      argument(d),
                      argument(data.descriptorA),
                      argument(data.descriptorB),
                      argument(uint32_t(wgmma.accumulates))};
  Result result;
  result.error = harness.launch(ptx, "wgmma", config);
  result.checks = harness.checks();
  result.findings = harness.findings;
  result.bits = harness.download<uint32_t>(d, data.accumulators.size());
  return result;
}

struct Mutant {
  const char *name, *from, *to, *checks, *says;
};

WgmmaCase smallCase() {
  WgmmaCase wgmma;
  wgmma.columns = 8;
  wgmma.registersA = true;
  return wgmma;
}

class WgmmaMutant : public ::testing::TestWithParam<Mutant> {};

TEST_P(WgmmaMutant, IsFound) {
  const Mutant &mutant = GetParam();
  WgmmaCase wgmma = smallCase();
  Result result = run(wgmma, changed(wgmma.ptx(), mutant.from, mutant.to));
  EXPECT_EQ(result.checks, mutant.checks) << result.error;
  ASSERT_FALSE(result.findings.empty());
  EXPECT_NE(result.findings[0].str().find(mutant.says), std::string::npos)
      << result.findings[0].str();
}

const std::string earlyWrite = std::string(commit) + "mov.b32 %a1, 0;\n";
const std::string earlyRead = std::string(commit) + "add.s32 %t, %d2, 0;\n";
const std::string useAgain = std::string("add.s32 %t, %d2, 0;\n") + waitAll;
const std::string lateWrite = std::string(fence) + "mov.b32 %a3, 0;\n";
const std::string lateRead = std::string(fence) + "add.s32 %t, %d3, 0;\n";
const std::string sharedWrite =
    std::string(commit) + "st.shared.b32 [tile+12288], %t;\n";

INSTANTIATE_TEST_SUITE_P(
    Changes, WgmmaMutant,
    ::testing::Values(
        Mutant{"Fence", fence, "", "wgmma-fence", "no wgmma.fence has come"},
        Mutant{"WriteAfterFence", fence, lateWrite.c_str(), "wgmma-fence",
               "register %a3 was used since the last wgmma.fence"},
        Mutant{"ReadAfterFence", fence, lateRead.c_str(), "wgmma-fence",
               "register %d3 was used"},
        Mutant{"Commit", commit, "",
               "wgmma-in-flight wgmma-in-flight wgmma-in-flight "
               "wgmma-in-flight wgmma-unwaited",
               "reads register %d0, which is an accumulator"},
        Mutant{"Wait", waitAll, "",
               "wgmma-in-flight wgmma-in-flight wgmma-in-flight "
               "wgmma-in-flight wgmma-unwaited",
               "wait for its group"},
        Mutant{"EarlyWriteOfA", commit, earlyWrite.c_str(), "wgmma-in-flight",
               "writes register %a1, which is an input"},
        Mutant{"EarlyReadOfD", commit, earlyRead.c_str(), "wgmma-in-flight",
               "reads register %d2"},
        Mutant{"SharedWrite", commit, sharedWrite.c_str(),
               "shared-race shared-race",
               "which a wgmma of warpgroup 0 may still read"},
        Mutant{"OneWarpAhead", "bar.sync 0;\n", "",
               "uninitialized-shared shared-race shared-race",
               "nobody in this block has written"},
        Mutant{"Descriptor", "shr.u32 %at, %base, 4;", "shl.b32 %at, %base, 4;",
               "wgmma-descriptor", "must be zero"}),
    [](const auto &info) { return info.param.name; });

/// Results reach the registers at the wait, not before.
TEST(WgmmaAsync, EarlyReaderSeesTheOldValue) {
  WgmmaCase wgmma = smallCase();
  std::string copy = "mov.b32 %t, %d0;\n", back = "mov.b32 %d0, %t;\n";
  Result result =
      run(wgmma, changed(changed(wgmma.ptx(), commit, commit + copy), waitAll,
                         waitAll + back));
  WgmmaData data(wgmma, 9);
  EXPECT_EQ(result.bits[0], data.accumulators[0]);
  EXPECT_EQ(wgmmaValues(wgmma, result.bits)[1], data.expected[1]);
}

/// A second wgmma with the same accumulators needs neither wait nor fence.
TEST(WgmmaAsync, ChainOfTheSameShape) {
  WgmmaCase wgmma = smallCase();
  std::string text = wgmma.ptx();
  size_t at = text.find("wgmma.mma_async");
  std::string multiply = text.substr(at, text.find('\n', at) - at + 1);
  Result result = run(wgmma, changed(text, multiply, multiply + multiply));
  EXPECT_EQ(result.checks, "");
  WgmmaData data(wgmma, 9);
  std::vector<double> values = wgmmaValues(wgmma, result.bits);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i],
              2 * data.expected[i] - wgmmaValues(wgmma, data.accumulators)[i]);
}

/// wait_group 1 covers the first of two groups: its accumulators are free, the
/// second one's are not.
TEST(WgmmaAsync, WaitForTheFirstGroup) {
  WgmmaCase wgmma = smallCase();
  std::string text = wgmma.ptx();
  size_t at = text.find("wgmma.mma_async");
  std::string multiply = text.substr(at, text.find('\n', at) - at + 1);
  std::string second =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%e0, %e1, %e2, "
      "%e3}, {%a0, %a1, %a2, %a3}, %descB, 0, 1, 1, 0;\n";
  std::string tail = second + commit +
                     "wgmma.wait_group.sync.aligned 1;\nadd.s32 %t, %d0, 0;\n";
  text = changed(text, ".reg .b32 %a<4>;", ".reg .b32 %a<4>, %e<4>;");
  text = changed(text, commit, commit + tail);
  EXPECT_EQ(run(wgmma, text).checks, "");
  Result early =
      run(wgmma, changed(text, "add.s32 %t, %d0, 0;", "add.s32 %t, %e0, 0;"));
  EXPECT_EQ(early.checks, "wgmma-in-flight");
}

/// Three warps issue it, one goes elsewhere.
TEST(WgmmaAsync, MissingWarp) {
  WgmmaCase wgmma = smallCase();
  Result result =
      run(wgmma, changed(wgmma.ptx(), fence,
                         "setp.lt.u32 %more, %t, 96;\n@!%more ret;\n" +
                             std::string(fence)));
  EXPECT_EQ(result.checks, "deadlock");
  EXPECT_NE(result.error.find("its warpgroup"), std::string::npos)
      << result.error;
}

TEST(WgmmaAsync, DifferentInstructions) {
  WgmmaCase wgmma = smallCase();
  std::string text = wgmma.ptx();
  size_t at = text.find("wgmma.mma_async");
  std::string multiply = text.substr(at, text.find('\n', at) - at + 1);
  Result result =
      run(wgmma,
          changed(text, multiply,
                  "setp.lt.u32 %more, %t, 96;\n@%more bra most;\n" + multiply +
                      "bra done;\nmost:\n" + multiply + "done:\n"));
  EXPECT_EQ(result.checks, "wgmma-divergence");
}

TEST(WgmmaAsync, IncompleteWarpgroup) {
  WgmmaCase wgmma = smallCase();
  Result result = run(wgmma, changed(wgmma.ptx(), ".reqntid 128", ""), 96);
  EXPECT_EQ(result.checks.substr(0, 16), "wgmma-divergence");
}

struct Refusal {
  const char *text, *message;
};
class WgmmaRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(WgmmaRefusal, IsNamed) {
  WgmmaCase wgmma = smallCase();
  std::string text = wgmma.ptx();
  size_t at = text.find("wgmma.mma_async");
  Result result =
      run(wgmma, text.replace(at, text.find('\n', at) - at, GetParam().text));
  EXPECT_NE(result.error.find(GetParam().message), std::string::npos)
      << result.error;
}

INSTANTIATE_TEST_SUITE_P(
    All, WgmmaRefusal,
    ::testing::Values(
        Refusal{"wgmma.mma_async.sync.aligned.m64n12k16.f32.bf16.bf16 {%d0, "
                "%d1}, %descA, %descB, 1, 1, 1, 0, 0;",
                "'m64n12k16' is no wgmma shape for this type"},
        Refusal{"wgmma.mma_async.sync.aligned.m64n8k16.f32.e4m3.e4m3 {%d0, "
                "%d1, %d2, %d3}, %descA, %descB, 1, 1, 1;",
                "'m64n8k16' is no wgmma shape for this type"},
        Refusal{"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%d0, "
                "%d1}, %descA, %descB, 1, 1, 1, 0, 0;",
                "is not supported"},
        Refusal{"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, "
                "%d1}, %descA, %descB, 1, 1, 1, 0, 0;",
                "expected 4 registers in braces, found 2"},
        Refusal{"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, "
                "%d1, %d2, %d3}, %descA, %descB, 1, 2, 1, 0, 0;",
                "expected a scale of 1 or -1, found 2"},
        Refusal{"wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%d0, "
                "%d1, %d2, %d3}, %descA, %descB, 1, 1, 1, 0, 0;",
                "takes 6 operands, found 8"},
        Refusal{"wgmma.wait_group.sync.aligned 8;",
                "takes a number from 0 to 7, found 8"}));

} // namespace
