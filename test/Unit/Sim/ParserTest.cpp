//===- ParserTest.cpp - What the PTX parser takes and refuses -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimHarness.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace attn;
using namespace attn::simtest;

namespace {

const std::string header = ".version 8.6\n.target sm_90a\n.address_size 64\n";

/// The error of loading `ptx`, empty if there was none.
std::string loadError(const std::string &ptx) {
  try {
    openSimulator()->loadModule(ptx);
  } catch (const DeviceError &error) {
    return error.what();
  }
  return "";
}

std::string bodyError(const std::string &body) {
  return loadError(header +
                   ".entry k()\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>;"
                   ".reg .pred %p<9>; .reg .f32 %f<9>;\n" +
                   body + "\n}\n");
}

void expectError(const std::string &error, const std::string &text) {
  EXPECT_NE(error.find(text), std::string::npos)
      << "expected '" << text << "' in '" << error << "'";
}

TEST(Parser, TakesWhatCompilersWrite) {
  EXPECT_EQ(loadError(header + R"(
	// .globl	k                    // -- Begin function k
.extern .shared .align 1024 .b8 smem[];
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.global .align 16 .b8 text[3] = {104, 0x69};
.file 1 "k.cu"
.visible .entry k(
	.param .align 64 .b8 k_param_0[128],
	.param .u64 .ptr .global .align 16 k_param_1,
	.param .f32 k_param_2
)
.maxntid 128, 1, 1
.minnctapersm 1
.maxnreg 168
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<9>;
	.loc 1 12 3
	ld.param.b32 	%r1, [k_param_0+-0+124];
	.pragma "nounroll";
	// begin inline asm
	{ .reg .pred q; setp.ne.b32 q, %r1, 0; @q bra DONE; DONE: }
	// end inline asm
	mov.b32 	%r2, 0b101;
	mov.b32 	%r3, -0x10;
	mov.b32 	%r4, 017;
	mov.b32 	%r5, 0f3F800000;
	/* a
	   block comment */
	ret;
}
.section .debug_str { .b8 1, 2 }
)"),
            "");
}

TEST(Parser, LocatesErrors) {
  expectError(loadError(""), "PTX line 1: a PTX module starts with '.version'");
  expectError(loadError(".version x\n"), "expected a version such as 8.6");
  expectError(loadError(".version 99.0\n.target sm_90\n.address_size 64\n"),
              "expected at most 9.x");
  expectError(loadError(".version 8.0\n.target sm_90\n.address_size 32\n"),
              "only '.address_size 64'");
  for (const char *target : {"sm_9", "sm_70000", "sm_90b", "compute_90", "x"})
    expectError(loadError(std::string(".version 8.0\n.target ") + target +
                          "\n.address_size 64\n"),
                std::string("PTX line 2: expected a target such as sm_90a, "
                            "found '") +
                    target + "'");
  expectError(
      bodyError("mov.b64 %rd0, 0x10000000000000000;"),
      "PTX line 7: the number 0x10000000000000000 does not fit 64 bits");
  EXPECT_EQ(bodyError("mov.b64 %rd0, 0xffffffffffffffff;\n"
                      "mov.b64 %rd0, 18446744073709551615;"),
            "");
  expectError(loadError(header + ".entry k() {\n add.s32"), "PTX line 5:");
  expectError(loadError(header + ".entry k() {\n\n"), "never ends");
  expectError(loadError(header + ".bogus\n"), "PTX line 4: expected '.entry'");
  expectError(loadError(header + "/* never"), "comment never ends");
  expectError(loadError(header + ".global .b32 x[99999999999];"),
              "larger than 1 GiB");
  expectError(loadError(header + ".entry k() {}\n.entry k() {}"),
              "defined twice");
  expectError(loadError(header + std::string(99, '{')), "PTX line 4");
}

TEST(Parser, RefusesByName) {
  expectError(bodyError("add.s32 %r0, %r1, %r2;\nfrobnicate.b32 %r0, %r1;"),
              "PTX line 8: instruction 'frobnicate.b32' is not supported");
  expectError(bodyError("tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd1;"),
              "'tcgen05.mma.cta_group::1.kind::f16' is not supported");
  expectError(bodyError("call.uni (%r0), foo, (%r1);"),
              "'call.uni' is not supported");
  expectError(bodyError("{ .param .b32 p; call.uni foo, (p); }"),
              "PTX line 7: arguments of a call, which is not supported: the "
              "simulator runs kernels whose functions are all inlined");
  expectError(bodyError("min.cc.s32 %r0, %r1, %r2;"),
              "modifier '.cc' of 'min.cc.s32'");
  expectError(bodyError("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 "
                        "{%r0}, {%r1}, {%r2}, {%r3};"),
              "'mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32'");
  expectError(bodyError("fma.rz.f64 %rd0, %rd1, %rd2, %rd3;"),
              ".rn only in double precision");
}

