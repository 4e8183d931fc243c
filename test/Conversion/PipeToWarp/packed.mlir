// Work items of packed sequences: sequence b has the row tiles from starts[b] / 128 + b
// on, and is found by bisection. Copies end where the sequence does.
// RUN: attn-opt %s --convert-pipe-to-warp --canonicalize --cse | FileCheck %s

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k, fed>

gpu.module @m {
// CHECK-LABEL: gpu.func @packed
// CHECK-SAME: %[[MAP:[^:]*]]: !llvm.ptr, %[[STARTS:[^:]*]]: !llvm.ptr<1>, %{{[^:]*}}: i64, %[[BATCH:[^:]*]]: i32, %[[ROWS:[^:]*]]: i32, %[[LEN:[^:]*]]: i32
gpu.func @packed(%map: !llvm.ptr, %starts: !llvm.ptr<1>, %at: i64, %batch: i32, %rows: i32, %len: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 128x32, warps = 8, stages = 2, mma = wgmma, loader = tma, producer = true>} {
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  // All of them, at most one of each past its end.
  // CHECK: warp.role "load"
  // CHECK: %[[WHOLE:.*]] = arith.divui %[[ROWS]], %[[STEP:.*]] : i32
  // CHECK-NEXT: %[[TILES:.*]] = arith.addi %[[WHOLE]], %[[BATCH]] : i32
  pipe.role "load" warps 4 {
    %n0 = arith.constant 0 : i32
    %r = tile.for_work (%b, %h, %m0) in (%batch, %len, %rows) step 128 packed %starts iter(%n = %n0) : (i32) {
      // CHECK: scf.for
      // CHECK: scf.while
      // CHECK: arith.cmpi slt
      // CHECK: } do {
      // CHECK: %[[START:.*]] = llvm.getelementptr %[[STARTS]][%[[MIDDLE:.*]]] :
      // CHECK-NEXT: %[[ROW:.*]] = llvm.load %[[START]] invariant
      // CHECK-NEXT: %[[TILE:.*]] = arith.divui %[[ROW]], %[[STEP]] : i32
      // CHECK-NEXT: arith.addi %[[TILE]], %[[MIDDLE]] : i32
      // CHECK: warp.tma_load %{{.*}}, %[[MAP]], (%{{.*}}, %{{.*}}, %{{.*}}) of %[[LEN]] signals
      %kp = llvm.mlir.zero : !llvm.ptr<1>
      %kv = tile.make_view "k" %kp[%at] stride %at rows %len at(%h, %m0) ragged : !tile.view<64 x bf16>
      pipe.put %kc[%n], %kv[%m0] : !kc, !tile.view<64 x bf16>
      %one = arith.constant 1 : i32
      %n1 = arith.addi %n, %one : i32
      tile.yield %n1 : i32
    }
  }
  pipe.role "compute" warps 8 {
    %n0 = arith.constant 0 : i32
    %r = tile.for_work (%b, %h, %m0) in (%batch, %len, %rows) step 128 packed %starts iter(%n = %n0) : (i32) {
      %K = pipe.take %kc[%n] : !kc -> !k
      pipe.release %kc[%n] : !kc
      %one = arith.constant 1 : i32
      %n1 = arith.addi %n, %one : i32
      tile.yield %n1 : i32
    }
  }
  gpu.return
}
}
