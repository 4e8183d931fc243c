// A drain through a tensor map: stores, a fence to the copies' proxy, a meeting,
// the copies; and the wait for them.
// RUN: attn-opt %s --convert-pipe-to-warp | FileCheck %s

!q = !tile.val<[q:128, d:80] x bf16, shared 1>
!o = !tile.val<[q:128, v:72] x bf16, shared 1>
!f = !tile.val<[q:128, v:40] x f32, shared 1>
!view = !tile.view<72 x bf16>

gpu.module @m {
// In memory of its own a warp meets nobody: its rows are all it writes and sends.
// CHECK-LABEL: gpu.func @own
// CHECK-SAME: %[[MAP:[^:]*]]: !llvm.ptr, {{.*}} %[[ROW:[^:]*]]: i32, %[[HEAD:[^:]*]]: i32, %[[BATCH:[^:]*]]: i32
gpu.func @own(%map: !llvm.ptr, %ptr: !llvm.ptr<1>, %at: i64, %zero: f32, %row: i32, %head: i32, %batch: i32) kernel {
  pipe.role "compute" warps 8 {
    // Whole panels: a map's box is one.
    // CHECK: %[[O:.*]] = warp.alloc {warp.group = "o"} : <1x128x128xbf16>
    %oc = pipe.open "o" via st map %map : !llvm.ptr : !pipe.channel<!o>
    %ov = tile.make_view "o" %ptr[%at] stride %at rows %row at(%head, %batch) : !view
    %f = tile.fill %zero : f32 -> !tile.val<[q:128, v:72] x f32>
    %O = tile.cast %f : !tile.val<[q:128, v:72] x f32> -> !tile.val<[q:128, v:72] x bf16>
    // CHECK: warp.tma_store_wait
    // CHECK-NOT: warp.barrier
    pipe.drained %oc : !pipe.channel<!o>
    // CHECK: warp.sync_warp
    // CHECK-NEXT: warp.store_shared %{{.*}}, %[[O]][%[[SLOT:.*]]] : <128x72xbf16, acc, warps = 8>, <1x128x128xbf16>
    // CHECK-NEXT: warp.fence_async
    // CHECK-NEXT: warp.sync_warp
    // CHECK-NEXT: warp.tma_store %[[O]][%[[SLOT]]], %[[MAP]], (%[[ROW]], %[[HEAD]], %[[BATCH]]), warps = 8 : <1x128x128xbf16>
    // CHECK-NOT: warp.sync_warp
    // CHECK-NOT: warp.copy_out
    pipe.drain %oc, %O, %ov[%row] : !pipe.channel<!o>, !tile.val<[q:128, v:72] x bf16> -> !view
    // CHECK: gpu.return
  }
  gpu.return
}

// Of f32 a panel has 32 columns; in Q's memory all warps meet.
// CHECK-LABEL: gpu.func @shared
gpu.func @shared(%map: !llvm.ptr, %ptr: !llvm.ptr<1>, %at: i64, %zero: f32, %row: i32) kernel {
  pipe.role "compute" warps 4 {
    // CHECK: warp.alloc {warp.group = "q"} : <1x128x80xbf16>
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    // CHECK: %[[O:.*]] = warp.alloc {warp.group = "q"} : <1x128x64xf32>
    %oc = pipe.open "o" via st map %map : !llvm.ptr alias %qc : !pipe.channel<!q> : !pipe.channel<!f>
    %ov = tile.make_view "o" %ptr[%at] stride %at rows %row at(%row, %row) : !tile.view<40 x f32>
    %O = tile.fill %zero : f32 -> !tile.val<[q:128, v:40] x f32>
    // CHECK: warp.barrier {warps = 4 : i64}
    // CHECK-NEXT: warp.store_shared %{{.*}} : <128x40xf32, acc, warps = 4>, <1x128x64xf32>
    // CHECK-NEXT: warp.fence_async
    // CHECK-NEXT: warp.barrier {warps = 4 : i64}
    // CHECK-NEXT: warp.tma_store %[[O]]
    pipe.drain %oc, %O, %ov[%row] : !pipe.channel<!f>, !tile.val<[q:128, v:40] x f32> -> !tile.view<40 x f32>
    // CHECK-NEXT: warp.tma_store_wait
    // CHECK-NEXT: warp.barrier {warps = 4 : i64}
    pipe.drained %oc : !pipe.channel<!f>
  }
  gpu.return
}
}
