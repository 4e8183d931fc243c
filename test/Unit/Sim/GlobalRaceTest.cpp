//===- GlobalRaceTest.cpp - Blocks that touch the same device memory ------===//
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

/// Runs in `blocks` blocks of 32 threads. %c is the block's number, %word the
/// address of 1 KiB that all share, %mine a block's 128 bytes of it plus four
/// for each thread.
struct GridRun {
  Harness harness;
  DevicePtr words, other;

  explicit GridRun(unsigned threads = 1)
      : harness(/*sanitize=*/true, threads),
        words(harness.upload(std::vector<uint32_t>(256, 0))),
        other(harness.upload(std::vector<uint32_t>(256, 0))) {}

  void run(const std::string &body, unsigned blocks = 2, unsigned cluster = 1) {
    LaunchConfig config;
    config.grid[0] = blocks;
    config.block[0] = 32;
    config.cluster[0] = cluster;
    config.arguments = {argument(words), argument(other)};
    std::string text =
        ".reg .b32 %c; .reg .b64 %word, %mine, %wide;"
        "ld.param.u64 %word, [in]; mov.u32 %c, %ctaid.x;"
        "mad.lo.u32 %r31, %c, 32, %t; mul.wide.u32 %wide, %r31, 4;"
        "add.s64 %mine, %word, %wide; setp.eq.u32 %p15, %t, 0;\n" +
        body;
    EXPECT_EQ(harness.launch(module(text), "k", config), "");
  }
};

struct Broken {
  const char *name, *body, *fix, *detail;
};

const Broken kernels[] = {
    {"WriteWrite", "FIX st.global.u32 [%word], %c;",
     "setp.eq.u32 %p1, %c, 0;\n@%p1 bra HERE;\nret;\nHERE:",
     "writes global address 0x700000000000, which block 0 wrote"},
    {"WriteRead",
     "setp.eq.u32 %p1, %c, 0;\n@%p1 st.global.u32 [%mine], 1;\n"
     "FIX ld.global.u32 %r0, [%word+4];",
     "@%p1", "reads global address 0x700000000004, which block 0 wrote"},
    {"ReadWrite",
     "ld.global.u32 %r0, [%word];\nsetp.eq.u32 %p1, %c, 1;\n"
     "@%p1 st.global.u32 [%wordFIX], 1;",
     "+64", "writes global address 0x700000000000, which block 1 or others"},
    {"AtomicRead",
     "@%p15 red.global.add.u32 [%word], 1;\nld.FIX.u32 %r0, [%word];",
     "relaxed.gpu.global",
     "updates global address 0x700000000000, which block 0 read"},
    {"CopiedAsynchronously",
     "setp.eq.u32 %p1, %c, 0;\n@%p1 st.global.u32 [%mine], 1;\n@!%p15 ret;\n"
     "FIX cp.async.ca.shared.global [sh], [%word], 4;\ncp.async.wait_all;",
     "add.s64 %word, %word, 512;",
     "reads global address 0x700000000000, which block 0 wrote"},
    {"BytesOfAWord",
     "setp.eq.u32 %p1, %c, 0;\nmov.u16 %h0, 1;\nmov.u64 %rd1, 1;\nFIX\n"
     "add.s64 %rd1, %rd1, %word;\n@!%p15 ret;\n"
     "@%p1 st.global.u16 [%word], %h0;\n@!%p1 st.global.u8 [%rd1], %h0;",
     "mov.u64 %rd1, 2;",
     "writes global address 0x700000000001, which block 0 wrote"},
};

std::string withFix(const Broken &kernel, const std::string &fix) {
  std::string body = kernel.body;
  body.replace(body.find("FIX"), 3, fix);
  return body;
}

class GlobalRace : public ::testing::TestWithParam<Broken> {};

TEST_P(GlobalRace, Fires) {
  const Broken &kernel = GetParam();
  std::string none = std::string(kernel.name) == "AtomicRead" ? "global" : "";
  GridRun broken;
  broken.run(withFix(kernel, none));
  ASSERT_EQ(broken.harness.checks().substr(0, 11), "global-race");
  EXPECT_NE(broken.harness.findings[0].str().find(kernel.detail),
            std::string::npos)
      << broken.harness.findings[0].str();
}

TEST_P(GlobalRace, MendedIsQuiet) {
  GridRun mended;
  mended.run(withFix(GetParam(), GetParam().fix));
  for (const SimFinding &finding : mended.harness.findings)
    ADD_FAILURE() << finding.str();
}

INSTANTIATE_TEST_SUITE_P(Kernels, GlobalRace, ::testing::ValuesIn(kernels),
                         [](const auto &info) { return info.param.name; });

TEST(GlobalRaceOrder, LaunchesFollowOneAnother) {
  GridRun grid;
  for (unsigned i = 0; i < 3; ++i)
    grid.run("st.global.u32 [%mine], 1;", 1);
  EXPECT_EQ(grid.harness.checks(), "");
}

TEST(GlobalRaceOrder, BlocksOfAClusterAreOne) {
  GridRun grid;
  grid.run("st.global.u32 [%word], %t;", 2, 2);
  EXPECT_EQ(grid.harness.checks(), "");
  grid.run("st.global.u32 [%word], %t;", 4, 2);
  ASSERT_EQ(grid.harness.checks(), "global-race");
  EXPECT_NE(grid.harness.findings[0].what.find("which cluster 0 wrote"),
            std::string::npos);
}

