//===- MemoryTest.cpp - Loads, stores, atomics and asynchronous copies --===//
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

TEST(Memory, WidthsAndExtension) {
  uint64_t in = 0x8899aabbccddeeff;
  auto run = [&](const std::string &text) { return evaluate(text, in); };
  EXPECT_EQ(run("ld.global.u8 %h0, [%in+1]; cvt.u64.u16 %rd0, %h0;"
                "st.global.u64 [%out], %rd0;"),
            0xeeu);
  EXPECT_EQ(run("ld.global.s8 %r0, [%in+7]; st.global.u32 [%out], %r0;"),
            0xffffff88u);
  EXPECT_EQ(run("ld.global.s16 %rd0, [%in+4]; st.global.u64 [%out], %rd0;"),
            0xffffffffffffaabbu);
  EXPECT_EQ(run("ld.global.nc.L1::no_allocate.L2::128B.v2.b32 {%r0, %r1}, "
                "[%in]; st.global.v2.b32 [%out], {%r1, %r0};"),
            0xccddeeff8899aabbu);
  EXPECT_EQ(run("ld.global.v4.u16 {%h0, %h1, %h2, %h3}, [%in];"
                "st.global.u16 [%out], %h3; st.global.u8 [%out+2], %h0;"),
            0xff8899u);
  EXPECT_EQ(run("mov.b32 %r0, sh; ld.global.u64 %rd0, [%in];"
                "st.shared.u64 [%r0+8], %rd0; ld.shared.v2.u32 {%r1, %r2}, "
                "[sh+8]; st.global.u32 [%out], %r2;"),
            0x8899aabbu);
}

TEST(Memory, GenericAddresses) {
  // One generic load and store reaches every state space.
  EXPECT_EQ(evaluate(".local .align 8 .b8 depot[16]; mov.b64 %rd0, depot;"
                     "cvta.local.u64 %rd1, %rd0; ld.u64 %rd2, [%in];"
                     "st.u64 [%rd1+8], %rd2; ld.local.u64 %rd3, [%rd0+8];"
                     "cvta.to.local.u64 %rd4, %rd1;"
                     "ld.local.u32 %r0, [%rd4+8]; st.u64 [%out], %rd3;",
                     42),
            42u);
  EXPECT_EQ(evaluate("mov.u64 %rd0, sh; cvta.shared.u64 %rd1, %rd0;"
                     "ld.u64 %rd2, [%in]; st.u64 [%rd1], %rd2;"
                     "ld.shared.u64 %rd3, [sh]; st.u64 [%out], %rd3;"
                     "isspacep.shared %p0, %rd1; @!%p0 trap;"
                     "isspacep.global %p0, %out; @!%p0 trap;",
                     43),
            43u);
  // The second parameter through its generic address.
  EXPECT_EQ(evaluate("mov.b64 %rd0, out; cvta.param.u64 %rd1, %rd0;"
                     "ld.u64 %rd2, [%rd1]; sub.u64 %rd3, %rd2, %out;"
                     "add.u64 %rd3, %rd3, 5; st.u64 [%out], %rd3;"),
            5u);
}

TEST(Memory, LocalIsPrivate) {
  Harness harness;
  std::vector<uint64_t> in(64);
  for (unsigned i = 0; i < 64; ++i)
    in[i] = 100 + i;
  auto out = runBody(harness,
                     ".local .b64 mine; ld.global.u64 %rd0, [%in];"
                     "st.local.u64 [mine], %rd0; bar.sync 0;"
                     "ld.local.u64 %rd1, [mine]; st.global.u64 [%out], %rd1;",
                     in, 64);
  EXPECT_EQ(out, in);
  EXPECT_EQ(harness.checks(), "");
}

TEST(Memory, ModuleVariables) {
  std::string ptx = R"(.version 8.6
.target sm_80
.address_size 64
.const .align 4 .b32 table[4] = {1, 2, -3, 0f3F800000};
.global .align 8 .u64 pointer[2] = {generic(table)+4, 7};
.visible .entry k(.param .align 8 .b8 s[16])
{
.reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [s+8];
ld.global.u64 %rd1, [pointer];
ld.const.u32 %r0, [%rd1];
ld.const.u32 %r1, [table+8];
ld.u32 %r2, [%rd1+8];
st.global.v2.u32 [%rd0], {%r0, %r1};
st.global.u32 [%rd0+8], %r2;
ret;
})";
  Harness harness;
  DevicePtr out = harness.upload(std::vector<uint32_t>(3));
  LaunchConfig config;
  config.arguments = {std::vector<uint8_t>(16)};
  std::memcpy(config.arguments[0].data() + 8, &out, 8);
  ASSERT_EQ(harness.launch(ptx, "k", config), "");
  EXPECT_EQ(harness.download<uint32_t>(out, 3),
            (std::vector<uint32_t>{2, uint32_t(-3), 0x3f800000}));
}

TEST(Memory, SparseAndHigh) {
  Harness harness;
  constexpr uint64_t bytes = uint64_t(12) << 30;
  DevicePtr at = harness.device->allocate(bytes);
  EXPECT_GT(at, uint64_t(1) << 32);
  uint32_t value = 77;
  harness.device->copyToDevice(at + bytes - 4, &value, 4);
  value = 0;
  harness.device->copyFromDevice(&value, at + bytes - 4, 4);
  EXPECT_EQ(value, 77u);
  harness.device->release(at);
  EXPECT_THROW(harness.device->release(at), DeviceError);
  EXPECT_THROW(harness.device->copyToDevice(at, &value, 4), DeviceError);
}

