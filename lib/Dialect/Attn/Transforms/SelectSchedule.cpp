//===- SelectSchedule.cpp - Fill in the schedule --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "ScheduleSelection.h"
#include "attn/Dialect/Attn/Transforms/Alternatives.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

namespace attn::ir {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn;
using namespace attn::ir;

namespace {
struct SelectSchedule : ir::impl::SelectScheduleBase<SelectSchedule> {
  void runOnOperation() override {
    if (failed(select(getOperation())))
      signalPassFailure();
  }

  LogicalResult select(KernelOp kernel);
};
} // namespace

/// The target of the kernel's module, or null with an error.
static const layout::GpuTarget *targetOf(KernelOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  StringRef name = module ? getTarget(module) : StringRef();
  const layout::GpuTarget *target = layout::findGpuTarget(name);
  if (target)
    return target;
  if (name.empty())
    kernel.emitError() << "the module has no 'attn.target'; expected one of "
                       << layout::gpuTargetNames();
  else
    kernel.emitError() << "unknown target '" << name << "'; expected one of "
                       << layout::gpuTargetNames();
  return nullptr;
}

static Rules rulesOf(KernelOp kernel) {
  // Found with the shipped specifications: what spills nothing in a row's tile.
  constexpr int64_t lightOps = 12, mediumOps = 24;
  int64_t ops = 0;
  bool holds = false, any = kernel.getSink() || kernel.getRamp();
  for (Operation &rule : kernel.getBody().front()) {
    if (!isa<MaskOp, ScoreOp>(rule))
      continue;
    any = true;
    for (Operation &op : rule.getRegion(0).front().without_terminator()) {
      ops += !op.hasTrait<OpTrait::ConstantLike>();
      holds |= isa<ReadOp, arith::DivSIOp, arith::FloorDivSIOp, arith::RemSIOp,
                   math::LogOp>(op);
    }
  }
  if (ops > mediumOps)
    return Rules::Heavy;
  if (holds || ops > lightOps)
    return Rules::Medium;
  return any ? Rules::Light : Rules::None;
}

/// Whether the specification says which rows a work item has.
static bool asksForRows(ScheduleAttr wish) {
  return wish && (wish.getTileM() || wish.getWarps() || wish.getConsumers());
}

/// Whether rows see all keys up to a last one, so that a longer launch has
/// longer rows. A window's has more of the same: rows of the table for long
/// launches are not for it.
static bool growsWithLength(KernelOp kernel) {
  for (auto bounds : kernel.getBody().getOps<BoundsOp>())
    return bounds.getVisible() == 1 &&
           matchPattern(bounds.getYield().getResults().front(), m_Zero());
  return true;
}

/// Why a row for long launches is none for this schedule; empty when it is.
static std::string rowFault(const ScheduleSelection &selection,
                            const TileChoice &row) {
  std::string fault = selection.fault();
  // The row was measured as it stands.
  if (fault.empty() && selection.tileN() != row.tileN)
    fault = llvm::formatv("of the {0} keys of its row {1} fit", row.tileN,
                          selection.tileN());
  return fault;
}

namespace {
/// Schedules of one kernel, beside the one that any launch can take as far as
/// its lengths go.
class AlternativeList {
public:
  explicit AlternativeList(KernelOp kernel) : kernel(kernel) {}

  /// Adds one for launches of at least `minQLen` query positions, `when` in
  /// words; or says by which `fault` there is none.
  void add(StringRef name, const ScheduleSelection &selection, int64_t minQLen,
           const Twine &when, const std::string &fault) {
    InFlightDiagnostic remark = emitRemark(kernel.getFieldLoc("schedule"));
    if (!fault.empty()) {
      remark << "no alternative " << name << " " << when << ": " << fault;
      return;
    }
    remark << "alternative " << name << " " << when << ": "
           << selection.describe();
    entries.push_back({name.str(), selection.attribute(), minQLen});
  }

  void attach() { setAlternatives(kernel, entries); }

private:
  KernelOp kernel;
  SmallVector<Alternative> entries;
};
} // namespace

LogicalResult SelectSchedule::select(KernelOp kernel) {
  ScheduleAttr wish = kernel.getSchedule().value_or(ScheduleAttr());
  if (wish && wish.isSelected())
    return success();
  const layout::GpuTarget *target = targetOf(kernel);
  if (!target)
    return failure();
  ScheduleSelection family(kernel, *target, wish);
  Rules rules = rulesOf(kernel);
  // A vote takes registers as light rules do; rows without have none left.
  bool votes = wish && wish.getMax().value_or(MaxMode::Exact) != MaxMode::Exact;
  if (votes && family.engine() == Engine::MmaSync)
    rules = std::max(rules, Rules::Light);
  // So do lengths of its own, of every work item: d128 spilled 92 bytes.
  if (kernel.getBatch() != Batch::Dense && family.engine() == Engine::MmaSync)
    rules = Rules::Heavy;
  int64_t qk = kernel.getHeadDimQk(), v = kernel.getHeadDimV();
  int64_t elementBytes = kernel.getDtype().getIntOrFloatBitWidth() / 8;
  std::vector<const TileChoice *> rows =
      chooseTiles(*target, family.engine(), qk, v, rules, elementBytes);
  if (rows.empty())
    return emitError(kernel.getFieldLoc("head_dim"))
           << "no schedule has head_dim " << qk << " / " << v << "; at most "
           << tileTable().back().maxQK;
  ScheduleSelection main = family;
  main.fillIn(*rows.back(), rules);
  rows.pop_back();
  if (std::string fault = main.fault(); !fault.empty())
    return emitError(kernel.getFieldLoc("schedule")) << fault;
  kernel.setScheduleAttr(main.attribute());
  emitRemark(kernel.getFieldLoc("schedule")) << main.describe();
  AlternativeList alternatives(kernel);
  if (asksForRows(wish) || !growsWithLength(kernel))
    rows.clear();
  for (const TileChoice *row : rows) {
    ScheduleSelection selection = family;
    selection.fillIn(*row, rules);
    alternatives.add("m" + std::to_string(row->tileM), selection, row->minQLen,
                     "for q_len >= " + Twine(row->minQLen),
                     rowFault(selection, *row));
  }
  ScheduleSelection other = main.withFewerMaps("it needs no tensor map");
  bool changesLoader = other.getKnobs().tma != main.getKnobs().tma;
  if (changesLoader || other.getKnobs().tmaStore != main.getKnobs().tmaStore)
    alternatives.add(
        changesLoader ? "cp_async" : "direct", other, 0,
        "for strides that no tensor map can express (2^40 bytes and up)",
        other.fault());
  alternatives.attach();
  return success();
}
