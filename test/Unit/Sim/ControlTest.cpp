//===- ControlTest.cpp - Divergence, barriers and warp-wide instructions ===//
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

std::vector<uint64_t> run(const std::string &body, unsigned threads = 32,
                          std::vector<uint64_t> in = {}) {
  Harness harness;
  std::vector<uint64_t> out = runBody(harness, body, in, threads);
  EXPECT_EQ(harness.checks(), "");
  return out;
}

const std::string store = "cvt.u64.u32 %rd0, %r0; st.global.u64 [%out], %rd0;";

TEST(Control, NestedDivergenceReconverges) {
  // Four ways through two branches; then the whole warp votes.
  auto out = run("and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0;"
                 "and.b32 %r2, %t, 2; setp.eq.u32 %p1, %r2, 0;"
                 "@%p0 bra EVEN; mov.u32 %r0, 1; @%p1 bra DONE;"
                 "add.u32 %r0, %r0, 10; bra DONE;"
                 "EVEN: mov.u32 %r0, 2; @%p1 bra DONE; add.u32 %r0, %r0, 20;"
                 "DONE: activemask.b32 %r3; popc.b32 %r3, %r3;"
                 "mad.lo.u32 %r0, %r3, 100, %r0;" +
                 store);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i],
              3200u + (i & 1 ? 1 : 2) + (i & 2 ? (i & 1 ? 10 : 20) : 0));
}

TEST(Control, LoopWithDifferentTripCounts) {
  auto out = run("mov.u32 %r0, 0; mov.u32 %r1, 0;"
                 "LOOP: setp.ge.u32 %p0, %r1, %t; @%p0 bra OUT;"
                 "add.u32 %r0, %r0, %r1; add.u32 %r1, %r1, 1; bra.uni LOOP;"
                 "OUT: vote.sync.ballot.b32 %r2, %p0, -1;"
                 "setp.ne.u32 %p1, %r2, -1; @%p1 trap;" +
                 store);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i * (i - 1) / 2 * (i > 0));
}

TEST(Control, EarlyReturnAndPartialWarp) {
  auto out = run("setp.gt.u32 %p0, %t, 20; @%p0 ret; bar.sync 0;"
                 "mov.u32 %r0, 5;" +
                     store,
                 40);
  for (unsigned i = 0; i < 40; ++i)
    EXPECT_EQ(out[i], i <= 20 ? 5u : 0u);
}

TEST(Control, BranchTable) {
  auto out = run("and.b32 %r1, %t, 3;"
                 "TABLE: .branchtargets A, B, C, B;"
                 "brx.idx %r1, TABLE;"
                 "A: mov.u32 %r0, 1; bra END; B: mov.u32 %r0, 2; bra END;"
                 "C: mov.u32 %r0, 3; END:" +
                 store);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (std::vector<uint64_t>{1, 2, 3, 2})[i % 4]);
}

TEST(Control, ScopesOfInlineAssembly) {
  auto out = run("{ .reg .pred p; .reg .b32 x; mov.b32 x, 4; setp.eq.u32 p, x,"
                 "4; @p bra L; trap; L: mov.b32 %r0, x; }"
                 "{ .reg .b64 x; mov.b64 x, 8; bra L; trap; L:"
                 "cvt.u32.u64 %r1, x; } add.u32 %r0, %r0, %r1;" +
                 store);
  EXPECT_EQ(out[0], 12u);
}

TEST(Control, SpecialRegisters) {
  std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b64 %rd<8>; .reg .b32 %r<20>;
ld.param.u64 %rd0, [p];
mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y;
mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ctaid.y; mov.u32 %r7, %nctaid.x;
mov.u32 %r8, %laneid; mov.u32 %r9, %warpid;
mad.lo.u32 %r10, %r2, %r4, %r1; mad.lo.u32 %r10, %r10, %r3, %r0;
mad.lo.u32 %r11, %r6, %r7, %r5;
mad.lo.u32 %r12, %r9, WARP_SZ, %r8;
mov.u32 %r13, %lanemask_lt; popc.b32 %r14, %r13; sub.u32 %r14, %r14, %r8;
add.u32 %r12, %r12, %r14;
mad.lo.u32 %r15, %r11, 48, %r10; mul.wide.u32 %rd1, %r15, 8;
add.u64 %rd0, %rd0, %rd1; st.global.v2.u32 [%rd0], {%r11, %r12};
ret;
})";
  Harness harness;
  LaunchConfig config;
  config.grid[0] = 3;
  config.grid[1] = 2;
  config.block[0] = 4;
  config.block[1] = 6;
  config.block[2] = 2;
  DevicePtr out = harness.upload(std::vector<uint64_t>(6 * 48));
  config.arguments = {argument(out)};
  ASSERT_EQ(harness.launch(ptx, "k", config), "");
  auto got = harness.download<uint64_t>(out, 6 * 48);
  for (uint64_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], (i % 48) << 32 | i / 48);
}

TEST(Barrier, ProducersAndConsumers) {
  // Warps 0 and 1 arrive with data, warp 2 waits for them and sums it up.
  auto out =
      run("shr.u32 %r1, %t, 5; setp.eq.u32 %p0, %r1, 2; mov.u32 %r2, sh;"
          "and.b32 %r5, %t, 63; shl.b32 %r3, %r5, 2; add.u32 %r2, %r2, %r3;"
          "mov.u32 %r0, 0; @%p0 bra CONSUMER;"
          "st.shared.u32 [%r2], %t; barrier.cta.arrive 3, 96; bra END;"
          "CONSUMER: barrier.cta.sync 3, 96; ld.shared.u32 %r0, [%r2];"
          "ld.shared.u32 %r4, [%r2+128]; add.u32 %r0, %r0, %r4; END:" +
              store,
          96);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[64 + i], 2u * i + 32);
}

