// Channels that a producer fills through tensor maps; where O is staged.
// RUN: attn-opt %s --attn-insert-channels -split-input-file | FileCheck %s

!q = !tile.val<[q:128, d:64] x bf16>
!k = !tile.val<[k:32, d:64] x bf16>
!o = !tile.val<[q:128, d:64] x f32>
!view = !tile.view<64 x bf16>

// There is memory for O beside Q: the next Q may come while O is written. And for
// a second Q: it may come while the slowest warps still read this one.
module attributes {attn.level = #attn.level<tile>, attn.target = "sm_90a"} {
gpu.module @m {
// A map is an argument: 64 columns of 2 bytes are the swizzle's 128.
// CHECK-LABEL: gpu.func @apart
// CHECK-SAME: %[[Q_MAP:[^:]*]]: !llvm.ptr {attn.arg = "q_map", attn.map = {box_columns = 64 : i64, box_rows = 128 : i64, swizzle = 128 : i64}, llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>}
// CHECK-SAME: %[[K_MAP:[^:]*]]: !llvm.ptr {attn.arg = "k_map", attn.map = {box_columns = 64 : i64, box_rows = 32 : i64,
gpu.func @apart(%ptr: !llvm.ptr<1>, %at: i64, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 128x32, warps = 8, stages = 3, loader = tma, producer = true>} {
  // CHECK: pipe.role "compute" warps 8 {
  // CHECK-DAG: %[[QC:.*]] = pipe.open "q" via tma map %[[Q_MAP]] : !llvm.ptr : <<[q:128, d:64] x bf16, shared 2>, fed>
  // CHECK-DAG: %[[KC:.*]] = pipe.open "k" via tma map %[[K_MAP]] : !llvm.ptr : <<[k:32, d:64] x bf16, shared 3>, fed>
  // CHECK-DAG: %[[OC:.*]] = pipe.open "o" via st : <<[q:128, d:64] x bf16, shared 1>>
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
    %qv = tile.make_view "q" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %kv = tile.make_view "k" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %ov = tile.make_view "o" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %Q = tile.load %qv[%m0] : !view -> !q
    tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 {
      %K = tile.load %kv[%k0] : !view -> !k
      %S = tile.dot %Q, %K over "d" : !q, !k -> !tile.val<[q:128, k:32] x f32>
      tile.yield
    }
    // Q is released when it is not read any more, before O is written.
    // CHECK: pipe.release %[[KC]]
    // CHECK: pipe.release %[[QC]]
    // CHECK: pipe.drain %[[OC]]
    // CHECK-NOT: pipe.release
    // CHECK: gpu.return
    %zero = arith.constant 0.0 : f32
    %O = tile.fill %zero : f32 -> !o
    tile.store %O, %ov[%m0] : !o -> !view
  }
  gpu.return
}
}
}

// -----

!q = !tile.val<[q:128, d:256] x bf16>
!k = !tile.val<[k:80, d:256] x bf16>
!v = !tile.val<[k:80, v:256] x bf16>
!p = !tile.val<[q:128, k:80] x bf16>
!o = !tile.val<[q:128, v:256] x f32>
!view = !tile.view<256 x bf16>

// Q and O of 64 KiB, two slots of K and V of 40 KiB each: with O beside Q that
// is more than a block has. O is stored from registers: in Q's memory it would
// keep the next Q waiting.
module attributes {attn.level = #attn.level<tile>, attn.target = "sm_90a"} {
gpu.module @m {
// CHECK-LABEL: gpu.func @shared
gpu.func @shared(%ptr: !llvm.ptr<1>, %at: i64, %n: i32, %P: !p)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 128x80, warps = 8, stages = 2, loader = tma, producer = true>} {
  // CHECK-DAG: %[[QC:.*]] = pipe.open "q" via tma
  // CHECK-NOT: pipe.open "o"
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
    %qv = tile.make_view "q" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %kv = tile.make_view "k" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %vv = tile.make_view "v" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %ov = tile.make_view "o" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %zero = arith.constant 0.0 : f32
    %init = tile.fill %zero : f32 -> !o
    %Q = tile.load %qv[%m0] : !view -> !q
    %O = tile.for_keys mixed (%k0) in (%n, %n) full below %n step 80 iter(%acc = %init) : (!o) {
      %K = tile.load %kv[%k0] : !view -> !k
      %S = tile.dot %Q, %K over "d" : !q, !k -> !tile.val<[q:128, k:80] x f32>
      %V = tile.load %vv[%k0] : !view -> !v
      %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
      tile.yield %O : !o
    }
    // CHECK: pipe.release %[[QC]]
    // CHECK: %[[O16:.*]] = tile.cast
    // CHECK: tile.store %[[O16]]
    // CHECK-NOT: pipe.release
    // CHECK: gpu.return
    tile.store %O, %ov[%m0] : !o -> !view
  }
  gpu.return
}
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16>
!view = !tile.view<64 x bf16>

// The loader and the producer are two knobs: tensor maps without a role of its own.
gpu.module @m {
// CHECK-LABEL: gpu.func @self_fed
// CHECK: pipe.open "q" via tma map %{{.*}} : !llvm.ptr : <<[q:64, d:64] x bf16, shared 1>>
gpu.func @self_fed(%ptr: !llvm.ptr<1>, %at: i64, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 64x32, warps = 4, stages = 1, loader = tma>} {
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
    %qv = tile.make_view "q" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %Q = tile.load %qv[%m0] : !view -> !q
  }
  gpu.return
}

// ... and a producer that fills channels with cp.async.
// CHECK-LABEL: gpu.func @copying_producer
// CHECK: pipe.open "q" via cp_async : <<[q:64, d:64] x bf16, shared 1>, fed>
gpu.func @copying_producer(%ptr: !llvm.ptr<1>, %at: i64, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 64x32, warps = 4, stages = 1, producer = true>} {
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
    %qv = tile.make_view "q" %ptr[%at] stride %at rows %n at(%h, %b) : !view
    %Q = tile.load %qv[%m0] : !view -> !q
  }
  gpu.return
}
}
