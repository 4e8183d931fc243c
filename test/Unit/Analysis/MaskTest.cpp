//===- MaskTest.cpp - Normal form and bounds of masks ---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// For random masks: the imported rule, its normal form and the bounds derived
// from it, run pair by pair, against the oracle's evaluation of the same
// expression.
//
//===----------------------------------------------------------------------===//

#include "RandomMask.h"
#include "RuleInterpreter.h"

#include "attn/Conversion/SpecToAttn/SpecToAttn.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Reference/Evaluate.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

constexpr int64_t batch = 2, heads = 4, group = 2;

struct Lengths {
  int64_t q, k;
};

/// The values of params and tensors, for the oracle and for the interpreter.
struct Values {
  std::vector<int32_t> lens;
  std::vector<int8_t> bias;
  std::vector<uint8_t> doc;
  Bindings bindings;
  RuleInputs inputs;

  Values(RandomMask &random, Lengths lengths, bool hasNegatives = true) {
    auto bind = [&](const char *name, int64_t value) {
      bindings.params[name] = value;
      inputs.params[name] = value;
    };
    auto width = [&] {
      int64_t value = random.value(false);
      return hasNegatives ? value : std::max<int64_t>(value, 0);
    };
    bind("p", width());
    bind("r", width());
    bind("w", random.value(true));
    bind("on", random.below(2));
    for (int64_t b = 0; b < batch; ++b)
      lens.push_back(static_cast<int32_t>(random.value(false)));
    for (int64_t h = 0; h < heads; ++h)
      bias.push_back(static_cast<int8_t>(random.below(256) - 128));
    for (int64_t e = 0; e < batch * lengths.k; ++e)
      doc.push_back(static_cast<uint8_t>(random.below(4)));
    bindTensor("lens", DType::I32, {batch}, lens);
    bindTensor("bias", DType::I8, {heads}, bias);
    bindTensor("doc", DType::U8, {batch, lengths.k}, doc);
  }

private:
  template <typename T>
  void bindTensor(const char *name, DType type, std::vector<int64_t> dims,
                  const std::vector<T> &data) {
    bindings.tensors[name] = {type, dims, data.data()};
    inputs.tensors[name] = {dims, {data.begin(), data.end()}};
  }
};

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

/// visible[i][k] for one batch entry and head, by the oracle.
using Table = std::vector<std::vector<uint8_t>>;

Table oracleTable(RuleRunner &runner, Lengths lengths, int64_t offset,
                  int64_t b, int64_t h) {
  Table table(lengths.q, std::vector<uint8_t>(lengths.k));
  for (int64_t i = 0; i < lengths.q && lengths.k > 0; ++i) {
    RowPosition row;
    row.b = b;
    row.h = h;
    row.g = h / group;
    row.i = i;
    row.q = i + offset;
    row.sequence.qLen = lengths.q;
    row.sequence.kLen = lengths.k;
    runner.evaluateBool(row, 0, lengths.k, nullptr, table[i].data());
  }
  return table;
}

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

struct Bounds {
  int64_t visibleBegin, visibleEnd, fullBegin, fullEnd;
};

Bounds boundsOf(ir::BoundsOp bounds, Lengths lengths, int64_t b, int64_t h,
                int64_t qFirst, int64_t qLast, const RuleInputs &inputs) {
  std::vector<int64_t> results =
      interpret(bounds.getBody().front(),
                {b, h, h / group, qFirst, qLast, lengths.q, lengths.k}, inputs);
  return {results[0], results[1], results[2], results[3]};
}

void expectSoundBounds(const Bounds &bounds, const Table &table,
                       Lengths lengths, int64_t first, int64_t last) {
  ASSERT_LE(0, bounds.visibleBegin);
  ASSERT_LE(bounds.visibleBegin, bounds.fullBegin);
  ASSERT_LE(bounds.fullBegin, bounds.fullEnd);
  ASSERT_LE(bounds.fullEnd, bounds.visibleEnd);
  ASSERT_LE(bounds.visibleEnd, lengths.k);
  for (int64_t i = first; i <= last; ++i)
    for (int64_t k = 0; k < lengths.k; ++k) {
      if (k < bounds.visibleBegin || k >= bounds.visibleEnd) {
        ASSERT_FALSE(table[i][k]) << "excluded, but row " << i << " sees " << k;
      }
      if (k >= bounds.fullBegin && k < bounds.fullEnd) {
        ASSERT_TRUE(table[i][k]) << "full, but row " << i << " misses " << k;
      }
    }
}

constexpr Lengths someLengths[] = {{1, 1},   {4, 9},  {9, 4},
                                   {12, 12}, {3, 17}, {5, 0}};