/// As a driver does: the same text under an older version or target.
TEST(Parser, ChecksVersionAndTarget) {
  auto error = [](const std::string &version, const std::string &target,
                  const std::string &body) {
    return loadError(".version " + version + "\n.target " + target +
                     "\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<9>; "
                     ".reg .b64 %rd<9>; .reg .pred %p<9>;\n" +
                     body + "\n}\n");
  };
  const std::string wait =
      "mbarrier.try_wait.parity.shared.b64 %p0, [%r0], %r1;";
  EXPECT_EQ(error("7.8", "sm_90", wait), "");
  expectError(
      error("7.7", "sm_90", wait),
      "PTX line 7: 'mbarrier.try_wait.parity.shared.b64' needs .version "
      "7.8 or later, found 7.7");
  expectError(error("7.8", "sm_80", wait),
              "needs .target sm_90 or later, found sm_80");
  const std::string arrive =
      "mbarrier.arrive.expect_tx.shared.b64 _, [%r0], %r1;";
  EXPECT_EQ(error("8.0", "sm_90", arrive), "");
  expectError(error("7.8", "sm_90", arrive), "needs .version 8.0 or later");
  EXPECT_EQ(error("7.0", "sm_80", "mbarrier.arrive.shared.b64 _, [%r0];"), "");
  const std::string fence = "wgmma.fence.sync.aligned;";
  EXPECT_EQ(error("8.0", "sm_90a", fence), "");
  expectError(error("8.0", "sm_90", fence),
              "'wgmma.fence.sync.aligned' needs .target sm_90a, found sm_90");
  EXPECT_EQ(error("7.0", "sm_80", "cp.async.commit_group;"), "");
  expectError(error("7.0", "sm_75", "cp.async.commit_group;"),
              "needs .target sm_80 or later, found sm_75");
  expectError(error("7.8", "sm_90", "cp.async.bulk.commit_group;"),
              "needs .version 8.0 or later");
  EXPECT_EQ(error("6.0", "sm_70", "add.s32 %r0, %r1, %r2;"), "");
}

TEST(Parser, ChecksOperands) {
  expectError(bodyError("add.s32 %r0, %rd1, %r2;"),
              "'%rd1' has 64 bits, 'add.s32' expects 32");
  expectError(bodyError("add.s32 %r0, %r1;"), "takes 3 operands, found 2");
  expectError(bodyError("add.s32 %r0, %r1, %r99;"),
              "no register or variable is called '%r99'");
  expectError(bodyError("@%r0 bra X; X:"), "expected a predicate register");
  expectError(bodyError("bra NOWHERE;"), "no label 'NOWHERE'");
  expectError(bodyError("mov.b32 5, %r1;"), "expected a register");
  expectError(bodyError("mov.b32 %r77, %r1;"),
              "expected a register that is declared as the destination, found "
              "'%r77'");
  expectError(bodyError("ld.global.v2.b32 {%r0}, [%rd0];"),
              "expected 2 registers in braces, found 1");
  expectError(bodyError("ld.global.b32 %r0, %rd0;"),
              "expected an address in brackets");
  expectError(bodyError("st.param.b32 [%rd0], %r0;"), "read-only memory");
  expectError(bodyError("cp.async.cg.shared.global [%r0], [%rd0], 8;"),
              "16 bytes with .cg");
  expectError(bodyError("X: X: ret;"), "label 'X' is defined twice");
}

TEST(Parser, ChecksTheLaunch) {
  Harness harness;
  LaunchConfig config;
  std::string ptx = header + ".entry k(.param .b32 a)\n.maxntid 64\n{ ret; }";
  expectError(harness.launch(ptx, "other", config), "no kernel 'other'");
  expectError(harness.launch(ptx, "k", config), "takes 1 arguments, found 0");
  config.arguments = {argument(uint64_t(1))};
  expectError(harness.launch(ptx, "k", config),
              "argument 0 of kernel 'k' has 8 bytes, expected 4");
  config.arguments = {argument(uint32_t(1))};
  EXPECT_EQ(harness.launch(ptx, "k", config), "");
  config.block[0] = 65;
  expectError(harness.launch(ptx, "k", config), ".maxntid allows 64");
  config.block[0] = 32;
  config.sharedBytes = 300000;
  expectError(harness.launch(ptx, "k", config), "bytes of shared memory");
  config.sharedBytes = 0;
  config.grid[1] = 0;
  expectError(harness.launch(ptx, "k", config), "grid.y is 0");
}

/// Every prefix of a real kernel, and every line of it missing, ends in a
/// module or in a located error.
TEST(Parser, SurvivesTruncation) {
  std::ifstream file(std::string(ATTN_SIM_INPUTS) + "/flash.ptx");
  std::stringstream stream;
  stream << file.rdbuf();
  std::string text = stream.str();
  ASSERT_FALSE(text.empty());
  for (size_t length = 0; length < text.size(); length += 997) {
    std::string error = loadError(text.substr(0, length));
    EXPECT_EQ(error.rfind("simulator: PTX line ", 0), 0u) << error;
  }
  for (size_t at = 0; at < text.size(); at += 1009) {
    std::string broken = text;
    broken[at] = ';';
    std::string error = loadError(broken);
    if (!error.empty())
      EXPECT_EQ(error.rfind("simulator: PTX line ", 0), 0u) << error;
  }
}

TEST(Device, DescribesItself) {
  auto device = openSimulator();
  DeviceInfo info = device->info();
  EXPECT_EQ(info.name, "simulator");
  EXPECT_EQ(info.smMajor, 9);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.sharedBytesPerBlock, 227 * 1024);
  auto module = device->loadModule(header + ".entry k() { ret; }");
  EXPECT_EQ(module->occupancy("k", 128, 100 * 1024), 2);
  EXPECT_EQ(module->occupancy("k", 1024, 0), 2);
  DevicePtr at = device->allocate(16);
  device->fill32(at, 0x01020304, 16);
  uint32_t word = 0;
  device->copyFromDevice(&word, at + 12, 4);
  EXPECT_EQ(word, 0x01020304u);
  EXPECT_THROW(device->fill32(at, 0, 20), DeviceError);
  EXPECT_THROW(device->fill32(at, 0, 3), DeviceError);
}

} // namespace
