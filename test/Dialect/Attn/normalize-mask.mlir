// RUN: attn-opt %s -attn-normalize-mask | FileCheck %s
// Twice is once.
// RUN: attn-opt %s -attn-normalize-mask > %t.1
// RUN: attn-opt %t.1 -attn-normalize-mask | cmp - %t.1

// Four texts of one condition.

// CHECK-LABEL: attn.kernel @causal
// CHECK: attn.mask
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sle, %k, %q : i32
// CHECK-NEXT: attn.yield %[[C]]
attn.kernel @causal attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
}


// CHECK-LABEL: attn.kernel @reversed
// CHECK: attn.mask
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sle, %k, %q : i32
// CHECK-NEXT: attn.yield %[[C]]
attn.kernel @reversed attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sge, %q, %k : i32
    attn.yield %0 : i1
  }
}


// CHECK-LABEL: attn.kernel @negated
// CHECK: attn.mask
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sle, %k, %q : i32
// CHECK-NEXT: attn.yield %[[C]]
attn.kernel @negated attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %true = arith.constant true
    %0 = arith.cmpi sgt, %k, %q : i32
    %1 = arith.xori %0, %true : i1
    attn.yield %1 : i1
  }
}


// CHECK-LABEL: attn.kernel @difference
// CHECK: attn.mask
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sle, %k, %q : i32
// CHECK-NEXT: attn.yield %[[C]]
attn.kernel @difference attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    %0 = arith.subi %q, %k : i32
    %1 = arith.cmpi sge, %0, %zero : i32
    attn.yield %1 : i1
  }
}


// i is q - (k_len - q_len), or q itself.

// CHECK-LABEL: attn.kernel @row_bottom_right
// CHECK: attn.mask
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sle, %k, %q : i32
// CHECK-NEXT: attn.yield %[[C]]
attn.kernel @row_bottom_right attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.subi %k_len, %q_len : i32
    %1 = arith.addi %i, %0 : i32
    %2 = arith.cmpi sle, %k, %1 : i32
    attn.yield %2 : i1
  }
}


// CHECK-LABEL: attn.kernel @row_top_left
// CHECK: attn.mask
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sle, %k, %q : i32
// CHECK-NEXT: attn.yield %[[C]]
attn.kernel @row_top_left attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %2 = arith.cmpi sle, %k, %i : i32
    attn.yield %2 : i1
  }
}


// q - left may leave i32: exact in i64, then saturated.

// CHECK-LABEL: attn.kernel @window
// CHECK: attn.mask
// CHECK: %[[LEFT:.*]] = attn.get_param @left : i32
// CHECK-DAG: %[[UPPER:.*]] = arith.cmpi sle, %k, %q : i32
// CHECK-DAG: %[[Q:.*]] = arith.extsi %q : i32 to i64
// CHECK-DAG: %[[L:.*]] = arith.extsi %[[LEFT]] : i32 to i64
// CHECK: %[[BOUND:.*]] = arith.subi %[[Q]], %[[L]] : i64
// CHECK: %[[LOW:.*]] = arith.constant -2147483648 : i64
// CHECK: %[[A:.*]] = arith.maxsi %[[BOUND]], %[[LOW]] : i64
// CHECK: %[[HIGH:.*]] = arith.constant 2147483647 : i64
// CHECK: %[[B:.*]] = arith.minsi %[[A]], %[[HIGH]] : i64
// CHECK: %[[X:.*]] = arith.trunci %[[B]] : i64 to i32
// CHECK: %[[LOWER:.*]] = arith.cmpi sge, %k, %[[X]] : i32
// CHECK: arith.andi %[[UPPER]], %[[LOWER]] : i1
attn.kernel @window attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @left : i32 = 4095 : i32
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %left = attn.get_param @left : i32
    %0 = arith.subi %q, %k : i32
    %1 = arith.cmpi sle, %0, %left : i32
    %2 = arith.cmpi sge, %q, %k : i32
    %3 = arith.andi %1, %2 : i1
    attn.yield %3 : i1
  }
}


// An i64 param is clamped first, so that the sum cannot wrap.

// CHECK-LABEL: attn.kernel @wide_window
// CHECK: attn.mask
// CHECK: %[[LEFT:.*]] = attn.get_param @left : i64
// CHECK: arith.maxsi %[[LEFT]], %{{.*}} : i64
// CHECK: arith.minsi
// CHECK: arith.subi
// CHECK: arith.trunci
// CHECK: arith.cmpi sge, %k, %{{.*}} : i32
attn.kernel @wide_window attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @left : i64 = 4095 : i64
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %left = attn.get_param @left : i64
    %0 = arith.subi %q, %k : i32
    %1 = arith.extsi %0 : i32 to i64
    %2 = arith.cmpi sle, %1, %left : i64
    attn.yield %2 : i1
  }
}


