// Every op of the dialect parses, prints and parses back.
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s --mlir-print-op-generic | attn-opt | FileCheck %s

!acc = !warp.frag<128x64xf32, acc, warps = 4>
!acc16 = !warp.frag<128x64xbf16, acc, warps = 4>
!row = !warp.frag<128x1xf32, row, warps = 4>
!partial = !warp.frag<128x4xf32, row_partial, warps = 4>
!a = !warp.frag<128x16xbf16, a, warps = 4>
!b = !warp.frag<64x16xbf16, b, warps = 4>
!bt = !warp.frag<128x16xbf16, b, warps = 4>
!ring = !warp.buffer<2x64x128xbf16>
!tile = !warp.buffer<1x128x128xbf16>
!out = !warp.buffer<1x128x64xbf16>

gpu.module @kernels {
// CHECK-LABEL: gpu.func @shared
gpu.func @shared(%ptr: !llvm.ptr<1>, %stride: i64, %rows: i32, %slot: i32, %more: i1) kernel {
  // CHECK: %[[RING:.*]] = warp.alloc {offset = 32768 : i64} : <2x64x128xbf16>
  %ring = warp.alloc {offset = 32768 : i64} : !ring
  // CHECK: %[[TILE:.*]] = warp.alloc : <1x128x128xbf16>
  %tile = warp.alloc : !tile
  // CHECK: warp.cp_async %[[RING]][%{{.*}}], %{{.*}}, %{{.*}}, %{{.*}}, cols = 128, warps = 4 if %{{.*}} : <2x64x128xbf16>
  warp.cp_async %ring[%slot], %ptr, %stride, %rows, cols = 128, warps = 4 if %more : !ring
  // CHECK: warp.cp_async %[[RING]][%{{.*}}], %{{.*}}, %{{.*}}, %{{.*}}, cols = 120, warps = 4 : <2x64x128xbf16>
  warp.cp_async %ring[%slot], %ptr, %stride, %rows, cols = 120, warps = 4 : !ring
  // CHECK: warp.cp_async_commit
  warp.cp_async_commit
  // CHECK: warp.cp_async_wait {groups = 1 : i64}
  warp.cp_async_wait {groups = 1 : i64}
  // CHECK: warp.barrier {warps = 4 : i64}
  warp.barrier {warps = 4 : i64}
  // CHECK: warp.barrier {id = 2 : i64, warps = 4 : i64}
  warp.barrier {id = 2 : i64, warps = 4 : i64}
  // CHECK: warp.ldmatrix %[[TILE]][%{{.*}}] {column = 16 : i64} : <1x128x128xbf16> -> <128x16xbf16, a, warps = 4>
  %a = warp.ldmatrix %tile[%slot] {column = 16 : i64} : !tile -> !a
  // CHECK: warp.ldmatrix %[[RING]][%{{.*}}] {column = 112 : i64} : <2x64x128xbf16> -> <64x16xbf16, b, warps = 4>
  %b = warp.ldmatrix %ring[%slot] {column = 112 : i64} : !ring -> !b
  // CHECK: warp.ldmatrix %[[RING]][%{{.*}}] {row = 48 : i64} : <2x64x128xbf16> -> <128x16xbf16, b, warps = 4>
  %bt = warp.ldmatrix %ring[%slot] {row = 48 : i64} : !ring -> !bt
  // CHECK: warp.copy_out %[[TILE]][%{{.*}}], %{{.*}}, %{{.*}}, %{{.*}}, cols = 128, warps = 4 : <1x128x128xbf16>
  warp.copy_out %tile[%slot], %ptr, %stride, %rows, cols = 128, warps = 4 : !tile
  gpu.return
}

// CHECK-LABEL: gpu.func @fragments
gpu.func @fragments(%ptr: !llvm.ptr<1>, %stride: i64, %rows: i32, %slot: i32, %zero: f32, %tile: !tile, %ring: !ring, %bound: i32) kernel {
  // CHECK: warp.fill %{{.*}} : <128x64xf32, acc, warps = 4>
  %s0 = warp.fill %zero : !acc
  %a = warp.ldmatrix %tile[%slot] {column = 0 : i64} : !tile -> !a
  %b = warp.ldmatrix %ring[%slot] {column = 0 : i64} : !ring -> !b
  // CHECK: %[[S:.*]] = warp.mma %{{.*}}, %{{.*}}, %{{.*}} : <128x64xf32, acc, warps = 4>, <128x16xbf16, a, warps = 4>, <64x16xbf16, b, warps = 4>
  %s = warp.mma %s0, %a, %b : !acc, !a, !b
  // CHECK: %[[M:.*]] = warp.reduce max %[[S]] : <128x64xf32, acc, warps = 4> -> <128x1xf32, row, warps = 4>
  %m = warp.reduce max %s : !acc -> !row
  // CHECK: %[[P:.*]] = warp.map %[[S]], %[[M]] row(%{{.*}}) column(%{{.*}}) : !warp.frag<128x64xf32, acc, warps = 4>, !warp.frag<128x1xf32, row, warps = 4> -> <128x64xf32, acc, warps = 4> {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: i32, %{{.*}}: i32):
  %p = warp.map %s, %m row(%bound) column(%slot) : !acc, !row -> !acc {
  ^bb0(%x: f32, %max: f32, %q: i32, %k: i32):
    %visible = arith.cmpi sle, %k, %q : i32
    %y = arith.subf %x, %max : f32
    %z = arith.select %visible, %y, %zero : f32
    // CHECK: warp.yield %{{.*}} : f32
    warp.yield %z : f32
  }
  // CHECK: %[[L:.*]] = warp.reduce add %[[P]] : <128x64xf32, acc, warps = 4> -> <128x4xf32, row_partial, warps = 4>
  %l = warp.reduce add %p : !acc -> !partial
  // CHECK: warp.reduce add %[[L]] : <128x4xf32, row_partial, warps = 4> -> <128x1xf32, row, warps = 4>
  %sum = warp.reduce add %l : !partial -> !row
  // CHECK: warp.map %[[L]], %[[M]] : !warp.frag<128x4xf32, row_partial, warps = 4>, !warp.frag<128x1xf32, row, warps = 4> -> <128x4xf32, row_partial, warps = 4>
  %l1 = warp.map %l, %m : !partial, !row -> !partial {
  ^bb0(%x: f32, %alpha: f32):
    %y = arith.mulf %x, %alpha : f32
    warp.yield %y : f32
  }
  // CHECK: warp.any %[[M]], %[[S]] column(%{{.*}}) : !warp.frag<128x1xf32, row, warps = 4>, !warp.frag<128x64xf32, acc, warps = 4> {
  %some = warp.any %m, %s column(%slot) : !row, !acc {
  ^bb0(%max: f32, %x: f32, %k: i32):
    %visible = arith.cmpi slt, %k, %bound : i32
    // CHECK: warp.yield %{{.*}} : i1
    warp.yield %visible : i1
  }
  // CHECK: %[[P16:.*]] = warp.cast %[[P]] : <128x64xf32, acc, warps = 4> -> <128x64xbf16, acc, warps = 4>
  %p16 = warp.cast %p : !acc -> !acc16
  // CHECK: warp.as_operand %[[P16]] {column = 48 : i64} : <128x64xbf16, acc, warps = 4> -> <128x16xbf16, a, warps = 4>
  %pa = warp.as_operand %p16 {column = 48 : i64} : !acc16 -> !a
  %out = warp.alloc : !out
  // CHECK: warp.store_shared %[[P16]], %{{.*}}[%{{.*}}] : <128x64xbf16, acc, warps = 4>, <1x128x64xbf16>
  warp.store_shared %p16, %out[%slot] : !acc16, !out
  // CHECK: warp.store_global %[[S]], %{{.*}}, %{{.*}}, %{{.*}}, cols = 64 : <128x64xf32, acc, warps = 4>
  warp.store_global %s, %ptr, %stride, %rows, cols = 64 : !acc
  // CHECK: warp.store_rows %[[M]], %{{.*}}, %{{.*}}, %{{.*}} : <128x1xf32, row, warps = 4>
  warp.store_rows %m, %ptr, %stride, %rows : !row
  gpu.return
}
}
