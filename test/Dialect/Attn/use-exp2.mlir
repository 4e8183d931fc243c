// RUN: attn-opt %s -attn-use-exp2 | FileCheck %s
// RUN: attn-opt %s -attn-use-exp2 -attn-use-exp2 | FileCheck %s

// 1 / sqrt(64) * log2(e) = 0.18033688
// CHECK-LABEL: attn.kernel @auto
// CHECK: attn.factor
// CHECK-NEXT: %[[C:.*]] = arith.constant 0.180336878 : f32
// CHECK-NEXT: attn.yield %[[C]]
attn.kernel @auto attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// 0.5 * log2(e)
// CHECK-LABEL: attn.kernel @number
// CHECK: arith.constant 0.72134751 : f32
attn.kernel @number attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, scale = 0.5 : f64} {
}

// CHECK-LABEL: attn.kernel @param
// CHECK: attn.factor
// CHECK-NEXT: %[[S:.*]] = attn.get_param @alpha : f32
// CHECK-NEXT: %[[C:.*]] = arith.constant 1.44269502 : f32
// CHECK-NEXT: %[[F:.*]] = arith.mulf %[[S]], %[[C]] : f32
// CHECK-NEXT: attn.yield %[[F]]
attn.kernel @param attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, scale = @alpha} {
  attn.param @alpha : f32 = 0.5 : f32
}

// A score rule takes the raw q . k and multiplies it itself.
// CHECK-LABEL: attn.kernel @score
// CHECK: attn.score raw {
// CHECK-NEXT: ^bb0(%s: f32
// CHECK-NEXT: %[[C:.*]] = arith.constant 1.250000e-01 : f32
// CHECK-NEXT: %[[X:.*]] = arith.mulf %s, %[[C]] : f32
// CHECK-NEXT: math.tanh %[[X]] : f32
// CHECK: attn.factor
// CHECK-NEXT: arith.constant 1.44269502 : f32
attn.kernel @score attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.score {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = math.tanh %s : f32
    attn.yield %0 : f32
  }
}

// CHECK-LABEL: attn.kernel @score_param
// CHECK: attn.score raw {
// CHECK: %[[S:.*]] = attn.get_param @alpha : f32
// CHECK-NEXT: %[[X:.*]] = arith.mulf %s, %[[S]] : f32
// CHECK-NEXT: math.tanh %[[X]] : f32
attn.kernel @score_param attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, scale = @alpha} {
  attn.param @alpha : f32 = 0.5 : f32
  attn.score {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = math.tanh %s : f32
    attn.yield %0 : f32
  }
}
