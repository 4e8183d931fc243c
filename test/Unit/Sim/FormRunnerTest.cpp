//===- FormRunnerTest.cpp - Forms that fault cost their own row -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../Gpu/FormRunner.h"

#include <csignal>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

using namespace attn;
using namespace attn::simtest;

namespace {

enum class Does { Match, Differ, Fault, FaultAsItMust, Die, Hang, Leave };

NamedForm form(const std::string &name, Does what,
               const std::string &finding = "") {
  return {name, [=](Device &, Device *) {
            Row row;
            row.name = name;
            row.finding = finding;
            row.faulted = what == Does::FaultAsItMust;
            row.result.compared = 1;
            if (what == Does::Differ)
              row.result.mismatches = row.result.outside = 1;
            if (what == Does::Fault)
              row.gpuError = "ILLEGAL_INSTRUCTION";
            if (what == Does::Die)
              std::raise(SIGKILL);
            if (what == Does::Hang)
              pause();
            if (what == Does::Leave)
              _exit(7);
            return row;
          }};
}

RunnerResult run(const std::vector<NamedForm> &forms, unsigned jobs = 1) {
  RunnerOptions options;
  options.useGpu = false;
  options.jobs = jobs;
  options.secondsPerForm = 1;
  return runForms(forms, options);
}

TEST(FormRunner, RowsComeInTheOrderOfTheForms) {
  std::vector<NamedForm> forms;
  for (unsigned i = 0; i < 20; ++i)
    forms.push_back(form("form " + std::to_string(i), Does::Match));
  for (unsigned jobs : {1u, 3u, 32u}) {
    std::vector<Row> rows = run(forms, jobs).rows;
    ASSERT_EQ(rows.size(), forms.size());
    for (unsigned i = 0; i < rows.size(); ++i)
      EXPECT_EQ(rows[i].name, forms[i].name);
    EXPECT_EQ(failures(rows), 0u);
  }
}

TEST(FormRunner, AFaultCostsOneRow) {
  std::vector<Row> rows =
      run({form("a", Does::Match), form("b", Does::Fault),
           form("c", Does::Match), form("d", Does::Die), form("e", Does::Hang),
           form("f", Does::Leave), form("g", Does::Match)})
          .rows;
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(failures(rows), 4u);
  EXPECT_FALSE(rows[0].fails() || rows[2].fails() || rows[6].fails());
  EXPECT_EQ(rows[1].verdict(), "FAILED: GPU: ILLEGAL_INSTRUCTION");
  EXPECT_EQ(rows[3].verdict(), "FAILED: GPU: the process died of signal 9");
  EXPECT_EQ(rows[4].verdict(), "FAILED: GPU: no result within 1 s");
  EXPECT_EQ(rows[5].verdict(), "FAILED: GPU: the process left with status 7");
}

TEST(FormRunner, AFindingThatMustComeIsNoFailure) {
  std::vector<Row> rows =
      run({form("a", Does::FaultAsItMust, "check"),
           form("b", Does::Fault, "check"), form("c", Does::Match, "check"),
           form("d", Does::Match)})
          .rows;
  EXPECT_EQ(failures(rows), 1u);
  EXPECT_EQ(rows[0].verdict(), "check; faults on the GPU");
  EXPECT_EQ(rows[1].verdict(), "FAILED: GPU: ILLEGAL_INSTRUCTION");
  EXPECT_EQ(rows[2].verdict(), "check");
  EXPECT_EQ(summary(rows), "4 forms, 4 values: 1 forms with equal bits, 0 "
                           "within the stated error, 2 found by the "
                           "sanitizer, 1 failed");
}

TEST(FormTable, TellsWhatFailed) {
  std::vector<Row> rows =
      run({form("good", Does::Match), form("bad", Does::Differ)}).rows;
  std::ostringstream some, all, json;
  writeTable(some, rows, /*all=*/false);
  writeTable(all, rows, /*all=*/true);
  EXPECT_EQ(some.str().find("| good |"), std::string::npos);
  EXPECT_NE(some.str().find("| bad | 1 | 1 | 0 | FAILED: "), std::string::npos);
  EXPECT_NE(all.str().find("| good | 1 | 0 | 0 | equal bits |"),
            std::string::npos);
  writeJson(json, rows, "a GPU", 5);
  auto read = nlohmann::json::parse(json.str());
  EXPECT_EQ(read["rows"][1]["form"], "bad");
  EXPECT_EQ(read["rows"][1]["outside"], 1);
  EXPECT_EQ(read["seed"], 5);
}

} // namespace