TEST_F(MaskTest, RandomMasksAgreeWithTheOracleAndTheirBounds) {
  constexpr unsigned masks = 600, maxDepth = 4;
  for (unsigned seed = 0; seed < masks; ++seed) {
    RandomMask random(seed);
    Problem problem = problemWithMask(random.mask(random.below(maxDepth)));
    bool isTopLeft = random.below(3) == 0;
    problem.align = isTopLeft ? Alignment::TopLeft : Alignment::BottomRight;
    OwningOpRef<ModuleOp> imported = import(problem);
    ASSERT_TRUE(imported);
    OwningOpRef<ModuleOp> analyzed = imported->clone();
    run(*analyzed, ir::createNormalizeMask());
    run(*analyzed, ir::createBoundKeys());
    std::string text = print(kernelOf(*imported)) + print(kernelOf(*analyzed));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    for (Lengths lengths : someLengths) {
      Values values(random, lengths);
      Rule rule(problem.mask, problem, values.bindings);
      RuleRunner runner(rule);
      int64_t offset = isTopLeft ? 0 : lengths.k - lengths.q;
      int64_t b = random.below(batch), h = random.below(heads);
      Table table = oracleTable(runner, lengths, offset, b, h);
      expectSameMask(kernelOf(*imported).getMask(), table, lengths, offset, b,
                     h, values.inputs);
      expectSameMask(kernelOf(*analyzed).getMask(), table, lengths, offset, b,
                     h, values.inputs);
      for (int64_t first = 0; first < lengths.q; ++first)
        for (int64_t last = first; last < lengths.q; ++last)
          expectSoundBounds(boundsOf(kernelOf(*analyzed).getBounds(), lengths,
                                     b, h, first + offset, last + offset,
                                     values.inputs),
                            table, lengths, first, last);
      if (HasFatalFailure())
        return;
    }
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
  ExprPtr mask;
};

std::vector<TightCase> tightCases() {
  ExprPtr q = index(IndexVar::Q), k = index(IndexVar::K);
  ExprPtr p = param("p"), r = param("r");
  ExprPtr causal = compare(ExprKind::Le, k, q);
  ExprPtr left = compare(ExprKind::Le, intOp(ExprKind::Sub, q, k), p);
  ExprPtr right = compare(ExprKind::Le, intOp(ExprKind::Sub, k, q), r);
  ExprPtr first = compare(ExprKind::Lt, k, p);
  return {
      {"causal", causal},
      {"strictly causal", compare(ExprKind::Gt, q, k)},
      {"window", logic(ExprKind::And, causal, left)},
      {"window both sides", logic(ExprKind::And, left, right)},
      {"prefix", logic(ExprKind::Or, first, causal)},
      {"length", compare(ExprKind::Lt, k, read("lens", {index(IndexVar::B)}))},
      {"rows of a block", compare(ExprKind::Ge, index(IndexVar::I), p)},
      {"switch", select(param("on", ExprType::Bool), causal, left)},
      {"diagonal", compare(ExprKind::Eq, k, q)},
      {"true", boolConst(true)},
      {"false", boolConst(false)},
  };
}

/// The exact hull of the keys that some row sees, and of those all rows see.
void expectTightBounds(const Bounds &bounds, const Table &table,
                       Lengths lengths, int64_t first, int64_t last) {
  int64_t begin = lengths.k, end = 0, fullCount = 0;
  for (int64_t k = 0; k < lengths.k; ++k) {
    bool some = false, every = true;
    for (int64_t i = first; i <= last; ++i) {
      some |= table[i][k];
      every &= table[i][k];
    }
    if (some) {
      begin = std::min(begin, k);
      end = k + 1;
    }
    fullCount += every;
  }
  ASSERT_EQ(bounds.fullEnd - bounds.fullBegin, fullCount);
  if (begin < end) {
    ASSERT_EQ(bounds.visibleBegin, begin);
    ASSERT_EQ(bounds.visibleEnd, end);
  } else {
    ASSERT_EQ(bounds.visibleBegin, bounds.visibleEnd);
  }
}

TEST_F(MaskTest, BoundsOfPlainMasksAreExact) {
  for (const TightCase &tight : tightCases()) {
    Problem problem = problemWithMask(tight.mask);
    OwningOpRef<ModuleOp> module = import(problem);
    ASSERT_TRUE(module);
    run(*module, ir::createNormalizeMask());
    run(*module, ir::createBoundKeys());
    SCOPED_TRACE(std::string(tight.name) + "\n" + print(*module));
    RandomMask random(1);
    for (unsigned round = 0; round < 20; ++round)
      for (Lengths lengths : someLengths) {
        // The hull of a window of negative width over several rows is not
        // empty, though no row sees anything.
        Values values(random, lengths, /*hasNegatives=*/false);
        Rule rule(problem.mask, problem, values.bindings);
        RuleRunner runner(rule);
        int64_t offset = lengths.k - lengths.q;
        Table table = oracleTable(runner, lengths, offset, 1, 3);
        for (int64_t first = 0; first < lengths.q; ++first)
          for (int64_t last = first; last < lengths.q; ++last)
            expectTightBounds(boundsOf(kernelOf(*module).getBounds(), lengths,
                                       1, 3, first + offset, last + offset,
                                       values.inputs),
                              table, lengths, first, last);
        if (HasFatalFailure())
          return;
      }
  }
}

} // namespace
