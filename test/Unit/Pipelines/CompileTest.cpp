//===- CompileTest.cpp - The compiler as a function -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Compile.h"

#include "attn/Spec/Spec.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SourceMgr.h"

#include <gtest/gtest.h>

#include <thread>

using namespace attn;

namespace {

Problem parse(const std::string &text) {
  llvm::SourceMgr sources;
  std::optional<Problem> problem = spec::parseSpec("case.attn", text, sources);
  EXPECT_TRUE(problem);
  return problem.value_or(Problem());
}

const char *const window = "attention window {\n"
                           "  dtype bf16\n"
                           "  heads 8 / 2\n"
                           "  head_dim 128\n"
                           "  param left : i32 = 16\n"
                           "  tensor slope : f32[heads]\n"
                           "  mask (q, k) = k <= q && q - k <= left\n"
                           "  score (s, h, q, k) = s + slope[h] * (k - q)\n"
                           "}\n";

std::vector<std::string> argumentNames(const Kernel &kernel) {
  std::vector<std::string> names;
  for (const KernelArgument &argument : kernel.arguments)
    names.push_back(argument.name);
  return names;
}

TEST(Compile, PackageDescribesTheLaunch) {
  std::string diagnostics;
  CompileOptions options;
  options.target = "sm_89";
  std::optional<Package> package = compile(parse(window), options, diagnostics);
  ASSERT_TRUE(package) << diagnostics;
  EXPECT_EQ(diagnostics, "");
  EXPECT_EQ(package->problem.name, "window");
  ASSERT_EQ(package->kernels.size(), 1u);
  const Kernel &kernel = package->kernels.front();
  EXPECT_EQ(kernel.name, "window");
  EXPECT_EQ(kernel.target, "sm_89");
  EXPECT_EQ(kernel.tileM, 128);
  EXPECT_EQ(kernel.tileN, 48);
  EXPECT_EQ(kernel.block, 128);
  EXPECT_GT(kernel.sharedBytes, 0);
  ASSERT_EQ(kernel.workItems.size(), 3u);
  EXPECT_EQ(kernel.workItems[2].extent, "q_len");
  EXPECT_EQ(kernel.workItems[2].divisor, kernel.tileM);
  std::vector<std::string> names = argumentNames(kernel);
  for (const char *name : {"q", "k", "v", "o", "lse", "batch", "q_len", "k_len",
                           "param:left", "tensor:slope"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  EXPECT_NE(kernel.ptx.find(".entry window"), std::string::npos);
  // A package that was written can be read.
  EXPECT_EQ(packageFromJson(toJson(*package)).kernels.front().ptx, kernel.ptx);
}

TEST(Compile, ExplainsItself) {
  std::string diagnostics;
  CompileOptions options;
  options.explain = true;
  ASSERT_TRUE(compile(parse(window), options, diagnostics));
  EXPECT_NE(diagnostics.find("remark: schedule fa2, tile 128 x 48"),
            std::string::npos)
      << diagnostics;
}

const char *const causal = "attention causal {\n"
                           "  dtype bf16\n"
                           "  heads 8 / 2\n"
                           "  head_dim 64\n"
                           "  mask (q, k) = k <= q\n"
                           "}\n";

std::vector<std::string> kernelNames(const Package &package) {
  std::vector<std::string> names;
  for (const Kernel &kernel : package.kernels)
    names.push_back(kernel.name);
  return names;
}

TEST(Compile, APackageHoldsEveryAlternative) {
  std::string diagnostics;
  CompileOptions options;
  options.target = "sm_90a";
  options.explain = true;
  std::optional<Package> package = compile(parse(causal), options, diagnostics);
  ASSERT_TRUE(package) << diagnostics;
  EXPECT_EQ(
      kernelNames(*package),
      (std::vector<std::string>{"causal", "causal_m192", "causal_cp_async"}));
  EXPECT_EQ(package->chooser, (std::vector<std::string>{"causal_m192", "causal",
                                                        "causal_cp_async"}));
  ASSERT_EQ(package->kernels[1].guards.size(), 1u);
  EXPECT_EQ(toString(package->kernels[1].guards[0]), "q_len >= 4096");
  EXPECT_EQ(package->kernels[1].workItems[2].divisor, 192);
  // Each is told once, by the thread that selects.
  EXPECT_EQ(llvm::StringRef(diagnostics).count("remark: alternative"), 2u);
  EXPECT_EQ(llvm::StringRef(diagnostics).count("remark: schedule"), 1u);
  for (const Kernel &kernel : package->kernels)
    EXPECT_NE(kernel.ptx.find(".entry " + kernel.name + "("),
              std::string::npos);
  bool hasMap = false;
  for (const KernelArgument &argument : package->kernels[2].arguments)
    hasMap |= argument.type == ArgumentType::TensorMap;
  EXPECT_FALSE(hasMap);
  // One alone is the same kernel, for every length.
  options.alternative = "m192";
  std::optional<Package> alone = compile(parse(causal), options, diagnostics);
  ASSERT_TRUE(alone) << diagnostics;
  EXPECT_EQ(kernelNames(*alone), std::vector<std::string>{"causal_m192"});
  EXPECT_TRUE(alone->chooser.empty() && alone->kernels[0].guards.empty());
  EXPECT_EQ(alone->kernels[0].ptx, package->kernels[1].ptx);
  options.alternative = "m64";
  EXPECT_FALSE(compile(parse(causal), options, diagnostics));
}

/// The compiler has no state of its own.
TEST(Compile, ThreadsCompileTheSamePackage) {
  constexpr int threads = 4;
  CompileOptions options;
  options.target = "sm_90a";
  Problem problem = parse(causal);
  auto once = [&] {
    std::string diagnostics;
    std::optional<Package> package = compile(problem, options, diagnostics);
    return package ? toJson(*package) : diagnostics;
  };
  std::vector<std::string> texts(threads);
  std::vector<std::thread> workers;
  for (std::string &text : texts)
    workers.emplace_back([&] { text = once(); });
  for (std::thread &worker : workers)
    worker.join();
  std::string expected = once();
  for (const std::string &text : texts)
    EXPECT_TRUE(text == expected);
}

struct Refusal {
  const char *field;   ///< added to the specification on line 5
  const char *message; ///< with its place
};

TEST(Compile, RefusesWhereTheFieldIsWritten) {
  const Refusal refusals[] = {
      {"kv paged(page = 16)", "case.attn:5:3: error: 'kv' is paged"},
      {"split 4", "case.attn:5:3: error: 'split' is 4 pieces"},
      {"schedule fa3", "case.attn:5:3: error: 'mma' = wgmma, the default of "
                       "schedule fa3, needs an instruction of sm_90a"},
      {"schedule fa2(tile = 128 x 128, stages = 9)",
       "case.attn:5:3: error: tile 128 x 128 needs"},
  };
  for (const Refusal &refusal : refusals) {
    std::string diagnostics;
    Problem problem = parse("attention refused {\n"
                            "  dtype bf16\n"
                            "  heads 8 / 2\n"
                            "  head_dim 128\n"
                            "  " +
                            std::string(refusal.field) + "\n}\n");
    CompileOptions options;
    options.target = "sm_90";
    EXPECT_FALSE(compile(problem, options, diagnostics));
    EXPECT_NE(diagnostics.find(refusal.message), std::string::npos)
        << diagnostics;
    // One error, with the line it is about.
    EXPECT_EQ(llvm::StringRef(diagnostics).count("error:"), 1u) << diagnostics;
    EXPECT_NE(diagnostics.find(std::string("  ") + refusal.field),
              std::string::npos)
        << diagnostics;
  }
}

/// Every function and operator of the language has code.
TEST(Compile, EveryBuiltInFunctionIsLowered) {
  std::string diagnostics;
  Problem problem = parse(
      "attention functions {\n"
      "  dtype f16\n"
      "  heads 4\n"
      "  head_dim 64\n"
      "  param far : i64 = 5\n"
      "  param on : bool = true\n"
      "  tensor t : bf16[heads]\n"
      "  mask (q, k, h) = on && min(t[h], 2.0) * k <= q\n"
      "      && (q / 3) % -5 != k / far % 8 && max(q, far) != abs(k - 9)\n"
      "  score (s, h, q, k) = (q > k ? min(max(s, -5.0), 5.0) : -s)\n"
      "      + sigmoid(s) + log(abs(s)) + sqrt(exp(s)) + log2(exp2(s))\n"
      "      + tanh(s / t[h])\n"
      "}\n");
  std::optional<Package> package =
      compile(problem, CompileOptions(), diagnostics);
  ASSERT_TRUE(package) << diagnostics;
  // No calls: nothing is left to a library.
  EXPECT_EQ(package->kernels.front().ptx.find("call"), std::string::npos);
}

TEST(Compile, UnknownTargetIsNamed) {
  std::string diagnostics;
  CompileOptions options;
  options.target = "sm_70";
  EXPECT_FALSE(compile(parse(window), options, diagnostics));
  EXPECT_NE(diagnostics.find("unknown target 'sm_70'; expected one of sm_80"),
            std::string::npos)
      << diagnostics;
}

} // namespace
