//===- MbarrierTest.cpp - mbarrier instructions ---------------------------===//
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

/// Thread 0 stores the words %r0, %r1, ... .
std::string storeWords(unsigned count) {
  std::string text = "setp.ne.u32 %p15, %t, 0;\n@%p15 ret;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "st.global.u32 [%out+" + std::to_string(4 * i) + "], %r" +
            std::to_string(i) + ";\n";
  return text;
}

std::string keep(const char *predicate, unsigned word) {
  return "selp.u32 %r" + std::to_string(word) + ", 1, 0, " + predicate + ";\n";
}

std::vector<uint32_t> runWords(const std::string &body, unsigned words,
                               unsigned threads = 1) {
  AsyncRun run;
  run.input(std::vector<uint32_t>(256, 7));
  run.config.block[0] = threads;
  EXPECT_EQ(run.run(body + storeWords(words), words * 4), "");
  EXPECT_EQ(run.findings(), "");
  return run.output<uint32_t>(words);
}

using Words = std::vector<uint32_t>;

TEST(Mbarrier, TokensAndCounts) {
  EXPECT_EQ(runWords("mbarrier.init.shared.b64 [bar], 3;\n"
                     "mbarrier.arrive.shared.b64 %rd0, [bar];\n"
                     "mbarrier.pending_count.b64 %r0, %rd0;\n"
                     "mbarrier.test_wait.shared.b64 %p0, [bar], %rd0;\n" +
                         keep("%p0", 1) +
                         "mbarrier.arrive.release.cta.shared::cta.b64 %rd1, "
                         "[bar], 2;\n"
                         "mbarrier.pending_count.b64 %r2, %rd1;\n"
                         "mbarrier.test_wait.acquire.cta.shared::cta.b64 %p0, "
                         "[bar], %rd0;\n" +
                         keep("%p0", 3) +
                         "mbarrier.arrive.noComplete.shared.b64 %rd2, [bar], "
                         "2;\n"
                         "mbarrier.test_wait.shared.b64 %p0, [bar], %rd2;\n" +
                         keep("%p0", 4) +
                         "mbarrier.arrive.shared.b64 _, [bar];\n"
                         "mbarrier.try_wait.shared.b64 %p0, [bar], %rd2, 100;" +
                         keep("%p0", 5),
                     6),
            (Words{3, 0, 2, 1, 0, 1}));
}

TEST(Mbarrier, Parity) {
  std::string test = "mbarrier.test_wait.parity.shared::cta.b64 ";
  EXPECT_EQ(runWords("mbarrier.init.shared.b64 [bar+8], 1;\n" + test +
                         "%p0, [bar+8], 0;\n" + test + "%p1, [bar+8], 1;\n" +
                         keep("%p0", 0) + keep("%p1", 1) +
                         "mbarrier.arrive.shared.b64 _, [bar+8];\n" + test +
                         "%p0, [bar+8], 0;\n" + test + "%p1, [bar+8], 1;\n" +
                         keep("%p0", 2) + keep("%p1", 3) +
                         "mbarrier.arrive.shared.b64 _, [bar+8];\n" + test +
                         "%p0, [bar+8], 0;\n" + test + "%p1, [bar+8], 1;\n" +
                         keep("%p0", 4) + keep("%p1", 5),
                     6),
            (Words{0, 1, 1, 0, 0, 1}));
}

TEST(Mbarrier, DropsLowerLaterPhases) {
  std::string test = "mbarrier.test_wait.parity.shared.b64 ";
  EXPECT_EQ(runWords("mbarrier.init.shared.b64 [bar], 3;\n"
                     "mbarrier.arrive_drop.shared.b64 %rd0, [bar];\n"
                     "mbarrier.arrive_drop.noComplete.shared.b64 %rd1, [bar], "
                     "1;\n"
                     "mbarrier.arrive.shared.b64 %rd2, [bar];\n" +
                         test + "%p0, [bar], 0;\n" + keep("%p0", 0) +
                         "mbarrier.arrive.shared.b64 %rd3, [bar];\n"
                         "mbarrier.pending_count.b64 %r2, %rd3;\n" +
                         test + "%p0, [bar], 1;\n" + keep("%p0", 1),
                     3),
            (Words{1, 1, 1}));
}

