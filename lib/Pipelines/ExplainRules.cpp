//===- ExplainRules.cpp - What became of mask and score -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/ExplainRules.h"

#include "attn/Analysis/RuleFormula.h"
#include "attn/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// The conditions of a mask that are no and, or, not or choice of others.
static SmallVector<Value> leavesOf(Value condition) {
  SmallVector<Value> open = {condition}, leaves;
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    bool isOfBools = op && op->getNumOperands() > 0 &&
                     llvm::all_of(op->getOperandTypes(),
                                  [](Type type) { return type.isInteger(1); });
    if (isOfBools)
      llvm::append_range(open, llvm::reverse(op->getOperands()));
    else
      leaves.push_back(value);
  }
  return leaves;
}

/// Whether bounds of k follow from the condition, or it does not depend on k.
static bool isUnderstood(Value condition, MaskAffine &affine) {
  if (!condition.getDefiningOp() ||
      isa<arith::ConstantOp>(condition.getDefiningOp()) ||
      affine.isInvariant(condition))
    return true;
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  std::optional<AffineComparison> known =
      compare ? affine.get(compare) : std::nullopt;
  return known && known->form.k >= -1 && known->form.k <= 1;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

static std::string spellIntervals(RuleFormula &formula, ValueRange pairs) {
  std::string text;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    text += (text.empty() ? "[" : ", [") + formula.ofKey(pairs[i]) + ", " +
            formula.ofKey(pairs[i + 1]) + ")";
  return text.empty() ? "none" : text;
}

static void explainBounds(ir::BoundsOp bounds, Location loc,
                          RuleFormula &formula) {
  ValueRange keys = bounds.getYield().getResults();
  size_t visible = 2 * bounds.getVisible();
  ValueRange hidden = keys.drop_front(visible).drop_back();
  InFlightDiagnostic remark =
      emitRemark(loc) << "keys of queries q_first .. q_last, clipped to "
                         "0 .. k_len: visible "
                      << spellIntervals(formula, keys.take_front(visible));
  if (!hidden.empty())
    remark << ", hidden from some " << spellIntervals(formula, hidden);
  remark << ", hidden from some from " << formula.ofKey(keys.back()) << " on";
}

void attn::explainRules(ir::KernelOp kernel) {
  ir::MaskOp mask = kernel.getMask();
  ir::BoundsOp bounds = kernel.getBounds();
  if (!mask || !bounds)
    return;
  Location loc = mask.getLoc();
  bool isBottomRight = kernel.getAlign() == ir::Align::BottomRight;
  RuleFormula formula(kernel);
  MaskTermBuilder terms(kernel, mask);
  emitRemark(loc) << "mask, aligned "
                  << (isBottomRight ? "bottom right: q = i + k_len - q_len"
                                    : "top left: q = i");
  Value shown = mask.getYield().getOperand(0);
  SmallVector<Value> unknown =
      llvm::filter_to_vector(leavesOf(shown), [&](Value leaf) {
        return !isUnderstood(leaf, terms.getAffine());
      });
  emitRemark(loc) << "mask in normal form"
                  << (unknown.empty() ? ": "
                                      : ", without what gives no range: ")
                  << formula.of(terms.get(shown, /*isNegated=*/false));
  bool isListed = bounds->hasAttr("listed");
  for (Value leaf : unknown)
    emitRemark(leaf.getLoc())
        << "'" << formula.of(leaf) << "' gives no range of keys: "
        << (isListed ? "key tiles by block list"
                     : "tiles that it decides count as partial");
  explainBounds(bounds, loc, formula);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

namespace {
/// Operations of a region, by how often they are evaluated.
struct Cost {
  llvm::MapVector<StringRef, unsigned> element; ///< name: count
  unsigned row = 0, tile = 0;

  /// `perElement` and `perRow` are block arguments.
  void add(Block &block, ArrayRef<Value> perElement, ArrayRef<Value> perRow);
  std::string spell() const;
};
} // namespace

void Cost::add(Block &block, ArrayRef<Value> perElement,
               ArrayRef<Value> perRow) {
  llvm::DenseSet<Value> ofElement(perElement.begin(), perElement.end());
  llvm::DenseSet<Value> ofRow(perRow.begin(), perRow.end());
  auto dependsOn = [](Operation &op, const llvm::DenseSet<Value> &values) {
    return llvm::any_of(op.getOperands(), [&](Value operand) {
      return values.contains(operand);
    });
  };
  for (Operation &op : block.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (dependsOn(op, ofElement)) {
      ofElement.insert(op.result_begin(), op.result_end());
      ++element[op.getName().stripDialect()];
    } else if (dependsOn(op, ofRow)) {
      ofRow.insert(op.result_begin(), op.result_end());
      ++row;
    } else {
      ++tile;
    }
  }
}

std::string Cost::spell() const {
  unsigned total = 0;
  std::string names;
  for (auto [name, count] : element) {
    total += count;
    names += (names.empty() ? "" : ", ") + name.str() +
             (count > 1 ? " x " + std::to_string(count) : "");
  }
  std::string text = std::to_string(total) + " per element";
  if (total)
    text += " (" + names + ")";
  if (row)
    text += ", " + std::to_string(row) + " per row";
  if (tile)
    text += ", " + std::to_string(tile) + " per tile";
  return text;
}

/// The logits' maps that know which key they are for: score, bias, ramp.
static void addMap(tile::MapOp map, Cost &cost) {
  auto axes = map.getIndexAxes().getAsValueRange<StringAttr>();
  if (!llvm::is_contained(axes, "k"))
    return;
  SmallVector<Value> perElement, perRow;
  Block &block = map.getBody().front();
  for (auto [input, argument] :
       llvm::zip(map.getInputs(), block.getArguments())) {
    auto type = cast<tile::ValType>(input.getType());
    (type.findAxis("k") ? perElement : perRow).push_back(argument);
  }
  for (auto [axis, argument] : llvm::zip(
           axes, block.getArguments().drop_front(map.getInputs().size()))) {
    // The place in a class is a number that is known when code is made.
    if (axis == "k" && !map.getInClass())
      perElement.push_back(argument);
    else if (axis == "q")
      perRow.push_back(argument);
  }
  cost.add(block, perElement, perRow);
}

/// What the loops over tiles of a kind do; nothing when there are none. Copies
/// of a loop, for other roles or the last tile, cost the same.
static std::optional<std::pair<Cost, Cost>> costOf(ModuleOp module,
                                                   tile::RangeKind kind) {
  std::optional<std::pair<Cost, Cost>> costs;
  module.walk([&](tile::ForKeysOp loop) {
    if (loop.getKind() != kind || costs)
      return;
    Cost score, mask;
    bool hasLogits = false;
    loop.walk([&](Operation *op) {
      if (auto map = dyn_cast<tile::MapOp>(op))
        addMap(map, score);
      if (auto masked = dyn_cast<tile::MaskOp>(op)) {
        Block &block = masked.getBody().front();
        mask.add(block, {block.getArgument(1)}, {block.getArgument(0)});
      }
      hasLogits |= isa<tile::DotOp>(op);
    });
    if (hasLogits)
      costs.emplace(score, mask);
  });
  return costs;
}

void attn::explainCosts(ir::KernelOp kernel, ModuleOp lowered) {
  auto partial = costOf(lowered, tile::RangeKind::Partial);
  auto full = costOf(lowered, tile::RangeKind::Full);
  auto explain = [&](Operation *rule, StringRef name,
                     Cost std::pair<Cost, Cost>::*part) {
    if (!rule)
      return;
    emitRemark(rule->getLoc())
        << name << ", operations in full tiles: "
        << (full ? (*full.*part).spell() : "there are none")
        << "; in partial tiles: "
        << (partial ? (*partial.*part).spell() : "there are none");
  };
  Operation *score = kernel.getScore();
  explain(score ? score : kernel.getRamp().getOperation(), "score",
          &std::pair<Cost, Cost>::first);
  explain(kernel.getMask(), "mask", &std::pair<Cost, Cost>::second);
}
