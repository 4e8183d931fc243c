//===- DriverTest.cpp - The driver, and machines without ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Fixtures.h"
#include "Gpu.h"

using namespace attn;
using namespace attn::test;

namespace {

TEST(Driver, MissingDriverIsAMessage) {
  std::string message = messageOf<DeviceError>(
      [] { driver::loadDriver("libattn-no-such-driver.so.1"); });
  EXPECT_EQ(message.rfind("no NVIDIA driver: cannot open "
                          "libattn-no-such-driver.so.1 (",
                          0),
            0u)
      << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Driver, LibraryWithoutAFunctionIsTooOld) {
  // Any library that is not a driver lacks the first function of the table.
  EXPECT_EQ(
      messageOf<DeviceError>([] { driver::loadDriver("libm.so.6"); }),
      "NVIDIA driver too old: libm.so.6 has no cuInit; install a newer driver");
}

TEST(Driver, VersionText) {
  EXPECT_EQ(driver::versionText(13000), "13.0");
  EXPECT_EQ(driver::versionText(12080), "12.8");
}

TEST(Gpu, PtxVersion) {
  EXPECT_EQ(ptxVersion("//\n.version 8.7\n.target sm_120\n"), "8.7");
  EXPECT_EQ(ptxVersion("nothing"), "");
  EXPECT_EQ(ptxVersion(".version"), "");
}

TEST(Gpu, PeaksOfKnownArchitectures) {
  // H100 SXM: 989.4 TFLOP/s dense bf16 at 132 SMs and 1830 MHz (data sheet).
  EXPECT_NEAR(double(tensorFlopsPerClock(9, 0)) * 132 * 1830e6, 989.4e12,
              0.1e12);
  // A100: 312 TFLOP/s at 108 SMs and 1410 MHz.
  EXPECT_NEAR(double(tensorFlopsPerClock(8, 0)) * 108 * 1410e6, 312e12, 0.2e12);
  EXPECT_EQ(tensorFlopsPerClock(7, 5), 0);
}

} // namespace
