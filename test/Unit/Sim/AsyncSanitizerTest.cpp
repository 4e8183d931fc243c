//===- AsyncSanitizerTest.cpp - Broken asynchronous kernels ---------------===//
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

/// A kernel with one fault and the finding that it must give; the repaired
/// kernel must give none.
struct Broken {
  const char *name;
  std::string body;  ///< `FIX` marks the missing piece
  const char *fix;   ///< what belongs there; null when there is none
  const char *check; ///< first finding
  const char *at;    ///< part of the instruction that it names
  const char *says;  ///< part of its text
  unsigned threads = 64, blocks = 1;
};

const std::string leader = "setp.ne.u32 %p0, %t, 0;\n";
/// In the second warp, which goes on first after a barrier.
const std::string secondWarp = "setp.ne.u32 %p0, %t, 32;\n";
const std::string expect = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], ";
const std::string load = "cp.async.bulk.shared::cluster.global.mbarrier::"
                         "complete_tx::bytes ";
const std::string store = "cp.async.bulk.global.shared::cta.bulk_group ";
const std::string commitAll = "cp.async.bulk.commit_group;\n"
                              "cp.async.bulk.wait_group.read 0;\n";
/// %r10 is the thread's word of sh.
const std::string own = "shl.b32 %r9, %t, 2; mov.u32 %r10, sh;\n"
                        "add.u32 %r10, %r10, %r9;\n";
const std::string clusterSync = "barrier.cluster.arrive.aligned;\n"
                                "barrier.cluster.wait.aligned;\n";

/// Warp 0 is the producer of a ring of one 128-byte stage, warp 1 its
/// consumer: `full` is bar[0], `empty` bar[1].
std::string ring(const std::string &release) {
  return "setp.ne.u32 %p0, %t, 0;\n@%p0 bra MADE;\n"
         "mbarrier.init.shared.b64 [bar], 1;\n"
         "mbarrier.init.shared.b64 [bar+8], 1;\n"
         "fence.mbarrier_init.release.cluster;\nMADE: bar.sync 0;\n"
         "mov.u32 %r0, 0;\nsetp.ne.u32 %p1, %w, 0;\n@%p1 bra CONSUMER;\n"
         "@%p0 ret;\nPRODUCER: xor.b32 %r1, %r0, 1;\n" +
         waitFor("bar+8", "%r1", "EMPTY") + expect + "128;\n" + load +
         "[sh], [%in], 128, [bar];\nadd.u32 %r0, %r0, 1;\n"
         "setp.lt.u32 %p2, %r0, 2;\n@%p2 bra PRODUCER;\nret;\n"
         "CONSUMER: and.b32 %r1, %t, 31; setp.ne.u32 %p3, %r1, 0;\n"
         "NEXT:\n" +
         waitFor("bar", "%r0", "FULL") + "ld.shared.u32 %r2, [sh+64];\n" +
         release +
         "add.u32 %r0, %r0, 1; setp.lt.u32 %p2, %r0, 2;\n@%p2 bra NEXT;\n";
}

