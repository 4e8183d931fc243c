//===- RobustnessTest.cpp - No text crashes the front end -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpecTesting.h"

#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <random>

using namespace attn;
using namespace attn::spec;
using namespace attn::spec::testing;

/// The shipped specs, and one that writes every field.
static std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  for (const ShippedSpec &spec : shippedSpecs())
    texts.push_back(spec.text.str());
  texts.push_back(R"(import "std"
def near(q, k, left) = -left <= k - q && q - k <= left // both sides
attention all {
  dtype e4m3 kv_dtype e5m2 out f32
  heads 28 / 4 head_dim 192 / 128
  scale temperature align top_left batch varlen
  kv paged(page = 16, layout = hnd) split fixed(tokens = 512)
  outputs o, lse
  schedule fa3 (tile = 128x64, stages = 2, turns, max = stale)
  param temperature : f32 = 1e-1
  param left : i32 = -5
  tensor k_scale : f32[batch, kv_heads]
  tensor v_scale : f32[kv_heads]
  tensor doc : i64[total_k] monotone
  def same(q, k) = doc[q] == doc[k]
  mask (q, k) = same && !near(q, k, left) || true
  score (x, q, k) = q % 4 == 0 ? softcap(x, 30.0) : min(x, inf)
  sink (h, g) = exp2(h / (g + 1)) * 0.5
})");
  return texts;
}

/// Either a problem and no error, or an error with a place and a message, whose
/// printed form holds both.
static void expectSound(llvm::StringRef text) {
  Parsed parsed = parse(text);
  EXPECT_EQ(parsed.problem.has_value(), parsed.errors().empty()) << text.str();
  for (const Report &report : parsed.reports) {
    EXPECT_GE(report.line, 1) << text.str();
    EXPECT_GE(report.column, 1) << text.str();
    EXPECT_FALSE(report.message.empty()) << text.str();
  }
}

TEST(Robustness, TheCorpusIsLegal) {
  EXPECT_EQ(parse(corpus().back()).text(), "");
}

TEST(Robustness, EveryPrefix) {
  for (const std::string &text : corpus())
    for (size_t length = 0; length <= text.size(); ++length)
      expectSound(llvm::StringRef(text).take_front(length));
}

TEST(Robustness, EveryDeletion) {
  for (const std::string &original : corpus()) {
    for (size_t at = 0; at < original.size(); ++at) {
      std::string text = original;
      text.erase(at, 1);
      expectSound(text);
    }
  }
}

TEST(Robustness, Mutations) {
  constexpr llvm::StringRef alphabet =
      "(){}[]=<>!&|+-*/%?:,.\"x1 9qkshe_#\n\t\r\x80\xff";
  std::mt19937 random(1);
  auto below = [&](size_t bound) { return random() % bound; };
  for (const std::string &original : corpus()) {
    for (int round = 0; round < 300; ++round) {
      std::string text = original;
      for (int change = 0; change < 1 + round % 3; ++change) {
        char c = alphabet[below(alphabet.size())];
        size_t at = below(text.size());
        if (round % 2)
          text[at] = c;
        else
          text.insert(at, 1, c);
      }
      expectSound(text);
    }
  }
}

TEST(Robustness, Printing) {
  // The default handler renders the line and the caret; it must stand any text.
  for (llvm::StringRef text :
       {"", "\n", "\"", "attention", "attention a {", "\xEF\xBB\xBF$",
        "\t\tq $", "attention a {\n  mask (q) = q +\n}", "import \"",
        "def f(x) = x\r\n+ $\r\n"}) {
    llvm::SourceMgr sources;
    std::string printed;
    sources.setDiagHandler(
        [](const llvm::SMDiagnostic &diagnostic, void *context) {
          llvm::raw_string_ostream out(*static_cast<std::string *>(context));
          diagnostic.print("attn-opt", out, /*ShowColors=*/false);
        },
        &printed);
    EXPECT_FALSE(parseSpec("t.attn", text, sources));
    EXPECT_NE(printed.find("t.attn:"), std::string::npos);
  }
}

TEST(Robustness, LineEndingsAndByteOrderMark) {
  std::string text = "\xEF\xBB\xBF" + blockWith("mask (q, k) = k <= q");
  std::string windows;
  for (char c : text)
    windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_TRUE(parse(text).problem);
  EXPECT_TRUE(parse(windows).problem);
}

TEST(Robustness, ZeroBytes) {
  std::string text = blockWith("mask (q, k) = k <= q");
  text.insert(text.find("<="), 1, '\0');
  Parsed parsed = parse(text);
  ASSERT_EQ(parsed.reports.size(), 1u) << parsed.text();
  EXPECT_EQ(parsed.reports[0].message, "stray control character 0x00");
}

TEST(Robustness, LongChainsOfDefs) {
  // S3: neither the recursion check nor the inliner follows them with the
  // machine's stack.
  std::string text = "def c0(x) = x\n";
  for (int i = 1; i < 50000; ++i)
    text += "def c" + std::to_string(i) + "(x) = c" + std::to_string(i - 1) +
            "(x) + 1.0\n";
  EXPECT_TRUE(parse(text + blockWith("score (s) = c9(s)")).problem);
  Parsed parsed = parse(text + blockWith("score (s) = c49999(s)"));
  ASSERT_EQ(parsed.errors().size(), 1u);
  EXPECT_EQ(parsed.errors()[0].message,
            "expression too large after inlining its defs: more than 512 "
            "levels");
}

TEST(Robustness, DeepestLegalExpression) {
  // S2
  std::string sum = "s", nest = "s";
  for (int i = 0; i < 255; ++i)
    sum += " + s";
  for (int i = 0; i < 254; ++i)
    nest = "(" + nest + ")";
  EXPECT_TRUE(parse(blockWith("score (s) = " + sum)).problem);
  EXPECT_FALSE(parse(blockWith("score (s) = s + " + sum)).problem);
  EXPECT_TRUE(parse(blockWith("score (s) = " + nest)).problem);
}

TEST(Robustness, ErrorsAreNotWithoutEnd) {
  std::string fields;
  for (int i = 0; i < 100; ++i)
    fields += "  out $\n";
  Parsed parsed = parse(blockWith(fields));
  EXPECT_EQ(parsed.errors().size(), 20u);
  EXPECT_EQ(parsed.reports.back().message,
            "more than 20 errors; the rest is not shown");
}
