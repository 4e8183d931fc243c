//===- WarpAsyncOps.td - Roles, mbarriers, TMA and wgmma ---*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_WARP_IR_WARPASYNCOPS
#define ATTN_DIALECT_WARP_IR_WARPASYNCOPS

include "attn/Dialect/Warp/IR/WarpTypes.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

class Warp_Op<string mnemonic, list<Trait> traits = []> : Op<Warp_Dialect, mnemonic, traits>;

/// An operation that orders others: nothing moves across it.
class Warp_OrderingOp<string mnemonic, list<Trait> traits = []>
    : Warp_Op<mnemonic, !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>])>;

def Warp_GlobalPtr : LLVM_PointerInAddressSpace<1>;
def Warp_Warps : ConfinedAttr<I64Attr, [IntPositive]>;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Warp_RoleOp : Warp_Op<"role", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "What some warps of the block do, beside the others";
  let description = [{
    The warps `first` .. `first + warps - 1` of the block run the region; all
    others skip it. Inside, the indices of threads and warps count from the
    role's first warp. What the roles exchange goes through shared memory.

    ```mlir
    warp.role "load" first 0 warps 4 {
      warp.set_registers {count = 24 : i64}
    }
    warp.role "compute" first 4 warps 8 {
      warp.set_registers {count = 240 : i64, grow}
    }
    ```

    Constraints:
    * (RO1) the warps lie in the block and do not belong to another role beside this one;
    * (RO2) a role is not inside another one.
  }];
  let arguments = (ins StrAttr:$name, ConfinedAttr<I64Attr, [IntNonNegative]>:$first, Warp_Warps:$warps);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `first` $first `warps` $warps attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Warp_SetRegistersOp : Warp_OrderingOp<"set_registers"> {
  let summary = "Change how many registers a thread of the role has";
  let description = [{
    By `setmaxnreg`: gives registers back to the block, or with `grow` takes them
    from what others gave back, waiting until there are enough.

    ```mlir
    warp.set_registers {count = 24 : i64}
    warp.set_registers {count = 240 : i64, grow}
    ```

    Constraints:
    * (SR1) the count is a multiple of 8 from 24 to 256;
    * (SR2) it stands directly in a role of whole warpgroups: first warp and warps are multiples of 4.
  }];
  let arguments = (ins I64Attr:$count, UnitAttr:$grow);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Warp_SingleOp : Warp_Op<"single", [SingleBlock, NoTerminator, RecursiveMemoryEffects]> {
  let summary = "One thread runs the region";
  let description = [{
    A thread of the role's (without roles, the block's) first warp, elected once, runs the region; all others
    skip it and do not wait for it.

    ```mlir
    warp.single {
      warp.mbar_expect %full[%slot], bytes = 32768 : !warp.barriers<2>
    }
    ```

    Constraint: (SI1) it is in a role, or in a kernel without roles, and not in
    another `warp.single`.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//

def Warp_MbarAllocOp : Warp_Op<"mbar_alloc"> {
  let summary = "Reserve a ring of mbarriers in shared memory";
  let description = [{
    Names the bytes from `offset` on in the block's dynamic shared memory. The
    offset must be set before the lowering.

    ```mlir
    %full = warp.mbar_alloc {offset = 98304 : i64} : !warp.barriers<2>
    ```

    Constraint: (MB1) the offset is a multiple of 16 bytes and not negative.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Res<Warp_Barriers, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Warp_MbarInitOp : Warp_OrderingOp<"mbar_init"> {
  let summary = "Make each slot a barrier in its first phase";
  let description = [{
    One thread of the block does it; `warp.mbar_publish` must follow before any
    use. A phase ends after `arrivals` arrivals and all bytes expected.

    ```mlir
    warp.mbar_init %full {arrivals = 1 : i64} : !warp.barriers<2>
    ```

    Constraints:
    * (MI1) there is 1 arrival to 2^20 - 1;
    * (MI2) it is not in a role.
  }];
  let arguments = (ins Warp_Barriers:$barriers,
                       ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<1048575>]>:$arrivals);
  let assemblyFormat = "$barriers attr-dict `:` type($barriers)";
  let hasVerifier = 1;
}

def Warp_MbarPublishOp : Warp_OrderingOp<"mbar_publish"> {
  let summary = "Show the barriers made before to the whole block and to its copies";
  let description = [{
    A fence towards the asynchronous copies, and a barrier of `warps` warps: the
    whole block.

    ```mlir
    warp.mbar_publish {warps = 12 : i64}
    ```

    Constraints:
    * (MP1) the warps are those of the block;
    * (MP2) it is not in a role.
  }];
  let arguments = (ins Warp_Warps:$warps);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Warp_MbarWaitOp : Warp_OrderingOp<"mbar_wait"> {
  let summary = "Wait until the phase of this parity has ended";
  let description = [{
    Returns at once when the barrier is already in the next phase. Of a barrier
    in its first phase (parity 0), parity 1 counts as ended.

    ```mlir
    warp.mbar_wait %full[%slot] parity %p : !warp.barriers<2>
    ```
  }];
  let arguments = (ins Warp_Barriers:$barriers, I32:$slot, I32:$parity);
  let assemblyFormat = "$barriers `[` $slot `]` `parity` $parity attr-dict `:` type($barriers)";
}

def Warp_MbarExpectOp : Warp_OrderingOp<"mbar_expect"> {
  let summary = "Arrive, and make the phase wait for `bytes` more bytes";
  let description = [{
    ```mlir
    warp.mbar_expect %full[%slot], bytes = 32768 : !warp.barriers<2>
    ```

    Constraint: (ME1) it is in a `warp.single`: every thread that runs it arrives.
  }];
  let arguments = (ins Warp_Barriers:$barriers, I32:$slot,
                       ConfinedAttr<I64Attr, [IntMinValue<1>, IntMaxValue<1048575>]>:$bytes);
  let assemblyFormat = "$barriers `[` $slot `]` `,` `bytes` `=` $bytes attr-dict `:` type($barriers)";
  let hasVerifier = 1;
}

def Warp_MbarArriveOp : Warp_OrderingOp<"mbar_arrive"> {
  let summary = "Arrive once per warp";
  let description = [{
    The first lane of each warp arrives, without a branch. What the other lanes
    did before is covered when they have met since, as they do in `wgmma` and
    its wait, `ldmatrix` and `warp.sync_warp`.

    ```mlir
    warp.mbar_arrive %empty[%slot] : !warp.barriers<2>
    ```

    Constraint: (MA1) it is not in a `warp.single`.
  }];
  let arguments = (ins Warp_Barriers:$barriers, I32:$slot);
  let assemblyFormat = "$barriers `[` $slot `]` attr-dict `:` type($barriers)";
  let hasVerifier = 1;
}

def Warp_CpAsyncArriveOp : Warp_OrderingOp<"cp_async_arrive"> {
  let summary = "Arrive, as every thread, once the copies that it started have landed";
  let description = [{
    By `cp.async.mbarrier.arrive.noinc`: nobody waits. The phase expects an arrival
    of each thread of the role. To the asynchronous proxy (`wgmma`) what was copied
    is an ordinary store: who waits for the phase runs `warp.fence_async` before it
    lets products read.

    ```mlir
    warp.cp_async_arrive %full[%slot] : !warp.barriers<2>
    ```

    Constraint: (CAA1) it is not in a `warp.single`.
  }];
  let arguments = (ins Warp_Barriers:$barriers, I32:$slot);
  let assemblyFormat = "$barriers `[` $slot `]` attr-dict `:` type($barriers)";
  let hasVerifier = 1;
}

def Warp_MbarSignalOp : Warp_OrderingOp<"mbar_signal"> {
  let summary = "Arrive, as one thread";
  let description = [{
    ```mlir
    warp.mbar_signal %full[%slot] : !warp.barriers<2>
    ```

    Constraint: (MS1) it is in a `warp.single`: every thread that runs it arrives.
  }];
  let arguments = (ins Warp_Barriers:$barriers, I32:$slot);
  let assemblyFormat = "$barriers `[` $slot `]` attr-dict `:` type($barriers)";
  let hasVerifier = 1;
}

def Warp_MailAllocOp : Warp_Op<"mail_alloc"> {
  let summary = "Reserve a few scalars in shared memory";
  let description = [{
    Sixteen bytes from `offset` on, through which threads pass scalars; who may
    write and read when is said by barriers beside it. The offset must be set
    before the lowering.

    ```mlir
    %mail = warp.mail_alloc {offset = 98368 : i64} : !llvm.ptr<3>
    ```

    Constraint: (ML1) the offset is a multiple of 8 bytes and not negative.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Res<LLVM_PointerInAddressSpace<3>, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t mailBytes = 16;
  }];
}

def Warp_TmaLoadOp : Warp_OrderingOp<"tma_load"> {
  let summary = "Start the copy of a tile from a tensor to shared memory";
  let description = [{
    By `cp.async.bulk.tensor`, one copy per panel of the buffer. `map` points to
    a CUtensorMap of the dimensions (column, row, head, batch), whose box is one
    panel of the buffer and whose swizzle is 128 bytes; the tile begins at
    (0, row, head, batch). Elements outside the tensor are filled with zeros. All
    bytes of the slot count towards the phase of the barrier.

    Sequences that lie one behind the other have no dimension of their own, yet
    what is past the end of one must read as zero too. `(row, head, start) of
    rows` is row `row` of the `rows` ones from row `start` on, by a map that
    finds it by two coordinates and a wrap of the address (attn/Layout/RaggedMap.h).

    ```mlir
    warp.tma_load %k[%slot], %map, (%row, %head, %batch) signals %full[%slot] : !warp.buffer<2x128x128xbf16>, !warp.barriers<2>
    ```

    Constraints:
    * (TL1) the buffer has at most 256 rows;
    * (TL2) its columns are whole panels of 128 bytes;
    * (TL3) it is in a `warp.single`.
  }];
  let arguments = (ins Warp_Buffer:$buffer, I32:$slot, LLVM_PointerInAddressSpace<0>:$map, I32:$row, I32:$head,
                       I32:$batch, Optional<I32>:$rows, Warp_Barriers:$barriers, I32:$barrierSlot);
  let assemblyFormat = [{
    $buffer `[` $slot `]` `,` $map `,` `(` $row `,` $head `,` $batch `)` (`of` $rows^)?
    `signals` $barriers `[` $barrierSlot `]` attr-dict `:` type($buffer) `,` type($barriers)
  }];
  let hasVerifier = 1;
}

def Warp_TmaStoreOp : Warp_OrderingOp<"tma_store"> {
  let summary = "Start the copy of a tile from shared memory to a tensor";
  let description = [{
    By `cp.async.bulk.tensor`. Each of the role's `warps` warps copies the rows
    that it holds of an accumulator of as many rows and warps: one thread of it
    starts a copy per panel of the buffer, and makes them one group. `map` points
    to a CUtensorMap of the dimensions (column, row, head, batch), whose box is
    the warp's share of a panel and whose swizzle is 128 bytes; the tile begins
    at (0, row, head, batch), or `of rows` of a sequence, as `warp.tma_load` has it.
    Elements outside the tensor are not written. Until `warp.tma_store_wait` the
    bytes of the buffer must not be written.

    ```mlir
    warp.tma_store %o[%slot], %map, (%row, %head, %batch), warps = 8 : !warp.buffer<1x128x128xbf16>
    ```

    Constraints:
    * (TS1) the rows are a multiple of 16 x warps, at most 256 of them a warp's;
    * (TS2) the columns are whole panels of 128 bytes;
    * (TS3) it is not in a `warp.single`.
  }];
  let arguments = (ins Warp_Buffer:$buffer, I32:$slot, LLVM_PointerInAddressSpace<0>:$map, I32:$row, I32:$head,
                       I32:$batch, Optional<I32>:$rows, Warp_Warps:$warps);
  let assemblyFormat = [{
    $buffer `[` $slot `]` `,` $map `,` `(` $row `,` $head `,` $batch `)` (`of` $rows^)? `,` `warps` `=` $warps
    attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def Warp_TmaStoreWaitOp : Warp_OrderingOp<"tma_store_wait"> {
  let summary = "Wait until the copies that this warp started have read shared memory";
  let description = [{
    All that `warp.tma_store` started. The other lanes know of it behind a meeting
    (`warp.sync_warp`, `warp.barrier`). What was copied may still be on its way to
    the tensor; the end of the kernel waits for that.

    ```mlir
    warp.tma_store_wait
    ```

    Constraint: (TW1) it is not in a `warp.single`.
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Warp_FenceAsyncOp : Warp_OrderingOp<"fence_async"> {
  let summary = "Order this thread's accesses to shared memory before later copies and wgmmas";
  let description = [{
    `wgmma` and `cp.async.bulk` reach shared memory through another proxy than
    loads and stores: between the two stand this fence and then a barrier.

    ```mlir
    warp.fence_async
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Order among warps
//===----------------------------------------------------------------------===//

def Warp_SyncWarpOp : Warp_OrderingOp<"sync_warp"> {
  let summary = "Wait for the threads of the warp; shared memory is then the same for them";
  let description = [{
    ```mlir
    warp.sync_warp
    ```
  }];
  let assemblyFormat = "attr-dict";
}

class Warp_TurnOp<string mnemonic, string doc> : Warp_OrderingOp<mnemonic> {
  let description = doc # [{

    Constraints:
    * (TU1) there are 2 or 3 groups;
    * (TU2) the barriers `barrier` .. `barrier + groups - 1` are among 1 .. 15;
    * (TU3) it is in a role of 4 x groups warps, or in a kernel of as many without roles.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<3>]>:$groups, I64Attr:$barrier);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Warp_TurnStartOp : Warp_TurnOp<"turn_start", [{
    The warpgroups of the role take turns, in the order of their warps. Each has
    a barrier of the block (`bar`), from `barrier` on, at which it meets the
    one whose turn was before. The last warpgroup gives the first one its first
    turn.

    ```mlir
    warp.turn_start {groups = 2 : i64, barrier = 1 : i64}
    ```
}]> {
  let summary = "Begin to take turns";
}

def Warp_TurnWaitOp : Warp_TurnOp<"turn_wait", [{
    ```mlir
    warp.turn_wait {groups = 2 : i64, barrier = 1 : i64}
    ```
}]> {
  let summary = "Wait for this warpgroup's turn";
}

def Warp_TurnPassOp : Warp_TurnOp<"turn_pass", [{
    ```mlir
    warp.turn_pass {groups = 2 : i64, barrier = 1 : i64}
    ```
}]> {
  let summary = "Give the turn to the next warpgroup, without waiting";
}

//===----------------------------------------------------------------------===//
// Products of a warpgroup
//===----------------------------------------------------------------------===//

def Warp_WgmmaOp : Warp_OrderingOp<"wgmma", [
    AttrSizedOperandSegments,
    OptionalTypesMatchWith<"acc has the type of the result", "result", "acc", "$_self">]> {
  let summary = "Start a product of warpgroups, accumulated in f32";
  let description = [{
    `result[m, n] = acc[m, n] + sum over k < depth of a[m, k] * b[n, k]`; without
    `acc` the sum alone. With `transposed`, b[k, n] in place of b[n, k]. `a` is a
    tile in shared memory or an accumulator rounded to 16 bits. Warpgroup g
    computes rows 64 g .. 64 g + 63 by `wgmma.mma_async.m64nNk16`, one per 16 of
    k, as one group.

    Until a `warp.wgmma_wait` has covered the group, its result, `acc`, an
    `a` in registers, and the tiles must not be touched.

    ```mlir
    %s = warp.wgmma %q[%c0], %k[%slot] depth 128 : !warp.buffer<1x128x128xbf16>, !warp.buffer<2x128x128xbf16> -> !warp.frag<128x128xf32, acc, warps = 8>
    %o1 = warp.wgmma %p, %v[%slot] depth 128 acc %o transposed : !warp.frag<128x128xbf16, acc, warps = 8>, !warp.buffer<2x128x128xbf16> -> !warp.frag<128x128xf32, acc, warps = 8>
    ```

    Constraints:
    * (WG1) the warps are a multiple of 4, those of the role if there is one, and each holds 16 rows;
    * (WG2) `a` has the rows (in registers, also the warps) of the result;
    * (WG3) the result has at most 256 columns, and they lie in `b`: its rows, or its columns with `transposed`;
    * (WG4) `depth` is a positive multiple of 16 and lies in both: the columns of `a`, and the columns of `b`, or its rows with `transposed`;
    * (WG5) tiles have whole panels of 128 bytes;
    * (WG6) `a` and `b` have one element type of 16 bits;
    * (WG7) an `a` in shared memory has its slot, one in registers none.
  }];
  let arguments = (ins AnyTypeOf<[Warp_Buffer, Warp_Acc16]>:$a, Optional<I32>:$aSlot, Warp_Buffer:$b, I32:$bSlot,
                       Optional<Warp_AccF32>:$acc, I64Attr:$depth, UnitAttr:$transposed);
  let results = (outs Warp_AccF32:$result);
  let assemblyFormat = [{
    $a (`[` $aSlot^ `]`)? `,` $b `[` $bSlot `]` `depth` $depth (`acc` $acc^)? (`transposed` $transposed^)? attr-dict
    `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Warp_WgmmaWaitOp : Warp_OrderingOp<"wgmma_wait", [
    RangedTypesMatchWith<"results are the values", "values", "results", "$_self">]> {
  let summary = "Wait until at most `pending` of this warpgroup's products are under way";
  let description = [{
    Every value that a covered product reads or writes in registers passes
    through: the results may be used, the operands no more.

    ```mlir
    %s1, %p1 = warp.wgmma_wait %s, %p {pending = 1 : i64} : !warp.frag<128x128xf32, acc, warps = 8>, !warp.frag<128x128xbf16, acc, warps = 8>
    ```

    Constraint: (WW1) at most 7 are left pending, and there is a value.
  }];
  let arguments = (ins Variadic<Warp_AnyFrag>:$values,
                       ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<7>]>:$pending);
  let results = (outs Variadic<Warp_AnyFrag>:$results);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let hasVerifier = 1;
}

#endif // ATTN_DIALECT_WARP_IR_WARPASYNCOPS
