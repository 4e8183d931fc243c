//===- ImportsTest.cpp - Imports and the choice of a block ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecTesting.h"

#include "gtest/gtest.h"

#include <map>

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::testing;

namespace {

/// A file system of a few files; counts how often each is read.
struct Files {
  std::map<std::string, std::string> texts;
  std::map<std::string, int> reads;

  ParseOptions options() {
    ParseOptions options;
    options.readFile =
        [this](llvm::StringRef path) -> std::optional<std::string> {
      auto at = texts.find(path.str());
      if (at == texts.end())
        return std::nullopt;
      ++reads[at->first];
      return at->second;
    };
    return options;
  }
  Parsed parse(llvm::StringRef text, llvm::StringRef name = "dir/main.attn") {
    return spec::testing::parse(text, options(), name);
  }
};

} // namespace

TEST(Imports, RelativeToTheImportingFile) {
  Files files;
  files.texts["dir/sub/a.attn"] = "import \"../b.attn\"\n"
                                  "def near(q, k) = early(k) || k == q\n";
  files.texts["dir/b.attn"] = "def early(k) = k < 4\n";
  Parsed parsed =
      files.parse("import \"./sub/a.attn\"\n" + blockWith("mask near"));
  ASSERT_TRUE(parsed.problem) << parsed.text();
  EXPECT_EQ(print(parsed.problem->mask), "(or (lt k 4) (eq k q))");
}

TEST(Imports, EachFileOnce) {
  Files files;
  files.texts["dir/a.attn"] = "import \"./c.attn\"\ndef fa(k) = fc(k)\n";
  files.texts["dir/b.attn"] = "import \"./x/../c.attn\"\ndef fb(k) = fc(k)\n";
  files.texts["dir/c.attn"] = "def fc(k) = k < 4\n";
  Parsed parsed = files.parse("import \"./a.attn\"\nimport \"./b.attn\"\n" +
                              blockWith("mask fa && fb && fc"));
  ASSERT_TRUE(parsed.problem) << parsed.text();
  EXPECT_EQ(files.reads["dir/c.attn"], 1);
}

TEST(Imports, OnlyDefs) {
  Files files;
  files.texts["dir/a.attn"] =
      "def early(k) = k < 4\n" + blockWith("mask early\nbatch nonsense");
  Parsed parsed =
      files.parse("import \"./a.attn\"\n" + blockWith("mask early"));
  EXPECT_TRUE(parsed.problem) << parsed.text();
}

TEST(Imports, AnImportedFileDoesNotSeeItsImporter) {
  Files files;
  files.texts["dir/a.attn"] = "def fa(k) = ours(k)\n";
  Parsed parsed = files.parse("import \"./a.attn\"\ndef ours(k) = k < 4\n" +
                              blockWith("mask fa"));
  EXPECT_EQ(parsed.text(),
            "dir/a.attn:1:13: error: unknown name 'ours'; a def outside "
            "attention sees its arguments and other defs\n");
}

TEST(Imports, Cycle) {
  Files files;
  files.texts["dir/a.attn"] = "import \"./b.attn\"\ndef fa(k) = k < 4\n";
  files.texts["dir/b.attn"] = "import \"./a.attn\"\ndef fb(k) = k < 4\n";
  EXPECT_EQ(files.parse("import \"./a.attn\"\n" + blockWith("")).text(),
            "dir/b.attn:1:8: error: import cycle: dir/a.attn -> dir/b.attn -> "
            "dir/a.attn\n");
  EXPECT_EQ(files.parse("import \"./main.attn\"\n" + blockWith("")).text(),
            "dir/main.attn:1:8: error: import cycle: dir/main.attn -> "
            "dir/main.attn\n");
}

TEST(Imports, Clash) {
  Files files;
  files.texts["dir/a.attn"] = "def early(k) = k < 4\n";
  files.texts["dir/b.attn"] = "def early(k) = k < 8\n";
  EXPECT_EQ(
      files.parse("import \"./a.attn\"\nimport \"./b.attn\"\n" + blockWith(""))
          .text(),
      "dir/b.attn:1:5: error: def 'early' is already defined in "
      "'dir/a.attn'\n"
      "dir/a.attn:1:5: note: first defined here\n");
}

TEST(Imports, ErrorsOfAnImportedFileStandInIt) {
  Files files;
  files.texts["dir/a.attn"] = "def early(k) = k <\n";
  EXPECT_EQ(
      files.parse("import \"./a.attn\"\n" + blockWith("mask early")).text(),
      "dir/a.attn:2:1: error: expected an expression, found end of "
      "file\n");
}

TEST(Imports, ATypeErrorInAnImportedDefIsReportedOnceAtItsUse) {
  Files files;
  files.texts["dir/a.attn"] = "def both(q, k) = q && k\n";
  Parsed parsed = files.parse("import \"./a.attn\"\n" +
                              blockWith("mask (q, k) = both(q, k)"));
  EXPECT_EQ(parsed.text(),
            "dir/main.attn:6:15: error: 'both': '&&' expects a bool, found "
            "int; write '!= 0' if that is meant\n"
            "dir/a.attn:1:18: note: it comes up here\n");
}

TEST(Imports, ShippedFilesNeedNoFileSystem) {
  ParseOptions options;
  options.readFile = [](llvm::StringRef) { return std::nullopt; };
  EXPECT_TRUE(
      parse("import \"std\"\n" + blockWith("mask causal"), options).problem);
}

TEST(Blocks, SelectedByName) {
  std::string text = "attention one { dtype f16 heads 1 head_dim 8 }\n"
                     "attention two { dtype f16 heads 2 head_dim 8 }\n";
  ParseOptions options;
  options.attentionName = "two";
  Parsed parsed = parse(text, options);
  ASSERT_TRUE(parsed.problem) << parsed.text();
  EXPECT_EQ(parsed.problem->heads, 2);
}

TEST(Blocks, OnlyTheSelectedOneIsChecked) {
  std::string text = "attention one { dtype f16 heads 1 head_dim 8 }\n"
                     "attention two { dtype nonsense }\n";
  ParseOptions options;
  options.attentionName = "one";
  EXPECT_TRUE(parse(text, options).problem);
}

TEST(Blocks, AreListed) {
  llvm::SourceMgr sources;
  auto names = listAttentions("x.attn",
                              "import \"nowhere\"\nattention one { }\n"
                              "attention two { }\n",
                              sources);
  ASSERT_TRUE(names);
  ASSERT_EQ(names->size(), 2u);
  EXPECT_EQ((*names)[1].name, "two");
  EXPECT_EQ((*names)[1].line, 3u);
  EXPECT_EQ((*names)[1].column, 11u);
}