TEST(GlobalRaceOrder, CountersAreNoRace) {
  GridRun grid(/*threads=*/4);
  grid.run("atom.global.add.u32 %r0, [%word], 1;", 64);
  EXPECT_EQ(grid.harness.checks(), "");
  EXPECT_EQ(grid.harness.download<uint32_t>(grid.words, 1)[0], 64u * 32);
}

/// The last block to come reads what the others wrote. Without the fence behind
/// its atomic, or in front of that of the others, it must not.
TEST(GlobalRaceOrder, AFenceBehindAnAtomicHears) {
  auto body = [](const std::string &fence) {
    return "st.global.u32 [%mine], %c;\nfence.acq_rel.gpu;\nbar.warp.sync -1;\n"
           "@%p15 atom.global.add.u32 %r0, [%word+1000], 1;\n"
           "@!%p15 mov.u32 %r0, 0;\n" +
           fence +
           "\nsetp.ne.u32 %p1, %r0, 1;\n@%p1 ret;\nld.global.u32 %r1, [%word];";
  };
  GridRun heard, deaf, untold;
  std::string both = body("fence.acq_rel.gpu;");
  heard.run(both);
  both.erase(both.find("fence"), 18);
  untold.run(both);
  EXPECT_EQ(untold.harness.checks(), "global-race");
  EXPECT_EQ(heard.harness.checks(), "");
  deaf.run(body(""));
  EXPECT_EQ(deaf.harness.checks(), "global-race");
}

/// An earlier fence does not help what is read behind it.
TEST(GlobalRaceOrder, AFenceInFrontHearsNothing) {
  GridRun grid;
  grid.run(
      "st.global.u32 [%mine], %c;\nfence.acq_rel.gpu;\n"
      "bar.warp.sync -1;\n@!%p15 ret;\n"
      "atom.global.add.u32 %r0, [%word+996], 1;\nfence.acq_rel.gpu;\n"
      "atom.global.add.u32 %r0, [%word+1000], 1;\n"
      "setp.ne.u32 %p1, %r0, 1;\n@%p1 ret;\nst.global.u32 [%word+996], 0;");
  EXPECT_EQ(grid.harness.checks(), "");
  grid.run(
      "@!%p15 ret;\natom.global.add.u32 %r0, [%word+996], 1;\n"
      "fence.acq_rel.gpu;\natom.global.add.u32 %r0, [%word+1004], 1;\n"
      "setp.ne.u32 %p1, %r0, 1;\n@%p1 ret;\nst.global.u32 [%word+996], 0;");
  EXPECT_EQ(grid.harness.checks(), "global-race");
}

TEST(GlobalRaceOrder, AnAcquireHears) {
  GridRun grid;
  grid.run("st.global.u32 [%mine], %c;\nbar.warp.sync -1;\n"
           "mov.u32 %r0, 0;\n"
           "@%p15 atom.acq_rel.gpu.global.add.u32 %r0, [%word+1000], 1;\n"
           "setp.ne.u32 %p1, %r0, 1;\n@%p1 ret;\nld.global.u32 %r1, [%word];");
  EXPECT_EQ(grid.harness.checks(), "");
}

/// Even blocks write and, after a while, set a flag; odd ones wait for the flag
/// of the block before them and read. On two host threads they do so at a time:
/// the flag may come at any moment of the load that sees it.
TEST(GlobalRaceOrder, AStrongLoadHearsWhatItSees) {
  const std::string loads[] = {
      "ld.acquire.gpu.global.u32 %r1, [%flag];\n",
      "ld.relaxed.gpu.global.u32 %r1, [%flag];\nfence.acq_rel.gpu;\n",
      "ld.volatile.global.u32 %r1, [%flag];\nfence.acq_rel.gpu;\n",
      "ld.acquire.gpu.u32 %r1, [%flag];\n"};
  constexpr unsigned launches = 100, blocks = 32;
  for (const std::string &load : loads) {
    GridRun grid(/*threads=*/2);
    std::string body =
        ".reg .b64 %flag;\n@!%p15 ret;\nand.b32 %r0, %c, 30;\n"
        "mul.wide.u32 %rd0, %r0, 8;\nadd.s64 %flag, %word, %rd0;\n"
        "and.b32 %r0, %c, 1;\nsetp.eq.u32 %p1, %r0, 1;\n@%p1 bra WAIT;\n"
        "mov.u32 %r3, 300;\nBUSY: sub.u32 %r3, %r3, 1;\n"
        "setp.ne.u32 %p3, %r3, 0;\n@%p3 bra BUSY;\n"
        "st.global.u32 [%flag+4], 7;\nst.release.gpu.global.u32 [%flag], 1;\n"
        "ret;\nWAIT:\n" +
        load +
        "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra WAIT;\n"
        "ld.global.u32 %r2, [%flag+4];\nst.global.u32 [%flag+8], %r2;";
    for (unsigned i = 0; i < launches && grid.harness.findings.empty(); ++i) {
      std::vector<uint32_t> zeros(256, 0);
      grid.harness.device->copyToDevice(grid.words, zeros.data(),
                                        zeros.size() * sizeof(zeros[0]));
      grid.run(body, blocks);
      auto words = grid.harness.download<uint32_t>(grid.words, 256);
      for (unsigned pair = 0; pair < blocks / 2; ++pair)
        ASSERT_EQ(words[pair * 4 + 2], 7u) << load;
    }
    EXPECT_EQ(grid.harness.checks(), "") << load;
  }
}

} // namespace
