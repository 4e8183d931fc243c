// The shape of a kernel: arguments by name, one work loop, one key loop.
// RUN: attn-opt %s --convert-attn-to-tile -split-input-file | FileCheck %s

// CHECK: module attributes {attn.level = #attn.level<tile>, attn.target = "sm_80"}
module attributes {attn.level = #attn.level<attn>, attn.target = "sm_80"} {
// CHECK-NEXT: gpu.module @gqa {
// CHECK-NEXT: gpu.func @gqa(%[[Q:.*]]: !llvm.ptr<1> {attn.arg = "q"}, %[[K:.*]]: !llvm.ptr<1> {attn.arg = "k"}, %[[V:.*]]: !llvm.ptr<1> {attn.arg = "v"},
// CHECK-SAME: !llvm.ptr<1> {attn.arg = "o"}, %{{.*}}: !llvm.ptr<1> {attn.arg = "lse"},
// CHECK-SAME: %[[QB:.*]]: i64 {attn.arg = "q_stride_b"}, %[[QH:.*]]: i64 {attn.arg = "q_stride_h"}, %[[QS:.*]]: i64 {attn.arg = "q_stride_s"},
// CHECK-SAME: %[[KB:.*]]: i64 {attn.arg = "k_stride_b"}, %[[KH:.*]]: i64 {attn.arg = "k_stride_h"}, %[[KS:.*]]: i64 {attn.arg = "k_stride_s"},
// CHECK-SAME: {attn.arg = "lse_stride_s"}, %[[BATCH:.*]]: i32 {attn.arg = "batch"}, %[[QLEN:.*]]: i32 {attn.arg = "q_len"}, %[[KLEN:.*]]: i32 {attn.arg = "k_len"})
// CHECK-SAME: kernel attributes {attn.schedule = #attn.schedule<fa2, tile = 64x32, warps = 2, stages = 1>, known_block_size = array<i32: 64, 1, 1>}
attn.kernel @gqa attributes {dtype = f16, out = f16, heads = 14 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 96 : i64, align = #attn.align<bottom_right>, outputs_o, outputs_lse, schedule = #attn.schedule<fa2, tile = 64x32, warps = 2, stages = 1>} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    attn.yield %zero, %q_last, %q_first : i32, i32, i32
  }
  attn.factor {
    %c = arith.constant 0.125 : f32
    attn.yield %c : f32
  }
}
// CHECK: %[[HEADS:.*]] = arith.constant 14 : i32
// CHECK-NEXT: tile.for_work (%[[B:.*]], %[[H:.*]], %[[M0:.*]]) in (%[[BATCH]], %[[HEADS]], %[[QLEN]]) step 64 {
// Seven query heads read one kv head.
// CHECK-NEXT: %[[GROUP:.*]] = arith.constant 7 : i32
// CHECK-NEXT: %[[G:.*]] = arith.divui %[[H]], %[[GROUP]] : i32
// Bottom-right: row i is at position i + k_len - q_len.
// CHECK-NEXT: %[[SHIFT:.*]] = arith.subi %[[KLEN]], %[[QLEN]] : i32
// CHECK: %[[B64:.*]] = arith.extsi %[[B]] : i32 to i64
// CHECK-NEXT: arith.muli %[[B64]], %[[QB]] : i64
// CHECK-NEXT: %[[H64:.*]] = arith.extsi %[[H]] : i32 to i64
// CHECK-NEXT: arith.muli %[[H64]], %[[QH]] : i64
// CHECK: tile.make_view "q" %[[Q]][%{{.*}}] stride %[[QS]] rows %[[QLEN]] at(%[[H]], %[[B]]) : <64 x f16>
// CHECK: %[[G64:.*]] = arith.extsi %[[G]] : i32 to i64
// CHECK-NEXT: arith.muli %[[G64]], %[[KH]] : i64
// CHECK: tile.make_view "k" %[[K]][%{{.*}}] stride %[[KS]] rows %[[KLEN]] at(%[[G]], %[[B]]) : <64 x f16>
// CHECK: tile.make_view "v" %[[V]]{{.*}} rows %[[KLEN]] at(%[[G]], %[[B]]) : <96 x f16>
// CHECK: %[[QT:.*]] = tile.load %{{.*}}[%[[M0]]] : <64 x f16> -> <[q:64, d:64] x f16>
// The bounds of the rows that exist: to min(m0 + 64, q_len) - 1.
// CHECK: %[[STOP:.*]] = arith.minsi %{{.*}}, %[[QLEN]] : i32
// CHECK: %[[FIRST:.*]] = arith.addi %[[M0]], %[[SHIFT]] : i32
// CHECK: arith.subi %[[STOP]], %{{.*}} : i32
// CHECK: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK: tile.fill %[[INF]] : f32 -> <[q:64] x f32>
// CHECK: tile.fill %{{.*}} : f32 -> <[q:64, r:4] x f32>
// CHECK: tile.fill %{{.*}} : f32 -> <[q:64, v:96] x f32>
// CHECK: %[[R:.*]]:3 = tile.for_keys mixed (%[[K0:.*]]) in ({{.*}}) full below %{{.*}} step 32 iter(
// CHECK-NEXT: %[[KT:.*]] = tile.load %{{.*}}[%[[K0]]] : <64 x f16> -> <[k:32, d:64] x f16>
// CHECK-NEXT: %[[S:.*]] = tile.dot %[[QT]], %[[KT]] over "d"
// Keys at or past k_len are hidden by every mask.
// CHECK-NEXT: %[[X:.*]] = tile.mask %[[S]](%[[M0]], %[[K0]]) : <[q:64, k:32] x f32> {
// CHECK-NEXT: ^bb0(%[[I:.*]]: i32, %[[KEY:.*]]: i32):
// CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi slt, %[[KEY]], %[[KLEN]] : i32
// CHECK-NEXT: %[[POS:.*]] = arith.addi %[[I]], %[[SHIFT]] : i32
// CHECK-NEXT: %[[SEEN:.*]] = arith.cmpi sle, %[[KEY]], %[[POS]] : i32
// CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[EXISTS]], %[[SEEN]] : i1
// CHECK-NEXT: tile.yield %[[BOTH]] : i1
// CHECK: tile.softmax_step %[[X]]
// CHECK-NEXT: tile.rescale
// P has the type of V.
// CHECK-NEXT: tile.cast %{{.*}} -> <[q:64, k:32] x f16>
// CHECK-NEXT: tile.load %{{.*}}[%[[K0]]] : <96 x f16> -> <[k:32, v:96] x f16>
// CHECK-NEXT: tile.dot {{.*}} over "k"
// CHECK-NEXT: tile.yield
// CHECK: tile.finalize %[[R]]#0, %[[R]]#1 factor %{{.*}} acc %[[R]]#2 : <
// CHECK: tile.store %{{.*}} : <[q:64, v:96] x f32> -> <96 x f16>
// CHECK: tile.store %{{.*}} : <[q:64] x f32> -> <1 x f32>
// CHECK-NOT: attn.kernel
}

