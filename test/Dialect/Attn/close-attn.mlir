// RUN: attn-opt %s -attn-close-attn -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: module attributes {attn.level = #attn.level<attn>}
attn.kernel @complete attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len, %k_len, %k_len : i32, i32, i32
  }
  attn.factor {
    %0 = arith.constant 1.0 : f32
    attn.yield %0 : f32
  }
}

// -----

// expected-error @below {{has no attn.bounds; attn-bound-keys adds it}}
attn.kernel @no_bounds attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.factor {
    %0 = arith.constant 1.0 : f32
    attn.yield %0 : f32
  }
}

// -----

// expected-error @below {{has no attn.factor; attn-use-exp2 adds it}}
attn.kernel @no_factor attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len, %k_len, %k_len : i32, i32, i32
  }
}

// -----

attn.kernel @scaled attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{is not 'raw', but the kernel has attn.factor}}
  attn.score {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = math.tanh %s : f32
    attn.yield %0 : f32
  }
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len, %k_len, %k_len : i32, i32, i32
  }
  attn.factor {
    %0 = arith.constant 1.0 : f32
    attn.yield %0 : f32
  }
}
