// Roles, mbarriers, TMA and wgmma parse, print and parse back.
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!s = !warp.frag<128x128xf32, acc, warps = 8>
!p = !warp.frag<128x128xbf16, acc, warps = 8>
!o = !warp.frag<128x64xf32, acc, warps = 8>
!q_buf = !warp.buffer<1x128x128xbf16>
!k_buf = !warp.buffer<2x128x128xbf16>
!v_buf = !warp.buffer<2x128x64xbf16>

gpu.module @kernels {
// CHECK-LABEL: gpu.func @roles
gpu.func @roles(%map: !llvm.ptr, %out: !llvm.ptr<1>, %stride: i64, %row: i32, %head: i32, %batch: i32, %slot: i32, %parity: i32)
    kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %q = warp.alloc : !q_buf
  %k = warp.alloc : !k_buf
  %v = warp.alloc : !v_buf
  // CHECK: %[[FULL:.*]] = warp.mbar_alloc {offset = 131072 : i64} : <2>
  %full = warp.mbar_alloc {offset = 131072 : i64} : !warp.barriers<2>
  // CHECK: %[[EMPTY:.*]] = warp.mbar_alloc : <2>
  %empty = warp.mbar_alloc : !warp.barriers<2>
  // CHECK: warp.mail_alloc {offset = 131088 : i64} : <3>
  %mail = warp.mail_alloc {offset = 131088 : i64} : !llvm.ptr<3>
  // CHECK: warp.mbar_init %[[FULL]] {arrivals = 1 : i64} : <2>
  warp.mbar_init %full {arrivals = 1 : i64} : !warp.barriers<2>
  // CHECK: warp.mbar_init %[[EMPTY]] {arrivals = 8 : i64} : <2>
  warp.mbar_init %empty {arrivals = 8 : i64} : !warp.barriers<2>
  // CHECK: warp.mbar_publish {warps = 12 : i64}
  warp.mbar_publish {warps = 12 : i64}
  // CHECK: warp.role "load" first 0 warps 4 {
  warp.role "load" first 0 warps 4 {
    // CHECK: warp.set_registers {count = 24 : i64}
    warp.set_registers {count = 24 : i64}
    // CHECK: warp.single {
    warp.single {
      // CHECK: warp.mbar_wait %[[EMPTY]][%{{.*}}] parity %{{.*}} : <2>
      warp.mbar_wait %empty[%slot] parity %parity : !warp.barriers<2>
      // CHECK: warp.mbar_signal %[[FULL]][%{{.*}}] : <2>
      warp.mbar_signal %full[%slot] : !warp.barriers<2>
      // CHECK: warp.mbar_expect %[[FULL]][%{{.*}}], bytes = 32768 : <2>
      warp.mbar_expect %full[%slot], bytes = 32768 : !warp.barriers<2>
      // CHECK: warp.tma_load %{{.*}}[%{{.*}}], %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}) signals %[[FULL]][%{{.*}}] : <2x128x128xbf16>, <2>
      warp.tma_load %k[%slot], %map, (%row, %head, %batch) signals %full[%slot] : !k_buf, !warp.barriers<2>
      // CHECK: warp.tma_load %{{.*}}[%{{.*}}], %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}) of %{{.*}} signals
      warp.tma_load %k[%slot], %map, (%row, %head, %batch) of %row signals %full[%slot] : !k_buf, !warp.barriers<2>
    }
    // CHECK: warp.cp_async_arrive %[[FULL]][%{{.*}}] : <2>
    warp.cp_async_arrive %full[%slot] : !warp.barriers<2>
  }
  // CHECK: warp.role "compute" first 4 warps 8 {
  warp.role "compute" first 4 warps 8 {
    // CHECK: warp.set_registers {count = 240 : i64, grow}
    warp.set_registers {count = 240 : i64, grow}
    // CHECK: warp.turn_start {barrier = 1 : i64, groups = 2 : i64}
    warp.turn_start {groups = 2 : i64, barrier = 1 : i64}
    // CHECK: warp.turn_wait {barrier = 1 : i64, groups = 2 : i64}
    warp.turn_wait {groups = 2 : i64, barrier = 1 : i64}
    // CHECK: %[[S:.*]] = warp.wgmma %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] depth 128 : !warp.buffer<1x128x128xbf16>, <2x128x128xbf16> -> <128x128xf32, acc, warps = 8>
    %s = warp.wgmma %q[%c0], %k[%slot] depth 128 : !q_buf, !k_buf -> !s
    // CHECK: warp.tma_store %{{.*}}[%{{.*}}], %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}), warps = 8 : <1x128x128xbf16>
    warp.tma_store %q[%c0], %map, (%row, %head, %batch), warps = 8 : !q_buf
    // CHECK: warp.tma_store %{{.*}}[%{{.*}}], %{{.*}}, (%{{.*}}, %{{.*}}, %{{.*}}) of %{{.*}}, warps = 8
    warp.tma_store %q[%c0], %map, (%row, %head, %batch) of %row, warps = 8 : !q_buf
    // CHECK: warp.tma_store_wait
    warp.tma_store_wait
    // CHECK: warp.turn_pass {barrier = 1 : i64, groups = 2 : i64}
    warp.turn_pass {groups = 2 : i64, barrier = 1 : i64}
    // CHECK: %[[S1:.*]] = warp.wgmma_wait %[[S]] {pending = 0 : i64} : !warp.frag<128x128xf32, acc, warps = 8>
    %s1 = warp.wgmma_wait %s {pending = 0 : i64} : !s
    %p = warp.cast %s1 : !s -> !p
    // CHECK: %[[O:.*]] = warp.wgmma %[[P:.*]], %{{.*}}[%{{.*}}] depth 128 transposed : !warp.frag<128x128xbf16, acc, warps = 8>, <2x128x64xbf16> -> <128x64xf32, acc, warps = 8>
    %o = warp.wgmma %p, %v[%slot] depth 128 transposed : !p, !v_buf -> !o
    // CHECK: %[[O1:.*]] = warp.wgmma %[[P]], %{{.*}}[%{{.*}}] depth 112 acc %[[O]] transposed : !warp.frag<128x128xbf16, acc, warps = 8>, <2x128x64xbf16> -> <128x64xf32, acc, warps = 8>
    %o1 = warp.wgmma %p, %v[%slot] depth 112 acc %o transposed : !p, !v_buf -> !o
    // CHECK: %{{.*}}:2 = warp.wgmma_wait %[[O1]], %[[P]] {pending = 0 : i64} : !warp.frag<128x64xf32, acc, warps = 8>, !warp.frag<128x128xbf16, acc, warps = 8>
    %o2, %p2 = warp.wgmma_wait %o1, %p {pending = 0 : i64} : !o, !p
    // CHECK: warp.mbar_arrive %[[EMPTY]][%{{.*}}] : <2>
    warp.mbar_arrive %empty[%slot] : !warp.barriers<2>
    warp.store_shared %p2, %q[%c0] : !p, !q_buf
    // CHECK: warp.fence_async
    warp.fence_async
    // CHECK: warp.sync_warp
    warp.sync_warp
    // CHECK: warp.copy_out %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}}, %{{.*}}, cols = 128, warps = 8 {own_rows} : <1x128x128xbf16>
    warp.copy_out %q[%c0], %out, %stride, %row, cols = 128, warps = 8 {own_rows} : !q_buf
  }
  gpu.return
}
}
