//===- Patterns.h - Parts of the lowering of the warp dialect ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_WARPTONVVM_PATTERNS_H
#define ATTN_LIB_CONVERSION_WARPTONVVM_PATTERNS_H

#include "attn/Dialect/Warp/IR/Warp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn::warp {

/// Threads of a warp.
constexpr int64_t warpThreads = 32;
/// Warps of a warpgroup.
constexpr int64_t groupWarps = 4;
/// All threads of a warp, as a mask.
constexpr int64_t fullMask = -1;
/// Threads that a block can have.
constexpr int64_t maxBlockThreads = 1024;
/// The symbol of the block's dynamic shared memory.
constexpr llvm::StringLiteral sharedMemoryName = "attn_shared";

/// Creates the small operations of which address arithmetic consists.
class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value exclusiveOr(mlir::Value a, mlir::Value b);
  /// `a / divisor` and `a % divisor` of a value that is not negative.
  mlir::Value divide(mlir::Value a, int64_t divisor);
  mlir::Value remainder(mlir::Value a, int64_t divisor);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value extend(mlir::Value i32Value);
  /// `base` plus a number of elements or bytes.
  mlir::Value offset(mlir::Value base, mlir::Value elements, mlir::Type type);
  mlir::Value offset(mlir::Value base, int64_t bytes);
  mlir::Value bitcast(mlir::Value value, mlir::Type type);
  /// Whether two i32 are equal.
  mlir::Value equal(mlir::Value a, mlir::Value b);
  /// Calls an intrinsic of LLVM; null when it has no result.
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type result,
                        mlir::ValueRange arguments);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// The thread's index in its block, read anew: to the optimiser a value of this
/// place, from which it hoists nothing.
mlir::Value readThreadIndex(Emitter &emitter);

/// An i32 that the optimiser takes for a new value of this place: what is
/// computed from it stays behind it. Costs no instruction.
mlir::Value pin(Emitter &emitter, mlir::Value value);

/// Whether the phase of parity `parity` of the mbarrier at `address` has ended,
/// on a target without `try_wait` (PTX ISA, mbarrier.test_wait: sm_80).
mlir::Value testPhase(Emitter &emitter, mlir::Value address,
                      mlir::Value parity);

/// Whether the target of the operation's module has the asynchronous proxy, and
/// with it the instructions of Hopper for mbarriers and elections. A module
/// that names none does.
bool hasAsyncProxy(mlir::Operation *op);

/// Arrives at the mbarrier at `address` (a pointer to shared memory) where
/// `lane` is 0, by predicate: a branch would split the block around it.
void arriveFirstLane(Emitter &emitter, mlir::Value address, mlir::Value lane);

/// The products of one warpgroup that are issued as one group.
struct WgmmaGroup {
  int64_t columns;          ///< N of m64nNk16
  mlir::Type element;       ///< bf16 or f16
  bool transposed;          ///< b is MN-major
  mlir::ValueRange acc;     ///< f32 per accumulator; empty: start from zero
  mlir::ValueRange aValues; ///< four i32 per step, or none
  llvm::SmallVector<mlir::Value> aDescriptors; ///< i64 per step, or none
  llvm::SmallVector<mlir::Value> bDescriptors; ///< i64 per step
};

/// Issues `group` between a fence and a commit; returns the accumulators, which
/// are those of a wait only.
llvm::SmallVector<mlir::Value> issueWgmma(Emitter &emitter,
                                          const WgmmaGroup &group);

/// Waits until `pending` groups are left; returns `values` as new values behind
/// the wait.
llvm::SmallVector<mlir::Value> waitWgmma(Emitter &emitter, int64_t pending,
                                         mlir::ValueRange values);

/// Where the executing thread stands in its warps: those of its role, where
/// there is one, else those of the block.
///
/// The warp's index comes through a reduction, so that the assembler knows it
/// to be uniform, and once, at the start of the kernel. The thread's index is
/// read anew at every statement of the work loop, and before a key loop for all
/// that is in it: offsets are moved out of key loops, but what the load of Q
/// has in common with the store of O does not stay in registers between them.
class ThreadPosition {
public:
  /// Index in the group of warps, 0 .. 32 * warps - 1.
  mlir::Value thread(Emitter &emitter);
  /// Index in the warp, 0 .. 31.
  mlir::Value lane(Emitter &emitter);
  /// Index of the warp in its group.
  mlir::Value warp(Emitter &emitter);
  /// Index of the warpgroup in its group of warps.
  mlir::Value warpgroup(Emitter &emitter);
  /// First row of `type` that the warp of this thread holds.
  mlir::Value firstRow(Emitter &emitter, FragType type);
  /// Index of the warp in the block.
  mlir::Value blockWarp(Emitter &emitter);
  /// Whether this is the first thread of the block.
  mlir::Value firstOfBlock(Emitter &emitter);

private:
  /// Runs `make` at the start of the kernel, once for each `cache`.
  mlir::Value
  atKernelStart(Emitter &emitter,
                llvm::DenseMap<mlir::Operation *, mlir::Value> &cache,
                llvm::function_ref<mlir::Value(mlir::Value thread)> make);

