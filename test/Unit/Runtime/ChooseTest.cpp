//===- ChooseTest.cpp - Which kernel of a package runs --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

using namespace attn;
using namespace attn::test;

namespace {

TEST(Choose, TargetsAndDevices) {
  EXPECT_TRUE(targetRunsOn("sm_80", 8, 0));
  EXPECT_TRUE(targetRunsOn("sm_80", 9, 0));
  EXPECT_TRUE(targetRunsOn("sm_90", 12, 0));
  EXPECT_FALSE(targetRunsOn("sm_89", 8, 6));
  EXPECT_FALSE(targetRunsOn("sm_120", 9, 0));
  EXPECT_TRUE(targetRunsOn("sm_90a", 9, 0));
  EXPECT_FALSE(targetRunsOn("sm_90a", 10, 0));
  EXPECT_FALSE(targetRunsOn("sm_90a", 8, 9));
  EXPECT_TRUE(targetRunsOn("sm_100f", 10, 3));
  EXPECT_FALSE(targetRunsOn("sm_100f", 12, 0));
  EXPECT_FALSE(targetRunsOn("sm_103f", 10, 0));
  for (const char *bad : {"", "sm_", "sm_9", "sm_90b", "compute_90", "sm_9000"})
    EXPECT_THROW(targetRunsOn(bad, 9, 0), PackageError) << bad;
}

Package guardedPackage(const Guard &guard) {
  Package package = smallPackage();
  package.kernels[0].guards = {guard};
  package.kernels.push_back(smallKernel("general"));
  return package;
}

std::string chosen(const Package &package, const LaunchArguments &arguments) {
  std::string reason;
  return chooseKernel(package, arguments, smallDevice(), reason).name;
}

TEST(Choose, EveryOperator) {
  LaunchArguments arguments = smallArguments(); // q_len 200
  struct Case {
    GuardOp op;
    int64_t rhs;
    bool holds;
  };
  for (const Case &c :
       {Case{GuardOp::Eq, 200, true}, Case{GuardOp::Eq, 201, false},
        Case{GuardOp::Ne, 201, true}, Case{GuardOp::Ne, 200, false},
        Case{GuardOp::Lt, 201, true}, Case{GuardOp::Lt, 200, false},
        Case{GuardOp::Le, 200, true}, Case{GuardOp::Le, 199, false},
        Case{GuardOp::Gt, 199, true}, Case{GuardOp::Gt, 200, false},
        Case{GuardOp::Ge, 200, true}, Case{GuardOp::Ge, 201, false}}) {
    Guard guard{{"q_len", 0, 0}, c.op, {"", c.rhs, 0}};
    EXPECT_EQ(chosen(guardedPackage(guard), arguments),
              c.holds ? "fwd" : "general")
        << toString(guard);
  }
}

TEST(Choose, EveryLaunchValue) {
  LaunchArguments arguments = smallArguments();
  struct Case {
    const char *name;
    int64_t value;
  };
  for (const Case &c :
       {Case{"batch", 2}, Case{"q_len", 200}, Case{"k_len", 300},
        Case{"heads", 4}, Case{"kv_heads", 2}, Case{"q_stride_b", 51200},
        Case{"k_stride_h", 64}, Case{"v_stride_s", 64}, Case{"o_stride_s", 128},
        Case{"lse_stride_h", 200}, Case{"q_align", 256}}) {
    Guard guard{{c.name, 0, 0}, GuardOp::Eq, {"", c.value, 0}};
    EXPECT_EQ(chosen(guardedPackage(guard), arguments), "fwd")
        << toString(guard);
  }
  arguments.k.data += 48;
  Guard aligned{{"k_align", 0, 0}, GuardOp::Eq, {"", 16, 0}};
  EXPECT_EQ(chosen(guardedPackage(aligned), arguments), "fwd");
  Guard modulo{{"q_len", 0, 64}, GuardOp::Eq, {"", 8, 0}};
  EXPECT_EQ(chosen(guardedPackage(modulo), arguments), "fwd");
  Guard two{{"q_len", 0, 0}, GuardOp::Lt, {"k_len", 0, 0}};
  EXPECT_EQ(chosen(guardedPackage(two), arguments), "fwd");
}

TEST(Choose, ChooserOrderAndReason) {
  Package package = guardedPackage({{"q_len", 0, 0}, GuardOp::Lt, {"", 64, 0}});
  std::string reason;
  chooseKernel(package, smallArguments(), smallDevice(), reason);
  EXPECT_EQ(reason,
            "general (sm_80; passed over fwd: guard q_len < 64 does not hold)");
  package.kernels[0].guards[0].op = GuardOp::Gt;
  chooseKernel(package, smallArguments(), smallDevice(), reason);
  EXPECT_EQ(reason, "fwd (sm_80, q_len > 64)");
  package.chooser = {"general", "fwd"};
  EXPECT_EQ(chosen(package, smallArguments()), "general");
  // A kernel that the chooser leaves out never runs.
  package.chooser = {"fwd"};
  package.kernels[0].guards[0].op = GuardOp::Lt;
  EXPECT_EQ(messageOf<LaunchError>([&] { chosen(package, smallArguments()); }),
            "no kernel of the package runs this launch: fwd: guard q_len < 64 "
            "does not hold");
}

TEST(Choose, DevicesThatCannot) {
  Package package = smallPackage();
  package.kernels[0].target = "sm_120";
  EXPECT_EQ(messageOf<LaunchError>([&] { chosen(package, smallArguments()); }),
            "no kernel of the package runs this launch: fwd: needs sm_120, the "
            "device is sm_90");
  package.kernels[0].target = "sm_80";
  package.kernels[0].sharedBytes = 232449;
  EXPECT_EQ(messageOf<LaunchError>([&] { chosen(package, smallArguments()); }),
            "no kernel of the package runs this launch: fwd: needs 232449 "
            "bytes of shared memory, the device has 232448");
}

TEST(Choose, Workspace) {
  Package package = smallPackage();
  EXPECT_EQ(workspaceBytes(package, smallArguments(), smallDevice()), 0);
  package.kernels[0].workspaceBytesPerItem = 48;
  // 2 batch entries x 4 heads x ceil(200 / 128) tiles.
  EXPECT_EQ(workspaceBytes(package, smallArguments(), smallDevice()), 16 * 48);
  // The work counter lies in front, for every kernel of the package.
  package.kernels.push_back(smallKernel("dynamic"));
  package.kernels[1].arguments.push_back({"work_counter", ArgumentType::Ptr});
  EXPECT_EQ(workspaceBytes(package, smallArguments(), smallDevice()),
            16 + 16 * 48);
  package.kernels[0].workspaceBytesPerItem = 0;
  EXPECT_EQ(workspaceBytes(package, smallArguments(), smallDevice()), 0);
  package.chooser = {"dynamic"};
  EXPECT_EQ(workspaceBytes(package, smallArguments(), smallDevice()), 16);
}

} // namespace
