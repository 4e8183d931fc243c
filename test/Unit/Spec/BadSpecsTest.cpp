//===- BadSpecsTest.cpp - Each bad spec gives the errors it lists ---------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every file of test/Spec/bad names all errors it must give, and no others may
// come, in comments of the form
//
//   // expected: LINE:COLUMN: part of the message
//   // expected: FILE:LINE:COLUMN: part of the message
//   // expected-note: LINE:COLUMN: part of the message
//
// FILE only when the error is in an imported file, and then alone if its lines
// do not matter. Notes are compared only if at least one is listed. `//
// attention: NAME` selects the block.
//
//===----------------------------------------------------------------------===//

#include "SpecTesting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

using namespace attn::spec;
using namespace attn::spec::testing;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace {

struct Expected {
  std::string place, message;
};

std::vector<std::string> badSpecs() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator at(ATTN_BAD_SPECS, error), end;
       at != end && !error; at.increment(error))
    if (path::extension(at->path()) == ".attn")
      files.push_back(at->path());
  llvm::sort(files);
  return files;
}

/// The comments of `text` that start with `keyword`.
std::vector<Expected> expectedOf(StringRef text, StringRef keyword) {
  std::vector<Expected> found;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    if (!line.consume_front(keyword))
      continue;
    auto [place, message] = line.split(": ");
    found.push_back({place.trim().str(), message.str()});
  }
  return found;
}

/// Finds one report for each expectation; says what is left over or missing.
std::string mismatch(std::vector<Report> reports,
                     const std::vector<Expected> &expected,
                     StringRef mainFile) {
  std::string problems;
  for (const Expected &want : expected) {
    auto at = llvm::find_if(reports, [&](const Report &report) {
      std::string place =
          std::to_string(report.line) + ":" + std::to_string(report.column);
      if (report.file != mainFile)
        place = path::filename(report.file).str() + ":" + place;
      bool isPlace =
          place == want.place || path::filename(report.file) == want.place;
      return isPlace && StringRef(report.message).contains(want.message);
    });
    if (at == reports.end())
      problems += "missing: " + want.place + ": " + want.message + "\n";
    else
      reports.erase(at);
  }
  for (const Report &report : reports)
    problems += "unexpected: " + path::filename(report.file).str() + ":" +
                std::to_string(report.line) + ":" +
                std::to_string(report.column) + ": " + report.message + "\n";
  return problems;
}

class BadSpec : public ::testing::TestWithParam<std::string> {};

} // namespace

TEST_P(BadSpec, GivesTheErrorsItLists) {
  auto buffer = llvm::MemoryBuffer::getFile(GetParam());
  ASSERT_TRUE(bool(buffer));
  StringRef text = (*buffer)->getBuffer();
  ParseOptions options;
  for (const Expected &selected : expectedOf(text, "// attention: "))
    options.attentionName = selected.place;
  Parsed parsed = parse(text, options, GetParam());
  EXPECT_FALSE(parsed.problem.has_value());

  std::vector<Expected> errors = expectedOf(text, "// expected: ");
  std::vector<Expected> notes = expectedOf(text, "// expected-note: ");
  EXPECT_FALSE(errors.empty()) << "the file lists no error";
  EXPECT_EQ(mismatch(parsed.errors(), errors, GetParam()), "");
  if (!notes.empty())
    EXPECT_EQ(mismatch(parsed.of(llvm::SourceMgr::DK_Note), notes, GetParam()),
              "");
}

INSTANTIATE_TEST_SUITE_P(Spec, BadSpec, ::testing::ValuesIn(badSpecs()),
                         [](const ::testing::TestParamInfo<std::string> &info) {
                           std::string name = path::stem(info.param).str();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(BadSpecs, ThereAreManyOfThem) { EXPECT_GE(badSpecs().size(), 40u); }