TEST(Atomics, ReturnTheOldValue) {
  // Every lane adds its number; lane 31 sees the sum of all before.
  Harness harness;
  auto out = runBody(harness,
                     "sub.s64 %rd0, %out, %offset; cvt.u64.u32 %rd1, %t;"
                     "atom.global.add.u64 %rd2, [%rd0], %rd1;"
                     "setp.eq.u32 %p0, %t, 31; @%p0 st.global.u64 [%out], "
                     "%rd2;",
                     {});
  EXPECT_EQ(out[0], 31u * 32 / 2);
  EXPECT_EQ(out[31], 30u * 31 / 2);
}

TEST(Atomics, Operations) {
  auto run = [](const std::string &op, uint64_t first) {
    return evaluate(
        "ld.global.u64 %rd0, [%in]; st.global.u64 [%out], %rd0;" + op, first);
  };
  EXPECT_EQ(run("red.global.max.s32 [%out], -1;", 0xfffffff0), 0xffffffffu);
  EXPECT_EQ(run("red.global.min.u32 [%out], 5;", 9), 5u);
  EXPECT_EQ(run("atom.global.exch.b32 %r0, [%out], 4;", 9), 4u);
  EXPECT_EQ(run("atom.global.cas.b32 %r0, [%out], 9, 3;", 9), 3u);
  EXPECT_EQ(run("atom.global.cas.b32 %r0, [%out], 8, 3;", 9), 9u);
  EXPECT_EQ(run("atom.global.inc.u32 %r0, [%out], 9;", 9), 0u);
  EXPECT_EQ(run("atom.global.dec.u32 %r0, [%out], 5;", 0), 5u);
  EXPECT_EQ(run("atom.acq_rel.gpu.global.or.b32 %r0, [%out], 6;", 1), 7u);
  EXPECT_EQ(run("red.global.add.f32 [%out], 0f40000000;", 0x3f800000),
            0x40400000u);
  EXPECT_EQ(run("mov.b32 %r0, 0x3C003C00;"
                "red.global.add.noftz.f16x2 [%out], %r0;",
                0x40003c00),
            0x42004000u);
  EXPECT_EQ(run("mov.b32 %r0, 0x3F803F80;"
                "red.global.add.noftz.bf16x2 [%out], %r0;",
                0x40003f80),
            0x40404000u);
  EXPECT_EQ(run("mov.f32 %f0, 0f3F800000;"
                "red.global.add.v2.f32 [%out], {%f0, %f0};",
                0x4000000000000000),
            0x404000003f800000u);
}

/// Atomics of blocks on different host threads.
TEST(Atomics, AcrossBlocks) {
  std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b64 %rd<2>; .reg .f32 %f<2>;
ld.param.u64 %rd0, [p];
red.global.add.u32 [%rd0], 1;
atom.global.add.f32 %f0, [%rd0+4], 0f3F800000;
ret;
})";
  Harness harness(/*sanitize=*/true, /*threads=*/4);
  DevicePtr out = harness.upload(std::vector<uint32_t>(2));
  LaunchConfig config;
  config.grid[0] = 10;
  config.grid[1] = 5;
  config.grid[2] = 2;
  config.block[0] = 64;
  config.arguments = {argument(out)};
  ASSERT_EQ(harness.launch(ptx, "k", config), "");
  auto got = harness.download<uint32_t>(out, 2);
  EXPECT_EQ(got[0], 6400u);
  EXPECT_EQ(bitsAs<float>(got[1]), 6400.0f);
}

TEST(AsyncCopy, LandsWhenItsGroupIsWaitedFor) {
  // Two groups; the wait for all but one lands the first only.
  std::string text =
      "mov.b64 %rd0, 0; st.shared.u64 [sh], %rd0; st.shared.u64 [sh+8], %rd0;"
      "cp.async.ca.shared.global [sh], [%in], 8; cp.async.commit_group;"
      "cp.async.ca.shared.global [sh+8], [%in], 8; cp.async.commit_group;"
      "cp.async.wait_group 1;"
      "ld.shared.u64 %rd1, [sh]; ld.shared.u64 %rd2, [sh+8];"
      "mul.lo.u64 %rd1, %rd1, 1000; add.u64 %rd1, %rd1, %rd2;"
      "st.global.u64 [%out], %rd1;";
  Harness plain(/*sanitize=*/false);
  EXPECT_EQ(runBody(plain, text, {7}, 1)[0], 7000u);
  Harness sanitized;
  runBody(sanitized, text, {7}, 1);
  EXPECT_EQ(sanitized.checks(), "async-copy-in-flight");
}

TEST(AsyncCopy, SizesAndZeroFill) {
  auto run = [](const std::string &copy) {
    return evaluate("mov.b32 %r0, 3; setp.eq.u32 %p0, %r0, 3;" + copy +
                        "cp.async.wait_all; ld.shared.u64 %rd0, [sh];"
                        "st.global.u64 [%out], %rd0;",
                    0x1122334455667788);
  };
  EXPECT_EQ(run("cp.async.ca.shared.global [sh], [%in], 8;"),
            0x1122334455667788u);
  EXPECT_EQ(run("cp.async.ca.shared.global [sh], [%in], 8, 4;"), 0x55667788u);
  EXPECT_EQ(run("cp.async.ca.shared.global [sh], [%in], 8, %r0;"), 0x667788u);
  EXPECT_EQ(run("cp.async.ca.shared.global [sh], [%in], 8, %p0;"), 0u);
  // Nothing is read, so the address may be anything.
  EXPECT_EQ(run("cp.async.cg.shared::cta.global.L2::128B [sh], [16], 16, 0;"),
            0u);
}

} // namespace