// -----

// Top-left: row i is at position i. Nothing is masked but what does not exist.
// 72 elements of Q and K are padded to 80 for the instruction, those of V stay.
// O in f32, no lse.
// CHECK-LABEL: gpu.func @top_left
// CHECK-NOT: "lse"
// CHECK-SAME: %[[KLEN:[^:]*]]: i32 {attn.arg = "k_len"})
attn.kernel @top_left attributes {dtype = bf16, out = f32, heads = 2 : i64, kv_heads = 2 : i64, head_dim_qk = 72 : i64, head_dim_v = 72 : i64, align = #attn.align<top_left>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 2>} {
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    attn.yield %zero, %k_len, %k_len : i32, i32, i32
  }
  attn.factor {
    %c = arith.constant 0.125 : f32
    attn.yield %c : f32
  }
}
// CHECK: tile.for_work
// CHECK-NOT: arith.subi %[[KLEN]]
// CHECK: tile.load {{.*}} : <72 x bf16> -> <[q:128, d:80] x bf16>
// CHECK: tile.for_keys
// CHECK: tile.load {{.*}} : <72 x bf16> -> <[k:64, d:80] x bf16>
// CHECK: tile.dot {{.*}} over "d" : <[q:128, d:80] x bf16>, <[k:64, d:80] x bf16>
// CHECK: tile.mask
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[KEY:.*]]: i32):
// CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi slt, %[[KEY]], %[[KLEN]] : i32
// CHECK-NEXT: tile.yield %[[EXISTS]] : i1
// CHECK: tile.load {{.*}} : <72 x bf16> -> <[k:64, v:72] x bf16>
// CHECK: tile.store {{.*}} : <[q:128, v:72] x f32> -> <72 x f32>
// CHECK-NOT: tile.store

// -----

// lse alone.
// CHECK-LABEL: gpu.func @lse
// CHECK-NOT: {attn.arg = "o"}
// CHECK-SAME: {attn.arg = "lse"}
attn.kernel @lse attributes {dtype = bf16, out = bf16, heads = 2 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_lse, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 2>} {
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    attn.yield %zero, %k_len, %k_len : i32, i32, i32
  }
  attn.factor {
    %c = arith.constant 0.125 : f32
    attn.yield %c : f32
  }
}
// CHECK: %[[LSE:.*]], %[[O:.*]] = tile.finalize
// CHECK-NOT: make_view "o"
// CHECK: %[[VIEW:.*]] = tile.make_view "lse"
// CHECK: tile.store %[[LSE]], %[[VIEW]]
// CHECK-NOT: tile.store

// -----

// Row maxima are held up to the largest power of two of f16, also where the type
// of the weights has more.
module attributes {attn.level = #attn.level<attn>, attn.target = "sm_80"} {
// CHECK-LABEL: gpu.func @lazy
// CHECK: tile.softmax_step {{.*}} factor %{{[^ ]*}} held 15 :
attn.kernel @lazy attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 4 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 64x32, warps = 2, stages = 1, max = lazy>} {
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    attn.yield %zero, %k_len, %k_len : i32, i32, i32
  }
  attn.factor {
    %c = arith.constant 0.125 : f32
    attn.yield %c : f32
  }
}
}

// -----

module attributes {attn.level = #attn.level<attn>, attn.target = "sm_80"} {
// CHECK-LABEL: gpu.func @stale
// CHECK: tile.softmax_step {{.*}} factor %{{[^ ]*}} held 15 early :
attn.kernel @stale attributes {dtype = f16, out = f16, heads = 4 : i64, kv_heads = 4 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 64x32, warps = 2, stages = 1, max = stale>} {
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    attn.yield %zero, %k_len, %k_len : i32, i32, i32
  }
  attn.factor {
    %c = arith.constant 0.125 : f32
    attn.yield %c : f32
  }
}
}