TEST(Mbarrier, TransactionBytes) {
  std::string test = "mbarrier.test_wait.parity.shared.b64 ";
  EXPECT_EQ(
      runWords("mbarrier.init.shared.b64 [bar], 1;\n"
               "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 32;\n"
               "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n" +
                   test + "%p0, [bar], 0;\n" + keep("%p0", 0) +
                   "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], "
                   "40;\n" +
                   test + "%p0, [bar], 0;\n" + keep("%p0", 1) +
                   "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], "
                   "8;\n" +
                   test + "%p0, [bar], 0;\n" + keep("%p0", 2),
               3),
      (Words{0, 0, 1}));
}

/// An inval'ed barrier is memory again, and may be made anew.
TEST(Mbarrier, Ends) {
  EXPECT_EQ(runWords("mbarrier.init.shared.b64 [bar], 1;\n"
                     "mbarrier.inval.shared.b64 [bar];\n"
                     "st.shared.u64 [bar], 5;\nld.shared.u32 %r0, [bar];\n"
                     "mbarrier.init.shared.b64 [bar], 2;\n"
                     "mbarrier.arrive.shared.b64 %rd0, [bar];\n"
                     "mbarrier.pending_count.b64 %r1, %rd0;\n",
                     2),
            (Words{5, 2}));
}

/// The copies of a thread land when its arrival completes the phase.
TEST(Mbarrier, OrdinaryAsyncCopies) {
  for (bool noIncrement : {false, true}) {
    std::string arrive = noIncrement
                             ? "cp.async.mbarrier.arrive.noinc.shared.b64 "
                               "[bar];\n"
                             : "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                               "mbarrier.arrive.shared.b64 _, [bar];\n";
    EXPECT_EQ(runWords(initBarrier(64) +
                           "shl.b32 %r9, %t, 2; mov.u32 %r10, sh;\n"
                           "add.u32 %r10, %r10, %r9;\n"
                           "cp.async.ca.shared.global [%r10], [%in], 4;\n" +
                           arrive + waitFor("bar", "0", "WAIT") +
                           "ld.shared.u32 %r0, [sh+252];\n",
                       1, 64),
              (Words{7}))
        << noIncrement;
  }
}

TEST(Mbarrier, WaitsForAnotherWarp) {
  AsyncRun run;
  run.config.block[0] = 64;
  std::string body =
      initBarrier(32) + "setp.eq.u32 %p0, %w, 0;\n@!%p0 bra WORK;\n" +
      waitFor("bar", "0", "WAIT") +
      "ld.shared.u32 %r0, [sh];\nst.global.u32 [%out], %r0;\nret;\n"
      "WORK: mov.u32 %r1, 0;\n"
      "LOOP: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 1000000;\n"
      "@%p1 bra LOOP;\nst.shared.u32 [sh], %r1;\n"
      "mbarrier.arrive.shared.b64 _, [bar];\n";
  EXPECT_EQ(run.run(body, 4), "");
  EXPECT_EQ(run.output<uint32_t>(1)[0], 1000000u);
}

/// On a GPU a try_wait returns after a while. A warp that then does what
/// others wait for must get there.
TEST(Mbarrier, TryWaitGivesUp) {
  EXPECT_EQ(runWords(initBarrier(32) +
                         "mov.u32 %r0, 0;\n"
                         "setp.eq.u32 %p0, %w, 0;\n@!%p0 bra OTHER;\n"
                         "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n"
                         "@%p1 bra END;\nmbarrier.arrive.shared.b64 _, [bar];\n"
                         "mov.u32 %r0, 1;\nbra END;\nOTHER:\n" +
                         waitFor("bar", "0", "WAIT") + "END:\n",
                     1, 64),
            (Words{1}));
}

TEST(Mbarrier, UnknownFormsAreRefused) {
  for (const char *text :
       {"mbarrier.arrive.expect_tx.noComplete.shared.b64 _, [bar], 1;",
        "mbarrier.init.shared.b32 [bar], 1;",
        "mbarrier.test_wait.shared.b64 %p0, [bar], %rd0, 5;",
        "mbarrier.wait.shared.b64 %p0, [bar], %rd0;"}) {
    AsyncRun run;
    EXPECT_NE(run.run(text, 4).find("line 16"), std::string::npos) << text;
  }
}

} // namespace
