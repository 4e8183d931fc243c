// W8: what attn-verify-warp says of the registers of products under way.
// verify-async.mlir has what is right.
// RUN: attn-opt %s --attn-verify-warp -split-input-file -verify-diagnostics

!s = !warp.frag<64x64xf32, acc, warps = 4>
!p = !warp.frag<64x64xbf16, acc, warps = 4>
!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w8_use(%c0: i32) kernel {
  %q = warp.alloc {offset = 0 : i64} : !tile
  // expected-note @below {{the product}}
  %s = warp.wgmma %q[%c0], %q[%c0] depth 64 : !tile, !tile -> !s
  // expected-error @below {{W8: expected warp.wgmma_wait between a product and the use of its result}}
  %p = warp.cast %s : !s -> !p
  %s1 = warp.wgmma_wait %s {pending = 0 : i64} : !s
  gpu.return
}
}
}

// -----

!s = !warp.frag<64x64xf32, acc, warps = 4>
!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w8_pending(%c0: i32) kernel {
  %q = warp.alloc {offset = 0 : i64} : !tile
  %s = warp.wgmma %q[%c0], %q[%c0] depth 64 : !tile, !tile -> !s
  // expected-note @below {{the product}}
  %t = warp.wgmma %q[%c0], %q[%c0] depth 64 : !tile, !tile -> !s
  // expected-error @below {{W8: expected at most 0 pending: with 1 the product of this value may be under way}}
  %s1, %t1 = warp.wgmma_wait %s, %t {pending = 1 : i64} : !s, !s
  gpu.return
}
}
}

// -----

// Over the back edge: the product before is the second youngest at the wait.
!s = !warp.frag<64x64xf32, acc, warps = 4>
!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w8_loop(%c0: i32, %n: i32, %one: i32, %zero: f32) kernel {
  %q = warp.alloc {offset = 0 : i64} : !tile
  %o0 = warp.fill %zero : !s
  %r = scf.for %j = %c0 to %n step %one iter_args(%o = %o0) -> (!s) : i32 {
    // expected-error @below {{W8: expected at most 0 pending: with 1 the product of this value may be under way}}
    %o1 = warp.wgmma_wait %o {pending = 1 : i64} : !s
    // expected-note @below {{the product}}
    %o2 = warp.wgmma %q[%c0], %q[%c0] depth 64 acc %o1 : !tile, !tile -> !s
    scf.yield %o2 : !s
  }
  gpu.return
}
}
}

// -----

// The result of a loop that leaves a product under way.
!s = !warp.frag<64x64xf32, acc, warps = 4>
!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w8_result(%c0: i32, %n: i32, %one: i32, %zero: f32, %ptr: !llvm.ptr<1>, %stride: i64) kernel {
  %q = warp.alloc {offset = 0 : i64} : !tile
  %o0 = warp.fill %zero : !s
  %r = scf.for %j = %c0 to %n step %one iter_args(%o = %o0) -> (!s) : i32 {
    %o1 = warp.wgmma_wait %o {pending = 0 : i64} : !s
    // expected-note @below {{the product}}
    %o2 = warp.wgmma %q[%c0], %q[%c0] depth 64 acc %o1 : !tile, !tile -> !s
    scf.yield %o2 : !s
  }
  // expected-error @below {{W8: expected warp.wgmma_wait between a product and the use of its result}}
  warp.store_global %r, %ptr, %stride, %n, cols = 64 : !s
  gpu.return
}
}
}

