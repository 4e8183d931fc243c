//===- Passes.td - Passes over the pipe dialect -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_PIPE_TRANSFORMS_PASSES
#define ATTN_DIALECT_PIPE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def InsertChannels : Pass<"attn-insert-channels"> {
  let summary = "Puts the kernel into a role and operand tiles into channels";
  let description = [{
    A tile that a matrix instruction reads passes through shared memory: its
    load becomes a put into a channel and a take from it, with a release after
    the last use. Loads in the key loop get rings of `stages` slots, others one
    slot. The 16-bit output leaves through a channel that lies in Q's memory,
    which is free by then; with `store = tma` any output does, by tensor copies,
    and in memory of its own where another role loads the next Q. Before:

    ```mlir
    %K = tile.load %kv[%k0] : ...
    ```

    After:

    ```mlir
    pipe.put %kc[%n], %kv[%k0]
    %K = pipe.take %kc[%n]
    ...
    pipe.release %kc[%n]
    ```
  }];
  let dependentDialects = ["::attn::ir::AttnDialect", "::attn::pipe::PipeDialect",
                           "::mlir::arith::ArithDialect"];
}

def AssignStages : Pass<"attn-assign-stages"> {
  let summary = "Says how far each put runs ahead and where it stands";
  let description = [{
    Gives every operation of a key loop a `#pipe.at<ahead, order>`; the rotation
    is left to `attn-overlap-loads`. With rings of two and more slots the puts run
    `slots - 1` tiles ahead and follow the takes at the top of the body, so one
    barrier per tile is enough. With one slot, the first tile that is used (K)
    is fetched one ahead, once the second (V) was taken, which is the barrier
    that says K's slot is free; the others are fetched in their own iteration,
    after the first take: Flash-Attention 2's order.
  }];
}

