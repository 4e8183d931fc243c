//===- SelectSchedule.cpp - Fill in the schedule --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Analysis/KnobRules.h"

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
  ScheduleKind kind = ScheduleKind::Fa2;
  Knobs knobs = {};
  int64_t stages = 0;
  SharedUse use = {};
  std::string loaderReason = {}; ///< for the remark

  bool isWgmma() const { return knobs.engine == Engine::Wgmma; }
  int64_t consumers() const { return knobs.warps / warpsPerGroup; }
  RegisterShares registers() const {
    return shareRegisters(knobs.producerWarps(), knobs.warps, target.hasWgmma);
  }
  InFlightDiagnostic error() const {
    return emitError(kernel.getFieldLoc("schedule"));
  }
  /// The rule by which `knob` is illegal as it stands, or null.
  const KnobRule *findBroken(StringRef knob) const {
    for (const KnobRule &rule : knobRules())
      if (knob == rule.knob && rule.isBroken(knobs, target))
        return &rule;
    return nullptr;
  }
  void chooseFamily(ScheduleAttr wish);
  void chooseLoader(ScheduleAttr wish);
  void chooseTile(ScheduleAttr wish, const TileChoice &row);
  LogicalResult checkRules(ScheduleAttr wish) const;
  LogicalResult checkTile() const;
  LogicalResult checkShared() const;
  LogicalResult checkRegisters() const;
  ScheduleAttr attribute() const;
  void explain(const TileChoice &row) const;
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

/// A family is a row of defaults: fa2 is mma.sync, self-fed; fa3 is wgmma with
/// a producer. `auto` takes wgmma where there is one.
void Selection::chooseFamily(ScheduleAttr wish) {
  kind = wish ? wish.getKind() : ScheduleKind::Auto;
  bool wgmma = kind == ScheduleKind::Fa3 ||
               (kind == ScheduleKind::Auto && target.hasWgmma);
  if (wish && wish.getMma())
    wgmma = wish.usesWgmma();
  knobs.engine = wgmma ? Engine::Wgmma : Engine::MmaSync;
  if (kind == ScheduleKind::Auto)
    kind = wgmma ? ScheduleKind::Fa3 : ScheduleKind::Fa2;
  knobs.producer = kind == ScheduleKind::Fa3;
  if (wish && wish.getProducer())
    knobs.producer = *wish.getProducer();
  knobs.persistent = knobs.producer;
  if (wish && wish.getPersistent())
    knobs.persistent = *wish.getPersistent();
}

/// What is not asked for is taken where it is legal: fa3 loads by TMA, by
/// cp.async where there is none.
void Selection::chooseLoader(ScheduleAttr wish) {
  if (wish && wish.getLoader()) {
    knobs.tma = wish.usesTma();
    loaderReason = "as asked";
    return;
  }
  loaderReason = "as in every fa2";
  if (kind != ScheduleKind::Fa3)
    return;
  knobs.tma = true;
  loaderReason = (Twine(StringRef(target.name)) + " has it").str();
  const KnobRule *broken = findBroken("loader");
  if (!broken)
    return;
  knobs.tma = false;
  loaderReason = (Twine("loader ") + broken->reason).str();
}

void Selection::chooseTile(ScheduleAttr wish, const TileChoice &row) {
  knobs.tileM = row.tileM;
  knobs.tileN = row.tileN;
  stages = row.stages;
  knobs.overlap = row.overlap;
  // Rows that a warp multiplies.
  int64_t warpRows = row.tileM / row.warps;
  std::optional<int64_t> warps;
  if (wish) {
    knobs.tileM = wish.getTileM().value_or(knobs.tileM);
    knobs.tileN = wish.getTileN().value_or(knobs.tileN);
    stages = wish.getStages().value_or(stages);
    knobs.overlap = wish.getOverlap().value_or(knobs.overlap);
    warps = wish.getWarps();
    if (wish.getConsumers()) {
      warps = *wish.getConsumers() * warpsPerGroup;
      if (!wish.getTileM())
        knobs.tileM = *warps * warpRows;
    }
  }
  knobs.warps =
      warps.value_or(isWgmma() ? knobs.tileM / wgmmaRows * warpsPerGroup
                               : warpsFor(knobs.tileM, row.warps));
  knobs.turns = row.turns;
  knobs.turns &= !findBroken("turns");
  if (wish)
    knobs.turns = wish.getTurns().value_or(knobs.turns);
}

