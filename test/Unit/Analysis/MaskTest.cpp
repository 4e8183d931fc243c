//===- MaskTest.cpp - Normal form and bounds of masks ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// For random masks: the imported rule, its normal form and the bounds derived
// from it, run pair by pair, against the oracle's evaluation of the same
// expression. ATTN_MASK_CASES says for how many masks of each test,
// ATTN_MASK_SEED which one is the first.
//
//===----------------------------------------------------------------------===//

#include "LeastVisits.h"
#include "MaskValues.h"
#include "RandomMask.h"

#include "attn/Conversion/SpecToAttn/SpecToAttn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Reference/Evaluate.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

class MaskTest : public ::testing::Test {
protected:
  OwningOpRef<ModuleOp> import(const Problem &problem) {
    return importProblem(&context, problem, "sm_80");
  }

  static ir::KernelOp kernelOf(ModuleOp module) {
    return *module.getOps<ir::KernelOp>().begin();
  }

  void run(ModuleOp module, std::unique_ptr<Pass> pass) {
    PassManager manager(&context);
    manager.addNestedPass<ir::KernelOp>(std::move(pass));
    ASSERT_TRUE(succeeded(manager.run(module)));
  }

  static std::string print(Operation *op) {
    std::string text;
    llvm::raw_string_ostream(text) << *op;
    return text;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
};

void expectSameMask(ir::MaskOp mask, const Table &table, Lengths lengths,
                    int64_t offset, int64_t b, int64_t h,
                    const RuleInputs &inputs) {
  for (int64_t i = 0; i < lengths.q; ++i)
    for (int64_t k = 0; k < lengths.k; ++k) {
      int64_t result = interpret(
          mask.getBody().front(),
          {b, h, h / group, i, i + offset, k, lengths.q, lengths.k}, inputs)[0];
      ASSERT_EQ(result, table[i][k]) << "i " << i << " k " << k << " q_len "
                                     << lengths.q << " k_len " << lengths.k;
    }
}

/// What the bounds say of each key.
KeyClasses classesOf(ir::BoundsOp bounds, Lengths lengths, int64_t b, int64_t h,
                     int64_t qFirst, int64_t qLast, const RuleInputs &inputs) {
  std::vector<int64_t> results =
      interpret(bounds.getBody().front(),
                {b, h, h / group, qFirst, qLast, lengths.q, lengths.k}, inputs);
  for (int64_t result : results)
    EXPECT_TRUE(0 <= result && result <= lengths.k) << "yields " << result;
  KeyClasses classes{std::vector<uint8_t>(lengths.k),
                     std::vector<uint8_t>(lengths.k)};
  for (size_t i = 0; i + 1 < results.size(); i += 2)
    for (int64_t k = results[i]; k < results[i + 1]; ++k)
      (i < 2 * bounds.getVisible() ? classes.visible : classes.hidden)[k] = 1;
  for (int64_t k = results.back(); k < lengths.k; ++k)
    classes.hidden[k] = 1;
  return classes;
}

/// What is true of each key, for the rows first .. last.
KeyClasses trueClasses(const Table &table, Lengths lengths, int64_t first,
                       int64_t last) {
  KeyClasses classes{std::vector<uint8_t>(lengths.k),
                     std::vector<uint8_t>(lengths.k)};
  for (int64_t i = first; i <= last; ++i)
    for (int64_t k = 0; k < lengths.k; ++k)
      (table[i][k] ? classes.visible : classes.hidden)[k] = 1;
  return classes;
}

void expectClasses(const KeyClasses &found, const KeyClasses &expected,
                   bool isExact) {
  if (isExact) {
    ASSERT_EQ(found.visible, expected.visible);
    ASSERT_EQ(found.hidden, expected.hidden);
    return;
  }
  for (size_t k = 0; k < expected.visible.size(); ++k) {
    ASSERT_LE(expected.visible[k], found.visible[k]) << "a row sees " << k;
    ASSERT_LE(expected.hidden[k], found.hidden[k]) << "a row misses " << k;
  }
}

/// The seeds of the masks that a test tries.
struct Seeds {
  unsigned first = option("ATTN_MASK_SEED", 0);
  unsigned end;
  explicit Seeds(unsigned normal)
      : end(first + option("ATTN_MASK_CASES", normal)) {
    std::cout << "seeds " << first << " .. " << end - 1 << '\n';
  }
};

constexpr Lengths someLengths[] = {{1, 1},   {4, 9},  {9, 4},
                                   {12, 12}, {3, 17}, {5, 0}};

/// For every range of rows of the batch entries and heads drawn: the bounds,
/// and the tiles that are visited by them.
void expectBounds(ir::KernelOp kernel, const Problem &problem,
                  RandomMask &random, bool isExact,
                  ir::MaskOp imported = nullptr) {
  bool isTopLeft = problem.align == Alignment::TopLeft;
  int64_t tileKeys = 1 + random.below(4);
  OwningOpRef<ir::BoundsOp> copy(kernel.getBounds().clone());
  PlacedTiles tiles(*copy, tileKeys);
  for (Lengths lengths : someLengths) {
    Values values(random, lengths);
    Rule rule(problem.mask, problem, values.bindings);
    RuleRunner runner(rule);
    int64_t offset = isTopLeft ? 0 : lengths.k - lengths.q;
    int64_t b = random.below(batch), h = random.below(heads);
    Table table = oracleTable(runner, lengths, offset, b, h);
    for (ir::MaskOp mask : {imported, kernel.getMask()})
      if (mask)
        expectSameMask(mask, table, lengths, offset, b, h, values.inputs);
    for (int64_t first = 0; first < lengths.q; ++first)
      for (int64_t last = first; last < lengths.q; ++last) {
        SCOPED_TRACE("rows " + std::to_string(first) + " .. " +
                     std::to_string(last) + " of " + std::to_string(lengths.q) +
                     ", k_len " + std::to_string(lengths.k));
        KeyClasses classes =
            classesOf(kernel.getBounds(), lengths, b, h, first + offset,
                      last + offset, values.inputs);
        expectClasses(classes, trueClasses(table, lengths, first, last),
                      isExact);
        ASSERT_EQ(tiles.run({b, h, h / group, first + offset, last + offset,
                             lengths.q, lengths.k},
                            values.inputs),
                  leastVisits(classes, tileKeys))
            << tileKeys << " keys a tile";
        if (::testing::Test::HasFatalFailure())
          return;
      }
  }
}

TEST_F(MaskTest, RandomMasksAgreeWithTheOracleAndTheirBounds) {
  constexpr unsigned masks = 600, maxDepth = 4;
  Seeds seeds(masks);
  for (unsigned seed = seeds.first; seed < seeds.end; ++seed) {
    RandomMask random(seed);
    Problem problem = problemWithMask(random.mask(random.below(maxDepth)));
    if (random.below(3) == 0)
      problem.align = Alignment::TopLeft;
    OwningOpRef<ModuleOp> imported = import(problem);
    ASSERT_TRUE(imported);
    OwningOpRef<ModuleOp> analyzed = imported->clone();
    run(*analyzed, ir::createNormalizeMask());
    run(*analyzed, ir::createBoundKeys());
    std::string text = print(kernelOf(*imported)) + print(kernelOf(*analyzed));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    expectBounds(kernelOf(*analyzed), problem, random, /*isExact=*/false,
                 kernelOf(*imported).getMask());
    if (HasFatalFailure())
      return;
  }
}

TEST_F(MaskTest, BoundsOfDifferenceConstraintsAreExact) {
  // More could have more terms than are kept apart.
  constexpr unsigned masks = 400, maxComparisons = 3;
  Seeds seeds(masks);
  // No interval is joined with another: that is the one thing not exact.
  ir::BoundKeysOptions options;
  options.maxVisible = options.maxHidden = 64;
  for (unsigned seed = seeds.first; seed < seeds.end; ++seed) {
    RandomMask random(seed);
    Problem problem =
        problemWithMask(random.differences(1 + random.below(maxComparisons)));
    if (random.below(3) == 0)
      problem.align = Alignment::TopLeft;
    OwningOpRef<ModuleOp> module = import(problem);
    ASSERT_TRUE(module);
    run(*module, ir::createNormalizeMask());
    run(*module, ir::createBoundKeys(options));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + print(*module));
    expectBounds(kernelOf(*module), problem, random, /*isExact=*/true);
    if (HasFatalFailure())
      return;
  }
}

