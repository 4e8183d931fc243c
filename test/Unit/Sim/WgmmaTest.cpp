//===- WgmmaTest.cpp - wgmma against exact sums ---------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../Gpu/WgmmaForms.h"
#include "SimHarness.h"

#include <gtest/gtest.h>

using namespace attn;
using namespace attn::simtest;

namespace {

class Wgmma : public ::testing::TestWithParam<WgmmaCase> {};

TEST_P(Wgmma, MatchesExactSums) {
  const WgmmaCase &wgmma = GetParam();
  WgmmaData data(wgmma, /*seed=*/5);
  Harness harness;
  std::vector<double> values =
      wgmmaValues(wgmma, runWgmma(*harness.device, wgmma, data));
  for (const SimFinding &finding : harness.findings)
    ADD_FAILURE() << finding.str();
  ASSERT_EQ(values.size(), data.expected.size());
  double unit = wgmma.d == "f16" ? 0x1p-10 : 0x1p-20;
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(values[i], data.expected[i],
                wgmma.integers ? 0 : unit * data.magnitude[i])
        << wgmma.name() << " thread " << i * 128 / values.size();
}

INSTANTIATE_TEST_SUITE_P(Forms, Wgmma, ::testing::ValuesIn(wgmmaForms()),
                         [](const auto &info) {
                           std::string name = std::to_string(info.index) + "_";
                           for (char c : info.param.name())
                             name += std::isalnum(c) ? c : c == '-' ? 'm' : '_';
                           return name;
                         });

} // namespace
