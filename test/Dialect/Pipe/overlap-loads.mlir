// The body in the order of #pipe.at; puts that run ahead serve a later tile and
// fetch the first ones before the loop.
// RUN: attn-opt %s --attn-overlap-loads -split-input-file | FileCheck %s

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!v = !tile.val<[k:32, v:64] x bf16, shared 1>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>
!view = !tile.view<64 x bf16>

gpu.module @m {
// CHECK-LABEL: gpu.func @single
// CHECK-SAME: (%[[QC:.*]]: !pipe.channel<<[q:64, d:64] x bf16, shared 1>>, %[[KC:.*]]: !pipe.channel<<[k:32, d:64] x bf16, shared 1>>, %[[VC:.*]]: !pipe.channel<<[k:32, v:64] x bf16, shared 1>>,
// CHECK-SAME: %[[BEGIN:[^:]*]]: i32, %[[END:[^:]*]]: i32, %[[INIT:[^:]*]]: !tile.val<[q:64, v:64] x f32>)
gpu.func @single(%qc: !pipe.channel<!q>, %kc: !pipe.channel<!k>, %vc: !pipe.channel<!v>, %kv: !view, %vv: !view, %begin: i32, %end: i32, %init: !o) kernel {
  %c0 = arith.constant 0 : i32
  %Q = pipe.take %qc[%c0] : !pipe.channel<!q> -> !q
  // The tile left of `end`, where the loop visits it.
  // CHECK: %[[FIRST:.*]] = arith.subi %[[END]], %{{.*}} : i32
  // CHECK: %[[ORDINAL:.*]] = arith.divui %[[FIRST]], %{{.*}} : i32
  // CHECK: %[[ANY:.*]] = arith.cmpi sge, %[[FIRST]], %[[BEGIN]] : i32
  // CHECK: pipe.put %[[KC]][%[[ORDINAL]]], %{{.*}}[%[[FIRST]]] when %[[ANY]] : <
  // Q is waited for when K is on its way.
  // CHECK-NEXT: pipe.take %[[QC]]
  // CHECK-NEXT: tile.for_keys mixed (%[[K0:.*]]) in (%[[BEGIN]], %[[END]])
  %r = tile.for_keys mixed (%k0) in (%begin, %end) full below %end step 32 iter(%acc = %init) : (!o) {
    %c32 = arith.constant {pipe.at = #pipe.at<ahead = 0, order = 0>} 32 : i32
    %t = arith.divui %k0, %c32 {pipe.at = #pipe.at<ahead = 0, order = 1>} : i32
    pipe.put %kc[%t], %kv[%k0] {pipe.at = #pipe.at<ahead = 1, order = 7>} : !pipe.channel<!k>, !view
    // CHECK: %[[N:.*]] = arith.divui %[[K0]], %{{.*}} : i32
    // CHECK-NEXT: pipe.take %[[KC]][%[[N]]]
    %K = pipe.take %kc[%t] {pipe.at = #pipe.at<ahead = 0, order = 2>} : !pipe.channel<!k> -> !k
    // CHECK-NEXT: pipe.put %[[VC]][%[[N]]], %{{.*}}[%[[K0]]] : <
    // CHECK-NEXT: tile.dot {{.*}} over "d" :
    %S = tile.dot %Q, %K over "d" {pipe.at = #pipe.at<ahead = 0, order = 4>} : !q, !k -> !s
    // CHECK-NEXT: pipe.release %[[KC]][%[[N]]]
    pipe.release %kc[%t] {pipe.at = #pipe.at<ahead = 0, order = 5>} : !pipe.channel<!k>
    %P = tile.cast %S {pipe.at = #pipe.at<ahead = 0, order = 8>} : !s -> !p
    pipe.put %vc[%t], %vv[%k0] {pipe.at = #pipe.at<ahead = 0, order = 3>} : !pipe.channel<!v>, !view
    // CHECK-NEXT: pipe.take %[[VC]][%[[N]]]
    %V = pipe.take %vc[%t] {pipe.at = #pipe.at<ahead = 0, order = 6>} : !pipe.channel<!v> -> !v
    // CHECK: %[[NEXT:.*]] = arith.subi %[[K0]], %{{.*}} : i32
    // CHECK: %[[NEXTN:.*]] = arith.divui %[[NEXT]], %{{.*}} : i32
    // CHECK: %[[MORE:.*]] = arith.cmpi sge, %[[NEXT]], %[[BEGIN]] : i32
    // CHECK: pipe.put %[[KC]][%[[NEXTN]]], %{{.*}}[%[[NEXT]]] when %[[MORE]] ahead 1 whole : <
    // CHECK-NEXT: tile.cast
    // CHECK-NEXT: tile.dot {{.*}} over "k" :
    %O = tile.dot %P, %V init %acc : !o over "k" {pipe.at = #pipe.at<ahead = 0, order = 9>} : !p, !v -> !o
    // CHECK-NEXT: pipe.release %[[VC]][%[[N]]]
    // CHECK-NEXT: tile.yield
    pipe.release %vc[%t] {pipe.at = #pipe.at<ahead = 0, order = 10>} : !pipe.channel<!v>
    tile.yield %O : !o
  }
  // CHECK-NOT: pipe.at
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 3>
!view = !tile.view<64 x bf16>

// Two ahead: two tiles before the loop, the second counted as one ahead.
gpu.module @m {
// CHECK-LABEL: gpu.func @ring
// CHECK-SAME: (%[[KC:.*]]: !pipe.channel<<[k:32, d:64] x bf16, shared 3>>, %{{.*}}: !tile.view<64 x bf16>, %[[BEGIN:[^:]*]]: i32, %[[END:[^:]*]]: i32)
gpu.func @ring(%kc: !pipe.channel<!k>, %kv: !view, %begin: i32, %end: i32) kernel {
  // CHECK: %[[C32:.*]] = arith.constant 32 : i32
  // CHECK: %[[FIRST:.*]] = arith.subi %[[END]], %[[C32]] : i32
  // CHECK: pipe.put %[[KC]][%{{.*}}], %{{.*}}[%[[FIRST]]] when %{{.*}} : <
  // CHECK: %[[C64:.*]] = arith.constant 64 : i32
  // CHECK: %[[SECOND:.*]] = arith.subi %[[END]], %[[C64]] : i32
  // CHECK: pipe.put %[[KC]][%{{.*}}], %{{.*}}[%[[SECOND]]] when %{{.*}} ahead 1 : <
  // CHECK: tile.for_keys mixed (%[[K0:.*]]) in
  tile.for_keys mixed (%k0) in (%begin, %end) full below %end step 32 {
    %c32 = arith.constant {pipe.at = #pipe.at<ahead = 0, order = 0>} 32 : i32
    %t = arith.divui %k0, %c32 {pipe.at = #pipe.at<ahead = 0, order = 1>} : i32
    pipe.put %kc[%t], %kv[%k0] {pipe.at = #pipe.at<ahead = 2, order = 3>} : !pipe.channel<!k>, !view
    // CHECK: pipe.take
    // CHECK: %[[C64:.*]] = arith.constant 64 : i32
    // CHECK: %[[NEXT:.*]] = arith.subi %[[K0]], %[[C64]] : i32
    // CHECK: pipe.put %[[KC]][%{{.*}}], %{{.*}}[%[[NEXT]]] when %{{.*}} ahead 2 whole : <
    // CHECK-NEXT: pipe.release
    %K = pipe.take %kc[%t] {pipe.at = #pipe.at<ahead = 0, order = 2>} : !pipe.channel<!k> -> !k
    pipe.release %kc[%t] {pipe.at = #pipe.at<ahead = 0, order = 4>} : !pipe.channel<!k>
    tile.yield
  }
  gpu.return
}
}