TEST_F(MaskTest, NormalFormIsNormal) {
  constexpr unsigned masks = 200;
  for (unsigned seed = 0; seed < masks; ++seed) {
    RandomMask random(seed);
    OwningOpRef<ModuleOp> module =
        import(problemWithMask(random.mask(random.below(4))));
    ASSERT_TRUE(module);
    run(*module, ir::createNormalizeMask());
    std::string once = print(*module);
    run(*module, ir::createNormalizeMask());
    ASSERT_EQ(once, print(*module)) << "seed " << seed;
  }
}

//===----------------------------------------------------------------------===//
// Tightness: masks whose bounds must be exact
//===----------------------------------------------------------------------===//

struct TightCase {
  const char *name;
  size_t visible, hidden; ///< intervals, without the tail
  ExprPtr mask;
};

std::vector<TightCase> tightCases() {
  ExprPtr q = index(IndexVar::Q), k = index(IndexVar::K);
  ExprPtr p = param("p"), r = param("r"), b = index(IndexVar::B);
  ExprPtr causal = compare(ExprKind::Le, k, q);
  ExprPtr left = compare(ExprKind::Le, intOp(ExprKind::Sub, q, k), p);
  ExprPtr right = compare(ExprKind::Le, intOp(ExprKind::Sub, k, q), r);
  ExprPtr first = compare(ExprKind::Lt, k, p);
  auto both = [](ExprPtr lhs, ExprPtr rhs) {
    return logic(ExprKind::And, lhs, rhs);
  };
  auto either = [](ExprPtr lhs, ExprPtr rhs) {
    return logic(ExprKind::Or, lhs, rhs);
  };
  auto chunk = [&](ExprPtr position, ExprPtr size) {
    return intOp(ExprKind::Div, position, size);
  };
  auto times = [&](int64_t factor, ExprPtr position) {
    return intOp(ExprKind::Mul, intConst(factor), position);
  };
  ExprPtr three = intConst(3), four = intConst(4);
  return {
      {"causal", 1, 0, causal},
      {"strictly causal", 1, 0, compare(ExprKind::Gt, q, k)},
      {"window", 1, 1, both(causal, left)},
      {"window both sides", 1, 1, both(left, right)},
      {"prefix", 1, 0, either(first, causal)},
      {"length", 1, 0, compare(ExprKind::Lt, k, read("lens", {b}))},
      {"rows of a block", 1, 0, compare(ExprKind::Ge, index(IndexVar::I), p)},
      {"switch", 1, 1, select(param("on", ExprType::Bool), causal, left)},
      {"diagonal", 1, 1, compare(ExprKind::Eq, k, q)},
      {"all but the diagonal", 2, 1, compare(ExprKind::Ne, k, q)},
      {"true", 1, 0, boolConst(true)},
      {"false", 0, 0, boolConst(false)},
      {"first and window", 2, 1,
       both(causal, either(compare(ExprKind::Lt, k, r), left))},
      {"chunks", 1, 1, compare(ExprKind::Eq, chunk(q, four), chunk(k, four))},
      {"causal chunks", 1, 1,
       both(causal, compare(ExprKind::Eq, chunk(q, three), chunk(k, three)))},
      {"documents", 1, 1,
       both(causal, compare(ExprKind::Ge, k, read("start", {b, q})))},
      {"the first half", 1, 0, compare(ExprKind::Le, times(2, k), q)},
      {"the first third", 1, 0,
       compare(ExprKind::Gt, times(-3, k), intOp(ExprKind::Sub, p, q))},
      {"between a half and all", 1, 1,
       both(causal, compare(ExprKind::Ge, times(2, k), q))},
      {"twice", 1, 1, compare(ExprKind::Eq, times(2, k), q)},
      {"there or not", 1, 0, either(first, negation(first))},
      {"no key", 0, 0, both(first, compare(ExprKind::Gt, k, p))},
  };
}

/// How many intervals the bounds have: visible ones, hidden ones.
std::pair<size_t, size_t> intervalsOf(ir::BoundsOp bounds) {
  size_t visible = bounds.getVisible();
  return {visible, bounds.getYield().getNumOperands() / 2 - visible};
}

TEST_F(MaskTest, BoundsOfPlainMasksAreExactAndFew) {
  for (const TightCase &tight : tightCases()) {
    Problem problem = problemWithMask(tight.mask);
    OwningOpRef<ModuleOp> module = import(problem);
    ASSERT_TRUE(module);
    run(*module, ir::createNormalizeMask());
    run(*module, ir::createBoundKeys());
    SCOPED_TRACE(std::string(tight.name) + "\n" + print(*module));
    EXPECT_EQ(intervalsOf(kernelOf(*module).getBounds()),
              std::pair(tight.visible, tight.hidden));
    RandomMask random(1);
    for (unsigned round = 0; round < 20; ++round) {
      expectBounds(kernelOf(*module), problem, random, /*isExact=*/true);
      if (HasFatalFailure())
        return;
    }
  }
}

} // namespace
