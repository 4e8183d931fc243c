// What attn-verify-warp says of mbarriers, registers, named barriers and fences,
// by its labels.
// RUN: attn-opt %s --attn-verify-warp -split-input-file -verify-diagnostics

// Right: the order of a kernel with two roles, products in flight over each
// other and over the back edge, and an output that is fenced.
!s = !warp.frag<128x64xf32, acc, warps = 8>
!p = !warp.frag<128x64xbf16, acc, warps = 8>
!tile = !warp.buffer<1x128x64xbf16>
!ring = !warp.buffer<2x64x64xbf16>
!bars = !warp.barriers<2>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @right(%map: !llvm.ptr, %n: i32, %zero: f32) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %q = warp.alloc {offset = 0 : i64} : !tile
  %k = warp.alloc {offset = 16384 : i64} : !ring
  %full = warp.mbar_alloc {offset = 32768 : i64} : !bars
  %empty = warp.mbar_alloc {offset = 32784 : i64} : !bars
  warp.mbar_init %full {arrivals = 1 : i64} : !bars
  warp.mbar_init %empty {arrivals = 8 : i64} : !bars
  warp.mbar_publish {warps = 12 : i64}
  warp.role "load" first 0 warps 4 {
    warp.set_registers {count = 24 : i64}
    warp.single {
      scf.for %j = %c0 to %n step %c1 : i32 {
        warp.mbar_wait %empty[%c0] parity %c1 : !bars
        warp.mbar_expect %full[%c0], bytes = 8192 : !bars
        warp.tma_load %k[%c0], %map, (%j, %c0, %c0) signals %full[%c0] : !ring, !bars
      }
    }
  }
  warp.role "compute" first 4 warps 8 {
    warp.set_registers {count = 240 : i64, grow}
    warp.turn_start {groups = 2 : i64, barrier = 1 : i64}
    %o0 = warp.fill %zero : !s
    %s0 = warp.wgmma %q[%c0], %k[%c0] depth 64 : !tile, !ring -> !s
    %s1 = warp.wgmma_wait %s0 {pending = 0 : i64} : !s
    %p0 = warp.cast %s1 : !s -> !p
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%o = %o0, %p = %p0) -> (!s, !p) : i32 {
      warp.mbar_wait %full[%c0] parity %c0 : !bars
      warp.turn_wait {groups = 2 : i64, barrier = 1 : i64}
      %s = warp.wgmma %q[%c0], %k[%c0] depth 64 : !tile, !ring -> !s
      %o1 = warp.wgmma %p, %k[%c1] depth 64 acc %o transposed : !p, !ring -> !s
      warp.turn_pass {groups = 2 : i64, barrier = 1 : i64}
      %s2 = warp.wgmma_wait %s {pending = 1 : i64} : !s
      %o2, %p1 = warp.wgmma_wait %o1, %p {pending = 0 : i64} : !s, !p
      warp.mbar_arrive %empty[%c0] : !bars
      %p2 = warp.cast %s2 : !s -> !p
      scf.yield %o2, %p2 : !s, !p
    }
    // In flight over the back edge.
    %t:2 = scf.for %j = %c0 to %n step %c1 iter_args(%o = %r#0, %p = %r#1) -> (!s, !p) : i32 {
      %s = warp.wgmma %q[%c0], %k[%c0] depth 64 : !tile, !ring -> !s
      %o1, %p1 = warp.wgmma_wait %o, %p {pending = 1 : i64} : !s, !p
      %s2 = warp.wgmma_wait %s {pending = 0 : i64} : !s
      %p2 = warp.cast %s2 : !s -> !p
      %o2 = warp.wgmma %p2, %k[%c1] depth 64 acc %o1 transposed : !p, !ring -> !s
      scf.yield %o2, %p2 : !s, !p
    }
    %u:2 = warp.wgmma_wait %t#0, %t#1 {pending = 0 : i64} : !s, !p
    %out = warp.cast %u#0 : !s -> !p
    warp.barrier {warps = 8 : i64, id = 3 : i64}
    warp.store_shared %out, %q[%c0] : !p, !tile
    warp.fence_async
    warp.sync_warp
  }
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w1() kernel {
  // expected-error @below {{W1: expected an offset at the warp level (attn-allocate-shared)}}
  %bars = warp.mbar_alloc : !warp.barriers<2>
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w1_apart() kernel {
  // expected-note @below {{which are also used here}}
  %q = warp.alloc {offset = 0 : i64} : !warp.buffer<1x128x64xbf16>
  // expected-error @below {{W1: expected barriers at bytes of their own, found 16376 .. 16391}}
  %bars = warp.mbar_alloc {offset = 16376 : i64} : !warp.barriers<2>
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w5_init(%slot: i32) kernel {
  %bars = warp.mbar_alloc {offset = 0 : i64} : !warp.barriers<2>
  warp.mbar_publish {warps = 4 : i64}
  // expected-error @below {{W5: expected warp.mbar_init of these barriers before their use}}
  warp.mbar_wait %bars[%slot] parity %slot : !warp.barriers<2>
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w5_twice(%slot: i32) kernel {
  %bars = warp.mbar_alloc {offset = 0 : i64} : !warp.barriers<2>
  // expected-error @below {{W5: expected one warp.mbar_init of these barriers, found another}}
  warp.mbar_init %bars {arrivals = 1 : i64} : !warp.barriers<2>
  warp.mbar_init %bars {arrivals = 2 : i64} : !warp.barriers<2>
  warp.mbar_publish {warps = 4 : i64}
  warp.mbar_wait %bars[%slot] parity %slot : !warp.barriers<2>
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w5_publish(%slot: i32) kernel {
  %bars = warp.mbar_alloc {offset = 0 : i64} : !warp.barriers<2>
  warp.mbar_publish {warps = 4 : i64}
  warp.mbar_init %bars {arrivals = 1 : i64} : !warp.barriers<2>
  // expected-error @below {{W5: expected warp.mbar_publish between the initialisation of these barriers and their use}}
  warp.mbar_arrive %bars[%slot] : !warp.barriers<2>
  gpu.return
}
}
}

// -----

// 168 registers x 384 threads at launch; 24 x 128 + 248 x 256 is more.
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
// expected-error @below {{W6: the roles ask for 66560 registers, a launch of 384 threads has 168 each, 64512 in all: a role would wait for ever}}
gpu.func @w6() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  warp.role "load" first 0 warps 4 {
    warp.set_registers {count = 24 : i64}
  }
  warp.role "compute" first 4 warps 8 {
    warp.set_registers {count = 248 : i64, grow}
  }
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w6_direction() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  warp.role "load" first 0 warps 4 {
    // expected-error @below {{W6: expected a count of at most the 168 that a thread has at launch, found 176}}
    warp.set_registers {count = 176 : i64}
  }
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
// expected-error @below {{W6: expected known_block_size on a kernel whose roles set their registers}}
gpu.func @w6_block() kernel {
  warp.role "load" first 0 warps 4 {
    warp.set_registers {count = 24 : i64}
  }
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w7_turn() kernel {
  warp.role "compute" first 0 warps 8 {
    // expected-note @below {{here}}
    warp.turn_wait {groups = 2 : i64, barrier = 1 : i64}
    // expected-error @below {{W7: expected a barrier of its own, found 2, which is used otherwise}}
    warp.barrier {warps = 8 : i64, id = 2 : i64}
  }
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w7_roles() kernel {
  warp.role "one" first 0 warps 4 {
    // expected-note @below {{here}}
    warp.barrier {warps = 4 : i64, id = 2 : i64}
  }
  warp.role "other" first 4 warps 4 {
    // expected-error @below {{W7: expected a barrier of its own, found 2, which is used otherwise}}
    warp.barrier {warps = 4 : i64, id = 2 : i64}
  }
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w7_warps() kernel {
  warp.role "one" first 0 warps 8 {
    // expected-error @below {{W7: expected the role's 8 warps, found 4}}
    warp.barrier {warps = 4 : i64, id = 2 : i64}
  }
  gpu.return
}
}
}

// -----

!s = !warp.frag<64x64xf32, acc, warps = 4>
!p = !warp.frag<64x64xbf16, acc, warps = 4>
!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w9_fence(%c0: i32, %p: !p) kernel {
  %a = warp.alloc {offset = 0 : i64} : !tile
  %b = warp.alloc {offset = 8192 : i64} : !tile
  // expected-error @below {{W9: expected warp.fence_async after this store: products or tensor copies touch the same bytes}}
  warp.store_shared %p, %a[%c0] : !p, !tile
  warp.barrier {warps = 4 : i64}
  %s = warp.wgmma %a[%c0], %b[%c0] depth 64 : !tile, !tile -> !s
  %s1 = warp.wgmma_wait %s {pending = 0 : i64} : !s
  gpu.return
}
}
}

// -----

!s = !warp.frag<64x64xf32, acc, warps = 4>
!p = !warp.frag<64x64xbf16, acc, warps = 4>
!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w9_meet(%c0: i32, %p: !p) kernel {
  %a = warp.alloc {offset = 0 : i64} : !tile
  %b = warp.alloc {offset = 8192 : i64} : !tile
  warp.barrier {warps = 4 : i64}
  // expected-error @below {{W9: expected a barrier, warp.sync_warp or warp.mbar_arrive behind the warp.fence_async after this store}}
  warp.store_shared %p, %a[%c0] : !p, !tile
  warp.fence_async
  %s = warp.wgmma %a[%c0], %b[%c0] depth 64 : !tile, !tile -> !s
  %s1 = warp.wgmma_wait %s {pending = 0 : i64} : !s
  gpu.return
}
}
}