TEST(Barrier, Reductions) {
  auto out = run("setp.lt.u32 %p0, %t, 37; bar.red.popc.u32 %r0, 1, %p0;"
                 "bar.red.and.pred %p1, 0, %p0; @%p1 trap;"
                 "bar.red.or.pred %p1, 0, %p0; @!%p1 trap;" +
                     store,
                 64);
  EXPECT_EQ(out[0], 37u);
  EXPECT_EQ(out[63], 37u);
}

TEST(WarpOps, Shuffle) {
  auto shuffle = [](const std::string &mode, const std::string &arguments) {
    return run("shfl.sync." + mode + ".b32 %r0|%p0, %t, " + arguments +
               ", -1; @!%p0 add.u32 %r0, %r0, 1000;" + store);
  };
  auto up = shuffle("up", "3, 0"), down = shuffle("down", "5, 31"),
       xorred = shuffle("bfly", "6, 31"), segment = shuffle("idx", "9, 0x181f");
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(up[i], i >= 3 ? i - 3 : i + 1000);
    EXPECT_EQ(down[i], i + 5 <= 31 ? i + 5 : i + 1000);
    EXPECT_EQ(xorred[i], i ^ 6);
    EXPECT_EQ(segment[i], (i & 24) | 1); // segments of 8: 9 mod 8
  }
}

TEST(WarpOps, VoteMatchReduxElect) {
  auto out =
      run("setp.lt.u32 %p0, %t, 4; vote.sync.ballot.b32 %r0, %p0, -1;" + store);
  EXPECT_EQ(out[9], 15u);
  out = run("setp.lt.u32 %p0, %t, 99; vote.sync.all.pred %p1, %p0, -1;"
            "selp.u32 %r0, 1, 0, %p1; vote.sync.any.pred %p2, !%p0, -1;"
            "@%p2 trap; vote.sync.uni.pred %p2, %p0, -1; @!%p2 trap;" +
            store);
  EXPECT_EQ(out[0], 1u);
  out = run("and.b32 %r1, %t, 1; match.any.sync.b32 %r0, %r1, -1;" + store);
  EXPECT_EQ(out[0], 0x55555555u);
  EXPECT_EQ(out[1], 0xaaaaaaaau);
  out = run("mov.u32 %r1, 7; match.all.sync.b32 %r0|%p0, %r1, -1;"
            "@!%p0 trap;" +
            store);
  EXPECT_EQ(out[5], 0xffffffffu);
  out = run("sub.u32 %r1, %t, 5; redux.sync.min.s32 %r0, %r1, -1;" + store);
  EXPECT_EQ(out[3], uint32_t(-5));
  out = run("redux.sync.add.u32 %r0, %t, -1;" + store);
  EXPECT_EQ(out[3], 496u);
  out = run("mov.u32 %r0, 0; elect.sync %r1|%p0, -1;"
            "@%p0 mov.u32 %r0, 1; mad.lo.u32 %r0, %r1, 100, %r0;" +
            store);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 0u);
}

/// Lanes that run an instruction together may name groups of their own.
TEST(WarpOps, GroupsByMask) {
  // %r9: the mask of the eight lanes around.
  const std::string masks =
      "and.b32 %r8, %t, 24; mov.u32 %r9, 0xff; shl.b32 %r9, %r9, %r8;";
  auto groups = [&](const std::string &text) {
    return run(masks + text + store);
  };
  auto sum = groups("redux.sync.add.u32 %r0, %t, %r9;");
  auto ballot = groups("and.b32 %r1, %t, 9; setp.ne.u32 %p0, %r1, 8;"
                       "vote.sync.ballot.b32 %r0, %p0, %r9;");
  auto all = groups("setp.lt.u32 %p0, %t, 20; vote.sync.all.pred %p1, %p0, %r9;"
                    "selp.u32 %r0, 1, 0, %p1;");
  auto any = groups("setp.eq.u32 %p0, %t, 20; vote.sync.any.pred %p1, %p0, %r9;"
                    "selp.u32 %r0, 1, 0, %p1;");
  auto same = groups("match.any.sync.b32 %r0, 7, %r9;");
  auto agree = groups("shr.u32 %r1, %t, 4;"
                      "match.all.sync.b32 %r0|%p0, %r1, %r9; @!%p0 trap;");
  auto leader = groups("elect.sync %r0|%p0, %r9; @%p0 add.u32 %r0, %r0, 100;");
  auto next = groups("shfl.sync.bfly.b32 %r0, %t, 7, 0x1f, %r9;"
                     "bar.warp.sync %r9;");
  for (unsigned i = 0; i < 32; ++i) {
    unsigned first = i & 24, mask = 0xffu << first;
    EXPECT_EQ(sum[i], 8 * first + 28);
    EXPECT_EQ(ballot[i], first & 8 ? 0xaaaaaaaau & mask : mask);
    EXPECT_EQ(all[i], i < 16);
    EXPECT_EQ(any[i], first == 16);
    EXPECT_EQ(same[i], mask);
    EXPECT_EQ(agree[i], mask);
    EXPECT_EQ(leader[i], first + (i == first ? 100 : 0));
    EXPECT_EQ(next[i], i ^ 7);
  }
}

} // namespace
