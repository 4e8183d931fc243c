//===- SelectRowsTest.cpp - Which rows are compared -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestLaunch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace attn;

namespace {

/// A launch with lengths only: nothing is read.
struct Lengths {
  Lengths(int64_t heads, std::vector<Sequence> sequences)
      : problem(makeProblem(heads, 1, 128)) {
    launch.problem = &problem;
    launch.sequences = std::move(sequences);
  }
  Problem problem;
  Launch launch;
};

TEST(SelectRows, SmallProblemsAreComparedWhole) {
  Lengths l(3, {{17, 40, 0, 0}, {0, 9, 0, 0}, {2, 2, 0, 0}});
  RowSelection selection = selectRows(l.launch, RowChoice());
  EXPECT_EQ(selection.rows.size(), size_t(3 * 19));
  EXPECT_EQ(selection.total, 3 * 19);
  EXPECT_EQ(selection.description, "all 57 rows");
}

TEST(SelectRows, LargeOnesKeepTheHardRowsOfEveryHeadAndEntry) {
  Lengths l(8, {{8192, 8192, 0, 0}, {5000, 8192, 0, 0}});
  RowSelection selection = selectRows(l.launch, RowChoice());
  EXPECT_LT(int64_t(selection.rows.size()), selection.total / 4);
  std::set<RowId> rows(selection.rows.begin(), selection.rows.end());
  EXPECT_EQ(rows.size(), selection.rows.size());
  for (int64_t h = 0; h < 8; ++h) {
    for (int64_t i : {0, 63, 64, 127, 128, 8063, 8064, 8127, 8128, 8191})
      EXPECT_TRUE(rows.count({0, h, i})) << i;
    for (int64_t i : {0, 63, 64, 127, 128, 4991, 4992, 4999})
      EXPECT_TRUE(rows.count({1, h, i})) << i;
  }
  for (const RowId &row : rows)
    EXPECT_LT(row.i, l.launch.sequences[row.b].qLen);
}

TEST(SelectRows, RandomRowsDifferByHeadAndBySeedOnly) {
  Lengths l(2, {{100000, 100000, 0, 0}});
  RowChoice choice;
  auto rowsOf = [&](int64_t h) {
    std::set<int64_t> rows;
    for (const RowId &row : selectRows(l.launch, choice).rows)
      if (row.h == h)
        rows.insert(row.i);
    return rows;
  };
  std::set<int64_t> first = rowsOf(0);
  EXPECT_NE(first, rowsOf(1));
  EXPECT_EQ(first, rowsOf(0));
  choice.seed = 5;
  EXPECT_NE(first, rowsOf(0));
}

TEST(SelectRows, CountIsPerHeadAndEntryBesidesTheEdges) {
  Lengths l(2, {{1000, 10, 0, 0}});
  RowChoice choice = parseRowChoice("20");
  choice.tileRows = {128};
  // 0, 999, 127, 128, 895, 896 and 20 more.
  EXPECT_EQ(selectRows(l.launch, choice).rows.size(), size_t(2 * 26));
  choice = parseRowChoice("5000");
  EXPECT_EQ(selectRows(l.launch, choice).rows.size(), size_t(2000));
  EXPECT_EQ(selectRows(l.launch, parseRowChoice("all")).rows.size(),
            size_t(2000));
}

TEST(SelectRows, ParseErrors) {
  for (const char *text : {"", "-3", "4.5", "some", "99999999999"})
    EXPECT_THROW(parseRowChoice(text), std::runtime_error) << text;
}

} // namespace
