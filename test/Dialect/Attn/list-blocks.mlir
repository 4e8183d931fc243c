// RUN: attn-opt %s --split-input-file --attn-normalize-mask --attn-bound-keys --attn-list-blocks | FileCheck %s

// What the mask differs by: the batch entry.
// CHECK-LABEL: attn.kernel @documents
// CHECK: attn.bounds visible 1 approximate listed [batch] {
attn.kernel @documents attributes {dtype = bf16, out = bf16, heads = 8 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_o} {
  attn.tensor @doc : i32 [batch, k_len]
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = attn.read @doc[%b, %q] : i32
    %1 = attn.read @doc[%b, %k] : i32
    %2 = arith.cmpi eq, %0, %1 : i32
    attn.yield %2 : i1
  }
}

// -----

// The head; a table of bools is looked at as well.
// CHECK-LABEL: attn.kernel @blocks
// CHECK: attn.bounds visible 1 approximate listed [heads] {
attn.kernel @blocks attributes {dtype = bf16, out = bf16, heads = 8 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_o} {
  attn.tensor @table : i1 [heads, 32, 32]
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %c6 = arith.constant 6 : i32
    %0 = arith.shrsi %q, %c6 : i32
    %1 = arith.shrsi %k, %c6 : i32
    %2 = attn.read @table[%h, %0, %1] : i1
    attn.yield %2 : i1
  }
}

// -----

// True and false in every tile: there is nothing to list.
// CHECK-LABEL: attn.kernel @even
// CHECK: attn.bounds visible 1 approximate {
attn.kernel @even attributes {dtype = bf16, out = bf16, heads = 8 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %0 = arith.andi %k, %one : i32
    %1 = arith.cmpi eq, %0, %zero : i32
    attn.yield %1 : i1
  }
}

// -----

// A closed form.
// CHECK-LABEL: attn.kernel @causal
// CHECK: attn.bounds visible 1 {
attn.kernel @causal attributes {dtype = bf16, out = bf16, heads = 8 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
}
