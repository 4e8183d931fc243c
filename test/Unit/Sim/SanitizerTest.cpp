//===- SanitizerTest.cpp - One broken kernel for each check -------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimHarness.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::simtest;

namespace {

/// A kernel with one fault and the finding that it must give; the repaired
/// kernel must give none.
struct Broken {
  const char *name;
  const char *body;   ///< `FIX` marks where the missing piece belongs
  const char *fix;    ///< the missing piece; null when there is none
  const char *check;  ///< expected finding
  unsigned line;      ///< of the instruction; 0 is the body's first
  const char *detail; ///< part of its text
  unsigned threads = 64;
};

/// Where the body of a test is in its module, after `places`.
constexpr unsigned bodyLine = 14;

/// The thread's word of shared memory is %r10, the one of the other warp %r11.
const std::string places = "shl.b32 %r9, %t, 2; mov.u32 %r10, sh;"
                           "add.u32 %r10, %r10, %r9; xor.b32 %r9, %r9, 128;"
                           "mov.u32 %r11, sh; add.u32 %r11, %r11, %r9;\n";

const Broken kernels[] = {
    {"UninitializedRegister",
     "setp.lt.u32 %p0, %t, 3;\n@%p0 mov.u32 %r0, 1;\nFIX\n"
     "add.u32 %r1, %r0, 1;",
     "@!%p0 mov.u32 %r0, 2;", "uninitialized-register", 3, "threads 3-31"},
    {"AsyncCopySize",
     "mov.u32 %r1, 9;\nFIX\n"
     "cp.async.ca.shared.global [sh], [%in], 8, %r1;\ncp.async.wait_all;",
     "mov.u32 %r1, 8;", "async-copy-size", 2,
     "thread 0: the source size 9 is larger than the copy of 8 bytes", 1},
    {"BranchIndex",
     "add.u32 %r1, %t, 2;\nFIX\n"
     "W: .branchtargets ONE, TWO;\nbrx.idx %r1, W;\nONE: TWO:",
     "mov.u32 %r1, 1;", "branch-index", 3, "thread 0: index 2 of 2 targets", 1},
    {"UninitializedPredicate", "FIX\n@%p0 mov.u32 %r0, 1;",
     "setp.eq.u32 %p0, %t, 0;", "uninitialized-register", 1, "never wrote"},
    {"UninitializedShared", "FIX\nld.shared.u32 %r0, [%r10];",
     "st.shared.u32 [%r10], %t;", "uninitialized-shared", 1,
     "threads 0-31: reads shared address 0x400"},
    {"ReadAfterWrite",
     "setp.lt.u32 %p0, %t, 32;\n@%p0 st.shared.u32 [%r10], %t;\nFIX\n"
     "@!%p0 ld.shared.u32 %r0, [%r11];",
     "bar.sync 0;", "shared-race", 3, "warp 0 wrote with no barrier"},
    {"ReadAfterAnotherLanesWrite",
     "st.shared.u32 [%r10], %t;\nxor.b32 %r9, %r10, 4;\nFIX\n"
     "ld.shared.u32 %r0, [%r9];",
     "bar.warp.sync -1;", "warp-race", 3, "thread 1 of the same warp", 32},
    {"WriteAfterRead",
     // The last warp to come to a barrier goes on first.
     "st.shared.u32 [%r10], %t;\nsetp.lt.u32 %p0, %t, 32;\nbar.sync 0;\n"
     "@!%p0 ld.shared.u32 %r0, [%r11];\nFIX\n"
     "@%p0 st.shared.u32 [%r10], %t;",
     "bar.sync 0;", "shared-race", 5, "warp 1 read with no barrier"},
    {"WriteAfterWrite", "mov.u32 %r0, sh;\nst.shared.u32 [%r0+0], %t;\nFIX",
     nullptr, "shared-race", 1, "wrote with no barrier"},
    {"RaceBeyondItsBarrier",
     // Barrier 1 is for the first warp alone and orders nothing.
     "setp.lt.u32 %p0, %t, 32;\n@!%p0 bra OTHER;\nst.shared.u32 [%r10], %t;\n"
     "bar.sync 1, 32;\nFIX bra END;\nOTHER: FIX\nld.shared.u32 %r0, [%r11];\n"
     "END:",
     "bar.sync 2, 64;", "shared-race", 6, "warp 0 wrote"},
    {"BarrierNobodyWaitsAt", "bar.arrive 3, 128;\nFIX\nbar.arrive 3, 128;",
     "bar.sync 3, 128;\nbar.sync 0;", "barrier-unwaited", 2,
     "completes barrier 3 by arriving"},
    {"CopyReadBeforeItsWait",
     "cp.async.ca.shared.global [%r10], [%in], 4;\nFIX\n"
     "ld.shared.u32 %r0, [%r10];",
     "cp.async.wait_all;", "async-copy-in-flight", 2, "on its way"},
    {"CopyOfAnUncommittedGroup",
     "cp.async.ca.shared.global [%r10], [%in], 4;\nFIX\n"
     "cp.async.wait_group 0;\nld.shared.u32 %r0, [%r10];",
     "cp.async.commit_group;", "async-copy-in-flight", 3, "on its way"},
    {"CopyReadWithoutABarrier",
     "setp.lt.u32 %p0, %t, 32;\n"
     "@%p0 cp.async.ca.shared.global [%r10], [%in], 4;\n"
     "cp.async.wait_all;\nFIX\n@!%p0 ld.shared.u32 %r0, [%r11];",
     "bar.sync 0;", "shared-race", 4, "warp 0 wrote"},
    {"CopyOverwritten",
     "cp.async.ca.shared.global [%r10], [%in], 4;\nFIX\n"
     "st.shared.u32 [%r10], %t;",
     "cp.async.wait_all;", "async-copy-in-flight", 2, "writes"},
    {"CopyOverReads",
     "st.shared.u32 [%r10], %t;\nsetp.lt.u32 %p0, %t, 32;\nbar.sync 0;\n"
     "@!%p0 ld.shared.u32 %r0, [%r11];\nFIX\n"
     "@%p0 cp.async.ca.shared.global [%r10], [%in], 4;\ncp.async.wait_all;",
     "bar.sync 0;", "shared-race", 5, "warp 1 read with no barrier"},
    {"DivergentBarrier",
     "setp.lt.u32 %p0, %t, 7;\n@%p0 bra SKIP;\nbar.sync 0;\nSKIP:", nullptr,
     "divergent-barrier", 2, "threads 0-6"},
    {"Deadlock",
     "setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 3, 96;\n"
     "@!%p0 bar.sync 3, 96;",
     nullptr, "deadlock", 1, "barrier 3 has 64 of 96 threads"},
    {"BarrierCount",
     "setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 3, 64;\n"
     "@!%p0 bar.sync 3, 96;",
     nullptr, "barrier-count", 2, "for 96 threads"},
    {"DeadlockAfterAnArrival",
     "setp.ge.u32 %p0, %t, 32;\n@%p0 bra END;\n"
     "bar.arrive 1, 96;\nbar.sync 1, 96;\nEND:",
     nullptr, "deadlock", 3, "barrier 1 has 64 of 96"},
    {"BarrierId", "mov.u32 %r0, 16;\nbar.sync %r0;", nullptr, "barrier-id", 1,
     "expected 0 to 15"},
    {"ShuffleWithoutALane",
     "setp.lt.u32 %p0, %t, 7;\n@%p0 bra SKIP;\n"
     "shfl.sync.bfly.b32 %r0, %t, 1, 31, -1;\nSKIP:",
     nullptr, "inactive-lane", 2, "threads 0-6"},
    {"LoadMatrixWithoutALane",
     "st.shared.u32 [%r10], %t;\nsetp.eq.u32 %p0, %t, 0;\n@%p0 bra SKIP;\n"
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [sh];\nSKIP:",
     nullptr, "inactive-lane", 3, "thread 0", 32},
    {"MmaWithoutALane",
     "mov.b32 %r0, 0; setp.eq.u32 %p0, %t, 4;\n@%p0 ret;\n"
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1, %r2, %r3, %r4}, "
     "{%r0, %r0}, {%r0}, {%r0, %r0, %r0, %r0};",
     nullptr, "inactive-lane", 2, "have ended", 32},
    {"MemberMask", "shfl.sync.idx.b32 %r0, %t, 0, 31, 0xFFFF;", nullptr,
     "member-mask", 0, "threads 16-31", 32},
    {"MasksThatOverlap",
     "setp.lt.u32 %p0, %t, 16;\nselp.b32 %r0, 0xFFFF, 0xFFFFFF00, %p0;\n"
     "vote.sync.any.pred %p1, %p0, %r0;",
     nullptr, "member-mask", 2, "of others and name another one", 32},
    {"PastTheEnd", "setp.eq.u32 %p0, %t, 63;\n@%p0 ld.global.u32 %r0, [%in+8];",
     nullptr, "out-of-bounds", 1,
     "0 bytes past the end of the 512-byte allocation"},
    {"BeforeTheStart",
     "setp.eq.u32 %p0, %t, 0;\n@%p0 st.global.u32 [%out+-64], %t;", nullptr,
     "out-of-bounds", 1, "64 bytes before the 512-byte allocation"},
    {"TruncatedAddress",
     "cvt.u32.u64 %r0, %in;\ncvt.u64.u32 %rd0, %r0;\n"
     "ld.global.u32 %r1, [%rd0];",
     nullptr, "out-of-bounds", 2, "global address 0x"},
    {"SharedPastTheEnd", "st.shared.u32 [%r10+1024], %t;", nullptr,
     "out-of-bounds", 0, "the block has"},
    {"Misaligned", "ld.global.v2.u32 {%r0, %r1}, [%in+4];", nullptr,
     "misaligned-access", 0, "not a multiple of 8"},
    {"MisalignedShared", "st.shared.v4.u32 [%r10], {%t, %t, %t, %t};", nullptr,
     "misaligned-access", 0, "thread 1", 32},
    {"EndlessLoop", "AGAIN: bra AGAIN;", nullptr, "step-limit", 0,
     "still running", 1},
    {"Trap", "trap;", nullptr, "trap", 0, "gave up", 1},
};

