//===- WarpAsyncOps.cpp - Verifiers of roles, mbarriers, TMA and wgmma ----===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The labels in comments are the constraints of the operations' descriptions.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace attn::warp;

/// Warps of a warpgroup.
static constexpr int64_t groupWarps = 4;
/// Threads of a warp.
static constexpr int64_t warpThreads = 32;
/// Barriers of a block that `bar` names.
static constexpr int64_t namedBarriers = 16;
/// Bytes of a row in a panel that TMA and wgmma handle.
static constexpr int64_t panelBytes = 128;

/// Warps of the block that runs `op`; 0 if the kernel does not say.
static int64_t blockWarps(Operation *op) {
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  if (!kernel)
    return 0;
  std::optional<ArrayRef<int32_t>> sizes = kernel.getKnownBlockSize();
  if (!sizes)
    return 0;
  int64_t threads = 1;
  for (int32_t size : *sizes)
    threads *= size;
  return threads / warpThreads;
}

static LogicalResult verifyOutsideRole(Operation *op) {
  if (op->getParentOfType<RoleOp>())
    return op->emitOpError("expected outside a role: the whole block takes "
                           "part");
  return success();
}

/// Whether `op` is in a role, or in a kernel that is not parted into any.
static bool isInRole(Operation *op) {
  if (op->getParentOfType<RoleOp>())
    return true;
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  return kernel && !kernel.walk([](RoleOp) { return WalkResult::interrupt(); })
                        .wasInterrupted();
}

static LogicalResult verifyOutsideSingle(Operation *op, StringRef reason) {
  if (op->getParentOfType<SingleOp>())
    return op->emitOpError("expected outside warp.single: ") << reason;
  return success();
}

static LogicalResult verifyInSingle(Operation *op) {
  if (!op->getParentOfType<SingleOp>())
    return op->emitOpError("expected inside warp.single: every thread that "
                           "runs it counts");
  return success();
}