const Broken kernels[] = {
    //===------------------------------------------------------------------===//
    // Loads
    //===------------------------------------------------------------------===//
    {"LoadReadWithoutAWait",
     initBarrier(1) + secondWarp + "@%p0 bra NO;\n" + expect + "128;\n" + load +
         "[sh], [%in], 128, [bar];\nNO:\nFIX\nld.shared.u32 %r0, [sh];\n"
         "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;",
     "V: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra V;",
     "async-copy-in-flight", "ld.shared", "completes on mbarrier 0x4400"},
    {"LoadReadAfterAnotherWarpsWait",
     initBarrier(1) + secondWarp + "@%p0 bra NO;\n" + expect + "128;\n" + load +
         "[sh], [%in], 128, [bar];\n" + waitFor("bar", "0", "W") +
         "NO:\nFIX\nld.shared.u32 %r0, [sh];",
     "bar.sync 0;", "async-copy-in-flight", "ld.shared", "may still be on its"},
    {"LoadOverReads",
     initBarrier(1) + own + "st.shared.u32 [%r10], %t;\n" +
         "fence.proxy.async;\nbar.sync 0;\n"
         "ld.shared.u32 %r1, [sh];\nFIX\n" +
         secondWarp + "@%p0 bra NO;\n" + expect + "128;\n" + load +
         "[sh], [%in], 128, [bar];\nNO:\n" + waitFor("bar", "0", "W"),
     "bar.sync 0;", "shared-race", "cp.async.bulk",
     "warp 0 read with no barrier"},
    {"LoadOverUnfencedWrites",
     initBarrier(1) + own + "st.shared.u32 [%r10], %t;\nFIX\nbar.sync 0;\n" +
         leader + "@%p0 bra NO;\n" + expect + "128;\n" + load +
         "[sh], [%in], 128, [bar];\nNO:\n" + waitFor("bar", "0", "W"),
     "fence.proxy.async.shared::cta;", "missing-proxy-fence", "cp.async.bulk",
     "writes shared address 0x400 by the asynchronous proxy, which warp 0"},
    {"RingWithoutRelease", ring("bar.warp.sync -1; FIX"),
     "@!%p3 mbarrier.arrive.shared.b64 _, [bar+8];", "deadlock", "try_wait",
     "mbarrier 0x4408 is in phase 0 (parity 0) and lacks 1 of 1 arrivals"},
    {"RingReleasedForItsWarpByOneThread",
     ring("FIX @!%p3 mbarrier.arrive.shared.b64 _, [bar+8];"),
     "bar.warp.sync -1;", "shared-race", "cp.async.bulk",
     "put bar.warp.sync in warp 1, behind the access"},
    {"RingReleasedTooEarly",
     [] {
       std::string body = ring("");
       std::string wait = waitFor("bar", "%r0", "FULL");
       body.replace(body.find(wait), wait.size(),
                    wait + "@!%p3 mbarrier.arrive.shared.b64 _, [bar+8];\n"
                           "FIX ");
       return body;
     }(),
     nullptr, "shared-race", "cp.async.bulk", "warp 1 read with no barrier"},
    {"LoadNobodyWaitsFor",
     initBarrier(1) + leader + "@%p0 bra NO;\n" + expect + "128;\n" + load +
         "[sh], [%in], 128, [bar];\nFIX\nNO:",
     "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;",
     "async-copy-in-flight", "cp.async.bulk", "no thread of it has waited"},

    //===------------------------------------------------------------------===//
    // Transactions and arrivals
    //===------------------------------------------------------------------===//
    {"TooManyBytesExpected",
     initBarrier(1) + leader + "@%p0 bra W;\n" + expect + "144;\n" + load +
         "[sh], [%in], 128, [bar];\n" + waitFor("bar", "0", "W"),
     nullptr, "deadlock", "try_wait",
     "lacks 0 of 1 arrivals and 16 transaction bytes"},
    {"TooFewBytesExpected",
     initBarrier(1) + leader + "@%p0 bra W;\n" + expect + "112;\n" + load +
         "[sh], [%in], 128, [bar];\n" + waitFor("bar", "0", "W"),
     nullptr, "transaction-bytes", "cp.async.bulk", "more bytes came"},
    {"OneCopyOfTwoExpected",
     initBarrier(1) + leader + "@%p0 bra W;\n" + expect + "128;\n" + load +
         "[sh], [%in], 128, [bar];\n" + load +
         "[sh+128], [%in], 128, [bar];\n" + waitFor("bar", "0", "W") +
         "ld.shared.u32 %r0, [sh+128];",
     nullptr, "async-copy-in-flight", "ld.shared", "expected too few bytes"},
    {"TransactionRange",
     initBarrier(2) + leader + "@%p0 ret;\n" + expect + "1048575;\n" +
         "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;",
     nullptr, "transaction-bytes", "expect_tx", "out of the range"},
    {"TooManyArrivals",
     initBarrier(3) + leader + "mbarrier.arrive.shared.b64 _, [bar], 4;",
     nullptr, "mbarrier-count", "arrive", "arrives 4 times"},
    {"NoCompleteCompletes",
     initBarrier(1) + leader +
         "@%p0 ret;\nmbarrier.arrive.noComplete.shared.b64 %rd0, [bar], 1;",
     nullptr, "mbarrier-count", "noComplete", "promises not to"},
    {"TooFewArrivals",
     initBarrier(65) + "mbarrier.arrive.shared.b64 _, [bar];\n" +
         waitFor("bar", "0", "W"),
     nullptr, "deadlock", "try_wait",
     "lacks 1 of 65 arrivals and 0 transaction bytes; waiting are warps 0 "},
    {"TestsForever",
     initBarrier(33) + "mbarrier.arrive.shared.b64 _, [bar];\n"
                       "W: mbarrier.test_wait.parity.shared.b64 %p1, [bar], "
                       "0;\n@!%p1 bra W;",
     nullptr, "deadlock", "test_wait", "lacks 1 of 33 arrivals", 32},
    {"OldState",
     initBarrier(1) + leader +
         "@%p0 ret;\nmbarrier.arrive.shared.b64 %rd0, [bar];\n"
         "mbarrier.arrive.shared.b64 _, [bar];\n"
         "mbarrier.test_wait.shared.b64 %p1, [bar], %rd0;",
     nullptr, "mbarrier-phase", "test_wait", "the state of phase 0"},

    //===------------------------------------------------------------------===//
    // The life of mbarriers
    //===------------------------------------------------------------------===//
    {"NotInitialised", "mbarrier.arrive.shared.b64 _, [bar];", nullptr,
     "mbarrier-init", "arrive", "where none is initialised"},
    {"UsedByAnotherWarpTooEarly",
     leader + "@!%p0 mbarrier.init.shared.b64 [bar], 64;\nFIX\n"
              "mbarrier.arrive.shared.b64 _, [bar];",
     "bar.sync 0;", "mbarrier-init", "arrive", "with no barrier in between"},
    {"InitialisedWithoutAFence",
     leader +
         "@!%p0 mbarrier.init.shared.b64 [bar], 1;\nFIX\nbar.sync 0;\n"
         "@%p0 bra W;\n" +
         expect + "128;\n" + load + "[sh], [%in], 128, [bar];\n" +
         waitFor("bar", "0", "W"),
     "@!%p0 fence.mbarrier_init.release.cluster;", "mbarrier-init",
     "cp.async.bulk", "no fence since its initialisation"},
    {"InitialisedTwice", "FIX mbarrier.init.shared.b64 [bar], 1;",
     "setp.eq.u32 %p1, %t, 0; @%p1", "mbarrier-init", "init", "is one already",
     32},
    {"OrdinaryStore",
     initBarrier(1) + leader + "@!%p0 st.shared.u32 [bar+4], 0;", nullptr,
     "mbarrier-words", "st.shared", "writes shared address 0x4404"},
    {"OrdinaryLoad",
     initBarrier(1) + leader + "@!%p0 ld.shared.u64 %rd0, [bar];", nullptr,
     "mbarrier-words", "ld.shared", "is part of an mbarrier"},

    //===------------------------------------------------------------------===//
    // Stores
    //===------------------------------------------------------------------===//
    {"StoreOfUnfencedWrites",
     own + "st.shared.u32 [%r10], %t;\nFIX\nbar.sync 0;\n" + leader +
         "@%p0 ret;\n" + store + "[%in], [sh], 256;\n" + commitAll,
     "fence.proxy.async;", "missing-proxy-fence", "cp.async.bulk.global",
     "reads shared address 0x400 by the asynchronous proxy"},
    {"OtherWarpsFence",
     // The first warp's fence does not help the second's writes.
     own +
         "st.shared.u32 [%r10], %t;\nsetp.eq.u32 %p1, %w, 0;\n"
         "@%p1 fence.proxy.async;\nFIX\nbar.sync 0;\n" +
         leader + "@%p0 ret;\n" + store + "[%in], [sh], 256;\n" + commitAll,
     "@!%p1 fence.proxy.async;", "missing-proxy-fence", "cp.async.bulk.global",
     "0x480 by the asynchronous proxy, which warp 1"},
    {"GlobalFenceOnly",
     own +
         "st.shared.u32 [%r10], %t;\nfence.proxy.async.global;\nFIX\n"
         "bar.sync 0;\n" +
         leader + "@%p0 ret;\n" + store + "[%in], [sh], 256;\n" + commitAll,
     "fence.proxy.async.shared::cta;", "missing-proxy-fence",
     "cp.async.bulk.global", "no proxy fence since"},
    // Who waits for the phase is the first to know that the copies landed.
    {"StoreOfCopiesThatArrive",
     initBarrier(64) + own +
         "cvt.u64.u32 %rd1, %r9; add.s64 %rd1, %in, %rd1;\n"
         "cp.async.ca.shared.global [%r10], [%rd1], 4;\n"
         "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" +
         waitFor("bar", "0", "W") + "FIX\n" + leader + "@%p0 ret;\n" + store +
         "[%in], [sh], 256;\n" + commitAll,
     "fence.proxy.async;", "missing-proxy-fence", "cp.async.bulk.global",
     "which a cp.async wrote that arrives on an mbarrier"},
    {"StoreOfRacingWrites",
     own +
         "st.shared.u32 [%r10], %t;\nfence.proxy.async;\n"
         "bar.warp.sync -1;\nFIX\n" +
         leader + "@%p0 bra END;\n" + store + "[%in], [sh], 256;\n" +
         commitAll + "END:",
     "bar.sync 0;", "uninitialized-shared", "cp.async.bulk.global",
     "nobody in this block has written"},
    {"StoreOfOtherLanesWrites",
     own + "st.shared.u32 [%r10], %t;\nfence.proxy.async;\nFIX\n" + leader +
         "@%p0 ret;\n" + store + "[%in], [sh], 128;\n" + commitAll,
     "bar.warp.sync -1;", "warp-race", "cp.async.bulk.global",
     "0x404, which thread 1 of the same warp wrote", 32},
    {"SourceOverwrittenByAnotherLane",
     own + "st.shared.u32 [%r10], %t;\nfence.proxy.async;\nbar.sync 0;\n" +
         leader + "@%p0 bra NO;\n" + store + "[%in], [sh], 128;\n" + commitAll +
         "st.shared.u32 [sh], 7;\nNO:\nFIX\nst.shared.u32 [%r10], 7;",
     "bar.warp.sync -1;", "async-read-in-flight", "[%r10], 7", "threads 1-31",
     32},
    {"SourceOverwritten",
     own + "st.shared.u32 [%r10], %t;\nfence.proxy.async;\nbar.sync 0;\n" +
         leader + "@%p0 ret;\n" + store +
         "[%in], [sh], 256;\ncp.async.bulk.commit_group;\nFIX\n"
         "st.shared.u32 [sh], 7;\ncp.async.bulk.wait_group.read 0;",
     "cp.async.bulk.wait_group.read 0;", "async-read-in-flight", "st.shared",
     "a bulk store of thread 0 may still be reading"},
    {"SourceOfTheLastGroupOverwritten",
     own + "st.shared.u32 [%r10], %t;\nfence.proxy.async;\nbar.sync 0;\n" +
         leader + "@%p0 ret;\n" + store +
         "[%in], [sh], 128;\ncp.async.bulk.commit_group;\n" + store +
         "[%in], [sh+128], 128;\ncp.async.bulk.commit_group;\n"
         "cp.async.bulk.wait_group.read 1;\nst.shared.u32 [sh], 7;\nFIX\n"
         "st.shared.u32 [sh+128], 7;\ncp.async.bulk.wait_group.read 0;",
     "cp.async.bulk.wait_group.read 0;", "async-read-in-flight", "sh+128",
     "a bulk store of thread 0"},
    {"SourceOverwrittenByAnotherWarp",
     own + "st.shared.u32 [%r10], %t;\nfence.proxy.async;\nbar.sync 0;\n" +
         secondWarp + "@%p0 bra NO;\n" + store + "[%in], [sh], 256;\n" +
         commitAll + "NO:\nFIX\nst.shared.u32 [%r10], 7;",
     "bar.sync 0;", "async-read-in-flight", "st.shared",
     "a bulk store of thread 32 may still be"},
    {"EndsWhileStoring",
     own + "st.shared.u32 [%r10], %t;\nfence.proxy.async;\nbar.sync 0;\n" +
         leader + "@%p0 ret;\n" + store +
         "[%in], [sh], 256;\ncp.async.bulk.commit_group;\nFIX",
     "cp.async.bulk.wait_group.read 0;", "async-read-in-flight",
     "cp.async.bulk.global", "the block ends while"},
    {"EndsWithAnOpenGroup",
     own + "st.shared.u32 [%r10], %t;\nfence.proxy.async;\nbar.sync 0;\n" +
         leader + "@%p0 ret;\n" + store +
         "[%in], [sh], 256;\nFIX cp.async.bulk.wait_group.read 0;",
     "cp.async.bulk.commit_group;", "async-read-in-flight",
     "cp.async.bulk.global", "the block ends while"},

    //===------------------------------------------------------------------===//
    // Clusters
    //===------------------------------------------------------------------===//
    {"EndsBeforeItsPeerHasRead",
     "mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, sh;\n"
     "st.shared.u32 [sh], %r0;\nmapa.shared::cluster.u32 %r3, %r2, %r1;\n" +
         clusterSync + "ld.shared::cluster.u32 %r4, [%r3];\nFIX",
     "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
     "ended-block", "ld.shared::cluster", "of the cluster", 32, 2},
    {"PeerRace",
     "mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, sh;\n"
     "st.shared.u32 [sh], %r0;\nmapa.shared::cluster.u32 %r3, %r2, %r1;\n" +
         clusterSync + "ld.shared::cluster.u32 %r4, [%r3];\nFIX\n" +
         "st.shared.u32 [sh], 5;\n" + clusterSync,
     "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
     "shared-race", "shared", "of block", 32, 2},
    {"RemoteBarrierBeforeItsInit",
     initBarrier(1) +
         "mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1;\n"
         "mov.u32 %r2, bar; mapa.shared::cluster.u32 %r3, %r2, %r1;\nFIX\n" +
         leader + "@!%p0 mbarrier.arrive.shared::cluster.b64 _, [%r3];\n" +
         clusterSync,
     "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
     "mbarrier-init", "arrive", "mbarrier", 32, 2},
    {"RemoteBarrierWithoutAFence",
     leader +
         "@!%p0 mbarrier.init.shared.b64 [bar], 1;\nFIX\n"
         "mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1;\n"
         "mov.u32 %r2, bar; mapa.shared::cluster.u32 %r3, %r2, %r1;\n" +
         clusterSync + "@!%p0 mbarrier.arrive.shared::cluster.b64 _, [%r3];\n" +
         clusterSync,
     "fence.mbarrier_init.release.cluster;", "mbarrier-init", "arrive",
     "of another block with no fence", 32, 2},
    {"RelaxedClusterBarrier",
     "mov.u32 %r0, %cluster_ctarank; xor.b32 %r1, %r0, 1; mov.u32 %r2, sh;\n"
     "st.shared.u32 [sh], %r0;\nmapa.shared::cluster.u32 %r3, %r2, %r1;\n"
     "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n"
     "FIX ld.shared::cluster.u32 %r4, [%r3];\n" +
         clusterSync,
     "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
     "shared-race", "ld.shared::cluster", "of block", 32, 2},
    {"ClusterBarrierTwice",
     "barrier.cluster.arrive.aligned;\nFIX barrier.cluster.arrive.aligned;\n"
     "barrier.cluster.wait.aligned;",
     "barrier.cluster.wait.aligned;", "barrier-reuse", "arrive",
     "second time without a wait", 32, 2},
    {"ClusterDeadlock",
     "mov.u32 %r0, %cluster_ctarank; setp.eq.u32 %p1, %r0, 0;\n@%p1 bra END;\n"
     "bar.sync 1, 64;\nEND: barrier.cluster.arrive.aligned;\n"
     "barrier.cluster.wait.aligned;",
     nullptr, "deadlock", "barrier.cluster.wait",
     "the cluster's barrier has 1 of 2 warps; waiting are warps 0", 32, 2},
    {"RankPastTheCluster",
     "mov.u32 %r0, sh; mov.u32 %r1, 2;\n"
     "mapa.shared::cluster.u32 %r2, %r0, %r1;",
     nullptr, "cluster-rank", "mapa", "block 2 of a cluster of 2", 32, 2},

    //===------------------------------------------------------------------===//
    // setmaxnreg
    //===------------------------------------------------------------------===//
    {"RegistersOfAnIncompleteWarpgroup",
     "setp.eq.u32 %p1, %w, 3;\n"
     "@!%p1 setmaxnreg.dec.sync.aligned.u32 40;\nFIX",
     "@%p1 setmaxnreg.dec.sync.aligned.u32 40;", "setmaxnreg", "dec",
     "without warp 3 of the same warpgroup", 128},
    {"RegistersDecreasedUpwards", "setmaxnreg.dec.sync.aligned.u32 248;",
     nullptr, "setmaxnreg", "dec", "the warp has 240", 128},
};

