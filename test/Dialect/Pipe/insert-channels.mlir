// Operand tiles pass through shared memory; the kernel runs in one role.
// RUN: attn-opt %s --attn-insert-channels -split-input-file | FileCheck %s

!q = !tile.val<[q:64, d:64] x bf16>
!k = !tile.val<[k:32, d:64] x bf16>
!v = !tile.val<[k:32, v:64] x bf16>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>
!lse = !tile.val<[q:64] x f32>
!view = !tile.view<64 x bf16>

// CHECK: module attributes {attn.level = #attn.level<pipe>}
module attributes {attn.level = #attn.level<tile>} {
gpu.module @m {
// Rings of two slots in the key loop, one slot outside; O lies in Q's memory.
// CHECK-LABEL: gpu.func @two
gpu.func @two(%ptr: !llvm.ptr<1>, %at: i64, %n: i32, %zero: f32, %lse: !lse)
    kernel attributes {attn.schedule = #attn.schedule<fa2, tile = 64x32, warps = 4, stages = 2>} {
  // CHECK: pipe.role "compute" warps 4 {
  // CHECK-DAG: %[[QC:.*]] = pipe.open "q" via cp_async : <<[q:64, d:64] x bf16, shared 1>>
  // CHECK-DAG: %[[KC:.*]] = pipe.open "k" via cp_async : <<[k:32, d:64] x bf16, shared 2>>
  // CHECK-DAG: %[[VC:.*]] = pipe.open "v" via cp_async : <<[k:32, v:64] x bf16, shared 2>>
  // CHECK-DAG: %[[OC:.*]] = pipe.open "o" via st alias %[[QC]] : !pipe.channel<<[q:64, d:64] x bf16, shared 1>> : <<[q:64, v:64] x bf16, shared 1>>
  // CHECK: tile.for_work
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
    %qv = tile.make_view "q" %ptr[%at] stride %at rows %n : !view
    %kv = tile.make_view "k" %ptr[%at] stride %at rows %n : !view
    %vv = tile.make_view "v" %ptr[%at] stride %at rows %n : !view
    %ov = tile.make_view "o" %ptr[%at] stride %at rows %n : !view
    %lv = tile.make_view "lse" %ptr[%at] stride %at rows %n : !tile.view<1 x f32>
    // CHECK: %[[FIRST:.*]] = arith.constant 0 : i32
    // CHECK-NEXT: pipe.put %[[QC]][%[[FIRST]]], %{{.*}}[%{{.*}}] : <
    // CHECK-NEXT: %[[Q:.*]] = pipe.take %[[QC]][%[[FIRST]]] : <
    %Q = tile.load %qv[%m0] : !view -> !q
    %init = tile.fill %zero : f32 -> !o
    // CHECK: tile.for_keys mixed (%[[K0:.*]]) in
    %r = tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 iter(%acc = %init) : (!o) {
      // CHECK-NEXT: %[[STEP:.*]] = arith.constant 32 : i32
      // CHECK-NEXT: %[[N:.*]] = arith.divui %[[K0]], %[[STEP]] : i32
      // CHECK-NEXT: pipe.put %[[KC]][%[[N]]], %{{.*}}[%[[K0]]] : <
      // CHECK-NEXT: %[[K:.*]] = pipe.take %[[KC]][%[[N]]] : <
      %K = tile.load %kv[%k0] : !view -> !k
      // CHECK-NEXT: tile.dot %[[Q]], %[[K]] over "d"
      // CHECK-NEXT: pipe.release %[[KC]][%[[N]]]
      %S = tile.dot %Q, %K over "d" : !q, !k -> !s
      %P = tile.cast %S : !s -> !p
      // CHECK: pipe.put %[[VC]][%[[NV:.*]]], %{{.*}}[%[[K0]]]
      // CHECK-NEXT: %[[V:.*]] = pipe.take %[[VC]][%[[NV]]]
      %V = tile.load %vv[%k0] : !view -> !v
      // CHECK-NEXT: tile.dot %{{.*}}, %[[V]] init
      // CHECK-NEXT: pipe.release %[[VC]][%[[NV]]]
      %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
      tile.yield %O : !o
    }
    // Q is read until the last key tile.
    // CHECK: pipe.release %[[QC]][%[[FIRST]]]
    // CHECK: %[[O16:.*]] = tile.cast %{{.*}} : <[q:64, v:64] x f32> -> <[q:64, v:64] x bf16>
    // CHECK-NEXT: pipe.drain %[[OC]], %[[O16]], %{{.*}}[%{{.*}}]
    tile.store %r, %ov[%m0] : !o -> !view
    // What is stored in f32 needs no staging.
    // CHECK: tile.store %{{.*}} : <[q:64] x f32> -> <1 x f32>
    tile.store %lse, %lv[%m0] : !lse -> !tile.view<1 x f32>
  }
  // CHECK-NOT: tile.load
  // CHECK: gpu.return
  gpu.return
}

// One stage; a view that is read twice gets two channels with two names.
// CHECK-LABEL: gpu.func @one
gpu.func @one(%view: !view, %n: i32) kernel attributes {attn.schedule = #attn.schedule<fa2, tile = 64x32, warps = 8, stages = 1>} {
  // CHECK: pipe.role "compute" warps 8 {
  // CHECK-DAG: pipe.open "tile" via cp_async : <<[q:64, d:64] x bf16, shared 1>>
  // CHECK-DAG: pipe.open "tile_2" via cp_async : <<[k:32, d:64] x bf16, shared 1>>
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
    %Q = tile.load %view[%m0] : !view -> !q
    tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 {
      %K = tile.load %view[%k0] : !view -> !k
      %S = tile.dot %Q, %K over "d" : !q, !k -> !s
      tile.yield
    }
  }
  gpu.return
}
}
}
