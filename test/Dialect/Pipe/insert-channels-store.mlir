// The output leaves by tensor copies: a channel with a map, in memory of its own
// where another role loads the next Q, else in Q's.
// RUN: attn-opt %s --attn-insert-channels -split-input-file | FileCheck %s

!q = !tile.val<[q:128, d:128] x bf16>
!k = !tile.val<[k:112, d:128] x bf16>
!o = !tile.val<[q:128, v:128] x f32>
!view = !tile.view<128 x bf16>

// Rings of 112 KiB and a Q of 32: a second Q and O would fit each, but not both.
// O comes first.
module attributes {attn.level = #attn.level<tile>, attn.target = "sm_90a"} {
gpu.module @m {
// A box has the rows of a warp: 128 / 8.
// CHECK-LABEL: gpu.func @fed
// CHECK-SAME: %[[O_MAP:[^:]*]]: !llvm.ptr {attn.arg = "o_map", attn.map = {box_columns = 64 : i64, box_rows = 16 : i64, swizzle = 128 : i64}, llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>}
gpu.func @fed(%ptr: !llvm.ptr<1>, %at: i64, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 128x112, warps = 8, stages = 5, loader = tma, producer = true, store = tma>} {
  // CHECK-DAG: pipe.open "q" via tma map %{{.*}} : !llvm.ptr : <<[q:128, d:128] x bf16, shared 1>, fed>
  // CHECK-DAG: %[[OC:.*]] = pipe.open "o" via st map %[[O_MAP]] : !llvm.ptr : <<[q:128, v:128] x bf16, shared 1>>
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
    %qv = tile.make_view "q" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %kv = tile.make_view "k" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %ov = tile.make_view "o" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %Q = tile.load %qv[%m0] : !view -> !q
    tile.for_keys mixed (%k0) in (%n, %n) full below %n step 112 {
      %K = tile.load %kv[%k0] : !view -> !k
      %S = tile.dot %Q, %K over "d" : !q, !k -> !tile.val<[q:128, k:112] x f32>
      tile.yield
    }
    // CHECK: pipe.drain %[[OC]], %{{.*}} : <<[q:128, v:128] x bf16, shared 1>>
    %zero = arith.constant 0.0 : f32
    %O = tile.fill %zero : f32 -> !o
    tile.store %O, %ov[%m0] : !o -> !view
  }
  gpu.return
}
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16>
!view = !tile.view<64 x bf16>
!ov = !tile.view<64 x f32>

// Of f32 a panel has 32 columns. A role that feeds itself loads Q no more.
gpu.module @m {
// CHECK-LABEL: gpu.func @self_fed
// CHECK-SAME: %[[O_MAP:[^:]*]]: !llvm.ptr {attn.arg = "o_map", attn.map = {box_columns = 32 : i64, box_rows = 16 : i64, swizzle = 128 : i64}
gpu.func @self_fed(%ptr: !llvm.ptr<1>, %at: i64, %n: i32, %lse: !tile.val<[q:64] x f32>)
    kernel attributes {attn.schedule = #attn.schedule<fa2, tile = 64x32, warps = 4, stages = 1, store = tma>} {
  // CHECK: %[[QC:.*]] = pipe.open "q" via cp_async
  // CHECK: %[[OC:.*]] = pipe.open "o" via st map %[[O_MAP]] : !llvm.ptr alias %[[QC]] : !pipe.channel<<[q:64, d:64] x bf16, shared 1>> : <<[q:64, v:64] x f32, shared 1>>
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
    %qv = tile.make_view "q" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %out = tile.make_view "o" %ptr[%at] stride %at rows %n at(%h, %b) : !ov
    %lv = tile.make_view "lse" %ptr[%at] stride %at rows %n at(%h, %b) : !tile.view<1 x f32>
    %Q = tile.load %qv[%m0] : !view -> !q
    %zero = arith.constant 0.0 : f32
    %O = tile.fill %zero : f32 -> !tile.val<[q:64, v:64] x f32>
    // CHECK: pipe.drain %[[OC]]
    tile.store %O, %out[%m0] : !tile.val<[q:64, v:64] x f32> -> !ov
    // One value of a row is no tile.
    // CHECK: tile.store %{{.*}} : <[q:64] x f32> -> <1 x f32>
    tile.store %lse, %lv[%m0] : !tile.val<[q:64] x f32> -> !tile.view<1 x f32>
  }
  gpu.return
}
}
