//===- SelectSchedule.cpp - Fill in the schedule --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Analysis/TileTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace attn::ir {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn;
using namespace attn::ir;

/// Rows of a tile that one unit multiplies: a warp (mma.sync m16n8k16) or a
/// warpgroup (wgmma m64nNk16).
static constexpr int64_t mmaRows = 16, wgmmaRows = 64;
/// Keys that a step of O += P V contracts, for both.
static constexpr int64_t mmaKeys = 16;
/// PTX ISA, wgmma: the widest N.
static constexpr int64_t maxWgmmaKeys = 256;
static constexpr int64_t warpsPerGroup = 4, lanes = 32;

namespace {
struct SelectSchedule : ir::impl::SelectScheduleBase<SelectSchedule> {
  void runOnOperation() override {
    if (failed(select(getOperation())))
      signalPassFailure();
  }

  LogicalResult select(KernelOp kernel);
};

/// The choice for one kernel, as it is filled in.
struct Selection {
  mutable KernelOp kernel; // accessors of operations are not const
  const layout::GpuTarget &target;
  Engine engine;
  int64_t tileM = 0, tileN = 0, warps = 0, stages = 0;
  int64_t overlap = 0;
  bool turns = false, isPersistent = false;
  SharedUse use = {};

  bool isWgmma() const { return engine == Engine::Wgmma; }
  int64_t consumers() const { return warps / warpsPerGroup; }
  InFlightDiagnostic error() const {
    return emitError(kernel.getFieldLoc("schedule"));
  }
  LogicalResult checkTile() const;
  LogicalResult checkShared() const;
  LogicalResult checkRegisters() const;
  LogicalResult checkKnobs(ScheduleAttr wish) const;
  ScheduleAttr attribute() const;
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

/// As many of the table's warps as leave each 16 rows or a multiple.
static int64_t warpsFor(int64_t tileM, int64_t warps) {
  while (warps > 1 && tileM % (mmaRows * warps))
    warps /= 2;
  return warps;
}

LogicalResult Selection::checkTile() const {
  int64_t unit = isWgmma() ? wgmmaRows : mmaRows;
  if (tileM % unit != 0 || tileN % mmaKeys != 0)
    return error() << "tile " << tileM << " x " << tileN
                   << " does not fit the tensor cores: expected a multiple of "
                   << unit << " query rows and of " << mmaKeys << " keys";
  if (!isWgmma())
    return success();
  constexpr int64_t maxConsumers = 3;
  if (tileM != consumers() * wgmmaRows || consumers() > maxConsumers)
    return error() << "expected 64 query rows for each of 1 to " << maxConsumers
                   << " consumers, found tile M " << tileM << " and "
                   << consumers() << " consumers";
  if (tileN > maxWgmmaKeys)
    return error() << "expected at most " << maxWgmmaKeys
                   << " keys in a tile of wgmma, found " << tileN;
  return success();
}

LogicalResult Selection::checkShared() const {
  // Barriers of the channels lie behind the tiles.
  constexpr int64_t barrierBytes = 1024;
  int64_t needed = use.total() + (isWgmma() ? barrierBytes : 0);
  if (needed <= target.sharedBytesPerBlock)
    return success();
  return error() << "tile " << tileM << " x " << tileN << " needs " << needed
                 << " bytes of shared memory (Q " << use.q << " + "
                 << use.stages << (use.stages == 1 ? " stage" : " stages")
                 << " of K " << use.k << " and V " << use.v << "), but "
                 << StringRef(target.name) << " has "
                 << target.sharedBytesPerBlock
                 << "; take a smaller tile or fewer stages";
}

/// Accumulators live in registers. Where they alone exceed what a thread has,
/// every step would go through memory.
LogicalResult Selection::checkRegisters() const {
  // CUDA C++ Programming Guide, table of technical specifications: at most 255
  // 32-bit registers for a thread, for every target. Consumers of three
  // warpgroups can have 160 (attn-assign-registers).
  constexpr int64_t most = 255, mostOfThree = 160;
  // The wgmma pipeline holds the weights beside the logits, and about this many
  // registers for all else (ptxas 13.0, spike).
  constexpr int64_t others = 23;
  int64_t threads = warps * lanes;
  int64_t o = tileM * static_cast<int64_t>(kernel.getHeadDimV()) / threads;
  int64_t s = tileM * tileN / threads;
  // One instruction, with its operands and addresses, has to fit what a thread
  // has at launch, before roles share registers out anew (ptxas 13.0, C7602).
  constexpr int64_t launchedOfThree = 128, othersOfProduct = 30;
  int64_t product = std::max(o, s) + othersOfProduct;
  if (isWgmma() && consumers() == 3 && product > launchedOfThree)
    return error() << "one product of tile " << tileM << " x " << tileN
                   << " needs " << product
                   << " registers in a thread of 12 warps, which has "
                   << launchedOfThree
                   << " at launch; take fewer consumers or a smaller tile";
  int64_t limit = isWgmma() && consumers() == 3 ? mostOfThree : most;
  int64_t p = isWgmma() && overlap ? s / 2 : 0;
  int64_t needed = o + s + p + (isWgmma() ? others : 0);
  if (needed <= limit)
    return success();
  InFlightDiagnostic diagnostic =
      error() << "tile " << tileM << " x " << tileN << " needs " << needed
              << (isWgmma() ? " registers" : " accumulator registers")
              << " in a thread of " << warps
              << (warps == 1 ? " warp" : " warps") << " (O " << o << " + S "
              << s;
  if (p)
    diagnostic << " + P " << p;
  if (isWgmma())
    diagnostic << " + " << others << " others";
  return diagnostic << "), but a thread has " << limit
                    << "; take a smaller tile";
}

/// What the schedule at hand has no place for is refused, not ignored.
LogicalResult Selection::checkKnobs(ScheduleAttr wish) const {
  if (!wish)
    return success();
  auto refuse = [&](StringRef knob, StringRef why) -> LogicalResult {
    return error() << "'" << knob << "' " << why;
  };
  StringRef needsWgmma = "needs wgmma: schedule fa3";
  if (!isWgmma() && wish.getConsumers())
    return refuse("consumers", needsWgmma);
  if (!isWgmma() && wish.getOverlap().value_or(0) > 0)
    return refuse("overlap", needsWgmma);
  if (!isWgmma() && wish.getTurns().value_or(false))
    return refuse("turns", needsWgmma);
  if (overlap > 1)
    return refuse("overlap", "is at most 1: one tile of weights is in flight");
  if (turns && consumers() < 2)
    return refuse("turns", "needs at least two consumers");
  if (wish.getPersistent().value_or(false) && !isWgmma())
    return refuse("persistent", "is not built for schedule fa2 yet");
  if (wish.getMax().value_or(MaxMode::Exact) != MaxMode::Exact)
    return refuse("max", "is exact in every schedule that is built");
  return success();
}

ScheduleAttr Selection::attribute() const {
  std::optional<int64_t> consumerCount, overlapTiles;
  std::optional<bool> turnsFlag, persistent, producer;
  std::optional<MmaKind> mma;
  std::optional<Loader> loader;
  if (isWgmma()) {
    consumerCount = consumers();
    overlapTiles = overlap;
    turnsFlag = turns;
    persistent = isPersistent;
    mma = MmaKind::Wgmma;
    loader = Loader::Tma;
    producer = true;
  }
  return ScheduleAttr::get(
      kernel.getContext(), isWgmma() ? ScheduleKind::Fa3 : ScheduleKind::Fa2,
      tileM, tileN, warps, stages, consumerCount, overlapTiles, turnsFlag,
      persistent, MaxMode::Exact, mma, loader, producer);
}

/// `auto` takes wgmma where there is one.
static FailureOr<Engine> engineFor(KernelOp kernel, ScheduleAttr wish,
                                   const layout::GpuTarget &target) {
  ScheduleKind kind = wish ? wish.getKind() : ScheduleKind::Auto;
  if (kind == ScheduleKind::Fa2)
    return Engine::MmaSync;
  if (target.hasWgmma)
    return Engine::Wgmma;
  if (kind == ScheduleKind::Auto)
    return Engine::MmaSync;
  return emitError(kernel.getFieldLoc("schedule"))
         << "schedule fa3 needs wgmma and TMA, which " << StringRef(target.name)
         << " lacks; expected target sm_90a, or schedule fa2";
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

LogicalResult SelectSchedule::select(KernelOp kernel) {
  ScheduleAttr wish = kernel.getSchedule().value_or(ScheduleAttr());
  if (wish && wish.isSelected())
    return success();
  const layout::GpuTarget *target = targetOf(kernel);
  if (!target)
    return failure();
  FailureOr<Engine> engine = engineFor(kernel, wish, *target);
  if (failed(engine))
    return failure();
  int64_t qk = kernel.getHeadDimQk(), v = kernel.getHeadDimV();
  int64_t elementBytes = kernel.getDtype().getIntOrFloatBitWidth() / 8;
  const TileChoice *row =
      chooseTile(*target, *engine, qk, v, rulesOf(kernel), elementBytes);
  if (!row)
    return emitError(kernel.getFieldLoc("head_dim"))
           << "no schedule has head_dim " << qk << " / " << v << "; at most "
           << tileTable().back().maxQK;

  Selection choice = {kernel, *target, *engine};
  choice.tileM = row->tileM;
  choice.tileN = row->tileN;
  choice.stages = row->stages;
  choice.overlap = row->overlap;
  std::optional<int64_t> warps;
  if (wish) {
    choice.tileM = wish.getTileM().value_or(choice.tileM);
    choice.tileN = wish.getTileN().value_or(choice.tileN);
    choice.stages = wish.getStages().value_or(choice.stages);
    choice.overlap = wish.getOverlap().value_or(choice.overlap);
    warps = wish.getWarps();
    if (choice.isWgmma() && wish.getConsumers()) {
      warps = *wish.getConsumers() * warpsPerGroup;
      if (!wish.getTileM())
        choice.tileM = *wish.getConsumers() * wgmmaRows;
    }
  }
  choice.warps =
      warps.value_or(choice.isWgmma() ? choice.tileM / wgmmaRows * warpsPerGroup
                                      : warpsFor(choice.tileM, row->warps));
  choice.turns = row->turns && choice.consumers() > 1;
  if (wish)
    choice.turns = wish.getTurns().value_or(choice.turns);
  choice.isPersistent =
      wish && wish.getPersistent() ? *wish.getPersistent() : choice.isWgmma();
  choice.use = sharedUse(*engine, qk, v, elementBytes, choice.tileM,
                         choice.tileN, choice.stages);
  if (failed(choice.checkTile()) || failed(choice.checkShared()) ||
      failed(choice.checkRegisters()) || failed(choice.checkKnobs(wish)))
    return failure();

  ScheduleAttr selected = choice.attribute();
  kernel.setScheduleAttr(selected);
  InFlightDiagnostic remark = emitRemark(kernel.getFieldLoc("schedule"));
  remark << "schedule " << stringifyScheduleKind(selected.getKind())
         << ", tile " << choice.tileM << " x " << choice.tileN << ", "
         << choice.warps << " warps, " << choice.stages
         << (choice.stages == 1 ? " stage" : " stages");
  if (choice.isWgmma())
    remark << ", overlap " << choice.overlap << ", "
           << (choice.turns ? "turns" : "no turns");
  remark << ", shared memory " << choice.use.total() << " of "
         << target->sharedBytesPerBlock << " bytes on "
         << StringRef(target->name) << "; table row: " << row->source;
  return success();
}
