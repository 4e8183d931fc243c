// The work loop over the grid, the key loop from right to left.
// RUN: attn-opt %s --convert-pipe-to-warp --canonicalize | FileCheck %s

!s = !tile.val<[q:64, k:32] x f32>

// CHECK: module attributes {attn.level = #attn.level<warp>}
module attributes {attn.level = #attn.level<pipe>} {
gpu.module @m {
// CHECK-LABEL: gpu.func @work
// CHECK-SAME: (%[[BATCH:.*]]: i32, %[[HEADS:.*]]: i32, %[[ROWS:.*]]: i32, %[[PTR:.*]]: !llvm.ptr<1>)
gpu.func @work(%batch: i32, %heads: i32, %rows: i32, %ptr: !llvm.ptr<1>) kernel {
  // CHECK: %[[UP:.*]] = arith.addi %[[ROWS]], %c127_i32
  // CHECK: %[[TILES:.*]] = arith.divui %[[UP]], %c128_i32
  // CHECK: %[[ALL:.*]] = arith.muli %[[HEADS]], %[[BATCH]]
  // CHECK: %[[TOTAL:.*]] = arith.muli %[[TILES]], %[[ALL]]
  // Any grid from one block up: items block, block + grid, ...
  // CHECK: gpu.block_id x
  // CHECK: %[[BLOCK:.*]] = arith.index_cast
  // CHECK: gpu.grid_dim x
  // CHECK: %[[GRID:.*]] = arith.index_cast
  // CHECK: scf.for %[[ITEM:.*]] = %[[BLOCK]] to %[[TOTAL]] step %[[GRID]]
  // CHECK: %[[OVER:.*]] = arith.divui %[[ITEM]], %[[TILES]]
  // CHECK: %[[H:.*]] = arith.remui %[[OVER]], %[[HEADS]]
  // The last rows of a head first.
  // CHECK: %[[LAST:.*]] = arith.subi %[[TILES]], %c1_i32
  // CHECK: %[[REM:.*]] = arith.remui %[[ITEM]], %[[TILES]]
  // CHECK: %[[TILE:.*]] = arith.subi %[[LAST]], %[[REM]]
  // CHECK: %[[B:.*]] = arith.divui %[[ITEM]], %{{.*}}
  // CHECK: %[[M0:.*]] = arith.muli %[[TILE]], %c128_i32
  // CHECK: llvm.store volatile %[[B]]
  // CHECK: llvm.store volatile %[[H]]
  // CHECK: llvm.store volatile %[[M0]]
  pipe.role "compute" warps 4 {
    tile.for_work (%b, %h, %m0) in (%batch, %heads, %rows) step 128 {
      llvm.store volatile %b, %ptr : i32, !llvm.ptr<1>
      llvm.store volatile %h, %ptr : i32, !llvm.ptr<1>
      llvm.store volatile %m0, %ptr : i32, !llvm.ptr<1>
    }
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @keys
// CHECK-SAME: (%[[BEGIN:.*]]: i32, %[[END:.*]]: i32, %[[ZERO:.*]]: f32, %[[PTR:.*]]: !llvm.ptr<1>)
gpu.func @keys(%begin: i32, %end: i32, %zero: f32, %ptr: !llvm.ptr<1>) kernel {
  pipe.role "compute" warps 4 {
    // CHECK: %[[INIT:.*]] = warp.fill %[[ZERO]]
    %init = tile.fill %zero : f32 -> !s
    // scf.for counts up: k0 = begin + end - step - iv.
    // CHECK: %[[SUM:.*]] = arith.addi %[[BEGIN]], %[[END]]
    // CHECK: %[[MIRROR:.*]] = arith.subi %[[SUM]], %c32_i32
    // CHECK: %[[R:.*]] = scf.for %[[IV:.*]] = %[[BEGIN]] to %[[END]] step %c32_i32 iter_args(%[[ACC:.*]] = %[[INIT]]) -> (!warp.frag<64x32xf32, acc, warps = 4>)
    // CHECK-NEXT: %[[K0:.*]] = arith.subi %[[MIRROR]], %[[IV]]
    // CHECK-NEXT: llvm.store volatile %[[K0]]
    // CHECK: %[[NEXT:.*]] = warp.map %[[ACC]]
    // CHECK: scf.yield %[[NEXT]]
    %r = tile.for_keys full (%k0) in (%begin, %end) step 32 iter(%acc = %init) : (!s) {
      llvm.store volatile %k0, %ptr : i32, !llvm.ptr<1>
      %next = tile.map %acc : !s -> !s {
      ^bb0(%x: f32):
        %0 = arith.negf %x : f32
        tile.yield %0 : f32
      }
      tile.yield %next : !s
    }
    // Without carried values.
    // CHECK: scf.for
    // CHECK: llvm.store volatile
    tile.for_keys full (%k0) in (%begin, %end) step 32 {
      llvm.store volatile %k0, %ptr : i32, !llvm.ptr<1>
      tile.yield
    }
    // CHECK: warp.store_global %[[R]]
    %at = arith.constant 0 : i64
    %view = tile.make_view "o" %ptr[%at] stride %at rows %begin : !tile.view<32 x f32>
    tile.store %r, %view[%begin] : !s -> !tile.view<32 x f32>
  }
  gpu.return
}
}
}
