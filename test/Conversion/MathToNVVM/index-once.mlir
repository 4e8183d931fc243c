// Elements whose indices differ by constants share one conversion to float.
// RUN: attn-opt %s -convert-math-to-nvvm -cse | FileCheck %s

gpu.module @m {
// CHECK-LABEL: gpu.func @columns
// CHECK-SAME: (%[[K:.*]]: i32, %[[Q:.*]]: i32)
gpu.func @columns(%k: i32, %q: i32) -> (f32, f32) {
  // CHECK: %[[D:.*]] = arith.subi %[[K]], %[[Q]] : i32
  // CHECK: %[[F:.*]] = arith.sitofp %[[D]] : i32 to f32
  // CHECK-NOT: sitofp
  // CHECK: %[[EIGHT:.*]] = arith.constant 8.000000e+00 : f32
  // CHECK: arith.addf %[[F]], %[[EIGHT]] : f32
  // CHECK: %[[NINE:.*]] = arith.constant 9.000000e+00 : f32
  // CHECK: arith.addf %[[F]], %[[NINE]] : f32
  %c8 = arith.constant 8 : i32
  %c9 = arith.constant 9 : i32
  %k8 = arith.addi %k, %c8 : i32
  %k9 = arith.addi %k, %c9 : i32
  %d8 = arith.subi %k8, %q : i32
  %d9 = arith.subi %k9, %q : i32
  %f8 = arith.sitofp %d8 : i32 to f32
  %f9 = arith.sitofp %d9 : i32 to f32
  gpu.return %f8, %f9 : f32, f32
}

// CHECK-LABEL: gpu.func @alone
gpu.func @alone(%k: i32) -> (f32, f32) {
  // CHECK: %[[F:.*]] = arith.sitofp %{{.*}} : i32 to f32
  // CHECK: arith.addf %[[F]]
  %c8 = arith.constant 8 : i32
  %k8 = arith.addi %k, %c8 : i32
  %f8 = arith.sitofp %k8 : i32 to f32
  // 2^24 + 1 is no float: one rounding stays one.
  // CHECK: %[[SUM:.*]] = arith.addi
  // CHECK: arith.sitofp %[[SUM]]
  %large = arith.constant 16777217 : i32
  %kl = arith.addi %k, %large : i32
  %fl = arith.sitofp %kl : i32 to f32
  gpu.return %f8, %fl : f32, f32
}
}
