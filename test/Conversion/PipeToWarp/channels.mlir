// Puts become copies, takes waits, a drain a detour through shared memory.
// RUN: attn-opt %s --convert-pipe-to-warp | FileCheck %s

!q = !tile.val<[q:64, d:80] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!o = !tile.val<[q:64, v:64] x bf16, shared 1>

gpu.module @m {
// CHECK-LABEL: gpu.func @transfers
// CHECK-SAME: %[[PTR:[^:]*]]: !llvm.ptr<1>, %[[OFFSET:[^:]*]]: i64, %[[STRIDE:[^:]*]]: i64, %[[ROWS:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[MORE:[^:]*]]: i1
gpu.func @transfers(%ptr: !llvm.ptr<1>, %offset: i64, %stride: i64, %rows: i32, %n: i32, %more: i1, %zero: f32) kernel {
  pipe.role "compute" warps 4 {
    // O has Q's memory: one group.
    // CHECK: %[[Q:.*]] = warp.alloc {warp.group = "q"} : <1x64x80xbf16>
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    // CHECK-NEXT: %[[O:.*]] = warp.alloc {warp.group = "q"} : <1x64x64xbf16>
    %oc = pipe.open "o" via st alias %qc : !pipe.channel<!q> : !pipe.channel<!o>
    // CHECK-NEXT: %[[K:.*]] = warp.alloc {warp.group = "k"} : <2x32x64xbf16>
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    // 64-bit addresses; the rows that are left from row n on.
    // CHECK: %[[BASE:.*]] = llvm.getelementptr %[[PTR]][%[[OFFSET]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %view = tile.make_view "k" %ptr[%offset] stride %stride rows %rows : !tile.view<64 x bf16>
    %qv = tile.make_view "q" %ptr[%offset] stride %stride rows %rows : !tile.view<72 x bf16>
    // CHECK: %[[N64:.*]] = arith.extsi %[[N]] : i32 to i64
    // CHECK-NEXT: %[[SKIP:.*]] = arith.muli %[[N64]], %[[STRIDE]] : i64
    // CHECK-NEXT: %[[FROM:.*]] = llvm.getelementptr %[[BASE]][%[[SKIP]]]
    // CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[N]] : i32
    // CHECK: %[[SLOT:.*]] = arith.remui %[[N]], %{{.*}} : i32
    // CHECK-NEXT: warp.cp_async %[[K]][%[[SLOT]]], %[[FROM]], %[[STRIDE]], %[[LEFT]], cols = 64, warps = 4 if %[[MORE]] : <2x32x64xbf16>
    // Takes count groups, also empty ones.
    // CHECK-NEXT: warp.cp_async_commit
    pipe.put %kc[%n], %view[%n] when %more ahead 1 : !pipe.channel<!k>, !tile.view<64 x bf16>
    // A whole tile has all its rows.
    // CHECK: %[[ALL:.*]] = arith.constant 32 : i32
    // CHECK: warp.cp_async %[[K]][%{{.*}}], %{{.*}}, %[[STRIDE]], %[[ALL]], cols = 64, warps = 4 : <
    pipe.put %kc[%n], %view[%n] whole : !pipe.channel<!k>, !tile.view<64 x bf16>
    // 72 columns of memory, 80 of the tile.
    // CHECK: warp.cp_async %[[Q]][%{{.*}}], {{.*}}, cols = 72, warps = 4 : <1x64x80xbf16>
    pipe.put %qc[%n], %qv[%n] : !pipe.channel<!q>, !tile.view<72 x bf16>
    // CHECK: warp.cp_async_commit
    // A joined take waits with the next one.
    // CHECK-NOT: warp.cp_async_wait
    // CHECK: arith.remui
    // CHECK: arith.remui
    // CHECK-NEXT: warp.cp_async_wait {groups = 1 : i64}
    // CHECK-NEXT: warp.barrier {warps = 4 : i64}
    %Q = pipe.take %qc[%n] joined : !pipe.channel<!q> -> !q
    %K = pipe.take %kc[%n] pending 1 : !pipe.channel<!k> -> !k
    // CHECK: warp.cp_async_wait {groups = 0 : i64}
    %K1 = pipe.take %kc[%n] : !pipe.channel<!k> -> !k
    // CHECK: warp.barrier
    // A release is nothing: the role feeds itself.
    // CHECK-NOT: pipe.release
    pipe.release %kc[%n] : !pipe.channel<!k>
    // CHECK: warp.barrier {warps = 4 : i64}
    pipe.sync
    %O = tile.fill %zero : f32 -> !tile.val<[q:64, v:64] x f32>
    // CHECK: %[[O16:.*]] = warp.cast
    %O16 = tile.cast %O : !tile.val<[q:64, v:64] x f32> -> !tile.val<[q:64, v:64] x bf16>
    // CHECK: warp.barrier {warps = 4 : i64}
    // CHECK-NEXT: warp.store_shared %[[O16]], %[[O]][%[[C0:.*]]] :
    // CHECK-NEXT: warp.barrier {warps = 4 : i64}
    // CHECK-NEXT: warp.copy_out %[[O]][%[[C0]]], %{{.*}}, %[[STRIDE]], %{{.*}}, cols = 64, warps = 4
    // CHECK-NEXT: warp.barrier {warps = 4 : i64}
    pipe.drain %oc, %O16, %view[%n] : !pipe.channel<!o>, !tile.val<[q:64, v:64] x bf16> -> !tile.view<64 x bf16>
    // CHECK: warp.store_global %{{.*}}, %{{.*}}, %[[STRIDE]], %{{.*}}, cols = 64 : <64x64xf32, acc, warps = 4>
    %ov = tile.make_view "o" %ptr[%offset] stride %stride rows %rows : !tile.view<64 x f32>
    tile.store %O, %ov[%n] : !tile.val<[q:64, v:64] x f32> -> !tile.view<64 x f32>
    // CHECK: warp.store_rows %{{.*}}, %{{.*}}, %[[STRIDE]], %{{.*}} : <64x1xf32, row, warps = 4>
    %lse = tile.fill %zero : f32 -> !tile.val<[q:64] x f32>
    %lv = tile.make_view "lse" %ptr[%offset] stride %stride rows %rows : !tile.view<1 x f32>
    tile.store %lse, %lv[%n] : !tile.val<[q:64] x f32> -> !tile.view<1 x f32>
  }
  gpu.return
}
}