/// What has no meaning is refused, not ignored.
LogicalResult Selection::checkRules(ScheduleAttr wish) const {
  if (const KnobRule *broken = findBrokenRule(knobs, target))
    return error() << "'" << broken->knob << "' " << broken->reason
                   << " (target " << StringRef(target.name) << ")";
  if (wish && wish.getMax().value_or(MaxMode::Exact) != MaxMode::Exact)
    return error() << "'max' is exact in every schedule that is built";
  return success();
}

LogicalResult Selection::checkTile() const {
  int64_t tileM = knobs.tileM, tileN = knobs.tileN, warps = knobs.warps;
  int64_t unit = isWgmma() ? wgmmaRows : mmaRows;
  if (tileM % unit != 0 || tileN % mmaKeys != 0)
    return error() << "tile " << tileM << " x " << tileN
                   << " does not fit the tensor cores: expected a multiple of "
                   << unit << " query rows and of " << mmaKeys << " keys";
  if (!isWgmma()) {
    if (tileM % (mmaRows * warps) == 0)
      return success();
    return error() << "expected a multiple of " << mmaRows
                   << " query rows for each of " << warps
                   << " warps, found tile M " << tileM;
  }
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
  int64_t needed = use.total() + (knobs.hasBarriers() ? barrierBytes : 0);
  if (needed <= target.sharedBytesPerBlock)
    return success();
  return error() << "tile " << knobs.tileM << " x " << knobs.tileN << " needs "
                 << needed << " bytes of shared memory (Q " << use.q << " + "
                 << use.stages << (use.stages == 1 ? " stage" : " stages")
                 << " of K " << use.k << " and V " << use.v << "), but "
                 << StringRef(target.name) << " has "
                 << target.sharedBytesPerBlock
                 << "; take a smaller tile or fewer stages";
}

/// Accumulators live in registers. Where they alone exceed what a thread has,
/// every step would go through memory.
LogicalResult Selection::checkRegisters() const {
  // The wgmma pipeline holds the weights beside the logits, and about this many
  // registers for all else (ptxas 13.0, spike).
  constexpr int64_t others = 26;
  int64_t threads = knobs.warps * lanes;
  int64_t o = knobs.tileM * int64_t(kernel.getHeadDimV()) / threads;
  int64_t s = knobs.tileM * knobs.tileN / threads;
  RegisterShares shares = registers();
  // One instruction, with its operands and addresses, has to fit what a thread
  // has at launch, before roles share registers out anew (ptxas 13.0, C7602).
  constexpr int64_t othersOfProduct = 30;
  int64_t product = std::max(o, s) + othersOfProduct;
  if (isWgmma() && product > shares.launched)
    return error() << "one product of tile " << knobs.tileM << " x "
                   << knobs.tileN << " needs " << product
                   << " registers in a thread of " << knobs.warps
                   << " warps, which has " << shares.launched
                   << " at launch; take fewer consumers or a smaller tile";
  // Weights take half of the registers of their logits. While they are under
  // way the next logits stand beside them; otherwise they take the place of
  // their own, bit by bit, and wgmma finds about half of them in the way (ptxas
  // 13.0: of 12 warps, 128 registers of O and S spill and 112 do not).
  int64_t p = knobs.overlap ? s / 2 : isWgmma() ? s / 4 : 0;
  int64_t needed = o + s + p + (isWgmma() ? others : 0);
  if (needed <= shares.computer)
    return success();
  InFlightDiagnostic diagnostic =
      error() << "tile " << knobs.tileM << " x " << knobs.tileN << " needs "
              << needed << (isWgmma() ? " registers" : " accumulator registers")
              << " in a thread of " << knobs.warps
              << (knobs.warps == 1 ? " warp" : " warps") << " (O " << o
              << " + S " << s;
  if (p)
    diagnostic << " + P " << p;
  if (isWgmma())
    diagnostic << " + " << others << " others";
  return diagnostic << "), but a thread has " << shares.computer
                    << "; take a smaller tile";
}