  llvm::DenseMap<mlir::Operation *, mlir::Value> loopThreads;
  llvm::DenseMap<mlir::Operation *, mlir::Value> blockWarps;
  llvm::DenseMap<mlir::Operation *, mlir::Value> roleWarps;
  llvm::DenseMap<mlir::Operation *, mlir::Value> firstThreads;
};

/// Offset of a thread's chunk in a panel.
///
/// The address of a chunk is a sum of three parts, kept apart so that each
/// costs as little as it can: the slot, the same for the whole warp (a uniform
/// register); the thread's row and swizzled chunk, the same for all tiles and
/// operands that are read alike; and constants. The swizzle depends on the row
/// modulo 8 only, so whole groups of 8 rows and whole panels are constants, and
/// another chunk of the same row is a constant XORed into the thread's part.
mlir::Value swizzledOffset(Emitter &emitter, const layout::Panel &panel,
                           mlir::Value row, mlir::Value chunk);
/// The address of a slot, a pointer to shared memory.
mlir::Value slotAddress(Emitter &emitter, BufferType type, mlir::Value buffer,
                        mlir::Value slot);
/// The address of an mbarrier, a pointer to shared memory.
mlir::Value barrierAddress(Emitter &emitter, BarriersType type,
                           mlir::Value barriers, mlir::Value slot);
/// `slot + (offset ^ chunks * 16) + bytes`, a pointer to shared memory.
mlir::Value sharedPointer(Emitter &emitter, mlir::Value slot,
                          mlir::Value offset, int64_t chunks, int64_t bytes);

/// Whether an i32 is a constant of at least `bound`.
bool isConstantAtLeast(mlir::Value value, int64_t bound);

/// A pattern that knows the thread's position.
template <typename Op> struct WarpPattern : mlir::OpConversionPattern<Op> {
  using Adaptor = typename mlir::OpConversionPattern<Op>::OneToNOpAdaptor;
  WarpPattern(const mlir::TypeConverter &converter, mlir::MLIRContext *context,
              ThreadPosition &position)
      : mlir::OpConversionPattern<Op>(converter, context), position(position) {}

  ThreadPosition &position;
};

/// What an operation reserves in shared memory becomes its address.
template <typename Alloc> struct PlaceLowering : WarpPattern<Alloc> {
  using WarpPattern<Alloc>::WarpPattern;

  mlir::LogicalResult
  matchAndRewrite(Alloc op, typename WarpPattern<Alloc>::Adaptor adaptor,
                  mlir::ConversionPatternRewriter &rewriter) const override {
    Emitter emitter(rewriter, op.getLoc());
    mlir::Type type =
        this->getTypeConverter()->convertType(op.getResult().getType());
    mlir::Value base = mlir::LLVM::AddressOfOp::create(rewriter, op.getLoc(),
                                                       type, sharedMemoryName);
    rewriter.replaceOp(op, emitter.offset(base, *op.getOffset()));
    return mlir::success();
  }
};

void populateCopyPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns,
                          ThreadPosition &position);
void populateOperandPatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns,
                             ThreadPosition &position);
void populateElementwisePatterns(const mlir::TypeConverter &converter,
                                 mlir::RewritePatternSet &patterns,
                                 ThreadPosition &position);
void populateStorePatterns(const mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns,
                           ThreadPosition &position);
void populateBarrierPatterns(const mlir::TypeConverter &converter,
                             mlir::RewritePatternSet &patterns,
                             ThreadPosition &position);
void populateTurnPatterns(const mlir::TypeConverter &converter,
                          mlir::RewritePatternSet &patterns,
                          ThreadPosition &position);
void populateWgmmaPatterns(const mlir::TypeConverter &converter,
                           mlir::RewritePatternSet &patterns,
                           ThreadPosition &position);

/// Records which arguments of a kernel are passed by value, for the pass that
/// restores it behind `convert-gpu-to-nvvm`.
void recordByValue(mlir::gpu::GPUModuleOp module);

/// Turns roles and elected threads into branches, after all that is in them
/// was lowered.
void lowerRoles(mlir::gpu::GPUModuleOp module, ThreadPosition &position);

} // namespace attn::warp

#endif // ATTN_LIB_CONVERSION_WARPTONVVM_PATTERNS_H
