//===- ClusterTest.cpp - Blocks that run together -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncHarness.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::simtest;

namespace {

using Words = std::vector<uint32_t>;

const std::string clusterSync = "barrier.cluster.arrive.aligned;\n"
                                "barrier.cluster.wait.aligned;\n";

/// Each block stores %r0, ... to its part of the output.
std::string storeWords(unsigned count) {
  std::string text = "setp.ne.u32 %p15, %t, 0;\n@%p15 ret;\n"
                     "mov.u32 %r30, %ctaid.y; mov.u32 %r31, %nctaid.x;\n"
                     "mov.u32 %r29, %ctaid.x;\n"
                     "mad.lo.u32 %r30, %r30, %r31, %r29;\n"
                     "mul.wide.u32 %rd30, %r30, " +
                     std::to_string(4 * count) +
                     ";\nadd.s64 %rd30, %out, %rd30;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "st.global.u32 [%rd30+" + std::to_string(4 * i) + "], %r" +
            std::to_string(i) + ";\n";
  return text;
}

TEST(Cluster, SpecialRegisters) {
  AsyncRun run;
  run.config.grid[0] = 4;
  run.config.grid[1] = 3;
  run.config.cluster[0] = 2;
  run.config.cluster[1] = 3;
  const char *names[] = {"%clusterid.x",      "%clusterid.y",
                         "%nclusterid.x",     "%nclusterid.y",
                         "%cluster_ctaid.x",  "%cluster_ctaid.y",
                         "%cluster_nctaid.x", "%cluster_nctaid.y",
                         "%cluster_ctarank",  "%cluster_nctarank"};
  std::string body;
  unsigned count = 0;
  for (const char *name : names)
    body += "mov.u32 %r" + std::to_string(count++) + ", " + name + ";\n";
  body += "mov.pred %p0, %is_explicit_cluster;\nselp.u32 %r10, 1, 0, %p0;\n";
  ASSERT_EQ(run.run(body + storeWords(11), 12 * 44), "");
  Words out = run.output<uint32_t>(12 * 11);
  // Block (3, 2): cluster (1, 0), and (1, 2) in it.
  EXPECT_EQ(Words(out.end() - 11, out.end()),
            (Words{1, 0, 2, 1, 1, 2, 2, 3, 5, 6, 1}));
}

TEST(Cluster, WithoutOne) {
  AsyncRun run;
  run.config.grid[0] = 2;
  ASSERT_EQ(run.run("mov.u32 %r0, %cluster_nctarank;\n"
                    "mov.u32 %r1, %clusterid.x;\n" +
                        clusterSync + storeWords(2),
                    16),
            "");
  EXPECT_EQ(run.output<uint32_t>(4), (Words{1, 0, 1, 1}));
}

TEST(Cluster, ShapesAreChecked) {
  AsyncRun run;
  run.config.grid[0] = 6;
  run.config.cluster[0] = 4;
  EXPECT_NE(run.run("", 4).find("a grid of 6 x 1 x 1 blocks, expected a "
                                "multiple of the cluster's 4 x 1 x 1"),
            std::string::npos);
  run.config.cluster[0] = 2;
  EXPECT_NE(run.run("", 4, ".reqnctapercluster 3")
                .find(".reqnctapercluster is 3 x 1 x 1"),
            std::string::npos);
  EXPECT_NE(run.run("", 4, ".maxclusterrank 1").find("expected 1 to 1"),
            std::string::npos);
  run.config.cluster[0] = 0;
  EXPECT_NE(run.run("", 4).find("expected 1 to 16"), std::string::npos);
}

/// A kernel may bring its own cluster.
TEST(Cluster, RequiredByTheKernel) {
  AsyncRun run;
  run.config.grid[0] = 4;
  ASSERT_EQ(run.run("mov.u32 %r0, %cluster_ctarank;\n" + storeWords(1), 16,
                    ".explicitcluster .reqnctapercluster 2, 1, 1"),
            "");
  EXPECT_EQ(run.output<uint32_t>(4), (Words{0, 1, 0, 1}));
}

/// Each block reads, adds to and writes the memory of the other.
TEST(Cluster, RemoteSharedMemory) {
  AsyncRun run;
  run.config.grid[0] = 2;
  run.config.cluster[0] = 2;
  std::string body =
      "mov.u32 %r10, %cluster_ctarank;\nxor.b32 %r11, %r10, 1;\n"
      "add.u32 %r12, %r10, 5;\nst.shared.u32 [sh], %r12;\n"
      "mov.u32 %r13, sh;\nmapa.shared::cluster.u32 %r14, %r13, %r11;\n"
      "cvt.u64.u32 %rd0, %r13; cvta.shared.u64 %rd0, %rd0;\n"
      "mapa.u64 %rd1, %rd0, %r11;\n" +
      clusterSync + "ld.shared::cluster.u32 %r0, [%r14];\n" + clusterSync +
      "atom.shared::cluster.add.u32 %r15, [%r14], 100;\n"
      "st.u32 [%rd1+4], %r12;\n" +
      clusterSync +
      "ld.shared.u32 %r1, [sh];\nld.shared.u32 %r2, [sh+4];\n"
      "getctarank.shared::cluster.u32 %r3, %r14;\n"
      "getctarank.u64 %r4, %rd0;\n"
      "isspacep.shared::cta %p0, %rd1; selp.u32 %r5, 1, 0, %p0;\n"
      "isspacep.shared::cluster %p0, %rd1; selp.u32 %r6, 1, 0, %p0;\n" +
      storeWords(7);
  ASSERT_EQ(run.run(body, 56), "");
  EXPECT_EQ(run.findings(), "");
  EXPECT_EQ(run.output<uint32_t>(14),
            (Words{6, 105, 6, 1, 0, 0, 1, 5, 106, 5, 0, 1, 0, 1}));
}

/// Block 1 lets the leader of block 0 go on.
TEST(Cluster, RemoteArrival) {
  AsyncRun run;
  run.config.grid[0] = 2;
  run.config.cluster[0] = 2;
  run.config.block[0] = 32;
  std::string body = initBarrier(64) + clusterSync +
                     "mov.u32 %r10, bar; mov.u32 %r11, 0;\n"
                     "mapa.shared::cluster.u32 %r12, %r10, %r11;\n"
                     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
                     "[%r12];\n"
                     "mov.u32 %r13, %cluster_ctarank;\n"
                     "setp.ne.u32 %p0, %r13, 0;\n@%p0 bra END;\n" +
                     waitFor("bar", "0", "WAIT") + "END:\nmov.u32 %r0, 3;\n" +
                     clusterSync + storeWords(1);
  ASSERT_EQ(run.run(body, 8), "");
  EXPECT_EQ(run.findings(), "");
  EXPECT_EQ(run.output<uint32_t>(2), (Words{3, 3}));
}

/// Each of two blocks loads half a tile for both.
TEST(Cluster, Multicast) {
  AsyncRun run;
  std::vector<uint16_t> data(64 * 16);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint16_t>(i);
  run.input(data);
  TensorMap map;
  map.base = run.in;
  map.rank = 2;
  map.dims = {64, 16};
  map.strides = {128};
  map.box = {64, 8};
  run.setMap(map);
  run.config.grid[0] = 2;
  run.config.cluster[0] = 2;
  run.config.block[0] = 32;
  std::string body =
      initBarrier(1) + clusterSync +
      "mov.u32 %r10, %cluster_ctarank; shl.b32 %r11, %r10, 3;\n"
      "shl.b32 %r12, %r10, 10; mov.u32 %r13, sh; add.u32 %r13, %r13, %r12;\n"
      "mov.b16 %h0, 3; setp.ne.u32 %p0, %t, 0;\n@%p0 bra WAIT;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::"
      "complete_tx::bytes.multicast::cluster [%r13], [%map, {0, %r11}], [bar], "
      "%h0;\n" +
      waitFor("bar", "0", "WAIT") + copyOut(2048);
  ASSERT_EQ(run.run(body, 4096), "");
  EXPECT_EQ(run.findings(), "");
  std::vector<uint16_t> twice = data;
  twice.insert(twice.end(), data.begin(), data.end());
  EXPECT_EQ(run.output<uint16_t>(2048), twice);
}

/// Shared memory to the shared memory of the other block, and a reduction.
TEST(Cluster, PeerCopy) {
  AsyncRun run;
  run.config.grid[0] = 2;
  run.config.cluster[0] = 2;
  run.config.block[0] = 32;
  std::string body =
      initBarrier(1) +
      "mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1;\n"
      "shl.b32 %r12, %t, 2; mov.u32 %r13, sh; add.u32 %r14, %r13, %r12;\n"
      "mad.lo.u32 %r15, %r10, 1000, %t;\n"
      "st.shared.u32 [%r14], %r15;\nst.shared.u32 [%r14+256], %t;\n"
      "fence.proxy.async.shared::cta;\n" +
      clusterSync +
      "mapa.shared::cluster.u32 %r16, %r13, %r11; mov.u32 %r17, bar;\n"
      "mapa.shared::cluster.u32 %r18, %r17, %r11;\n"
      "setp.ne.u32 %p0, %t, 0;\n@%p0 bra WAIT;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
      "[%r16+128], [sh], 128, [%r18];\n"
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"
      "bytes.add.u32 [%r16+256], [sh], 128, [%r18];\n" +
      waitFor("bar", "0", "WAIT") +
      "ld.shared.u32 %r0, [sh+252];\nld.shared.u32 %r1, [sh+380];\n" +
      clusterSync + storeWords(2);
  ASSERT_EQ(run.run(body, 16), "");
  EXPECT_EQ(run.findings(), "");
  EXPECT_EQ(run.output<uint32_t>(4), (Words{1031, 1062, 31, 62}));
}

/// 384 threads start with 168 registers each.
TEST(Registers, MoveBetweenWarpgroups) {
  AsyncRun run;
  run.config.block[0] = 384;
  std::string body = "setp.lt.u32 %p0, %t, 256;\n@%p0 bra CONSUMER;\n"
                     "bar.sync 1, 128;\nsetmaxnreg.dec.sync.aligned.u32 24;\n"
                     "bra END;\nCONSUMER:\n"
                     "setmaxnreg.inc.sync.aligned.u32 240;\nEND:\n";
  EXPECT_EQ(run.run(body, 4, ".maxntid 384 .minnctapersm 1"), "");
  EXPECT_EQ(run.findings(), "");
  AsyncRun larger;
  larger.config.block[0] = 384;
  body.replace(body.find("240"), 3, "248");
  larger.run(body, 4, ".maxntid 384 .minnctapersm 1");
  ASSERT_EQ(larger.harness.checks(), "setmaxnreg");
  EXPECT_NE(larger.findings().find("16 registers per thread of one warp free"),
            std::string::npos)
      << larger.findings();
}

TEST(Registers, CountsAreChecked) {
  AsyncRun run;
  EXPECT_NE(run.run("setmaxnreg.inc.sync.aligned.u32 100;", 4)
                .find("a multiple of 8 from 24 to 256, found 100"),
            std::string::npos);
}

} // namespace
