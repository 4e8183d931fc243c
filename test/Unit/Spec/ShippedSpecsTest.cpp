//===- ShippedSpecsTest.cpp - Every shipped spec parses -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecTesting.h"

#include "gtest/gtest.h"

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::testing;

TEST(ShippedSpecs, EachParsesWithoutAWarning) {
  ASSERT_GE(shippedSpecs().size(), 3u);
  for (const ShippedSpec &spec : shippedSpecs()) {
    SCOPED_TRACE(spec.name.str());
    Parsed parsed = parse(spec.text, {}, spec.name);
    if (spec.name == "std") {
      ASSERT_EQ(parsed.reports.size(), 1u) << parsed.text();
      EXPECT_EQ(parsed.reports[0].message,
                "expected an attention block, found defs only; write "
                "'attention NAME { ... }'");
      continue;
    }
    EXPECT_TRUE(parsed.problem.has_value());
    EXPECT_EQ(parsed.text(), "");
    if (parsed.problem)
      EXPECT_EQ(parsed.problem->name, spec.name.str());
  }
}
