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

def VerifyWarp : Pass<"attn-verify-warp"> {
  let summary = "Checks that a module is at the warp level and whole";
  let description = [{
    Ends the warp level: no tile or pipe operation is left, every ring has a
    place that fits the target's shared memory (the message lists the rings),
    every copy is committed before it is waited for, and what a wait covers is
    read behind a barrier.
  }];
}

#endif // ATTN_DIALECT_WARP_TRANSFORMS_PASSES
