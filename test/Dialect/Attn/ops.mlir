// RUN: attn-opt %s | FileCheck %s
// Printing and parsing back is identical.
// RUN: attn-opt %s > %t.1 && attn-opt %t.1 > %t.2 && cmp %t.1 %t.2
// RUN: attn-opt %s -mlir-print-op-generic | attn-opt | cmp - %t.1

// CHECK: module attributes {attn.level = #attn.level<attn>, attn.target = "sm_80"}
module attributes {attn.level = #attn.level<attn>, attn.target = "sm_80"} {

// CHECK-LABEL: attn.kernel @everything
// CHECK-SAME: align = #attn.align<bottom_right>
// CHECK-SAME: dtype = bf16
// CHECK-SAME: kv = #attn.kv<paged, page = 16, layout = hnd>
// CHECK-SAME: kv_dtype = f8E4M3FN
// CHECK-SAME: outputs_lse, outputs_o, scale = @alpha
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 128x64, warps = 8, stages = 2, consumers = 2, overlap = 0, turns = true, persistent = false, max = lazy, mma = wgmma, loader = tma, producer = true>
// CHECK-SAME: split = #attn.split<fixed, value = 512>
attn.kernel @everything attributes {
    dtype = bf16, kv_dtype = f8E4M3FN, out = f32, heads = 32 : i64, kv_heads = 8 : i64,
    head_dim_qk = 192 : i64, head_dim_v = 128 : i64, scale = @alpha,
    align = #attn.align<bottom_right>, batch = #attn.batch<varlen>,
    kv = #attn.kv<paged, page = 16, layout = hnd>, split = #attn.split<fixed, value = 512>,
    outputs_o, outputs_lse,
    schedule = #attn.schedule<fa3, tile = 128x64, stages = 2, warps = 8, consumers = 2, overlap = 0, turns = true, persistent = false, max = lazy, mma = wgmma, loader = tma, producer = true>} {
  // CHECK-NEXT: attn.param @alpha : f32 = 1.250000e-01 : f32
  attn.param @alpha : f32 = 0.125 : f32
  // CHECK-NEXT: attn.param @left : i32 = 4095 : i32
  attn.param @left : i32 = 4095 : i32
  // CHECK-NEXT: attn.param @far : i64 = 5000000000 : i64
  attn.param @far : i64 = 5000000000 : i64
  // CHECK-NEXT: attn.param @on : i1 = true
  attn.param @on : i1 = true
  // CHECK-NEXT: attn.tensor @slope : f32 [heads]
  attn.tensor @slope : f32 [heads]
  // CHECK-NEXT: attn.tensor @table : bf16 [kv_heads, 32]
  attn.tensor @table : bf16 [kv_heads, 32]
  // CHECK-NEXT: attn.tensor @doc : ui8 [batch, k_len] monotone
  attn.tensor @doc : ui8 [batch, k_len] monotone
  // CHECK-NEXT: attn.mask {
  attn.mask {
  // CHECK-NEXT: ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    // CHECK-NEXT: attn.read @doc[%b, %q] : i32
    %0 = attn.read @doc[%b, %q] : i32
    %wide = arith.extsi %k : i32 to i64
    // CHECK: attn.read @doc[%b, %{{.*}} : i64] : i32
    %1 = attn.read @doc[%b, %wide : i64] : i32
    %2 = arith.cmpi eq, %0, %1 : i32
    // CHECK: attn.get_param @on : i1
    %on = attn.get_param @on : i1
    %3 = arith.ori %2, %on : i1
    // CHECK: attn.yield %{{.*}} : i1
    attn.yield %3 : i1
  }
  // CHECK: attn.score raw {
  attn.score raw {
  // CHECK-NEXT: ^bb0(%s: f32, %b: i32,
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %scale = attn.get_param @alpha : f32
    %x = arith.mulf %s, %scale : f32
    attn.yield %x : f32
  }
  // CHECK: attn.sink {
  attn.sink {
  // CHECK-NEXT: ^bb0(%b: i32, %h: i32, %g: i32):
  ^bb0(%b: i32, %h: i32, %g: i32):
    %x = attn.read @slope[%h] : f32
    attn.yield %x : f32
  }
  // CHECK: attn.bounds visible 1 {
  attn.bounds visible 1 {
  // CHECK-NEXT: ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    // CHECK: attn.yield %{{.*}}, %k_len, %{{.*}} : i32, i32, i32
    attn.yield %zero, %k_len, %zero : i32, i32, i32
  }
  // CHECK: attn.factor {
  attn.factor {
    %0 = arith.constant 1.5 : f32
    attn.yield %0 : f32
  }
}

// What has a default may be left out.
// CHECK-LABEL: attn.kernel @least
// CHECK-NOT: batch
// CHECK-NOT: kv =
// CHECK-NOT: scale
// CHECK-NOT: schedule
attn.kernel @least attributes {
    dtype = f16, out = f16, heads = 1 : i64, kv_heads = 1 : i64, head_dim_qk = 8 : i64,
    head_dim_v = 8 : i64, align = #attn.align<top_left>, batch = #attn.batch<dense>, outputs_o} {
}
}