/// A knob that is left out is that of FlashAttention-2; where all are, none is
/// written.
ScheduleAttr Selection::attribute() const {
  std::optional<int64_t> consumerCount, overlapTiles;
  std::optional<bool> turnsFlag, persistent, producer;
  std::optional<MmaKind> mma;
  std::optional<Loader> loader;
  if (isWgmma() || knobs.tma || knobs.producer || knobs.overlap ||
      knobs.turns) {
    if (knobs.consumers())
      consumerCount = knobs.consumers();
    overlapTiles = knobs.overlap;
    turnsFlag = knobs.turns;
    persistent = knobs.persistent;
    mma = isWgmma() ? MmaKind::Wgmma : MmaKind::Sync;
    loader = knobs.tma ? Loader::Tma : Loader::CpAsync;
    producer = knobs.producer;
  }
  return ScheduleAttr::get(kernel.getContext(), kind, knobs.tileM, knobs.tileN,
                           knobs.warps, stages, consumerCount, overlapTiles,
                           turnsFlag, persistent, MaxMode::Exact, mma, loader,
                           producer);
}

void Selection::explain(const TileChoice &row) const {
  InFlightDiagnostic remark = emitRemark(kernel.getFieldLoc("schedule"));
  remark << "schedule " << stringifyScheduleKind(kind) << ", tile "
         << knobs.tileM << " x " << knobs.tileN << ", " << knobs.warps
         << " warps, " << stages << (stages == 1 ? " stage" : " stages");
  if (isWgmma() || knobs.overlap || knobs.turns)
    remark << ", overlap " << knobs.overlap << ", "
           << (knobs.turns ? "turns" : "no turns");
  remark << ", shared memory " << use.total() << " of "
         << target.sharedBytesPerBlock << " bytes on " << StringRef(target.name)
         << "; mma " << (isWgmma() ? "wgmma" : "sync")
         << (knobs.producer ? ", with a producer" : ", self-fed") << "; loader "
         << (knobs.tma ? "tma" : "cp_async") << ": " << loaderReason
         << "; table row: " << row.source;
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
  Selection choice = {kernel, *target};
  choice.chooseFamily(wish);
  int64_t qk = kernel.getHeadDimQk(), v = kernel.getHeadDimV();
  int64_t elementBytes = kernel.getDtype().getIntOrFloatBitWidth() / 8;
  const TileChoice *row = attn::chooseTile(*target, choice.knobs.engine, qk, v,
                                           rulesOf(kernel), elementBytes);
  if (!row)
    return emitError(kernel.getFieldLoc("head_dim"))
           << "no schedule has head_dim " << qk << " / " << v << "; at most "
           << tileTable().back().maxQK;
  choice.chooseTile(wish, *row);
  choice.chooseLoader(wish);
  choice.use =
      sharedUse(choice.isWgmma() || choice.knobs.tma, qk, v, elementBytes,
                choice.knobs.tileM, choice.knobs.tileN, choice.stages);
  if (failed(choice.checkRules(wish)) || failed(choice.checkTile()) ||
      failed(choice.checkShared()) || failed(choice.checkRegisters()))
    return failure();
  kernel.setScheduleAttr(choice.attribute());
  choice.explain(*row);
  return success();
}
