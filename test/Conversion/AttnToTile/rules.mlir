// Scores and sinks: params become arguments, reads become clamped loads that
// widen what is stored.
// RUN: attn-opt %s --convert-attn-to-tile -split-input-file | FileCheck %s

// CHECK-LABEL: gpu.func @params
// CHECK-SAME: %[[CAP:[^:]*]]: f32 {attn.arg = "param:cap"}, %[[ON:[^:]*]]: i32 {attn.arg = "param:on"}, %[[FAR:[^:]*]]: i64 {attn.arg = "param:far"})
attn.kernel @params attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 1>} {
  attn.param @cap : f32 = 30.0 : f32
  attn.param @on : i1 = true
  attn.param @far : i64 = 5 : i64
  attn.score raw {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %cap = attn.get_param @cap : f32
    %on = attn.get_param @on : i1
    %far = attn.get_param @far : i64
    %k64 = arith.extsi %k : i32 to i64
    %near = arith.cmpi slt, %k64, %far : i64
    %use = arith.andi %near, %on : i1
    %x = arith.mulf %s, %cap : f32
    %y = arith.select %use, %x, %s : f32
    attn.yield %y : f32
  }
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    attn.yield %zero, %k_len, %k_len : i32, i32, i32
  }
  attn.factor {
    %c = arith.constant 1.44269504 : f32
    attn.yield %c : f32
  }
}
// The score sees q . k, before the mask.
// CHECK: %[[S:.*]] = tile.dot {{.*}} over "d"
// CHECK-NEXT: %[[X:.*]] = tile.map %[[S]] index "q"(%{{.*}}), "k"(%{{.*}}) :
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[I:.*]]: i32, %[[K:.*]]: i32):
// CHECK: %[[TRUE:.*]] = arith.cmpi ne, %[[ON]], %{{.*}} : i32
// CHECK: arith.cmpi slt, %{{.*}}, %[[FAR]] : i64
// CHECK: arith.mulf %[[E]], %[[CAP]] : f32
// CHECK: tile.mask %[[X]]

// -----

// Every storage type: how it is loaded, how it is widened.
// CHECK-LABEL: gpu.func @tensors
// CHECK-SAME: %[[BATCH:[^:]*]]: i32 {attn.arg = "batch"}, %{{[^:]*}}: i32 {attn.arg = "q_len"}, %[[KLEN:[^:]*]]: i32 {attn.arg = "k_len"}
// CHECK-SAME: %[[I8:[^:]*]]: !llvm.ptr<1> {attn.arg = "tensor:i8"}
// CHECK-SAME: %[[BIAS:[^:]*]]: !llvm.ptr<1> {attn.arg = "tensor:bias"}
attn.kernel @tensors attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 1>} {
  attn.tensor @i8 : i8 [batch]
  attn.tensor @ui8 : ui8 [kv_heads]
  attn.tensor @i32 : i32 [8]
  attn.tensor @i64 : i64 [q_len]
  attn.tensor @i1 : i1 [heads]
  attn.tensor @f16 : f16 [heads]
  attn.tensor @bf16 : bf16 [heads]
  attn.tensor @f32 : f32 [heads]
  attn.tensor @bias : f32 [heads, k_len]
  attn.score raw {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    // CHECK: tile.map
    // Clamped to 0 .. batch - 1 in 64 bits.
    // CHECK: %[[SIZE:.*]] = arith.extsi %[[BATCH]] : i32 to i64
    // CHECK: %[[LAST:.*]] = arith.subi %[[SIZE]], %{{.*}} : i64
    // CHECK-NEXT: %[[LOW:.*]] = arith.minsi %{{.*}}, %[[LAST]] : i64
    // CHECK-NEXT: %[[INDEX:.*]] = arith.maxsi %[[LOW]], %{{.*}} : i64
    // CHECK: %[[AT:.*]] = llvm.getelementptr %[[I8]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    // CHECK-NEXT: %[[V:.*]] = llvm.load %[[AT]] invariant : !llvm.ptr<1> -> i8
    // CHECK-NEXT: arith.extsi %[[V]] : i8 to i32
    %0 = attn.read @i8[%b] : i32
    // CHECK: %[[V:.*]] = llvm.load %{{.*}} -> i8
    // CHECK-NEXT: arith.extui %[[V]] : i8 to i32
    %1 = attn.read @ui8[%g] : i32
    // CHECK: arith.constant 8 : i64
    // CHECK: %[[I32:.*]] = llvm.load %{{.*}} -> i32
    %2 = attn.read @i32[%k] : i32
    // CHECK: llvm.load %{{.*}} -> i64
    %3 = attn.read @i64[%i] : i64
    // CHECK: %[[V:.*]] = llvm.load %{{.*}} -> i8
    // CHECK: arith.cmpi ne, %[[V]], %{{.*}} : i8
    %4 = attn.read @i1[%h] : i1
    // CHECK: %[[V:.*]] = llvm.load %{{.*}} -> f16
    // CHECK-NEXT: arith.extf %[[V]] : f16 to f32
    %5 = attn.read @f16[%h] : f32
    // CHECK: %[[V:.*]] = llvm.load %{{.*}} -> bf16
    // CHECK-NEXT: arith.extf %[[V]] : bf16 to f32
    %6 = attn.read @bf16[%h] : f32
    // CHECK: %[[F32:.*]] = llvm.load %{{.*}} -> f32
    %7 = attn.read @f32[%h] : f32
    // Row-major: index 0 times k_len plus index 1; a 64-bit index stays.
    // CHECK: %[[WIDE:.*]] = arith.extsi %{{.*}} : i32 to i64
    // CHECK: %[[ROW:.*]] = arith.addi
    // CHECK: %[[COLS:.*]] = arith.extsi %[[KLEN]] : i32 to i64
    // CHECK: arith.minsi %[[WIDE]], %{{.*}} : i64
    // CHECK: %[[SCALED:.*]] = arith.muli %[[ROW]], %[[COLS]] : i64
    // CHECK-NEXT: %[[OFFSET:.*]] = arith.addi %[[SCALED]], %{{.*}} : i64
    // CHECK-NEXT: llvm.getelementptr %[[BIAS]][%[[OFFSET]]]
    %wide = arith.extsi %k : i32 to i64
    %8 = attn.read @bias[%h, %wide : i64] : f32
    %i1 = arith.addi %0, %1 : i32
    %i2 = arith.addi %i1, %2 : i32
    %i3 = arith.trunci %3 : i64 to i32
    %i4 = arith.addi %i2, %i3 : i32
    %f = arith.sitofp %i4 : i32 to f32
    %f1 = arith.addf %5, %6 : f32
    %f2 = arith.addf %f1, %7 : f32
    %f3 = arith.addf %f2, %8 : f32
    %f4 = arith.select %4, %f, %f3 : f32
    %x = arith.addf %s, %f4 : f32
    attn.yield %x : f32
  }
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    attn.yield %zero, %k_len, %k_len : i32, i32, i32
  }
  attn.factor {
    %c = arith.constant 1.44269504 : f32
    attn.yield %c : f32
  }
}