// -----

// A copy is complete only behind its wait: a fence before counts for nothing.
!s = !warp.frag<64x64xf32, acc, warps = 4>
!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w9_copy(%c0: i32, %ptr: !llvm.ptr<1>, %stride: i64) kernel {
  %a = warp.alloc {offset = 0 : i64} : !tile
  warp.cp_async %a[%c0], %ptr, %stride, %c0, cols = 64, warps = 4 : !tile
  warp.cp_async_commit
  warp.fence_async
  // expected-error @below {{W9: expected warp.fence_async after this wait for copies: products or tensor copies touch the same bytes}}
  warp.cp_async_wait {groups = 0 : i64}
  warp.barrier {warps = 4 : i64}
  %s = warp.wgmma %a[%c0], %a[%c0] depth 64 : !tile, !tile -> !s
  %s1 = warp.wgmma_wait %s {pending = 0 : i64} : !s
  gpu.return
}
}
}

// -----

// Whoever waits for the phase of another role's copies fences for itself; no
// meeting need follow.
!s = !warp.frag<64x64xf32, acc, warps = 4>
!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w9_fed(%c0: i32, %ptr: !llvm.ptr<1>, %stride: i64) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  %a = warp.alloc {offset = 0 : i64} : !tile
  %full = warp.mbar_alloc {offset = 8192 : i64} : !warp.barriers<1>
  warp.mbar_init %full {arrivals = 128 : i64} : !warp.barriers<1>
  warp.mbar_publish {warps = 8 : i64}
  warp.role "load" first 0 warps 4 {
    warp.cp_async %a[%c0], %ptr, %stride, %c0, cols = 64, warps = 4 : !tile
    warp.cp_async_arrive %full[%c0] : !warp.barriers<1>
  }
  warp.role "compute" first 4 warps 4 {
    warp.mbar_wait %full[%c0] parity %c0 : !warp.barriers<1>
    warp.fence_async
    %s = warp.wgmma %a[%c0], %a[%c0] depth 64 : !tile, !tile -> !s
    %s1 = warp.wgmma_wait %s {pending = 0 : i64} : !s
    // expected-error @below {{W9: expected warp.fence_async after this wait for copies}}
    warp.mbar_wait %full[%c0] parity %c0 : !warp.barriers<1>
    %t = warp.wgmma %a[%c0], %a[%c0] depth 64 : !tile, !tile -> !s
    %t1 = warp.wgmma_wait %t {pending = 0 : i64} : !s
  }
  gpu.return
}
}
}