def OverlapLoads : Pass<"attn-overlap-loads"> {
  let summary = "Rotates the key loop so that puts run ahead";
  let description = [{
    Orders the body by `#pipe.at` and moves each put that runs ahead to a later
    tile: in the body it serves tile `k0 - ahead * step`, when there is one, and
    the first `ahead` tiles are fetched before the loop.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def OverlapGemms : Pass<"attn-overlap-gemms"> {
  let summary = "Starts the logits of the next tile before this tile's output";
  let description = [{
    With `overlap = 1` the key loop is rotated by half a tile: while the softmax
    of one tile runs, the product O += P V of the tile before is under way.
    There is one rotated loop; the first tile's front and the last one's back
    stand before and behind it. Before:

    ```mlir
    %r:3 = tile.for_keys mixed (%k0) in (%begin, %end) ... iter(%m, %l, %O) {
      front: S(k0), softmax -> %m1, %l1, %P16, %O1 (rescaled)
      back:  %O2 = %O1 + %P16 V(k0)
      tile.yield %m1, %l1, %O2
    }
    ```

    After:

    ```mlir
    %r:3 = scf.if %any {
      front(last tile)
      %s:4 = tile.for_keys mixed (%k0) in (%begin, %last) ... iter(%m, %l, %O1, %P16) {
        S(k0)
        %O2 = %O1 + %P16 V(k0 + step)
        rest of front(k0) with %O2
        tile.yield %m1, %l1, %O1', %P16'
      }
      %O = %s#2 + %s#3 V(begin)
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PartitionRoles : Pass<"attn-partition-roles"> {
  let summary = "Gives puts a role of their own";
  let description = [{
    With a producer the kernel gets a second role: a copy of the loops that holds
    the puts, in the order in which the computing role takes the tiles, and
    scalar code. The computing role keeps everything else.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def NumberTiles : Pass<"attn-number-tiles"> {
  let summary = "Counts the tiles of channels whose slots are signalled";
  let description = [{
    Who fills such a channel and who empties it agree about a tile by its number:
    the n-th put is the n-th take. A cursor for each channel is carried through
    the loops of each role, across work items; in a role that feeds itself two,
    one for the puts, those that are switched off left out, and one for the takes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def PlaceAwaits : Pass<"attn-place-awaits"> {
  let summary = "Starts products asynchronously and waits where they are used";
  let description = [{
    For wgmma. A dot's result is awaited before its first use, with as many
    products pending as were started since; and before a put into a slot that it
    reads. The weights that refill registers
    which the product still reads pass through the same await. Slots are released
    behind it. Where the first use is a choice that passes the product on in one
    arm (`max = lazy`: O is rescaled or not), the other arm waits for itself and
    the await stands behind the choice, so that nothing in front of it waits.
  }];
}

def InsertTurns : Pass<"attn-insert-turns"> {
  let summary = "Lets warpgroups start their products one after the other";
  let description = [{
    With `turns`, the products of a tile are started between `pipe.turn_wait` and
    `pipe.turn_pass`: while one warpgroup's are computed, the others run their
    softmax (FlashAttention-3, ping-pong). A turn ends at the first use of a
    product, and where the warpgroups meet.
  }];
}

def PlaceWaits : Pass<"attn-place-waits"> {
  let summary = "Counts what may be pending at each take; places syncs";
  let description = [{
    A take waits for its own put only: `pending` is the number of puts that
    follow that put on every way to the take. Takes that directly follow each
    other wait once. A put whose slot was released since the last point where
    all warps met gets a `pipe.sync` before it. What leaves by tensor copies is
    waited for (`pipe.drained`) before the next tile takes its place, at once where
    the memory is another channel's, and at the end of the role.
  }];
}

def SplitRange : Pass<"attn-split-range"> {
  let summary = "Splits the key loop into partial and full tiles";
  let description = [{
    Late, when the order of the body is final: the one pipelined loop becomes up
    to two that carry its values on, and masks vanish from the full one. A part
    that is empty for every launch is left out. Either keeps, of the ranges of
    `tile.key_at`, those in which its places can lie. Before:

    ```mlir
    tile.for_keys mixed (%k0) in (%begin, %end) full below %fe step 64 ...
    ```

    After:

    ```mlir
    tile.for_keys partial (%k0) in (%fe, %end) step 64 ...
    tile.for_keys full (%k0) in (%begin, %fe) step 64 ...
    ```
  }];
}

def SkipMasked : Pass<"attn-skip-masked"> {
  let summary = "Leaves out the work of tiles in which a warp's rows see nothing";
  let description = [{
    In a partial range, everything after the row maxima is put under a question that
    each warp answers for its own rows: is any logit left. If not, the tile would
    change neither maximum nor sum nor accumulator, bit for bit; and V, which may
    hold anything where no row sees it (contract C8), is not multiplied by zero.
    After:

    ```mlir
    %any = tile.any %rowMax ne 0xFF800000 : ...
    %r:3 = scf.if %any -> (...) { ... scf.yield %m1, %l1, %O1 } else { scf.yield %m, %l, %O }
    ```
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def VerifyPipe : Pass<"attn-verify-pipe"> {
  let summary = "Checks puts, takes and releases against each other";
  let description = [{
    Ends the pipe level. No load is left in a role, and in a run of two work
    items, each of several key tiles:

    - (V1) a take follows the put of its tile;
    - (V2) a put follows the release of the tile that was in its slot, and a
      point where all warps met in between; at the start of a work item, of
      every tile of the item before;
    - (V3) a release follows the take of its tile;
    - (V4) a tile is put once;
    - (V5) a tile is not read after its release;
    - (V6) `pending` of a take is not above the number of puts after its own;
    - (V7) a joined take is followed by the take that waits, before any tile is
      read;
    - (V8) memory that two channels share is used by one only when the tiles of
      the other were released and all warps met;
    - (V9) puts, takes, releases, syncs, drains and waits for them stand where this order does
      not depend on what a warp holds: in the work loop or a key loop of it, or
      under a choice there that all warps make alike;
    - (V10) a put with `ahead = n` in a key loop fetches the keys n steps left of
      k0, one before the loops those n + 1 steps left of their end, under the
      ordinal that the take has for these keys; each key loop ends where the one
      before begins;
    - (V11) of a channel that another role feeds, every tile that is put is taken
      and released, in the order of the puts;
    - (V12) with the depth of each such channel no role waits for ever;
    - (V13) what is drained through a tensor map is waited for before the memory is
      written again, and before the role ends.
  }];
}

#endif // ATTN_DIALECT_PIPE_TRANSFORMS_PASSES