// -----

// The sink is read once per work item, after the key loop.
// CHECK-LABEL: gpu.func @sink
// CHECK-SAME: %[[SINKS:[^:]*]]: !llvm.ptr<1> {attn.arg = "tensor:sinks"}
// CHECK: tile.for_work (%{{.*}}, %[[H:.*]], %{{.*}}) in
// CHECK: tile.for_keys
// CHECK: tile.yield
// CHECK: arith.extsi %[[H]] : i32 to i64
// CHECK: llvm.getelementptr %[[SINKS]]
// CHECK: %[[SINK:.*]] = llvm.load
// CHECK: tile.finalize {{.*}} sink %[[SINK]] acc
attn.kernel @sink attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 1>} {
  attn.tensor @sinks : f32 [heads]
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    %0 = attn.read @sinks[%h] : f32
    attn.yield %0 : f32
  }
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

// -----

// A tensor of k_len elements may be empty where no key is at hand: its elements
// are then 0. Other extents are at least 1 in a launch.
// CHECK-LABEL: gpu.func @empty
// CHECK-SAME: %[[KLEN:[^:]*]]: i32 {attn.arg = "k_len"}
// CHECK: tile.for_work
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[KLEN]], %{{.*}} : i32
// CHECK-NEXT: %[[END:.*]] = scf.if %[[ANY]] -> (i32) {
// CHECK: llvm.load
// CHECK: } else {
// CHECK-NEXT: %[[NONE:.*]] = arith.constant 0 : i32
// CHECK-NEXT: scf.yield %[[NONE]]
// CHECK: tile.for_keys
// CHECK-NOT: scf.if
// CHECK: tile.yield
// CHECK-NOT: scf.if
// CHECK: tile.finalize
attn.kernel @empty attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 1>} {
  attn.tensor @ends : i32 [k_len]
  attn.tensor @sinks : f32 [q_len]
  attn.score raw {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = attn.read @ends[%k] : i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.addf %s, %1 : f32
    attn.yield %2 : f32
  }
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    %0 = attn.read @sinks[%b] : f32
    attn.yield %0 : f32
  }
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    %end = attn.read @ends[%zero] : i32
    attn.yield %zero, %end, %zero : i32, i32, i32
  }
  attn.factor {
    %c = arith.constant 0.125 : f32
    attn.yield %c : f32
  }
}
