// Maps, masks and reductions on fragments.
// RUN: attn-opt %s --convert-pipe-to-warp | FileCheck %s

!s = !tile.val<[q:64, k:32] x f32>
!row = !tile.val<[q:64] x f32>
!part = !tile.val<[q:64, r:4] x f32>

gpu.module @m {
// CHECK-LABEL: gpu.func @elementwise
// CHECK-SAME: %[[ZERO:[^:]*]]: f32, %[[M0:[^:]*]]: i32, %[[K0:[^:]*]]: i32
gpu.func @elementwise(%zero: f32, %m0: i32, %k0: i32, %ptr: !llvm.ptr<1>) kernel {
  pipe.role "compute" warps 2 {
    // CHECK: %[[S:.*]] = warp.fill %[[ZERO]] : <64x32xf32, acc, warps = 2>
    %S = tile.fill %zero : f32 -> !s
    // CHECK: %[[M:.*]] = warp.fill %[[ZERO]] : <64x1xf32, row, warps = 2>
    %m = tile.fill %zero : f32 -> !row
    // CHECK: %[[L:.*]] = warp.fill %[[ZERO]] : <64x4xf32, row_partial, warps = 2>
    %l = tile.fill %zero : f32 -> !part
    // CHECK: warp.map %[[S]], %[[M]] : {{.*}} -> <64x32xf32, acc, warps = 2> {
    // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
    // CHECK-NEXT: %[[D:.*]] = arith.subf %[[X]], %[[Y]]
    // CHECK-NEXT: warp.yield %[[D]]
    %P = tile.map %S, %m : !s, !row -> !s {
    ^bb0(%x: f32, %y: f32):
      %d = arith.subf %x, %y : f32
      tile.yield %d : f32
    }
    // Classes of keys: a lane's own value, and the place that needs no lane.
    // CHECK: warp.map %[[L]] column(%[[K0]]) : {{.*}} -> <64x4xf32, row_partial, warps = 2> {
    %first = tile.map %l index "r"(%k0) : !part -> !part {
    ^bb0(%x: f32, %k: i32):
      %kf = arith.sitofp %k : i32 to f32
      tile.yield %kf : f32
    }
    // CHECK: warp.map %[[S]], %{{.*}} column(%[[K0]]) in_class :
    %place = tile.map %S, %first index "k"(%k0) : !s, !part -> !s {
    ^bb0(%x: f32, %y: f32, %k: i32):
      %kf = arith.sitofp %k : i32 to f32
      %sum = arith.addf %kf, %y : f32
      tile.yield %sum : f32
    } {in_class}
    // Indices by axis name, whatever their order: q is the row, k the column.
    // CHECK: warp.map %[[S]] row(%[[M0]]) column(%[[K0]]) :
    // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[ROW:.*]]: i32, %[[COLUMN:.*]]: i32):
    // CHECK-NEXT: arith.subi %[[COLUMN]], %[[ROW]]
    %Y = tile.map %S index "k"(%k0), "q"(%m0) : !s -> !s {
    ^bb0(%x: f32, %k: i32, %q: i32):
      %d = arith.subi %k, %q : i32
      %f = arith.sitofp %d : i32 to f32
      tile.yield %f : f32
    }
    // CHECK: warp.map %[[S]] column(%[[K0]]) :
    // CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[COLUMN:.*]]: i32):
    // CHECK-NEXT: arith.sitofp %[[COLUMN]]
    %Z = tile.map %S index "k"(%k0) : !s -> !s {
    ^bb0(%x: f32, %k: i32):
      %f = arith.sitofp %k : i32 to f32
      tile.yield %f : f32
    }
    // What the rule hides is exactly -inf.
    // CHECK: %[[MASKED:.*]] = warp.map %[[S]] row(%[[M0]]) column(%[[K0]]) :
    // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Q:.*]]: i32, %[[K:.*]]: i32):
    // CHECK-NEXT: %[[SEEN:.*]] = arith.cmpi sle, %[[K]], %[[Q]]
    // CHECK-NEXT: %[[INF:.*]] = arith.constant 0xFF800000 : f32
    // CHECK-NEXT: %[[R:.*]] = arith.select %[[SEEN]], %[[X]], %[[INF]]
    // CHECK-NEXT: warp.yield %[[R]]
    %X = tile.mask %S(%m0, %k0) : !s {
    ^bb0(%q: i32, %k: i32):
      %0 = arith.cmpi sle, %k, %q : i32
      tile.yield %0 : i1
    }
    // A NaN counts as an element.
    // CHECK: %[[ANY:.*]] = warp.any %[[MASKED]] :
    // CHECK: arith.cmpf une,
    %any = tile.any %X ne 0xFF800000 : !s
    // CHECK: %[[PICKED:.*]] = scf.if %[[ANY]] -> (!warp.frag<64x32xf32, acc, warps = 2>) {
    // CHECK-NEXT: scf.yield %[[S]] : !warp.frag
    %picked = scf.if %any -> (!s) {
      scf.yield %S : !s
    } else {
      scf.yield %X : !s
    }
    // CHECK: warp.reduce max %[[PICKED]] : <64x32xf32, acc, warps = 2> -> <64x1xf32, row, warps = 2>
    %max = tile.reduce max %picked over "k" : !s -> !row
    // CHECK: %[[PART:.*]] = warp.reduce add %{{.*}} : <64x32xf32, acc, warps = 2> -> <64x4xf32, row_partial, warps = 2>
    %part = tile.reduce add %P over "k" : !s -> !part
    // CHECK: warp.reduce add %[[PART]] : <64x4xf32, row_partial, warps = 2> -> <64x1xf32, row, warps = 2>
    %sum = tile.reduce add %part over "r" : !part -> !row
  }
  // CHECK-NOT: tile.
  // CHECK: gpu.return
  gpu.return
}
}
