// The skeleton of a kernel with roles: O = sum over tiles of bf16(Q.K^T).V, with
// rings of two slots, two warpgroups in turns, the product with V of one tile
// under way beside that with K of the next, and an output that each warp copies.
// RUN: attn-opt %s --attn-verify-warp | attn-opt --emit=ptx | FileCheck %s

!s = !warp.frag<128x64xf32, acc, warps = 8>
!p = !warp.frag<128x64xbf16, acc, warps = 8>
!o = !warp.frag<128x128xf32, acc, warps = 8>
!out = !warp.frag<128x128xbf16, acc, warps = 8>
!tile = !warp.buffer<1x128x128xbf16>
!ring = !warp.buffer<2x64x128xbf16>
!one = !warp.barriers<1>
!bars = !warp.barriers<2>

// The key loop: no branch but those of the waits, two products, one wait that
// leaves the second under way, one that leaves none, two arrivals.
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16
// CHECK: mbarrier.arrive.shared::cta.b64
// CHECK: mbarrier.try_wait
// CHECK: bar.sync %r{{[0-9]+}}, 256;
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16
// CHECK-NEXT: wgmma.commit_group
// CHECK: mbarrier.try_wait
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16
// CHECK-NEXT: wgmma.commit_group
// CHECK: bar.arrive %r{{[0-9]+}}, 256;
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: mbarrier.arrive.shared::cta.b64
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: mbarrier.arrive.shared::cta.b64
// CHECK: cvt.rn.bf16x2.f32
// CHECK: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: fence.proxy.async.shared::cta;
// CHECK-NEXT: bar.warp.sync -1;
// CHECK: st.global.v4

module attributes {attn.level = #attn.level<warp>, attn.target = "sm_90a"} {
gpu.module @kernels {
gpu.func @loop(%q_map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64},
               %k_map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64},
               %v_map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64},
               %out: !llvm.ptr<1>, %stride: i64, %rows: i32, %tiles: i32)
    kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %q = warp.alloc {offset = 0 : i64} : !tile
  %k = warp.alloc {offset = 32768 : i64} : !ring
  %v = warp.alloc {offset = 65536 : i64} : !ring
  %q_full = warp.mbar_alloc {offset = 98304 : i64} : !one
  %k_full = warp.mbar_alloc {offset = 98312 : i64} : !bars
  %k_empty = warp.mbar_alloc {offset = 98328 : i64} : !bars
  %v_full = warp.mbar_alloc {offset = 98344 : i64} : !bars
  %v_empty = warp.mbar_alloc {offset = 98360 : i64} : !bars
  warp.mbar_init %q_full {arrivals = 1 : i64} : !one
  warp.mbar_init %k_full {arrivals = 1 : i64} : !bars
  warp.mbar_init %k_empty {arrivals = 8 : i64} : !bars
  warp.mbar_init %v_full {arrivals = 1 : i64} : !bars
  warp.mbar_init %v_empty {arrivals = 8 : i64} : !bars
  warp.mbar_publish {warps = 12 : i64}
  %last = arith.subi %tiles, %c1 : i32
  warp.role "load" first 0 warps 4 {
    warp.set_registers {count = 24 : i64}
    warp.single {
      warp.mbar_expect %q_full[%c0], bytes = 32768 : !one
      warp.tma_load %q[%c0], %q_map, (%c0, %c0, %c0) signals %q_full[%c0] : !tile, !one
      scf.for %j = %c0 to %tiles step %c1 : i32 {
        %slot = arith.remui %j, %c2 : i32
        %round = arith.divui %j, %c2 : i32
        %phase = arith.andi %round, %c1 : i32
        %free = arith.xori %phase, %c1 : i32
        %row = arith.muli %j, %c64 : i32
        warp.mbar_wait %k_empty[%slot] parity %free : !bars
        warp.mbar_expect %k_full[%slot], bytes = 16384 : !bars
        warp.tma_load %k[%slot], %k_map, (%row, %c0, %c0) signals %k_full[%slot] : !ring, !bars
        warp.mbar_wait %v_empty[%slot] parity %free : !bars
        warp.mbar_expect %v_full[%slot], bytes = 16384 : !bars
        warp.tma_load %v[%slot], %v_map, (%row, %c0, %c0) signals %v_full[%slot] : !ring, !bars
      }
    }
  }
  warp.role "compute" first 4 warps 8 {
    warp.set_registers {count = 240 : i64, grow}
    %zero = arith.constant 0.0 : f32
    %o_init = warp.fill %zero : !o
    warp.turn_start {groups = 2 : i64, barrier = 1 : i64}
    warp.mbar_wait %q_full[%c0] parity %c0 : !one
    warp.mbar_wait %k_full[%c0] parity %c0 : !bars
    %s0 = warp.wgmma %q[%c0], %k[%c0] depth 128 : !tile, !ring -> !s
    %s1 = warp.wgmma_wait %s0 {pending = 0 : i64} : !s
    warp.mbar_arrive %k_empty[%c0] : !bars
    %p_first = warp.cast %s1 : !s -> !p
    %r:2 = scf.for %j = %c1 to %tiles step %c1 iter_args(%acc = %o_init, %p = %p_first) -> (!o, !p) : i32 {
      %slot = arith.remui %j, %c2 : i32
      %round = arith.divui %j, %c2 : i32
      %phase = arith.andi %round, %c1 : i32
      %before = arith.subi %j, %c1 : i32
      %v_slot = arith.remui %before, %c2 : i32
      %v_round = arith.divui %before, %c2 : i32
      %v_phase = arith.andi %v_round, %c1 : i32
      warp.mbar_wait %k_full[%slot] parity %phase : !bars
      warp.turn_wait {groups = 2 : i64, barrier = 1 : i64}
      %s = warp.wgmma %q[%c0], %k[%slot] depth 128 : !tile, !ring -> !s
      warp.mbar_wait %v_full[%v_slot] parity %v_phase : !bars
      %o1 = warp.wgmma %p, %v[%v_slot] depth 64 acc %acc transposed : !p, !ring -> !o
      warp.turn_pass {groups = 2 : i64, barrier = 1 : i64}
      %s2 = warp.wgmma_wait %s {pending = 1 : i64} : !s
      warp.mbar_arrive %k_empty[%slot] : !bars
      %o2, %p1 = warp.wgmma_wait %o1, %p {pending = 0 : i64} : !o, !p
      warp.mbar_arrive %v_empty[%v_slot] : !bars
      %p2 = warp.cast %s2 : !s -> !p
      scf.yield %o2, %p2 : !o, !p
    }
    %slot = arith.remui %last, %c2 : i32
    %round = arith.divui %last, %c2 : i32
    %phase = arith.andi %round, %c1 : i32
    warp.mbar_wait %v_full[%slot] parity %phase : !bars
    %o3 = warp.wgmma %r#1, %v[%slot] depth 64 acc %r#0 transposed : !p, !ring -> !o
    %o4, %p4 = warp.wgmma_wait %o3, %r#1 {pending = 0 : i64} : !o, !p
    %o16 = warp.cast %o4 : !o -> !out
    warp.barrier {warps = 8 : i64, id = 3 : i64}
    warp.store_shared %o16, %q[%c0] : !out, !tile
    warp.fence_async
    warp.sync_warp
    warp.copy_out %q[%c0], %out, %stride, %rows, cols = 128, warps = 8 {own_rows} : !tile
  }
  gpu.return
}
}
}
