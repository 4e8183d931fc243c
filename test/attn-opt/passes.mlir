// The driver knows the upstream dialects of the lowest level and their clean-up.
// RUN: attn-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: gpu.func @twice
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-NEXT: llvm.store %[[TWO]]
gpu.module @kernels {
  gpu.func @twice(%out: !llvm.ptr<1>) kernel {
    %0 = arith.constant 1 : i32
    %1 = arith.addi %0, %0 : i32
    llvm.store %1, %out : i32, !llvm.ptr<1>
    gpu.return
  }
}
