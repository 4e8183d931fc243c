//===- Passes.td - Passes over the warp dialect -*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_WARP_TRANSFORMS_PASSES
#define ATTN_DIALECT_WARP_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def AllocateShared : Pass<"attn-allocate-shared"> {
  let summary = "Gives every ring its place in shared memory";
  let description = [{
    Rings stand one after the other from offset 0, in order of appearance, each
    at a multiple of 1024 bytes. Rings of one `warp.group` share their place.
    The total becomes the kernel's `attn.shared_bytes`. Before:

    ```mlir
    %q = warp.alloc {warp.group = "q"} : !warp.buffer<1x128x128xbf16>
    %k = warp.alloc {warp.group = "k"} : !warp.buffer<1x64x128xbf16>
    ```

    After:

    ```mlir
    %q = warp.alloc {offset = 0 : i64} : !warp.buffer<1x128x128xbf16>
    %k = warp.alloc {offset = 32768 : i64} : !warp.buffer<1x64x128xbf16>
    ```
  }];
}

def AssignRegisters : Pass<"attn-assign-registers"> {
  let summary = "Moves registers from the role that loads to the one that computes";
  let description = [{
    A kernel of two roles is launched with as many registers for each thread as
    the multiprocessor has; the loading role gives up what it does not need
    (`setmaxnreg`). With 4 + 8 warps: 168 at launch become 40 and 232. Nothing
    happens on targets without, and to roles that are no whole warpgroups.
  }];
}

def VerifyWarp : Pass<"attn-verify-warp"> {
  let summary = "Checks that a module is at the warp level and whole";
  let description = [{
    Ends the warp level: no tile or pipe operation is left, and

    * (W1) every ring has a place, mbarriers one of their own;
    * (W2) it fits the target's shared memory (the message lists the rings);
    * (W3) every copy is committed, or arrives at a barrier;
    * (W4) what a wait covers is read behind a barrier;
    * (W5) an mbarrier is initialised once and published before any use;
    * (W6) the roles ask for no more registers than the launch has;
    * (W7) a named barrier serves one purpose, and all warps of a role meet at it;
    * (W8) the result of a product passes through a wait that covers it before
      anything else touches it (an operand in registers is a value that stays;
      what refills its registers is made to pass through the same wait by
      attn-place-awaits, and ptxas says where it is not: C7513);
    * (W9) a store to bytes that products read or tensor copies touch is followed
      by `warp.fence_async` and then by a barrier or an arrival; so is the wait for
      copies to bytes that products read, and the wait for a phase at which such
      copies arrive by `warp.fence_async`;
    * (W10) a phase of an mbarrier waits for as many arrivals and bytes as come;
    * (W11) bytes that tensor copies take to memory are not written again before
      `warp.tma_store_wait` and a meeting of the threads behind it; the wait stands
      before the end of the role, too.
  }];
}

#endif // ATTN_DIALECT_WARP_TRANSFORMS_PASSES
