// Two products of two warpgroups, fed by a role of its own: S = Q.K^T, then
// O = P.V with P = S rounded to bf16, for one tile of 128 queries and 128 keys.
// RUN: attn-opt %s --emit=ptx | FileCheck %s

// A tensor map is an argument by value; registers may move between the roles.
// CHECK: .version 8.0
// CHECK: .target sm_90a
// CHECK: .visible .entry gemm(
// CHECK-NEXT: .param .align 64 .b8 gemm_param_0[128],
// CHECK: .maxntid 384
// CHECK-NEXT: .minnctapersm 1

// The index of the warp is uniform; the first thread makes the barriers.
// CHECK: redux.sync.min.u32 [[WARP:%r[0-9]+]]
// CHECK: mbarrier.init.shared.b64 [attn_shared+98304], [[ONE:%r[0-9]+]];
// CHECK: mbarrier.init.shared.b64 [attn_shared+98312], [[ONE]];
// CHECK: mbarrier.init.shared.b64 [attn_shared+98320], [[ONE]];
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK: fence.proxy.async.shared::cta;
// CHECK: bar.sync 0, 384;

// One thread of the first warp copies, a panel of 64 columns at a time.
// CHECK: setp.gt.u32 {{.*}}, [[WARP]], 3;
// CHECK: setmaxnreg.dec.sync.aligned.u32 24;
// CHECK: elect.sync
// CHECK: mbarrier.arrive.expect_tx.shared.b64 {{.*}}, [attn_shared+98304], [[BYTES:%r[0-9]+]];
// CHECK: cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [attn_shared], {{.*}}, [attn_shared+98304];
// CHECK: cp.async.bulk.tensor.4d{{.*}} [attn_shared+16384], {{.*}}, [attn_shared+98304];
// CHECK: cp.async.bulk.tensor.4d{{.*}} [attn_shared+49152], {{.*}}, [attn_shared+98312];
// CHECK: cp.async.bulk.tensor.4d{{.*}} [attn_shared+81920], {{.*}}, [attn_shared+98320];

// CHECK: setmaxnreg.inc.sync.aligned.u32 240;
// CHECK: [[POLL:\$L__BB0_[0-9]+]]:
// CHECK-NEXT: mov.b32
// CHECK-NEXT: mbarrier.try_wait.parity.shared.b64 [[DONE:%p[0-9]+]], [attn_shared+98304]
// CHECK-NEXT: not.pred [[AGAIN:%p[0-9]+]], [[DONE]];
// CHECK-NEXT: @[[AGAIN]] bra [[POLL]];

// Eight steps of 16, the first of which starts from zero; both operands K-major.
// CHECK: wgmma.fence.sync.aligned;
// CHECK-NEXT: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {[[S0:%r[0-9]+]], {{.*}}}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 0, 1, 1, 0, 0;
// CHECK-COUNT-7: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {[[S0]], {{.*}}}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 1, 1, 1, 0, 0;
// CHECK-NEXT: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: cvt.rn.bf16x2.f32 [[P0:%r[0-9]+]], {{%r[0-9]+}}, [[S0]];
// CHECK: wgmma.fence.sync.aligned;
// CHECK-NEXT: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {[[O0:%r[0-9]+]], {{.*}}}, {[[P0]], {{.*}}}, %rd{{[0-9]+}}, 0, 1, 1, 1;
// CHECK-COUNT-7: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {[[O0]], {{.*}}}, {{{.*}}}, %rd{{[0-9]+}}, 1, 1, 1, 1;
// CHECK-NEXT: wgmma.commit_group.sync.aligned;
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: st.global

!s = !warp.frag<128x128xf32, acc, warps = 8>
!p = !warp.frag<128x128xbf16, acc, warps = 8>
!tile = !warp.buffer<1x128x128xbf16>
!bars = !warp.barriers<3>

module attributes {attn.level = #attn.level<warp>, attn.target = "sm_90a"} {
gpu.module @kernels {
gpu.func @gemm(%q_map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64},
               %k_map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64},
               %v_map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64},
               %out: !llvm.ptr<1>, %stride: i64, %rows: i32)
    kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %head_index = gpu.block_id y
  %head = arith.index_cast %head_index : index to i32
  %batch_index = gpu.block_id z
  %batch = arith.index_cast %batch_index : index to i32
  %q = warp.alloc {offset = 0 : i64} : !tile
  %k = warp.alloc {offset = 32768 : i64} : !tile
  %v = warp.alloc {offset = 65536 : i64} : !tile
  %full = warp.mbar_alloc {offset = 98304 : i64} : !bars
  warp.mbar_init %full {arrivals = 1 : i64} : !bars
  warp.mbar_publish {warps = 12 : i64}
  warp.role "load" first 0 warps 4 {
    warp.set_registers {count = 24 : i64}
    warp.single {
      warp.mbar_expect %full[%c0], bytes = 32768 : !bars
      warp.tma_load %q[%c0], %q_map, (%c0, %head, %batch) signals %full[%c0] : !tile, !bars
      warp.mbar_expect %full[%c1], bytes = 32768 : !bars
      warp.tma_load %k[%c0], %k_map, (%c0, %head, %batch) signals %full[%c1] : !tile, !bars
      warp.mbar_expect %full[%c2], bytes = 32768 : !bars
      warp.tma_load %v[%c0], %v_map, (%c0, %head, %batch) signals %full[%c2] : !tile, !bars
    }
  }
  warp.role "compute" first 4 warps 8 {
    warp.set_registers {count = 240 : i64, grow}
    warp.mbar_wait %full[%c0] parity %c0 : !bars
    warp.mbar_wait %full[%c1] parity %c0 : !bars
    %s = warp.wgmma %q[%c0], %k[%c0] depth 128 : !tile, !tile -> !s
    %s1 = warp.wgmma_wait %s {pending = 0 : i64} : !s
    %p = warp.cast %s1 : !s -> !p
    warp.mbar_wait %full[%c2] parity %c0 : !bars
    %o = warp.wgmma %p, %v[%c0] depth 128 transposed : !p, !tile -> !s
    %o1, %p1 = warp.wgmma_wait %o, %p {pending = 0 : i64} : !s, !p
    warp.store_global %o1, %out, %stride, %rows, cols = 128 : !s
  }
  gpu.return
}
}
}
