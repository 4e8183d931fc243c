// RUN: attn-opt %s --convert-attn-to-tile -split-input-file -verify-diagnostics

// expected-error @below {{expected a selected schedule (attn-select-schedule)}}
attn.kernel @schedule attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// expected-error @below {{expected attn.bounds and attn.factor (attn-bound-keys, attn-use-exp2)}}
attn.kernel @bounds attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 1>} {
  attn.factor {
    %c = arith.constant 0.125 : f32
    attn.yield %c : f32
  }
}

// -----

attn.kernel @ragged attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 1>} {
  // expected-error @below {{expected ragged dimensions with varlen batches only, found 'total_q'}}
  attn.tensor @t : f32 [total_q]
  attn.score raw {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = attn.read @t[%i] : f32
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

attn.kernel @no_mask attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 1>} {
  // expected-error @below {{expected a mask, of which block lists could be made}}
  attn.bounds visible 0 approximate listed [batch] {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len : i32
  }
  attn.factor {
    %c = arith.constant 1.44269504 : f32
    attn.yield %c : f32
  }
}
