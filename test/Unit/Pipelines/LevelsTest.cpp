//===- LevelsTest.cpp - Every level is real -------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// For every shipped specification: a module printed at a level, its values
// renamed and parsed back, lowers to the same text as the module itself, level
// by level down to PTX.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/SpecToAttn/SpecToAttn.h"
#include "attn/Pipelines/Lower.h"
#include "attn/Spec/Spec.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <regex>

using namespace mlir;
using namespace attn;

namespace {

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

/// The text with another name for every value and block.
std::string renameValues(const std::string &text) {
  static const std::regex name("([%^])([A-Za-z0-9_$.-]+)");
  return std::regex_replace(text, name, "$1x_$2");
}

std::optional<Problem> parse(llvm::StringRef name, llvm::StringRef text) {
  llvm::SourceMgr sources;
  return spec::parseSpec(name, text, sources);
}

/// One target for each engine: mma.sync and wgmma.
constexpr const char *targets[] = {"sm_80", "sm_90a"};

/// A specification and a target.
class Levels
    : public ::testing::TestWithParam<std::tuple<std::string, const char *>> {};

TEST_P(Levels, ReparsingChangesNothing) {
  const auto &[name, target] = GetParam();
  const spec::ShippedSpec *shipped = spec::findShippedSpec(name);
  ASSERT_NE(shipped, nullptr);
  std::optional<Problem> problem = parse(name + ".attn", shipped->text);
  ASSERT_TRUE(problem);
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module = importProblem(context.get(), *problem, target);
  ASSERT_TRUE(module);

  constexpr ir::Level levels[] = {ir::Level::Attn, ir::Level::Tile,
                                  ir::Level::Pipe, ir::Level::Warp,
                                  ir::Level::Llvm};
  OwningOpRef<ModuleOp> reparsed;
  for (ir::Level level : levels) {
    std::string before = print(*module);
    reparsed = parseSourceString<ModuleOp>(renameValues(before), context.get());
    ASSERT_TRUE(reparsed) << before;
    ASSERT_EQ(print(*reparsed), before);
    ASSERT_TRUE(succeeded(lowerTo(*module, level)));
    ASSERT_TRUE(succeeded(lowerTo(*reparsed, level)));
    ASSERT_EQ(ir::getLevel(*module), level);
    ASSERT_EQ(print(*reparsed), print(*module))
        << "to " << ir::stringifyLevel(level).str();
  }
  std::optional<std::string> ptx = lowerToPtx(*module);
  std::optional<std::string> reparsedPtx = lowerToPtx(*reparsed);
  ASSERT_TRUE(ptx && reparsedPtx);
  EXPECT_EQ(*ptx, *reparsedPtx);
  EXPECT_NE(ptx->find(std::string(".target ") + target), std::string::npos);
}

std::vector<std::string> shippedNames() {
  std::vector<std::string> names;
  for (const spec::ShippedSpec &shipped : spec::shippedSpecs())
    if (shipped.text.contains("\nattention "))
      names.push_back(shipped.name.str());
  return names;
}

INSTANTIATE_TEST_SUITE_P(ShippedSpecs, Levels,
                         ::testing::Combine(::testing::ValuesIn(shippedNames()),
                                            ::testing::ValuesIn(targets)),
                         [](const auto &info) {
                           return std::get<0>(info.param) + "_" +
                                  std::get<1>(info.param);
                         });

//===----------------------------------------------------------------------===//
// One condition, one kernel
//===----------------------------------------------------------------------===//

std::optional<std::string> ptxOfMask(const std::string &mask,
                                     const char *target) {
  bool usesLeft = mask.find("left") != std::string::npos;
  std::string text = "import \"std\"\n"
                     "attention c {\n"
                     "  dtype bf16\n"
                     "  heads 4 / 2\n"
                     "  head_dim 64\n" +
                     std::string(usesLeft ? "  param left : i32 = 7\n" : "") +
                     "  mask (q, k, i, q_len, k_len) = " + mask + "\n}\n";
  std::optional<Problem> problem = parse("c.attn", text);
  if (!problem)
    return std::nullopt;
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module = importProblem(context.get(), *problem, target);
  return module ? lowerToPtx(*module) : std::nullopt;
}

class OneCondition : public ::testing::TestWithParam<const char *> {
protected:
  std::optional<std::string> ptxOf(const std::string &mask) {
    return ptxOfMask(mask, GetParam());
  }

  void expectSamePtx(const std::vector<std::string> &masks) {
    std::optional<std::string> first = ptxOf(masks.front());
    ASSERT_TRUE(first);
    for (const std::string &mask : masks) {
      std::optional<std::string> ptx = ptxOf(mask);
      ASSERT_TRUE(ptx) << mask;
      EXPECT_EQ(*ptx, *first) << mask;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Targets, OneCondition, ::testing::ValuesIn(targets),
                         [](const auto &info) { return info.param; });

TEST_P(OneCondition, CausalInSevenSpellings) {
  expectSamePtx({"causal", "k <= q", "q >= k", "!(k > q)", "q - k >= 0",
                 "k < q + 1", "k <= i + (k_len - q_len)"});
}

TEST_P(OneCondition, CommonFactorsAreDividedOut) {
  expectSamePtx({"k <= q", "2 * k <= 2 * q", "3 * k - 3 * q <= 2",
                 "3 * k < 3 * q + 1", "2 * q - 2 * k + 1 >= 0",
                 "!(4 * k > 4 * q + 3)"});
  expectSamePtx({"k == q", "3 * k == 3 * q"});
  EXPECT_NE(ptxOf("k <= q"), ptxOf("2 * k <= 2 * q + 2"));
}

TEST_P(OneCondition, WindowInFourSpellings) {
  expectSamePtx({"window(q, k, left, 0)", "k <= q && q - k <= left",
                 "q - left <= k && !(k > q)", "!(k > q || k < q - left)"});
}

TEST_P(OneCondition, DifferentConditionsDiffer) {
  EXPECT_NE(ptxOf("k <= q"), ptxOf("k < q"));
}

} // namespace
