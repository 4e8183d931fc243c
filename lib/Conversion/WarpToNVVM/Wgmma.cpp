//===- Wgmma.cpp - Lowering of the products of warpgroups -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands in shared memory are named by 64-bit descriptors (PTX ISA,
// "Matrix-descriptor-format"): bits 0-13 the address, 16-29 the leading
// and 32-45 the stride offset, all in units of 16 bytes; 62-63 the swizzle.
// The high word is the same for all; the low one is computed with 32 bits from
// values that are the same for the whole warp, and so in uniform registers.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

using namespace mlir;
using namespace attn::warp;

namespace {

/// What an address in a descriptor counts, in bytes.
constexpr int64_t unitBytes = 16;
/// Bits of an address in a descriptor. Above them, the address of shared memory
/// has the block's rank in its cluster.
constexpr int64_t addressMask = 0x3FFF;
/// First bit of the leading offset.
constexpr int64_t leadingShift = 16;
/// Swizzle of 128 bytes (bit 62), and 8 rows of 128 bytes from one group of
/// rows to the next (bit 32).
constexpr int64_t highWord = (1 << 30) | (8 * 128 / unitBytes);
/// Bytes of a row of a panel.
constexpr int64_t panelBytes = 128;
/// Elements of k of one wgmma, and rows of m.
constexpr int64_t stepDepth = 16, groupRows = 64;
/// Registers of `a` per step.
constexpr int64_t stepRegisters = 4;

/// The address of a slot in a descriptor's units, as the low word.
Value lowWord(Emitter &emitter, BufferType type, Value buffer, Value slot) {
  OpBuilder &builder = emitter.builder;
  Value address = LLVM::PtrToIntOp::create(builder, emitter.loc,
                                           builder.getI32Type(), buffer);
  Value low = arith::AndIOp::create(builder, emitter.loc,
                                    emitter.divide(address, unitBytes),
                                    emitter.i32(addressMask));
  if (type.getSlots() == 1)
    return low;
  return emitter.add(
      low, emitter.mul(slot, emitter.i32(type.getSlotBytes() / unitBytes)));
}

/// The descriptor whose low word is `low + offset`.
Value descriptor(Emitter &emitter, Value low, int64_t offset) {
  OpBuilder &builder = emitter.builder;
  Value words = LLVM::PoisonOp::create(
      builder, emitter.loc, VectorType::get({2}, builder.getI32Type()));
  Value parts[] = {offset == 0 ? low : emitter.add(low, emitter.i32(offset)),
                   emitter.i32(highWord)};
  for (auto [index, part] : llvm::enumerate(parts))
    words = LLVM::InsertElementOp::create(builder, emitter.loc, words, part,
                                          emitter.i32(index));
  return emitter.bitcast(words, builder.getI64Type());
}

/// Steps along the columns of a tile (K-major): two units per step, and from
/// panel to panel all rows.
int64_t columnStep(BufferType type, int64_t step) {
  constexpr int64_t stepUnits = stepDepth * 2 / unitBytes;
  constexpr int64_t panelSteps = panelBytes / (stepDepth * 2);
  return step / panelSteps * (type.getRows() * panelBytes / unitBytes) +
         step % panelSteps * stepUnits;
}

/// Steps along the rows (MN-major): 16 rows. The leading offset, from panel to
/// panel, is in the same word.
int64_t rowStep(BufferType type, int64_t step) {
  int64_t leading = type.getRows() * panelBytes / unitBytes;
  return (leading << leadingShift) + step * stepDepth * panelBytes / unitBytes;
}

struct WgmmaLowering : WarpPattern<WgmmaOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(WgmmaOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    BufferType b = op.getB().getType();
    auto steps = static_cast<int64_t>(op.getDepth()) / stepDepth;
    WgmmaGroup group;
    group.columns = op.getResult().getType().getColumns();
    group.element = b.getElementType();
    group.transposed = op.getTransposed();
    if (op.getAcc())
      group.acc = adaptor.getAcc();
    // Descriptors that are the same each time a loop runs would all wait in
    // registers through it, and there are not as many uniform ones: pinned.
    if (auto a = dyn_cast<BufferType>(op.getA().getType())) {
      Value low =
          pin(emitter, leftWord(op, emitter, a, adaptor.getA().front()));
      for (int64_t step = 0; step < steps; ++step)
        group.aDescriptors.push_back(
            descriptor(emitter, low, columnStep(a, step)));
    } else {
      // [n8][h] is [step][k8][h].
      group.aValues = adaptor.getA().take_front(steps * stepRegisters);
    }
    Value low = lowWord(emitter, b, adaptor.getB().front(), op.getBSlot());
    if (b.getSlots() == 1)
      low = pin(emitter, low);
    for (int64_t step = 0; step < steps; ++step)
      group.bDescriptors.push_back(descriptor(
          emitter, low,
          op.getTransposed() ? rowStep(b, step) : columnStep(b, step)));
    rewriter.replaceOpWithMultiple(op, {issueWgmma(emitter, group)});
    return success();
  }

  /// The first row of this warpgroup in `a`.
  Value leftWord(WgmmaOp op, Emitter &emitter, BufferType type,
                 Value buffer) const {
    Value low = lowWord(emitter, type, buffer, op.getASlot());
    if (type.getRows() == groupRows)
      return low;
    constexpr int64_t groupUnits = groupRows * panelBytes / unitBytes;
    return emitter.add(
        low, emitter.mul(position.warpgroup(emitter), emitter.i32(groupUnits)));
  }
};

struct WgmmaWaitLowering : WarpPattern<WgmmaWaitOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(WgmmaWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    SmallVector<Value> registers;
    for (ValueRange values : adaptor.getValues())
      llvm::append_range(registers, values);
    registers = waitWgmma(emitter, op.getPending(), registers);
    SmallVector<ValueRange> results;
    ValueRange rest(registers);
    for (ValueRange values : adaptor.getValues()) {
      results.push_back(rest.take_front(values.size()));
      rest = rest.drop_front(values.size());
    }
    rewriter.replaceOpWithMultiple(op, results);
    return success();
  }
};

struct SetRegistersLowering : WarpPattern<SetRegistersOp> {
  using WarpPattern::WarpPattern;

  LogicalResult
  matchAndRewrite(SetRegistersOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::SetMaxRegisterOp>(
        op, op.getCount(),
        op.getGrow() ? NVVM::SetMaxRegisterAction::increase
                     : NVVM::SetMaxRegisterAction::decrease);
    return success();
  }
};

} // namespace

void attn::warp::populateWgmmaPatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns,
                                       ThreadPosition &position) {
  patterns.add<WgmmaLowering, WgmmaWaitLowering, SetRegistersLowering>(
      converter, patterns.getContext(), position);
}