std::string with(const std::string &body, const char *fix) {
  std::string text = body;
  for (size_t at; (at = text.find("FIX")) != std::string::npos;)
    text.replace(at, 3, fix ? fix : "");
  return text;
}

class Sanitizer : public ::testing::TestWithParam<Broken> {};

TEST_P(Sanitizer, FindsTheFault) {
  const Broken &test = GetParam();
  Harness harness;
  std::string error;
  runBody(harness, places + with(test.body, nullptr), {}, test.threads, &error);
  ASSERT_FALSE(harness.findings.empty()) << error;
  const SimFinding &finding = harness.findings.front();
  EXPECT_EQ(finding.check, test.check) << finding.str();
  EXPECT_EQ(finding.line, bodyLine + test.line) << finding.str();
  EXPECT_EQ(finding.kernel, "k");
  EXPECT_FALSE(finding.instruction.empty());
  EXPECT_FALSE(finding.mend.empty());
  EXPECT_NE(finding.str().find(test.detail), std::string::npos)
      << finding.str();
}

INSTANTIATE_TEST_SUITE_P(Broken, Sanitizer, ::testing::ValuesIn(kernels),
                         [](const auto &info) { return info.param.name; });

/// The kernels that one more piece makes right.
std::vector<Broken> mendable() {
  std::vector<Broken> those;
  for (const Broken &kernel : kernels)
    if (kernel.fix)
      those.push_back(kernel);
  return those;
}

