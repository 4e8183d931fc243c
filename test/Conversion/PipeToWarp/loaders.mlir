// What fills a slot, and who: the four ways but that of roles.mlir, and what
// asynchronous products need behind cp.async.
// RUN: attn-opt %s --convert-pipe-to-warp --canonicalize --cse -split-input-file | FileCheck %s

!k = !tile.val<[k:32, d:72] x bf16, shared 2>
!kc = !pipe.channel<!k, fed>

// cp.async by a role of its own: each of its 128 threads arrives for its copies.
gpu.module @m {
// CHECK-LABEL: gpu.func @fed_copies
gpu.func @fed_copies(%ptr: !llvm.ptr<1>, %at: i64, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 128x32, warps = 8, stages = 2, mma = wgmma, loader = cp_async, producer = true>} {
  // CHECK: %[[K:.*]] = warp.alloc {warp.group = "k"} : <2x32x128xbf16>
  // CHECK-NEXT: %[[FULL:.*]] = warp.mbar_alloc : <2>
  // CHECK-NEXT: warp.mbar_init %[[FULL]] {arrivals = 128 : i64}
  // CHECK-NEXT: %[[EMPTY:.*]] = warp.mbar_alloc : <2>
  // CHECK-NEXT: warp.mbar_init %[[EMPTY]] {arrivals = 8 : i64}
  %kc = pipe.open "k" via cp_async : !kc
  // CHECK: warp.mbar_publish {warps = 12 : i64}
  // CHECK-NEXT: warp.role "load" first 0 warps 4 {
  // CHECK-NOT: warp.single
  pipe.role "load" warps 4 {
    %view = tile.make_view "k" %ptr[%at] stride %at rows %n : !tile.view<72 x bf16>
    // CHECK: warp.mbar_wait %[[EMPTY]]
    // CHECK-NEXT: warp.cp_async %[[K]][%[[SLOT:.*]]], %{{.*}}, cols = 72, warps = 4 :
    // CHECK-NEXT: warp.cp_async_arrive %[[FULL]][%[[SLOT]]]
    pipe.put %kc[%n], %view[%n] : !kc, !tile.view<72 x bf16>
  }
  // Products reach the slot another way than the copies did.
  // CHECK: warp.role "compute" first 4 warps 8 {
  // CHECK: warp.mbar_wait %[[FULL]]
  // CHECK-NEXT: warp.fence_async
  // CHECK-NEXT: warp.mbar_arrive %[[EMPTY]]
  pipe.role "compute" warps 8 {
    %K = pipe.take %kc[%n] : !kc -> !k
    pipe.release %kc[%n] : !kc
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k>

// Tensor copies of a role that feeds itself: one thread starts them, and says
// nothing where there is no tile.
gpu.module @m {
// CHECK-LABEL: gpu.func @own_tensor_copies
gpu.func @own_tensor_copies(%map: !llvm.ptr, %ptr: !llvm.ptr<1>, %at: i64, %n: i32, %any: i1, %head: i32, %batch: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa2, tile = 128x32, warps = 8, stages = 2, turns = true, mma = sync, loader = tma, producer = false>} {
  // No slot has to be said empty: the warps meet.
  // CHECK: warp.turn_start {barrier = 1 : i64, groups = 2 : i64}
  // CHECK: %[[K:.*]] = warp.alloc
  // CHECK-NEXT: %[[FULL:.*]] = warp.mbar_alloc : <2>
  // CHECK-NEXT: warp.mbar_init %[[FULL]] {arrivals = 1 : i64}
  // CHECK-NEXT: warp.mbar_publish {warps = 8 : i64}
  // CHECK-NOT: warp.role
  pipe.role "compute" warps 8 {
    %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
    %view = tile.make_view "k" %ptr[%at] stride %at rows %n at(%head, %batch) : !tile.view<64 x bf16>
    // CHECK: warp.barrier {warps = 8 : i64}
    pipe.sync
    // CHECK: scf.if
    // CHECK-NEXT: warp.single {
    // CHECK-NEXT: warp.mbar_expect %[[FULL]][%[[SLOT:.*]]], bytes = 4096
    // CHECK-NEXT: warp.tma_load %[[K]][%[[SLOT]]], %{{.*}} signals %[[FULL]][%[[SLOT]]]
    pipe.put %kc[%n], %view[%n] when %any : !kc, !tile.view<64 x bf16>
    // CHECK: warp.mbar_wait %[[FULL]]
    // CHECK-NOT: warp.fence_async
    // CHECK: warp.turn_wait
    %K = pipe.take %kc[%n] : !kc -> !k
    pipe.turn_wait
    pipe.turn_pass
    pipe.release %kc[%n] : !kc
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!o = !tile.val<[q:64, v:64] x bf16, shared 1>
!q = !tile.val<[q:64, d:64] x bf16, shared 1>

// cp.async of its own, in front of asynchronous products: each thread fences when
// its group has landed, before all meet. So does the output in Q's memory.
gpu.module @m {
// CHECK-LABEL: gpu.func @own_copies
gpu.func @own_copies(%ptr: !llvm.ptr<1>, %at: i64, %n: i32, %zero: f32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 64x32, warps = 4, stages = 2, mma = wgmma, loader = cp_async, producer = false>} {
  pipe.role "compute" warps 4 {
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %oc = pipe.open "o" via st alias %qc : !pipe.channel<!q> : !pipe.channel<!o>
    %view = tile.make_view "k" %ptr[%at] stride %at rows %n : !tile.view<64 x bf16>
    // CHECK: warp.cp_async_commit
    pipe.put %kc[%n], %view[%n] : !pipe.channel<!k>, !tile.view<64 x bf16>
    // CHECK: warp.cp_async_wait {groups = 0 : i64}
    // CHECK-NEXT: warp.fence_async
    // CHECK-NEXT: warp.barrier {warps = 4 : i64}
    %K = pipe.take %kc[%n] pending 0 : !pipe.channel<!k> -> !k
    %O = tile.fill %zero : f32 -> !tile.val<[q:64, v:64] x f32>
    %O16 = tile.cast %O : !tile.val<[q:64, v:64] x f32> -> !tile.val<[q:64, v:64] x bf16>
    // CHECK: warp.store_shared
    // CHECK-NEXT: warp.fence_async
    // CHECK-NEXT: warp.barrier {warps = 4 : i64}
    // CHECK: warp.copy_out
    pipe.drain %oc, %O16, %view[%n] : !pipe.channel<!o>, !tile.val<[q:64, v:64] x bf16> -> !tile.view<64 x bf16>
  }
  gpu.return
}
}
