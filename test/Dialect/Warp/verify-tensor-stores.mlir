// W11, and W9 of what tensor copies read.
// RUN: attn-opt %s --attn-verify-warp -split-input-file -verify-diagnostics

!o = !warp.frag<128x64xbf16, acc, warps = 8>
!tile = !warp.buffer<1x128x64xbf16>

// A wait before the tile is written again, in the loop, and one behind it.
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @right(%map: !llvm.ptr, %o: !o, %n: i32) kernel {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = warp.alloc {offset = 0 : i64} : !tile
  scf.for %i = %c0 to %n step %c1 : i32 {
    warp.tma_store_wait
    warp.sync_warp
    warp.store_shared %o, %buffer[%c0] : !o, !tile
    warp.fence_async
    warp.sync_warp
    warp.tma_store %buffer[%c0], %map, (%i, %i, %i), warps = 8 : !tile
  }
  warp.tma_store_wait
  gpu.return
}
}
}

// -----

!tile = !warp.buffer<1x128x64xbf16>

// The kernel ends under the copy.
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @end(%map: !llvm.ptr, %i: i32) kernel {
  %buffer = warp.alloc {offset = 0 : i64} : !tile
  // expected-error @below {{W11: expected warp.tma_store_wait between this copy and the end}}
  warp.tma_store %buffer[%i], %map, (%i, %i, %i), warps = 8 : !tile
  gpu.return
}
}
}

// -----

!tile = !warp.buffer<1x128x64xbf16>

// So does a role, though another one waits.
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @role(%map: !llvm.ptr, %i: i32) kernel {
  %buffer = warp.alloc {offset = 0 : i64} : !tile
  warp.role "compute" first 0 warps 8 {
    // expected-error @below {{W11: expected warp.tma_store_wait between this copy and the end}}
    warp.tma_store %buffer[%i], %map, (%i, %i, %i), warps = 8 : !tile
  }
  warp.role "other" first 8 warps 4 {
    warp.tma_store_wait
  }
  gpu.return
}
}
}

// -----

!o = !warp.frag<128x64xbf16, acc, warps = 8>
!tile = !warp.buffer<1x128x64xbf16>

// The next round of the loop writes what this one's copy reads.
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @loop(%map: !llvm.ptr, %o: !o, %n: i32) kernel {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %buffer = warp.alloc {offset = 0 : i64} : !tile
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @below {{W11: expected warp.tma_store_wait before this writes what a tensor copy reads}}
    warp.store_shared %o, %buffer[%c0] : !o, !tile
    warp.fence_async
    warp.sync_warp
    // expected-note @below {{the copy starts here}}
    warp.tma_store %buffer[%c0], %map, (%i, %i, %i), warps = 8 : !tile
  }
  warp.tma_store_wait
  gpu.return
}
}
}

// -----

!tile = !warp.buffer<1x128x64xbf16>

// A wait that only some rounds come to is none. The bytes count, not the name.
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @choice(%map: !llvm.ptr, %ptr: !llvm.ptr<1>, %stride: i64, %i: i32, %some: i1) kernel {
  %o = warp.alloc {offset = 0 : i64} : !tile
  %q = warp.alloc {offset = 8192 : i64} : !tile
  // expected-note @below {{the copy starts here}}
  warp.tma_store %o[%i], %map, (%i, %i, %i), warps = 8 : !tile
  scf.if %some {
    warp.tma_store_wait
  }
  warp.barrier {warps = 8 : i64}
  // expected-error @below {{W11: expected warp.tma_store_wait before this writes}}
  warp.cp_async %q[%i], %ptr, %stride, %i, cols = 64, warps = 8 : !tile
  warp.cp_async_commit
  warp.tma_store_wait
  gpu.return
}
}
}

// -----

!o = !warp.frag<128x64xbf16, acc, warps = 8>
!tile = !warp.buffer<1x128x64xbf16>

// One lane has waited.
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @meet(%map: !llvm.ptr, %o: !o, %i: i32) kernel {
  %buffer = warp.alloc {offset = 0 : i64} : !tile
  // expected-note @below {{the copy starts here}}
  warp.tma_store %buffer[%i], %map, (%i, %i, %i), warps = 8 : !tile
  warp.tma_store_wait
  // expected-error @below {{W11: expected warp.sync_warp or a barrier behind the warp.tma_store_wait before this writes}}
  warp.store_shared %o, %buffer[%i] : !o, !tile
  warp.fence_async
  warp.sync_warp
  gpu.return
}
}
}

// -----

!o = !warp.frag<128x64xbf16, acc, warps = 8>
!tile = !warp.buffer<1x128x64xbf16>

// W9: the copies read what was stored the other way.
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @fence(%map: !llvm.ptr, %o: !o, %i: i32) kernel {
  %buffer = warp.alloc {offset = 0 : i64} : !tile
  // expected-error @below {{W9: expected warp.fence_async after this store: products or tensor copies touch the same bytes}}
  warp.store_shared %o, %buffer[%i] : !o, !tile
  warp.sync_warp
  warp.tma_store %buffer[%i], %map, (%i, %i, %i), warps = 8 : !tile
  warp.tma_store_wait
  gpu.return
}
}
}

// -----

!o = !warp.frag<128x64xbf16, acc, warps = 8>
!tile = !warp.buffer<1x128x64xbf16>

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @fence_alone(%map: !llvm.ptr, %o: !o, %i: i32) kernel {
  %buffer = warp.alloc {offset = 0 : i64} : !tile
  // expected-error @below {{W9: expected a barrier, warp.sync_warp or warp.mbar_arrive behind the warp.fence_async after this store}}
  warp.store_shared %o, %buffer[%i] : !o, !tile
  warp.fence_async
  warp.tma_store %buffer[%i], %map, (%i, %i, %i), warps = 8 : !tile
  warp.tma_store_wait
  gpu.return
}
}
}
