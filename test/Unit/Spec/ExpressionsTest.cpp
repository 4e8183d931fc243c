//===- ExpressionsTest.cpp - Rules become typed trees ---------------------===//
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

static std::string mask(llvm::StringRef fields, llvm::StringRef before = "") {
  return printedRule(fields, &Problem::mask, before);
}
static std::string score(llvm::StringRef fields, llvm::StringRef before = "") {
  return printedRule(fields, &Problem::score, before);
}

TEST(Expressions, Precedence) {
  EXPECT_EQ(mask("mask k <= q || k < 4 && !(q == k)"),
            "(or (le k q) (and (lt k 4) (not (eq q k))))");
  EXPECT_EQ(mask("mask q - k * 2 % 3 + 1 < -q / 4"),
            "(lt (add (sub q (mod (mul k 2) 3)) 1) (div (neg q) 4))");
  EXPECT_EQ(mask("mask k < 1 ? true : k < 2 ? false : q == k"),
            "(select (lt k 1) true (select (lt k 2) false (eq q k)))");
  EXPECT_EQ(mask("mask !(q < 1) == (k < 1)"), "(eq (not (lt q 1)) (lt k 1))");
}

TEST(Expressions, AParenthesisIsAListOnlyBeforeEquals) {
  EXPECT_EQ(mask("mask (q, k) = k <= q"), "(le k q)");
  EXPECT_EQ(mask("mask (k <= q)"), "(le k q)");
  EXPECT_EQ(mask("mask (k <= q) && k < 4"), "(and (le k q) (lt k 4))");
  EXPECT_EQ(mask("mask (k) == q"), "(eq k q)");
  EXPECT_EQ(mask("mask () = true"), "true");
}

TEST(Expressions, NewLinesAreWhiteSpace) {
  EXPECT_EQ(mask("mask\n  (q,\n k)\n =\n k\n <=\n q // and so on\n"),
            "(le k q)");
  EXPECT_EQ(mask("mask k <= q\n - 1\n"), "(le k (sub q 1))");
}

TEST(Expressions, EveryIndexVariable) {
  EXPECT_EQ(mask("mask (k_len, q_len, k, q, i, g, h, b) = "
                 "b + h + g + i + q + k < q_len + k_len"),
            "(lt (add (add (add (add (add b h) g) i) q) k) "
            "(add q_len k_len))");
}

TEST(Expressions, Types) {
  // S14: int -> float is the only implicit conversion, and it is explicit.
  EXPECT_EQ(score("score (s, q) = s + q * 2"), "(add s (tofloat (mul q 2)))");
  EXPECT_EQ(score("score (s, q) = q"), "(tofloat q)");
  EXPECT_EQ(score("score (s, q) = exp(q) + min(q, 1.5)"),
            "(add (exp (tofloat q)) (min (tofloat q) 1.5f))");
  EXPECT_EQ(score("score (s, q, k) = q < k ? q : s"),
            "(select (lt q k) (tofloat q) s)");
  EXPECT_EQ(score("score (s, q, k) = min(q, k) + abs(q - k)"),
            "(tofloat (add (min q k) (abs (sub q k))))");
  EXPECT_EQ(mask("mask q < 1.5 && (q < 1) == (k < 1)"),
            "(and (lt (tofloat q) 1.5f) (eq (lt q 1) (lt k 1)))");
  EXPECT_EQ(score("score -inf"), "(neg inff)");
}

TEST(Expressions, Functions) {
  EXPECT_EQ(score("score (x) = exp2(log(log2(tanh(sigmoid(sqrt(max(x, 0))))))"
                  ")"),
            "(exp2 (log (log2 (tanh (sigmoid (sqrt (max s (tofloat 0))))))))");
}

TEST(Expressions, FloatsAreRoundedToSingle) {
  // S1: what the kernel and the oracle compute with is one number.
  Parsed parsed = parse(blockWith("score (s) = 0.1"));
  ASSERT_TRUE(parsed.problem) << parsed.text();
  EXPECT_EQ(parsed.problem->score->floatValue, static_cast<double>(0.1f));
}

