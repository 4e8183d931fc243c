// Carried values of a key loop that reach neither a used result nor an effect.
// RUN: attn-opt %s --canonicalize | FileCheck %s

!row = !tile.val<[q:64] x f32>
!part = !tile.val<[q:64, r:4] x f32>
!acc = !tile.val<[q:64, v:64] x f32>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!v = !tile.val<[k:32, v:64] x bf16>

gpu.module @kernels {

// O that nobody uses: its division, its loop value, P, V and the product go; the
// row sum stays.
// CHECK-LABEL: gpu.func @unused_output
// CHECK-SAME: %[[S:[^:]*]]: !tile.val<[q:64, k:32] x f32>, %[[M:[^:]*]]: !tile.val<[q:64] x f32>, %[[L:[^:]*]]: !tile.val<[q:64, r:4] x f32>
// CHECK: %[[R:.*]]:2 = tile.for_keys mixed (%{{.*}}) in (%{{.*}}, %{{.*}}) full below %{{.*}} step 32 iter(%[[MI:.*]] = %[[M]], %[[LI:.*]] = %[[L]]) :
// CHECK-NEXT: %{{.*}}, %[[NM:.*]], %[[NL:.*]], %{{.*}} = tile.softmax_step %[[S]], %[[MI]], %[[LI]]
// CHECK-NEXT: tile.yield %[[NM]], %[[NL]] :
// CHECK: %[[LSE:.*]] = tile.finalize %[[R]]#0, %[[R]]#1 factor %{{.*}} : <[q:64] x f32>, <[q:64, r:4] x f32> -> <[q:64] x f32>
// CHECK-NEXT: tile.store %[[LSE]]
gpu.func @unused_output(%s: !s, %m: !row, %l: !part, %o: !acc, %vv: !tile.view<64 x bf16>, %lv: !tile.view<1 x f32>, %c: f32, %begin: i32, %end: i32) kernel {
  %r:3 = tile.for_keys mixed (%k0) in (%begin, %end) full below %end step 32 iter(%mi = %m, %li = %l, %oi = %o) : (!row, !part, !acc) {
    %w, %m1, %l1, %alpha = tile.softmax_step %s, %mi, %li factor %c : !s, !row, !part -> !s, !row, !part, !row
    %o1 = tile.rescale %oi, %alpha : !acc, !row
    %p = tile.cast %w : !s -> !p
    %v = tile.load %vv[%k0] : !tile.view<64 x bf16> -> !v
    %o2 = tile.dot %p, %v init %o1 : !acc over "k" : !p, !v -> !acc
    tile.yield %m1, %l1, %o2 : !row, !part, !acc
  }
  %lse, %out = tile.finalize %r#0, %r#1 factor %c acc %r#2 : !row, !part, !acc -> !row, !acc
  tile.store %lse, %lv[%begin] : !row -> !tile.view<1 x f32>
  gpu.return
}

// A value that another carried one needs is kept though its own result is unused;
// so is one that an effect inside the loop needs.
// CHECK-LABEL: gpu.func @needed_inside
// CHECK: tile.for_keys {{.*}} iter(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}) : (f32, f32, i32)
// CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: %[[TWICE:.*]] = arith.addf %[[B]], %[[B]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[C]], %[[C]]
// CHECK-NEXT: llvm.store %[[C]]
// CHECK-NEXT: tile.yield %[[SUM]], %[[TWICE]], %[[NEXT]] : f32, f32, i32
gpu.func @needed_inside(%x: f32, %n: i32, %out: !llvm.ptr<1>, %result: !llvm.ptr<1>, %begin: i32, %end: i32) kernel {
  %r:4 = tile.for_keys partial (%k0) in (%begin, %end) step 32 iter(%a = %x, %b = %x, %c = %n, %d = %x) : (f32, f32, i32, f32) {
    %sum = arith.addf %a, %b : f32
    %twice = arith.addf %b, %b : f32
    %next = arith.addi %c, %c : i32
    llvm.store %c, %out : i32, !llvm.ptr<1>
    %square = arith.mulf %d, %b : f32
    tile.yield %sum, %twice, %next, %square : f32, f32, i32, f32
  }
  llvm.store %r#0, %result : f32, !llvm.ptr<1>
  gpu.return
}

}
