//===- SelectSchedule.cpp - Fill in the schedule --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Analysis/TileTable.h"

namespace attn::ir {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn::ir

using namespace mlir;
using namespace attn;
using namespace attn::ir;

/// Rows and keys of a tile of mma.sync m16n8k16: 16 rows for a warp of S = QK
/// and 16 keys for a step of O = PV.
static constexpr int64_t mmaRows = 16, mmaKeys = 16;

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

/// As many of the table's warps as leave each 16 rows or a multiple.
static int64_t warpsFor(int64_t tileM, int64_t warps) {
  while (warps > 1 && tileM % (mmaRows * warps))
    warps /= 2;
  return warps;
}

static LogicalResult checkTile(KernelOp kernel, int64_t tileM, int64_t tileN) {
  if (tileM % mmaRows == 0 && tileN % mmaKeys == 0)
    return success();
  return emitError(kernel.getFieldLoc("schedule"))
         << "tile " << tileM << " x " << tileN
         << " does not fit the tensor cores: expected a multiple of " << mmaRows
         << " query rows and of " << mmaKeys << " keys";
}

static LogicalResult checkShared(KernelOp kernel,
                                 const layout::GpuTarget &target,
                                 const SharedUse &use, int64_t tileM,
                                 int64_t tileN) {
  if (use.total() <= target.sharedBytesPerBlock)
    return success();
  return emitError(kernel.getFieldLoc("schedule"))
         << "tile " << tileM << " x " << tileN << " needs " << use.total()
         << " bytes of shared memory (Q " << use.q << " + " << use.stages
         << (use.stages == 1 ? " stage" : " stages") << " of K " << use.k
         << " and V " << use.v << "), but " << StringRef(target.name) << " has "
         << target.sharedBytesPerBlock
         << "; take a smaller tile or fewer stages";
}

/// Accumulators live in registers. Where those of O and S alone exceed what a
/// thread has, every step would go through memory.
static LogicalResult checkRegisters(KernelOp kernel, int64_t headDimV,
                                    int64_t tileM, int64_t tileN,
                                    int64_t warps) {
  // CUDA C++ Programming Guide, table of technical specifications: at most 255
  // 32-bit registers for a thread, for every target.
  constexpr int64_t registersPerThread = 255, lanes = 32;
  int64_t threads = warps * lanes;
  int64_t o = tileM * headDimV / threads, s = tileM * tileN / threads;
  if (o + s <= registersPerThread)
    return success();
  return emitError(kernel.getFieldLoc("schedule"))
         << "tile " << tileM << " x " << tileN << " needs " << o + s
         << " accumulator registers in a thread of " << warps
         << (warps == 1 ? " warp" : " warps") << " (O " << o << " + S " << s
         << "), but a thread has " << registersPerThread
         << "; take a smaller tile";
}

LogicalResult SelectSchedule::select(KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  ScheduleAttr wish = kernel.getSchedule().value_or(ScheduleAttr());
  if (wish && wish.isSelected())
    return success();
  const layout::GpuTarget *target = targetOf(kernel);
  if (!target)
    return failure();
  int64_t qk = kernel.getHeadDimQk(), v = kernel.getHeadDimV();
  bool hasRules = kernel.getMask() || kernel.getScore() || kernel.getSink();
  const TileChoice *row = chooseTile(qk, v, hasRules);
  if (!row)
    return emitError(kernel.getFieldLoc("head_dim"))
           << "no schedule has head_dim " << qk << " / " << v << "; at most "
           << tileTable().back().maxHeadDim;

  int64_t tileM = row->tileM, tileN = row->tileN, stages = row->stages;
  std::optional<int64_t> writtenWarps;
  if (wish) {
    tileM = wish.getTileM().value_or(tileM);
    tileN = wish.getTileN().value_or(tileN);
    stages = wish.getStages().value_or(stages);
    writtenWarps = wish.getWarps();
  }
  int64_t warps = writtenWarps.value_or(warpsFor(tileM, row->warps));
  int64_t elementBytes = kernel.getDtype().getIntOrFloatBitWidth() / 8;
  SharedUse use = sharedUse(qk, v, elementBytes, tileM, tileN, stages);
  if (failed(checkTile(kernel, tileM, tileN)) ||
      failed(checkShared(kernel, *target, use, tileM, tileN)) ||
      failed(checkRegisters(kernel, v, tileM, tileN, warps)))
    return failure();

  auto selected = ScheduleAttr::get(
      context, ScheduleKind::Fa2, tileM, tileN, warps, stages,
      /*consumers=*/std::nullopt, /*overlap=*/std::nullopt,
      /*turns=*/std::nullopt, /*persistent=*/std::nullopt, MaxMode::Exact);
  kernel.setScheduleAttr(selected);
  emitRemark(kernel.getFieldLoc("schedule"))
      << "schedule fa2, tile " << tileM << " x " << tileN << ", " << warps
      << " warps, " << stages << (stages == 1 ? " stage" : " stages")
      << ", shared memory " << use.total() << " of "
      << target->sharedBytesPerBlock << " bytes on " << StringRef(target->name)
      << "; table row: " << row->source;
  return success();
}