TEST(Expressions, ParamsAndReads) {
  EXPECT_EQ(mask("param left : i64 = 4\nparam on : bool = true\n"
                 "tensor doc : i32[batch, k_len] monotone\n"
                 "tensor flag : bool[q_len]\n"
                 "mask (b, i, q, k) = on && flag[i] && "
                 "doc[b, q] == doc[b, k + 1] && q - k <= left"),
            "(and (and (and (param on) (read flag i)) (eq (read doc b q) "
            "(read doc b (add k 1)))) (le (sub q k) (param left)))");
  EXPECT_EQ(score("tensor t : bf16[heads, 2]\nscore (s, h) = s + t[h, 1]"),
            "(add s (read t h 1))");
}

TEST(Expressions, AReadHidesItsOwnIndices) {
  // S13: a k_len dimension may be indexed by what a table over q_len holds.
  EXPECT_EQ(mask("tensor parent : i32[q_len]\ntensor seen : bool[k_len]\n"
                 "mask (i) = seen[parent[i]]"),
            "(read seen (read parent i))");
}

TEST(Expressions, TheLogitHasAnyName) {
  // S10
  EXPECT_EQ(score("score (logit, q) = logit * 2.0"), "(mul s 2f)");
  EXPECT_EQ(score("score s * 2.0"), "(mul s 2f)");
  EXPECT_EQ(score("param s : f32 = 1.0\nscore (x) = x * s"),
            "(mul s (param s))");
}

TEST(Expressions, SinkRule) {
  EXPECT_EQ(printedRule("tensor sinks : f32[heads]\nsink (h) = sinks[h]",
                        &Problem::sink),
            "(read sinks h)");
  EXPECT_EQ(printedRule("sink 0", &Problem::sink), "(tofloat 0)");
}

TEST(Expressions, DefsAreInlinedTemplates) {
  llvm::StringRef defs = "def twice(x) = x + x\n"
                         "def quad(x) = twice(twice(x))\n";
  EXPECT_EQ(mask("mask quad(q) < 4", defs), "(lt (add (add q q) (add q q)) 4)");
  EXPECT_EQ(score("score twice(s)", defs), "(add s s)");
  EXPECT_EQ(score("score twice(1) / twice(s)", defs),
            "(div (tofloat (add 1 1)) (add s s))");
}

TEST(Expressions, DefsOfABlockSeeParamsAndTensors) {
  // S8
  EXPECT_EQ(mask("param left : i32 = 4\ntensor first : i32[batch]\n"
                 "def near(q, k) = q - k <= left\n"
                 "def begun(b, k) = k >= first[b]\n"
                 "mask near && begun"),
            "(and (le (sub q k) (param left)) (ge k (read first b)))");
}

TEST(Expressions, BareDefs) {
  // S9: a def whose arguments are index variables stands for a bool, at any
  // depth, whatever their order and order of definition.
  llvm::StringRef defs = "def late(k, q) = causal(q, k) && early()\n"
                         "def causal(q, k) = k <= q\n"
                         "def early() = true\n";
  EXPECT_EQ(mask("mask causal", defs), "(le k q)");
  EXPECT_EQ(mask("mask (causal || early) && !late", defs),
            "(and (or (le k q) true) (not (and (le k q) true)))");
  EXPECT_EQ(mask("mask (q, k) = causal ? true : early", defs),
            "(select (le k q) true true)");
  EXPECT_EQ(score("score (s, q, k) = causal ? s : 0.0", defs),
            "(select (le k q) s 0f)");
  EXPECT_EQ(mask("mask flip(causal)", (defs + "def flip(x) = !x\n").str()),
            "(not (le k q))");
}

TEST(Expressions, NodesKnowTheirPlace) {
  Parsed parsed = parse("import \"std\"\nattention test {\n  dtype f16\n"
                        "  heads 1\n  head_dim 8\n"
                        "  mask (q, k) = k < 4 ||\n    causal(q, k)\n}\n");
  ASSERT_TRUE(parsed.problem) << parsed.text();
  const Expr &either = *parsed.problem->mask;
  EXPECT_EQ(std::make_pair(either.line, either.column),
            std::make_pair(6u, 23u));
  // A node of an imported def stands where the def is used.
  const Expr &causal = *either.operands[1];
  EXPECT_EQ(std::make_pair(causal.line, causal.column), std::make_pair(7u, 5u));
}

TEST(Expressions, ConstantsKeepTheirForm) {
  EXPECT_EQ(mask("mask q < 2 + 2"), "(lt q (add 2 2))");
  EXPECT_EQ(mask("mask q < 7 / (4 - 3)"), "(lt q (div 7 (sub 4 3)))");
}
