// How far each put runs ahead, and the order of the body.
// RUN: attn-opt %s --attn-assign-stages -split-input-file | FileCheck %s

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!v = !tile.val<[k:32, v:64] x bf16, shared 1>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>
!view = !tile.view<64 x bf16>

// One slot each: K's next tile is fetched once V was taken, V in its own
// iteration behind the wait for K.
gpu.module @m {
// CHECK-LABEL: gpu.func @single
gpu.func @single(%kc: !pipe.channel<!k>, %vc: !pipe.channel<!v>, %Q: !q, %kv: !view, %vv: !view, %n: i32, %init: !o) kernel {
  %r = tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 iter(%acc = %init) : (!o) {
    // CHECK: arith.constant {pipe.at = #pipe.at<ahead = 0, order = 0>} 32
    %c32 = arith.constant 32 : i32
    // CHECK: arith.divui {{.*}}order = 1>
    %t = arith.divui %k0, %c32 : i32
    // CHECK: pipe.put %{{.*}} {pipe.at = #pipe.at<ahead = 1, order = 7>} : <<[k:32, d:64]
    pipe.put %kc[%t], %kv[%k0] : !pipe.channel<!k>, !view
    // CHECK: pipe.take %{{.*}} {pipe.at = #pipe.at<ahead = 0, order = 2>}
    %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
    // CHECK: tile.dot {{.*}} over "d" {pipe.at = #pipe.at<ahead = 0, order = 4>}
    %S = tile.dot %Q, %K over "d" : !q, !k -> !s
    // CHECK: pipe.release {{.*}}order = 5>
    pipe.release %kc[%t] : !pipe.channel<!k>
    // CHECK: tile.cast {{.*}}order = 8>
    %P = tile.cast %S : !s -> !p
    // CHECK: pipe.put {{.*}} {pipe.at = #pipe.at<ahead = 0, order = 3>} : <<[k:32, v:64]
    pipe.put %vc[%t], %vv[%k0] : !pipe.channel<!v>, !view
    // CHECK: pipe.take {{.*}}order = 6>
    %V = pipe.take %vc[%t] : !pipe.channel<!v> -> !v
    // CHECK: tile.dot {{.*}} over "k" {pipe.at = #pipe.at<ahead = 0, order = 9>}
    %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
    // CHECK: pipe.release {{.*}}order = 10>
    pipe.release %vc[%t] : !pipe.channel<!v>
    tile.yield %O : !o
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 3>
!v = !tile.val<[k:32, v:64] x bf16, shared 3>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>
!view = !tile.view<64 x bf16>

// Rings: takes first, then puts slots - 1 tiles ahead, then the computation.
gpu.module @m {
// CHECK-LABEL: gpu.func @ring
gpu.func @ring(%kc: !pipe.channel<!k>, %vc: !pipe.channel<!v>, %Q: !q, %kv: !view, %vv: !view, %n: i32, %init: !o) kernel {
  %r = tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 iter(%acc = %init) : (!o) {
    %c32 = arith.constant 32 : i32
    %t = arith.divui %k0, %c32 : i32
    // CHECK: pipe.put {{.*}} {pipe.at = #pipe.at<ahead = 2, order = 4>} : <<[k:32, d:64]
    pipe.put %kc[%t], %kv[%k0] : !pipe.channel<!k>, !view
    // CHECK: pipe.take {{.*}} {pipe.at = #pipe.at<ahead = 0, order = 2>}
    %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
    // CHECK: tile.dot {{.*}} over "d" {pipe.at = #pipe.at<ahead = 0, order = 6>}
    %S = tile.dot %Q, %K over "d" : !q, !k -> !s
    pipe.release %kc[%t] : !pipe.channel<!k>
    %P = tile.cast %S : !s -> !p
    // CHECK: pipe.put {{.*}} {pipe.at = #pipe.at<ahead = 2, order = 5>} : <<[k:32, v:64]
    pipe.put %vc[%t], %vv[%k0] : !pipe.channel<!v>, !view
    // CHECK: pipe.take {{.*}} {pipe.at = #pipe.at<ahead = 0, order = 3>}
    %V = pipe.take %vc[%t] : !pipe.channel<!v> -> !v
    %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
    // CHECK: pipe.release {{.*}}order = 10>
    pipe.release %vc[%t] : !pipe.channel<!v>
    tile.yield %O : !o
  }
  gpu.return
}

// A loop without transfers keeps its order.
// CHECK-LABEL: gpu.func @plain
gpu.func @plain(%n: i32, %init: !s) kernel {
  %r = tile.for_keys full (%k0) in (%n, %n) step 32 iter(%acc = %init) : (!s) {
    // CHECK: tile.any {{.*}}order = 0>
    %any = tile.any %acc ne 0xFF800000 : !s
    // CHECK: tile.cast {{.*}}order = 1>
    %P = tile.cast %acc : !s -> !p
    tile.yield %acc : !s
  }
  gpu.return
}
}
