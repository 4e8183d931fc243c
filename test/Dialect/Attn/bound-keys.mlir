// RUN: attn-opt %s -attn-normalize-mask -attn-bound-keys | FileCheck %s

// No mask: everything is visible and full.
// CHECK-LABEL: attn.kernel @full
// CHECK: attn.bounds
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: attn.yield %[[ZERO]], %k_len, %[[ZERO]], %k_len
attn.kernel @full attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}


// CHECK-LABEL: attn.kernel @causal
// CHECK: attn.bounds
// CHECK-NEXT: ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[LAST:.*]] = arith.addi %q_last, %[[ONE]] : i32
// CHECK-DAG: %[[FIRST:.*]] = arith.addi %q_first, %[[ONE]] : i32
// CHECK: %[[A:.*]] = arith.maxsi %[[LAST]], %[[ZERO]]
// CHECK: %[[VISIBLE:.*]] = arith.minsi %[[A]], %k_len
// CHECK: %[[B:.*]] = arith.maxsi %[[FIRST]], %[[ZERO]]
// CHECK: %[[C:.*]] = arith.minsi %[[B]], %k_len
// CHECK: %[[FULL:.*]] = arith.minsi %[[C]], %[[VISIBLE]]
// CHECK: attn.yield %[[ZERO]], %[[VISIBLE]], %[[ZERO]], %[[FULL]]
attn.kernel @causal attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
}


// A condition free of q and k selects all keys or none.

// CHECK-LABEL: attn.kernel @switch
// CHECK: attn.bounds
// CHECK-DAG: %[[ON:.*]] = attn.get_param @on : i1
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[END:.*]] = arith.select %[[ON]], %k_len, %[[ZERO]] : i32
// CHECK: attn.yield %[[ZERO]], %[[END]], %[[ZERO]], %{{.*}}
attn.kernel @switch attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @on : i1 = true
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = attn.get_param @on : i1
    attn.yield %0 : i1
  }
}


// Reads by batch entry and head are invariants, cloned with their indices.

// CHECK-LABEL: attn.kernel @length
// CHECK: attn.bounds
// CHECK: %[[LEN:.*]] = attn.read @lens[%b] : i32
// CHECK: arith.maxsi %[[LEN]]
attn.kernel @length attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.tensor @lens : i32 [batch]
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = attn.read @lens[%b] : i32
    %1 = arith.cmpi slt, %k, %0 : i32
    attn.yield %1 : i1
  }
}


// Opaque: all visible, none full.

// CHECK-LABEL: attn.kernel @stride
// CHECK: attn.bounds
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: attn.yield %[[ZERO]], %k_len, %[[ZERO]], %[[ZERO]]
attn.kernel @stride attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %two = arith.constant 2 : i32
    %zero = arith.constant 0 : i32
    %0 = arith.remsi %k, %two : i32
    %1 = arith.cmpi eq, %0, %zero : i32
    attn.yield %1 : i1
  }
}


// Opaque and causal: bounded by the causal half, never full.

// CHECK-LABEL: attn.kernel @causal_stride
// CHECK: attn.bounds
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[A:.*]] = arith.maxsi %{{.*}}, %[[ZERO]]
// CHECK: %[[VISIBLE:.*]] = arith.minsi %[[A]], %k_len
// CHECK: attn.yield %[[ZERO]], %[[VISIBLE]], %[[ZERO]], %[[ZERO]]
attn.kernel @causal_stride attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %two = arith.constant 2 : i32
    %zero = arith.constant 0 : i32
    %0 = arith.remsi %k, %two : i32
    %1 = arith.cmpi eq, %0, %zero : i32
    %2 = arith.cmpi sle, %k, %q : i32
    %3 = arith.andi %1, %2 : i1
    attn.yield %3 : i1
  }
}


// Prefix: the longer of two full ranges that begin together.

// CHECK-LABEL: attn.kernel @prefix
// CHECK: attn.bounds
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK-NOT: arith.cmpi
// CHECK: attn.yield
attn.kernel @prefix attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @p : i32 = 16 : i32
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %p = attn.get_param @p : i32
    %0 = arith.cmpi slt, %k, %p : i32
    %1 = arith.cmpi sle, %k, %q : i32
    %2 = arith.ori %0, %1 : i1
    attn.yield %2 : i1
  }
}


// Bounds that are there stay.

// CHECK-LABEL: attn.kernel @kept
// CHECK: attn.bounds
// CHECK: attn.yield %k_len, %k_len, %k_len, %k_len
// CHECK-NOT: attn.bounds
attn.kernel @kept attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.bounds {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len, %k_len, %k_len, %k_len : i32, i32, i32, i32
  }
}
