// What attn.bounds must yield.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// A14
attn.kernel @b attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A14) must yield 2 visible intervals as pairs, then pairs of hidden ones and a single key; found 4 values}}
  attn.bounds visible 2 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len, %k_len, %k_len, %k_len : i32, i32, i32, i32
  }
}

// -----

// A14
attn.kernel @b attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A14) must have no negative number of visible intervals; found -1}}
  attn.bounds visible -1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len : i32
  }
}

// -----

// A16
attn.kernel @b attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A16) must be approximate to be listed}}
  attn.bounds visible 0 listed [batch] {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len : i32
  }
}

// -----

// A16
attn.kernel @b attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A16) may be listed by batch, heads or kv_heads; found k_len}}
  attn.bounds visible 0 approximate listed [k_len] {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len : i32
  }
}

// -----

// A16
attn.kernel @b attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A16) may be listed by heads or by kv_heads; found both}}
  attn.bounds visible 0 approximate listed [heads, kv_heads] {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len : i32
  }
}