// Two params of 64 bits have no exact bound in 64 bits.

// CHECK-LABEL: attn.kernel @too_wide
// CHECK: attn.mask
// CHECK: arith.subi
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i64
attn.kernel @too_wide attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @a : i64 = 1 : i64
  attn.param @b : i64 = 1 : i64
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %a = attn.get_param @a : i64
    %b2 = attn.get_param @b : i64
    %0 = arith.extsi %k : i32 to i64
    %1 = arith.subi %a, %b2 : i64
    %2 = arith.addi %1, %b2 : i64
    %3 = arith.muli %2, %b2 : i64
    %4 = arith.subi %3, %0 : i64
    %5 = arith.cmpi slt, %4, %b2 : i64
    attn.yield %5 : i1
  }
}


// Negation of chains: De Morgan. Repeated conditions go, the rest is sorted:
// upper bounds, lower bounds, the others.

// CHECK-LABEL: attn.kernel @chain
// CHECK: attn.mask
// CHECK-DAG: %[[UP:.*]] = arith.cmpi sle, %k, %q : i32
// CHECK-DAG: %[[LO:.*]] = arith.cmpi sge, %k, %{{.*}} : i32
// CHECK-DAG: %[[ON:.*]] = attn.get_param @on : i1
// CHECK: %[[A:.*]] = arith.andi %[[UP]], %[[LO]] : i1
// CHECK: %[[B:.*]] = arith.andi %[[A]], %[[ON]] : i1
// CHECK-NEXT: attn.yield %[[B]]
attn.kernel @chain attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @on : i1 = true
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %true = arith.constant true
    %four = arith.constant 4 : i32
    %on = attn.get_param @on : i1
    %off = arith.xori %on, %true : i1
    %0 = arith.cmpi slt, %k, %four : i32
    %1 = arith.cmpi sgt, %k, %q : i32
    %2 = arith.cmpi slt, %q, %k : i32
    %3 = arith.ori %0, %off : i1
    %4 = arith.ori %3, %1 : i1
    %5 = arith.ori %4, %2 : i1
    %6 = arith.xori %5, %true : i1
    attn.yield %6 : i1
  }
}


// Points, and what is not affine, or not in k.

// CHECK-LABEL: attn.kernel @others
// CHECK: attn.mask
// CHECK-DAG: arith.cmpi eq, %k, %q : i32
// CHECK-DAG: arith.cmpi sgt, %q, %{{.*}} : i32
// CHECK-DAG: arith.remsi %k, %{{.*}} : i32
// CHECK-DAG: arith.cmpi ne, %{{.*}}, %{{.*}} : i32
attn.kernel @others attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %three = arith.constant 3 : i32
    %0 = arith.cmpi eq, %q, %k : i32
    %1 = arith.cmpi sgt, %q, %three : i32
    %2 = arith.remsi %k, %three : i32
    %3 = arith.cmpi ne, %2, %q : i32
    %4 = arith.ori %0, %1 : i1
    %5 = arith.ori %4, %3 : i1
    attn.yield %5 : i1
  }
}


// A common factor goes, the constant is rounded to what the same keys satisfy:
// 4 k <= 4 q + 7 is k <= q + 1, 6 k >= 6 q - 11 is k >= q - 1. A multiple of k has
// a quotient as its bound; those of 2 k = 2 q + 1, which has no solution, never meet.

