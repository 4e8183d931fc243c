// Turns of two warpgroups, an arrival per warp, and an output that each warp
// stores and copies by itself: stmatrix on Hopper, pairs of columns elsewhere.
// RUN: attn-opt %s --attn-warp-to-nvvm-pipeline | FileCheck %s
// RUN: sed 's/sm_90a/sm_90/' %s | attn-opt --attn-warp-to-nvvm-pipeline | FileCheck %s --check-prefix=PAIRS

!p = !warp.frag<128x72xbf16, acc, warps = 8>
!tile = !warp.buffer<1x128x72xbf16>

// PAIRS-LABEL: llvm.func @kernel
// PAIRS-NOT: nvvm.stmatrix
// PAIRS: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
module attributes {attn.target = "sm_90a"} {
gpu.module @kernels {
// CHECK-LABEL: llvm.func @kernel
gpu.func @kernel(%ptr: !llvm.ptr<1>, %stride: i64, %rows: i32, %slot: i32, %parity: i32, %zero: f32)
    kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %o = warp.alloc {offset = 0 : i64} : !tile
  %empty = warp.mbar_alloc {offset = 18432 : i64} : !warp.barriers<2>
  warp.mbar_init %empty {arrivals = 8 : i64} : !warp.barriers<2>
  warp.mbar_publish {warps = 12 : i64}
  // CHECK: %[[BLOCKWARP:.*]] = nvvm.redux.sync umin
  // CHECK: nvvm.barrier
  // Indices count from the role's first warp.
  // CHECK: %[[WARP:.*]] = llvm.add %[[BLOCKWARP]], %{{.*}} : i32
  // CHECK: llvm.icmp "ult" %[[WARP]], %{{.*}}
  warp.role "compute" first 4 warps 8 {
    // CHECK: %[[GROUP:.*]] = llvm.udiv %[[WARP]], %{{.*}} : i32
    // The last warpgroup gives the first its turn.
    // CHECK: %[[LAST:.*]] = llvm.icmp "eq" %[[GROUP]], %{{.*}}
    // CHECK: llvm.cond_br %[[LAST]]
    // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"
    warp.turn_start {groups = 2 : i64, barrier = 1 : i64}
    // CHECK: %[[OWN:.*]] = llvm.add %[[GROUP]], %{{.*}}
    // CHECK: nvvm.barrier id = %[[OWN]] number_of_threads = %{{.*}}
    warp.turn_wait {groups = 2 : i64, barrier = 1 : i64}
    // CHECK: %[[NEXT:.*]] = llvm.select
    // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[NEXT]], %{{.*}})
    warp.turn_pass {groups = 2 : i64, barrier = 1 : i64}
    // Only the first lane arrives; all reach the text together.
    // CHECK: llvm.inline_asm has_side_effects {warp.convergent} "{{.*}}setp.eq.u32 first, $1, 0;{{.*}}@first mbarrier.arrive.shared::cta.b64 _, [$0];
    warp.mbar_arrive %empty[%slot] : !warp.barriers<2>
    %f = warp.fill %zero : !warp.frag<128x72xf32, acc, warps = 8>
    %p = warp.cast %f : !warp.frag<128x72xf32, acc, warps = 8> -> !p
    // A panel of 64 columns, and one of 8.
    // CHECK-COUNT-4: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>
    // CHECK: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}} {
    // CHECK-NOT: nvvm.stmatrix
    warp.store_shared %p, %o[%c0] : !p, !tile
    // CHECK: nvvm.bar.warp.sync
    warp.sync_warp
    // 16 rows of 9 chunks, by 32 lanes: 4 + 1 times.
    // CHECK-COUNT-5: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    // CHECK-NOT: llvm.load
    warp.copy_out %o[%c0], %ptr, %stride, %rows, cols = 72, warps = 8 {own_rows} : !tile
    // Straight from registers: for 32 columns of 2 rows the lanes of a quad
    // exchange 2 x 4 registers, while all of them are there; then 16 bytes each.
    // CHECK-COUNT-16: nvvm.shfl.sync bfly
    // CHECK-NOT: nvvm.shfl
    // CHECK: llvm.cond_br
    // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    // CHECK-NEXT: llvm.getelementptr
    // CHECK-NEXT: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
    // CHECK: llvm.cond_br
    %w = warp.fill %zero : !warp.frag<128x64xf32, acc, warps = 8>
    %w16 = warp.cast %w : !warp.frag<128x64xf32, acc, warps = 8> -> !warp.frag<128x64xbf16, acc, warps = 8>
    warp.store_global %w16, %ptr, %stride, %rows, cols = 64 : !warp.frag<128x64xbf16, acc, warps = 8>
  }
  gpu.return
}
}
}
