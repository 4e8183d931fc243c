// RUN: attn-opt %s -attn-use-exp2 -attn-relax-score -attn-fold-score -canonicalize | FileCheck %s

// ALiBi: nothing is left for each logit but the ramp.
// CHECK-LABEL: attn.kernel @alibi
// CHECK-NOT: attn.score
// CHECK: attn.ramp {
// CHECK-NEXT: ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %q_len: i32, %k_len: i32):
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[SHIFT:.*]] = arith.subi %[[ZERO]], %q
// CHECK: %[[SLOPE:.*]] = attn.read @slope[%h] : f32
// CHECK: %[[SCALED:.*]] = arith.divf %[[SLOPE]], %[[SCALE]] fastmath<arcp,afn>
// CHECK: attn.yield %[[SCALED]], %[[SHIFT]] : f32, i32
// 0.5 * log2 e.
// CHECK: attn.factor {
// CHECK-NEXT: arith.constant 0.72134751 : f32
attn.kernel @alibi attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, scale = 0.5 : f64} {
  attn.tensor @slope : f32 [heads]
  attn.score {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %slope = attn.read @slope[%h] : f32
    %0 = arith.subi %k, %q : i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %slope, %1 : f32
    %3 = arith.addf %s, %2 : f32
    attn.yield %3 : f32
  }
}

// A difference, with the distance the other way round, beside a table: the
// scale stays where other terms are.
// CHECK-LABEL: attn.kernel @beside
// CHECK: attn.score raw
// CHECK: %[[SCALED:.*]] = arith.mulf %s, %{{.*}} fastmath<contract>
// CHECK: %[[BIAS:.*]] = attn.read @bias[%k] : f32
// CHECK: %[[SUM:.*]] = arith.addf %[[SCALED]], %[[BIAS]]
// CHECK-NEXT: attn.yield %[[SUM]]
// CHECK: attn.ramp
// CHECK: %[[W:.*]] = attn.get_param @w
// - (w * (q - k)) = w * (k - q).
// CHECK: attn.yield %[[W]], %{{.*}} : f32, i32
// CHECK: arith.constant 1.44269502 : f32
attn.kernel @beside attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @w : f32 = 1.0 : f32
  attn.tensor @bias : f32 [k_len]
  attn.score {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %w = attn.get_param @w : f32
    %0 = arith.subi %q, %k : i32
    %1 = arith.sitofp %0 : i32 to f32
    %2 = arith.mulf %w, %1 : f32
    %3 = arith.subf %s, %2 : f32
    %4 = attn.read @bias[%k] : f32
    %5 = arith.addf %3, %4 : f32
    attn.yield %5 : f32
  }
}

// The cap of a soft cap: its reciprocal and the scale are one factor, and the cap
// itself, whose sign is known at the launch only, goes into the exponent's.
// CHECK-LABEL: attn.kernel @softcap
// CHECK: attn.score raw
// CHECK: %[[CAP:.*]] = attn.get_param @cap
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[CAP]] fastmath<arcp,afn>
// CHECK: %[[BOTH:.*]] = arith.mulf %[[INVERSE]], %{{.*}} : f32
// CHECK: %[[OPPOSITE:.*]] = arith.negf %[[BOTH]]
// CHECK: %[[SIGNED:.*]] = arith.select %{{.*}}, %[[OPPOSITE]], %[[BOTH]]
// CHECK: %[[IN:.*]] = arith.mulf %s, %[[SIGNED]]
// CHECK: %[[OUT:.*]] = math.tanh %[[IN]]
// CHECK-NEXT: attn.yield %[[OUT]]
// CHECK: attn.factor
// CHECK-DAG: %[[LEAST:.*]] = arith.constant 1.000000e-30 : f32
// CHECK-DAG: %[[LOG:.*]] = arith.constant 1.44269502 : f32
// CHECK: math.absf
// CHECK: %[[SIZE:.*]] = arith.maximumf %{{.*}}, %[[LEAST]]
// CHECK: arith.mulf %[[SIZE]], %[[LOG]]
attn.kernel @softcap attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @cap : f32 = 3.0e+01 : f32
  attn.score {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %cap = attn.get_param @cap : f32
    %0 = arith.divf %s, %cap : f32
    %1 = math.tanh %0 : f32
    %2 = arith.mulf %cap, %1 : f32
    attn.yield %2 : f32
  }
}

// Not linear, of the row, shared with another term, a factor that may be
// negative: all stays.
// CHECK-LABEL: attn.kernel @stays
// CHECK: attn.score raw
// CHECK: math.absi
// CHECK: attn.yield
// CHECK-NOT: attn.ramp
attn.kernel @stays attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @w : f32 = 1.0 : f32
  attn.tensor @rows : f32 [q_len]
  attn.score {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %w = attn.get_param @w : f32
    %0 = arith.subi %q, %k : i32
    %1 = math.absi %0 : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.addf %s, %2 : f32
    %row = attn.read @rows[%i] : f32
    %4 = arith.sitofp %0 : i32 to f32
    %5 = arith.mulf %row, %4 : f32
    %6 = arith.addf %3, %5 : f32
    %7 = arith.mulf %6, %6 : f32
    %8 = arith.addf %6, %7 : f32
    %9 = arith.mulf %8, %w : f32
    attn.yield %9 : f32
  }
}