// CHECK-LABEL: attn.kernel @factors
// CHECK: attn.mask
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: %[[ODD:.*]] = arith.addi %{{.*}}, %[[ONE]] : i32
// CHECK-NEXT: %[[FLOOR:.*]] = arith.shrsi %[[ODD]], %[[ONE]] : i32
// CHECK: %[[CEIL:.*]] = arith.shrsi %{{.*}}, %{{.*}} : i64
// CHECK-NEXT: %[[ABOVE:.*]] = arith.addi %q, %[[ONE]] : i32
// CHECK-NEXT: arith.cmpi sle, %k, %[[ABOVE]] : i32
// CHECK-NEXT: %[[MINUS:.*]] = arith.constant -1 : i32
// CHECK-NEXT: %[[BELOW:.*]] = arith.addi %q, %[[MINUS]] : i32
// CHECK-NEXT: arith.cmpi sge, %k, %[[BELOW]] : i32
// CHECK: arith.cmpi sle, %k, %[[FLOOR]] : i32
// CHECK: %[[FIRST:.*]] = arith.trunci %[[CEIL]] : i64 to i32
// CHECK-NEXT: arith.cmpi sge, %k, %[[FIRST]] : i32
attn.kernel @factors attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    %four = arith.constant 4 : i64
    %six = arith.constant 6 : i64
    %seven = arith.constant 7 : i64
    %eleven = arith.constant 11 : i64
    %q64 = arith.extsi %q : i32 to i64
    %k64 = arith.extsi %k : i32 to i64
    %k4 = arith.muli %k64, %four : i64
    %q4 = arith.muli %q64, %four : i64
    %q47 = arith.addi %q4, %seven : i64
    %0 = arith.cmpi sle, %k4, %q47 : i64
    %k6 = arith.muli %k64, %six : i64
    %q6 = arith.muli %q64, %six : i64
    %q611 = arith.subi %q6, %eleven : i64
    %1 = arith.cmpi sge, %k6, %q611 : i64
    %k2 = arith.muli %k64, %two : i64
    %q2 = arith.muli %q64, %two : i64
    %q21 = arith.addi %q2, %one : i64
    %2 = arith.cmpi eq, %k2, %q21 : i64
    %3 = arith.andi %0, %1 : i1
    %4 = arith.ori %3, %2 : i1
    attn.yield %4 : i1
  }
}

// |x| <= y: two bounds.
// CHECK-LABEL: attn.kernel @absolute
// CHECK: %[[PAST:.*]] = arith.addi %q, %c7_i32 : i32
// CHECK-NEXT: %[[UPPER:.*]] = arith.cmpi sle, %k, %[[PAST]] : i32
// CHECK: %[[BELOW:.*]] = arith.addi %q, %c-7_i32 : i32
// CHECK-NEXT: %[[LOWER:.*]] = arith.cmpi sge, %k, %[[BELOW]] : i32
// CHECK-NEXT: arith.andi %[[UPPER]], %[[LOWER]] : i1
attn.kernel @absolute attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %seven = arith.constant 7 : i32
    %0 = arith.subi %q, %k : i32
    %1 = math.absi %0 : i32
    %2 = arith.cmpi sle, %1, %seven : i32
    attn.yield %2 : i1
  }
}

// q / size == k / size, for a size of either sign, or 0.
// CHECK-LABEL: attn.kernel @chunks
// CHECK: arith.cmpi sle, %k, %{{.*}} : i32
// CHECK: arith.cmpi sge, %k, %{{.*}} : i32
// CHECK: %[[RISING:.*]] = arith.andi
// CHECK: arith.cmpi sle, %k, %{{.*}} : i32
// CHECK: arith.cmpi sge, %k, %{{.*}} : i32
// CHECK: %[[FALLING:.*]] = arith.andi
// CHECK: %[[OTHERWISE:.*]] = arith.select %{{.*}}, %[[FALLING]], %{{.*}} : i1
// CHECK: %[[CHUNK:.*]] = arith.select %{{.*}}, %[[RISING]], %[[OTHERWISE]] : i1
// CHECK: attn.yield %[[CHUNK]]
attn.kernel @chunks attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_o} {
  attn.param @size : i32 = 64 : i32
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %size = attn.get_param @size : i32
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %is_zero = arith.cmpi eq, %size, %zero : i32
    %divisor = arith.select %is_zero, %one, %size : i32
    %q_rem = arith.remsi %q, %divisor : i32
    %q_inexact = arith.cmpi ne, %q_rem, %zero : i32
    %q_signs = arith.xori %q_rem, %divisor : i32
    %q_differ = arith.cmpi slt, %q_signs, %zero : i32
    %q_up = arith.andi %q_inexact, %q_differ : i1
    %q_quot = arith.divsi %q, %divisor : i32
    %q_less = arith.subi %q_quot, %one : i32
    %q_floor = arith.select %q_up, %q_less, %q_quot : i32
    %q_chunk = arith.select %is_zero, %zero, %q_floor : i32
    %k_rem = arith.remsi %k, %divisor : i32
    %k_inexact = arith.cmpi ne, %k_rem, %zero : i32
    %k_signs = arith.xori %k_rem, %divisor : i32
    %k_differ = arith.cmpi slt, %k_signs, %zero : i32
    %k_up = arith.andi %k_inexact, %k_differ : i1
    %k_quot = arith.divsi %k, %divisor : i32
    %k_less = arith.subi %k_quot, %one : i32
    %k_floor = arith.select %k_up, %k_less, %k_quot : i32
    %k_chunk = arith.select %is_zero, %zero, %k_floor : i32
    %0 = arith.cmpi eq, %q_chunk, %k_chunk : i32
    attn.yield %0 : i1
  }
}
