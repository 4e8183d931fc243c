//===- KeyTilesTest.cpp - Key tiles of intervals of keys
//---------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeastVisits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <random>

using namespace mlir;
using namespace attn;
using namespace attn::test;

namespace {

/// Bounds of which every value is a param, or the constant 0.
class KeyTilesTest : public ::testing::Test {
protected:
  KeyTilesTest() {
    context.loadDialect<ir::AttnDialect, arith::ArithDialect>();
  }

  static std::string nameOf(size_t value) {
    return "v" + std::to_string(value);
  }

  /// `zeros` says which values are the constant.
  ir::BoundsOp build(size_t visible, const std::vector<bool> &zeros) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    auto bounds = ir::BoundsOp::create(
        builder, loc, visible, /*approximate=*/false, /*listed=*/ArrayAttr());
    Block &body = bounds.getBody().emplaceBlock();
    for (size_t i = 0; i < ir::BoundsOp::argumentNames().size(); ++i)
      body.addArgument(builder.getI32Type(), loc);
    builder.setInsertionPointToStart(&body);
    SmallVector<Value> values;
    for (auto [index, isZero] : llvm::enumerate(zeros)) {
      if (isZero)
        values.push_back(arith::ConstantIntOp::create(builder, loc,
                                                      builder.getI32Type(), 0));
      else
        values.push_back(ir::GetParamOp::create(
            builder, loc, builder.getI32Type(), nameOf(index)));
    }
    ir::YieldOp::create(builder, loc, values);
    return bounds;
  }

  int64_t below(int64_t count) {
    return std::uniform_int_distribution<int64_t>(0, count - 1)(random);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::mt19937_64 random{1};
};

TEST_F(KeyTilesTest, EveryTileOnceAndInItsClass) {
  constexpr unsigned shapes = 200, rounds = 100;
  constexpr int64_t mostKeys = 40;
  for (unsigned shape = 0; shape < shapes; ++shape) {
    size_t visible = below(4), hidden = below(4);
    size_t count = 2 * (visible + hidden) + 1;
    std::vector<bool> zeros(count);
    // Of either kind, only the first intervals begin at the constant.
    zeros[0] = visible > 0 && below(2);
    if (hidden > 0)
      zeros[2 * visible] = below(2);
    const int64_t sizes[] = {1, 2, 3, 7, 16};
    int64_t tileKeys = sizes[below(5)];
    PlacedTiles tiles(build(visible, zeros), tileKeys);
    for (unsigned round = 0; round < rounds; ++round) {
      int64_t keys = below(mostKeys);
      RuleInputs inputs;
      std::vector<int64_t> values(count);
      for (size_t i = 0; i < count; ++i)
        if (!zeros[i])
          inputs.params[nameOf(i)] = values[i] = below(keys + 1);
      KeyClasses classes{std::vector<uint8_t>(keys),
                         std::vector<uint8_t>(keys)};
      for (size_t i = 0; i + 1 < count; i += 2)
        for (int64_t k = values[i]; k < values[i + 1]; ++k)
          (i < 2 * visible ? classes.visible : classes.hidden)[k] = 1;
      for (int64_t k = values.back(); k < keys; ++k)
        classes.hidden[k] = 1;
      ASSERT_EQ(tiles.run({0, 0, 0, 0, 0, 0, keys}, inputs),
                leastVisits(classes, tileKeys))
          << "shape " << shape << ", " << tileKeys << " keys a tile, values "
          << ::testing::PrintToString(values);
    }
  }
}

} // namespace