class SanitizerMended : public ::testing::TestWithParam<Broken> {};

TEST_P(SanitizerMended, IsSilent) {
  const Broken &test = GetParam();
  Harness harness;
  runBody(harness, places + with(test.body, test.fix), {}, test.threads);
  for (const SimFinding &finding : harness.findings)
    ADD_FAILURE() << finding.str();
}

INSTANTIATE_TEST_SUITE_P(Mended, SanitizerMended,
                         ::testing::ValuesIn(mendable()),
                         [](const auto &info) { return info.param.name; });

TEST(SanitizerOff, OnlyHardFaults) {
  Harness harness(/*sanitize=*/false);
  runBody(harness, "ld.shared.u32 %r0, [sh]; st.global.u32 [%out], %r1;", {});
  EXPECT_EQ(harness.checks(), "");
  std::string error;
  runBody(harness, "ld.global.u32 %r0, [%in+4096];", {}, 32, &error);
  EXPECT_EQ(harness.checks(), "out-of-bounds");
  EXPECT_NE(error.find("out-of-bounds"), std::string::npos) << error;
}

/// Without a listener a launch with findings throws, one line for each.
TEST(SanitizerReport, Throws) {
  auto device = openSimulator();
  DevicePtr at = device->allocate(512);
  LaunchConfig config;
  config.block[0] = 32;
  config.arguments = {argument(at), argument(at)};
  auto kernel =
      device->loadModule(module("add.u32 %r1, %r0, 1;\nadd.u32 %r3, %r2, 1;"));
  try {
    kernel->launch("k", config);
    FAIL() << "expected a DeviceError";
  } catch (const DeviceError &error) {
    std::string text = error.what();
    EXPECT_NE(text.find("kernel 'k': 2 findings\n  uninitialized-register: "
                        "line 13: `add.u32 %r1, %r0, 1;`: block (0, 0, 0), "
                        "warp 0, threads 0-31: "),
              std::string::npos)
        << text;
  }
}

/// Shared atomics order the warps that use them.
TEST(SanitizerOrder, AtomicsSynchronise) {
  Harness harness;
  std::vector<uint64_t> out = runBody(
      harness,
      "mov.u32 %r1, sh; setp.lt.u32 %p0, %t, 32; setp.eq.u32 %p1, %t, 0;"
      "@%p1 st.shared.u32 [sh+64], 0; bar.sync 0;"
      "@!%p0 bra CONSUMER; @%p1 st.shared.u32 [sh], 9;"
      "@%p1 atom.shared.exch.b32 %r2, [sh+64], 1; bra END;"
      "CONSUMER: atom.shared.add.u32 %r3, [sh+64], 0;"
      "setp.eq.u32 %p2, %r3, 0; @%p2 bra CONSUMER;"
      "ld.shared.u32 %r4, [sh]; st.global.u32 [%out], %r4; END:",
      {}, 64);
  EXPECT_EQ(harness.checks(), "");
  EXPECT_EQ(out[40], 9u);
}

} // namespace