// -----

// W10: every thread of the role that copies arrives.
!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w10_copies(%c0: i32, %ptr: !llvm.ptr<1>, %stride: i64) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  %a = warp.alloc {offset = 0 : i64} : !tile
  %full = warp.mbar_alloc {offset = 8192 : i64} : !warp.barriers<1>
  // expected-error @below {{W10: expected 128 arrivals, as many as the roles and copies of this kernel make, found 4}}
  warp.mbar_init %full {arrivals = 4 : i64} : !warp.barriers<1>
  warp.mbar_publish {warps = 8 : i64}
  warp.role "load" first 0 warps 4 {
    warp.cp_async %a[%c0], %ptr, %stride, %c0, cols = 64, warps = 4 : !tile
    warp.cp_async_arrive %full[%c0] : !warp.barriers<1>
  }
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w10_arrivals(%slot: i32) kernel {
  %bars = warp.mbar_alloc {offset = 0 : i64} : !warp.barriers<2>
  // expected-error @below {{W10: expected 8 arrivals, as many as the roles and copies of this kernel make, found 4}}
  warp.mbar_init %bars {arrivals = 4 : i64} : !warp.barriers<2>
  warp.mbar_publish {warps = 12 : i64}
  warp.role "compute" first 4 warps 8 {
    warp.mbar_arrive %bars[%slot] : !warp.barriers<2>
  }
  gpu.return
}
}
}

// -----

!tile = !warp.buffer<1x64x64xbf16>
module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @w10_bytes(%map: !llvm.ptr, %slot: i32) kernel {
  %k = warp.alloc {offset = 0 : i64} : !tile
  %bars = warp.mbar_alloc {offset = 8192 : i64} : !warp.barriers<2>
  warp.mbar_init %bars {arrivals = 1 : i64} : !warp.barriers<2>
  warp.mbar_publish {warps = 12 : i64}
  warp.role "load" first 0 warps 4 {
    warp.single {
      // expected-error @below {{W10: expected 8192 bytes, what the copies behind bring, found 4096}}
      warp.mbar_expect %bars[%slot], bytes = 4096 : !warp.barriers<2>
      warp.tma_load %k[%slot], %map, (%slot, %slot, %slot) signals %bars[%slot] : !tile, !warp.barriers<2>
    }
  }
  gpu.return
}
}
}