static LogicalResult verifyWholePanels(Operation *op, StringRef name,
                                       BufferType type) {
  int64_t columns = panelBytes / type.getTile().elementBytes;
  if (type.getColumns() % columns != 0)
    return op->emitOpError("expected the columns of ")
           << name << " to be a multiple of " << columns
           << " (whole panels of 128 bytes), found " << type.getColumns();
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

LogicalResult RoleOp::verify() {
  // RO2
  if ((*this)->getParentOfType<RoleOp>())
    return emitOpError("expected outside any other role");
  // RO1
  auto first = static_cast<int64_t>(getFirst());
  int64_t end = first + static_cast<int64_t>(getWarps());
  int64_t block = blockWarps(*this);
  if (block != 0 && end > block)
    return emitOpError("expected warps below the block's ")
           << block << ", found " << first << " .. " << end - 1;
  for (auto other : (*this)->getBlock()->getOps<RoleOp>()) {
    if (other == *this)
      break;
    auto otherFirst = static_cast<int64_t>(other.getFirst());
    int64_t otherEnd = otherFirst + static_cast<int64_t>(other.getWarps());
    if (first < otherEnd && otherFirst < end)
      return emitOpError("expected warps of its own, found ")
             << first << " .. " << end - 1 << ", while role \""
             << other.getName() << "\" has " << otherFirst << " .. "
             << otherEnd - 1;
  }
  return success();
}

LogicalResult SetRegistersOp::verify() {
  // SR1
  auto count = static_cast<int64_t>(getCount());
  if (count < 24 || count > 256 || count % 8 != 0)
    return emitOpError("expected a count that is a multiple of 8 from 24 to "
                       "256, found ")
           << count;
  // SR2
  auto role = dyn_cast<RoleOp>((*this)->getParentOp());
  if (!role)
    return emitOpError("expected directly in a role");
  if (role.getFirst() % groupWarps != 0 || role.getWarps() % groupWarps != 0)
    return emitOpError("expected a role of whole warpgroups (4 warps), found "
                       "first ")
           << role.getFirst() << " warps " << role.getWarps();
  return success();
}

LogicalResult SingleOp::verify() {
  // SI1
  if (!isInRole(*this))
    return emitOpError("expected in a role");
  if ((*this)->getParentOfType<SingleOp>())
    return emitOpError("expected outside any other warp.single");
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//

LogicalResult MbarAllocOp::verify() {
  // MB1
  std::optional<int64_t> offset = getOffset();
  if (offset && (*offset < 0 || *offset % BarriersType::barrierBytes != 0))
    return emitOpError("expected an offset that is a multiple of ")
           << BarriersType::barrierBytes << ", found " << *offset;
  return success();
}

LogicalResult MbarInitOp::verify() {
  // MI2
  return verifyOutsideRole(*this);
}

LogicalResult MbarPublishOp::verify() {
  // MP1
  int64_t block = blockWarps(*this);
  if (block != 0 && static_cast<int64_t>(getWarps()) != block)
    return emitOpError("expected the block's ")
           << block << " warps, found " << getWarps();
  // MP2
  return verifyOutsideRole(*this);
}

LogicalResult MbarExpectOp::verify() {
  // ME1
  return verifyInSingle(*this);
}

LogicalResult MbarSignalOp::verify() {
  // MS1
  return verifyInSingle(*this);
}

LogicalResult CpAsyncArriveOp::verify() {
  // CAA1
  return verifyOutsideSingle(*this, "every thread arrives for its own copies");
}

LogicalResult MailAllocOp::verify() {
  // ML1
  std::optional<int64_t> offset = getOffset();
  if (offset && (*offset < 0 || *offset % mailBytes != 0))
    return emitOpError("expected an offset that is a multiple of ")
           << mailBytes << ", found " << *offset;
  return success();
}

LogicalResult MbarArriveOp::verify() {
  // MA1
  return verifyOutsideSingle(*this, "the warp's first lane arrives");
}

LogicalResult TmaLoadOp::verify() {
  // TL1
  constexpr int64_t maxBox = 256;
  BufferType buffer = getBuffer().getType();
  if (buffer.getRows() > maxBox)
    return emitOpError("expected a buffer of at most ")
           << maxBox << " rows, found " << buffer.getRows();
  // TL2
  if (failed(verifyWholePanels(*this, "the buffer", buffer)))
    return failure();
  // TL3
  return verifyInSingle(*this);
}

LogicalResult TmaStoreOp::verify() {
  // TS1
  constexpr int64_t unit = 16, maxBox = 256;
  BufferType buffer = getBuffer().getType();
  auto warps = static_cast<int64_t>(getWarps());
  if (buffer.getRows() % (unit * warps) != 0 ||
      buffer.getRows() > maxBox * warps)
    return emitOpError("expected a multiple of ")
           << unit << " rows, at most " << maxBox << ", for each of " << warps
           << " warp(s), found " << buffer.getRows() << " rows";
  // TS2
  if (failed(verifyWholePanels(*this, "the buffer", buffer)))
    return failure();
  // TS3
  return verifyOutsideSingle(*this, "each warp copies its own rows");
}

LogicalResult TmaStoreWaitOp::verify() {
  // TW1
  return verifyOutsideSingle(*this, "each warp waits for its own copies");
}

//===----------------------------------------------------------------------===//
// Order among warps
//===----------------------------------------------------------------------===//

/// TU2, TU3.
static LogicalResult verifyTurn(Operation *op, int64_t groups,
                                int64_t barrier) {
  if (barrier < 1 || barrier + groups > namedBarriers)
    return op->emitOpError("expected barriers among 1 .. ")
           << namedBarriers - 1 << ", found " << barrier << " .. "
           << barrier + groups - 1;
  auto role = op->getParentOfType<RoleOp>();
  if (!isInRole(op))
    return op->emitOpError("expected in a role");
  int64_t warps = role ? static_cast<int64_t>(role.getWarps()) : blockWarps(op);
  if (warps != groups * groupWarps && (role || warps != 0))
    return op->emitOpError("expected a role of ")
           << groups * groupWarps << " warps, found " << warps;
  return success();
}

LogicalResult TurnStartOp::verify() {
  return verifyTurn(*this, getGroups(), getBarrier());
}
LogicalResult TurnWaitOp::verify() {
  return verifyTurn(*this, getGroups(), getBarrier());
}
LogicalResult TurnPassOp::verify() {
  return verifyTurn(*this, getGroups(), getBarrier());
}

//===----------------------------------------------------------------------===//
// Products of a warpgroup
//===----------------------------------------------------------------------===//

/// WG1.
static LogicalResult verifyWarpgroups(WgmmaOp op) {
  constexpr int64_t rowsPerWarp = 16;
  FragType result = op.getResult().getType();
  int64_t warps = result.getWarps();
  if (warps % groupWarps != 0)
    return op.emitOpError("expected warps that are a multiple of 4, found ")
           << warps;
  if (result.getRows() != rowsPerWarp * warps)
    return op.emitOpError("expected a result of ")
           << rowsPerWarp * warps << " rows, found " << result.getRows();
  auto role = op->getParentOfType<RoleOp>();
  if (!role)
    return success();
  if (static_cast<int64_t>(role.getWarps()) != warps)
    return op.emitOpError("expected the role's ")
           << role.getWarps() << " warps, found " << warps;
  if (role.getFirst() % groupWarps != 0)
    return op.emitOpError("expected a role whose first warp is a multiple of "
                          "4, found ")
           << role.getFirst();
  return success();
}

/// WG2, and WG7.
static LogicalResult verifyLeft(WgmmaOp op) {
  FragType result = op.getResult().getType();
  auto fragment = dyn_cast<FragType>(op.getA().getType());
  if (static_cast<bool>(op.getASlot()) == static_cast<bool>(fragment))
    return op.emitOpError("expected a slot for an a in shared memory, and none "
                          "for one in registers");
  int64_t rows = fragment ? fragment.getRows()
                          : cast<BufferType>(op.getA().getType()).getRows();
  if (rows != result.getRows())
    return op.emitOpError("expected an a of ")
           << result.getRows() << " rows, found " << rows;
  if (fragment && fragment.getWarps() != result.getWarps())
    return op.emitOpError("expected an a of ")
           << result.getWarps() << " warps, found " << fragment.getWarps();
  return success();
}

LogicalResult WgmmaOp::verify() {
  constexpr int64_t maxColumns = 256, stepDepth = 16;
  if (failed(verifyWarpgroups(*this)) || failed(verifyLeft(*this)))
    return failure();
  auto fragment = dyn_cast<FragType>(getA().getType());
  auto left = dyn_cast<BufferType>(getA().getType());
  BufferType b = getB().getType();
  // WG3
  int64_t columns = getResult().getType().getColumns();
  int64_t limit =
      std::min(maxColumns, getTransposed() ? b.getColumns() : b.getRows());
  if (columns > limit)
    return emitOpError("expected a result of at most ")
           << limit << " columns, found " << columns;
  // WG4
  auto depth = static_cast<int64_t>(getDepth());
  int64_t deepest =
      std::min(fragment ? fragment.getColumns() : left.getColumns(),
               getTransposed() ? b.getRows() : b.getColumns());
  if (depth < stepDepth || depth % stepDepth != 0 || depth > deepest)
    return emitOpError("expected a depth that is a multiple of 16 from 16 to ")
           << deepest << ", found " << depth;
  // WG6
  Type element = b.getElementType();
  Type other = fragment ? fragment.getElementType() : left.getElementType();
  if (element != other || element.isF32())
    return emitOpError("expected a and b of one type, bf16 or f16, found ")
           << other << " and " << element;
  // WG5
  if (left && failed(verifyWholePanels(*this, "a", left)))
    return failure();
  return verifyWholePanels(*this, "b", b);
}

LogicalResult WgmmaWaitOp::verify() {
  // WW1
  if (getValues().empty())
    return emitOpError("expected the values of the products waited for, found "
                       "none");
  return success();
}
