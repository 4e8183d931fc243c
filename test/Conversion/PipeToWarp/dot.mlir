// A contraction: one mma per 16 columns, operands from where they lie.
// RUN: attn-opt %s --convert-pipe-to-warp | FileCheck %s

!q = !tile.val<[q:64, d:32] x bf16, shared 1>
!k = !tile.val<[k:32, d:32] x bf16, shared 2>
!v = !tile.val<[k:32, v:24] x bf16, shared 2>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:24] x f32>

gpu.module @m {
// CHECK-LABEL: gpu.func @dot
// CHECK-SAME: %[[PTR:[^:]*]]: !llvm.ptr<1>
gpu.func @dot(%ptr: !llvm.ptr<1>, %at: i64, %n: i32, %slot: i32, %zero: f32) kernel {
  // CHECK-NOT: pipe.role
  pipe.role "compute" warps 4 {
    // CHECK: %[[QB:.*]] = warp.alloc {warp.group = "q"} : <1x64x32xbf16>
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    // CHECK-NEXT: %[[KB:.*]] = warp.alloc {warp.group = "k"} : <2x32x32xbf16>
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    // CHECK-NEXT: %[[VB:.*]] = warp.alloc {warp.group = "v"} : <2x32x24xbf16>
    %vc = pipe.open "v" via cp_async : !pipe.channel<!v>
    // CHECK: %[[QS:.*]] = arith.remui
    %Q = pipe.take %qc[%slot] : !pipe.channel<!q> -> !q
    // CHECK: %[[KS:.*]] = arith.remui
    %K = pipe.take %kc[%slot] : !pipe.channel<!k> -> !k
    // CHECK: %[[VS:.*]] = arith.remui
    %V = pipe.take %vc[%slot] : !pipe.channel<!v> -> !v
    // Q . K^T: d lies in the columns of both.
    // CHECK: %[[S0:.*]] = warp.fill %{{.*}} : <64x32xf32, acc, warps = 4>
    // CHECK-NEXT: %[[A0:.*]] = warp.ldmatrix %[[QB]][%[[QS]]] {column = 0 : i64} : <1x64x32xbf16> -> <64x16xbf16, a, warps = 4>
    // CHECK-NEXT: %[[B0:.*]] = warp.ldmatrix %[[KB]][%[[KS]]] {column = 0 : i64} : <2x32x32xbf16> -> <32x16xbf16, b, warps = 4>
    // CHECK-NEXT: %[[S1:.*]] = warp.mma %[[S0]], %[[A0]], %[[B0]]
    // CHECK-NEXT: warp.ldmatrix %[[QB]][%[[QS]]] {column = 16 : i64}
    // CHECK-NEXT: warp.ldmatrix %[[KB]][%[[KS]]] {column = 16 : i64}
    // CHECK-NEXT: %[[S:.*]] = warp.mma %[[S1]],
    // CHECK-NOT: warp.mma
    %S = tile.dot %Q, %K over "d" : !q, !k -> !s
    // CHECK: %[[P:.*]] = warp.cast %[[S]] : <64x32xf32, acc, warps = 4> -> <64x32xbf16, acc, warps = 4>
    %P = tile.cast %S : !s -> !p
    // P . V: P is in registers, k lies in the rows of V.
    // CHECK: %[[O:.*]] = warp.fill %{{.*}} : <64x24xf32, acc, warps = 4>
    %O = tile.fill %zero : f32 -> !o
    // CHECK-NEXT: %[[PA:.*]] = warp.as_operand %[[P]] {column = 0 : i64} : <64x32xbf16, acc, warps = 4> -> <64x16xbf16, a, warps = 4>
    // CHECK-NEXT: %[[VA:.*]] = warp.ldmatrix %[[VB]][%[[VS]]] {row = 0 : i64} : <2x32x24xbf16> -> <24x16xbf16, b, warps = 4>
    // CHECK-NEXT: %[[O1:.*]] = warp.mma %[[O]], %[[PA]], %[[VA]]
    // CHECK-NEXT: warp.as_operand %[[P]] {column = 16 : i64}
    // CHECK-NEXT: warp.ldmatrix %[[VB]][%[[VS]]] {row = 16 : i64}
    // CHECK-NEXT: warp.mma %[[O1]],
    // CHECK-NOT: warp.mma
    %O2 = tile.dot %P, %V init %O : !o over "k" : !p, !v -> !o
  }
  // CHECK: gpu.return
  gpu.return
}
}
