// RUN: attn-opt %s -attn-normalize-mask -attn-bound-keys | FileCheck %s

// No mask: everything is visible and full.
// CHECK-LABEL: attn.kernel @full
// CHECK: attn.bounds visible 1
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: attn.yield %[[ZERO]], %k_len, %k_len :
attn.kernel @full attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}


// CHECK-LABEL: attn.kernel @causal
// Hidden are the keys behind the first row's position.
// CHECK: attn.bounds visible 1
// CHECK-NEXT: ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[LAST:.*]] = arith.addi %q_last, %[[ONE]] : i32
// CHECK-DAG: %[[FIRST:.*]] = arith.addi %q_first, %[[ONE]] : i32
// CHECK-DAG: %[[A:.*]] = arith.maxsi %[[LAST]], %[[ZERO]]
// CHECK-DAG: %[[VISIBLE:.*]] = arith.minsi %[[A]], %k_len
// CHECK-DAG: %[[B:.*]] = arith.maxsi %[[FIRST]], %[[ZERO]]
// CHECK-DAG: %[[TAIL:.*]] = arith.minsi %[[B]], %k_len
// CHECK: attn.yield %[[ZERO]], %[[VISIBLE]], %[[TAIL]] :
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
// CHECK-DAG: %[[TAIL:.*]] = arith.select %[[ON]], %k_len, %[[ZERO]] : i32
// CHECK: attn.yield %[[ZERO]], %{{.*}}, %[[TAIL]] :
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
// CHECK: attn.bounds visible 1
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: attn.yield %[[ZERO]], %k_len, %[[ZERO]] :
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
// CHECK: attn.yield %[[ZERO]], %[[VISIBLE]], %[[ZERO]] :
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


// Prefix: intervals that begin together are one, here the longer one.

// CHECK-LABEL: attn.kernel @prefix
// CHECK: attn.bounds visible 1
// CHECK: arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK-NOT: arith.cmpi
// CHECK: attn.yield %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32
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


// The first keys and a window: two visible intervals. Hidden are the keys
// between them, and the tail. A window of negative width shows nothing.

// CHECK-LABEL: attn.kernel @sinks_window
// CHECK: attn.bounds visible 2
// CHECK-DAG: %[[SINKS:.*]] = attn.get_param @sinks : i32
// CHECK-DAG: %[[LEFT:.*]] = attn.get_param @left : i32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[S0:.*]] = arith.maxsi %[[SINKS]], %[[ZERO]]
// CHECK-DAG: %[[S:.*]] = arith.minsi %[[S0]], %k_len
// CHECK-DAG: %[[ANY:.*]] = arith.cmpi sge, %[[LEFT]], %[[ZERO]] : i32
// CHECK-DAG: %[[END:.*]] = arith.select %[[ANY]], %[[LAST:.*]], %[[ZERO]] : i32
// CHECK-DAG: %[[FIRST_END:.*]] = arith.minsi %[[LAST]], %[[S]]
// CHECK: attn.yield %[[ZERO]], %[[FIRST_END]], %{{.*}}, %[[END]], %[[S]], %{{.*}}, %{{.*}} : i32, i32, i32, i32, i32, i32, i32
attn.kernel @sinks_window attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @sinks : i32 = 4 : i32
  attn.param @left : i32 = 1023 : i32
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %sinks = attn.get_param @sinks : i32
    %left = attn.get_param @left : i32
    %0 = arith.cmpi sle, %k, %q : i32
    %1 = arith.cmpi slt, %k, %sinks : i32
    %2 = arith.extsi %q : i32 to i64
    %3 = arith.extsi %k : i32 to i64
    %4 = arith.extsi %left : i32 to i64
    %5 = arith.subi %2, %3 : i64
    %6 = arith.cmpi sle, %5, %4 : i64
    %7 = arith.ori %1, %6 : i1
    %8 = arith.andi %0, %7 : i1
    attn.yield %8 : i1
  }
}


// q / 100 == k / 100: from the first row's chunk to the last row's one.

// CHECK-LABEL: attn.kernel @chunks
// CHECK: attn.mask
// CHECK-NOT: %k,
// CHECK: arith.cmpi sle, %k, %{{.*}} : i32
// CHECK: arith.cmpi sge, %k, %{{.*}} : i32
// CHECK: attn.bounds visible 1
// CHECK: arith.divsi %q_last
// CHECK: arith.divsi %q_first
// CHECK: attn.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32, i32, i32
attn.kernel @chunks attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %c100 = arith.constant 100 : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %rest = arith.remsi %q, %c100 : i32
    %inexact = arith.cmpi ne, %rest, %zero : i32
    %signs = arith.xori %rest, %c100 : i32
    %differ = arith.cmpi slt, %signs, %zero : i32
    %adjusts = arith.andi %inexact, %differ : i1
    %towards_zero = arith.divsi %q, %c100 : i32
    %less = arith.subi %towards_zero, %one : i32
    %0 = arith.select %adjusts, %less, %towards_zero : i32
    %1 = arith.divsi %k, %c100 : i32
    %2 = arith.cmpi eq, %0, %1 : i32
    attn.yield %2 : i1
  }
}


// A monotone tensor read by row has its extremes at the first and last row.

// CHECK-LABEL: attn.kernel @documents
// CHECK: attn.bounds visible 1
// CHECK-DAG: %[[BEGIN:.*]] = attn.read @start[%b, %q_first] : i32
// CHECK-DAG: %[[HIDDEN:.*]] = attn.read @start[%b, %q_last] : i32
// CHECK-DAG: arith.maxsi %[[BEGIN]]
// CHECK-DAG: arith.maxsi %[[HIDDEN]]
// CHECK: attn.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32, i32, i32
attn.kernel @documents attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.tensor @start : i32 [batch, k_len] monotone
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = attn.read @start[%b, %q] : i32
    %1 = arith.cmpi sge, %k, %0 : i32
    %2 = arith.cmpi sle, %k, %q : i32
    %3 = arith.andi %1, %2 : i1
    attn.yield %3 : i1
  }
}


// Bounds that are there stay.

// CHECK-LABEL: attn.kernel @kept
// CHECK: attn.bounds
// CHECK: attn.yield %k_len, %k_len, %k_len
// CHECK-NOT: attn.bounds
attn.kernel @kept attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %k_len, %k_len, %k_len : i32, i32, i32
  }
}