/// Runs the kernel with `with` in place of FIX.
void runKernel(AsyncRun &run, const Broken &kernel, const std::string &with) {
  std::string body = kernel.body;
  size_t at = body.find("FIX");
  if (at != std::string::npos)
    body.replace(at, 3, with);
  run.input(std::vector<uint32_t>(256, 3));
  run.config.block[0] = kernel.threads;
  run.config.grid[0] = run.config.cluster[0] = kernel.blocks;
  run.run(body, 4);
}

class AsyncSanitizer : public ::testing::TestWithParam<Broken> {};

TEST_P(AsyncSanitizer, Fires) {
  const Broken &kernel = GetParam();
  AsyncRun broken;
  runKernel(broken, kernel, "");
  ASSERT_FALSE(broken.harness.findings.empty());
  const SimFinding &first = broken.harness.findings[0];
  EXPECT_EQ(first.check, kernel.check) << broken.findings();
  EXPECT_NE(first.instruction.find(kernel.at), std::string::npos)
      << broken.findings();
  EXPECT_NE(first.str().find(kernel.says), std::string::npos)
      << broken.findings();
}

class AsyncMended : public ::testing::TestWithParam<Broken> {};

TEST_P(AsyncMended, IsQuiet) {
  AsyncRun mended;
  runKernel(mended, GetParam(), GetParam().fix);
  EXPECT_EQ(mended.findings(), "");
}

std::vector<Broken> mendable() {
  std::vector<Broken> some;
  for (const Broken &kernel : kernels)
    if (kernel.fix)
      some.push_back(kernel);
  return some;
}

std::string nameOf(const ::testing::TestParamInfo<Broken> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, AsyncSanitizer, ::testing::ValuesIn(kernels),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Kernels, AsyncMended, ::testing::ValuesIn(mendable()),
                         nameOf);

} // namespace
