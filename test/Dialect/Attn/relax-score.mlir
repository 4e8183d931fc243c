// RUN: attn-opt %s -attn-relax-score | FileCheck %s

// CHECK-LABEL: attn.kernel @softcap
attn.kernel @softcap attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.param @cap : f32 = 3.0e+01 : f32
  // A mask decides by the last bit.
  // CHECK: attn.mask
  // CHECK: arith.divf %{{.*}}, %{{.*}} : f32
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %cap = attn.get_param @cap : f32
    %0 = arith.sitofp %k : i32 to f32
    %1 = arith.divf %0, %cap : f32
    %2 = arith.cmpf olt, %1, %cap : f32
    attn.yield %2 : i1
  }
  // CHECK: attn.score
  // CHECK: arith.divf %s, %{{.*}} fastmath<arcp,afn> : f32
  attn.score {
  ^bb0(%s: f32, %b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %cap = attn.get_param @cap : f32
    %0 = arith.divf %s, %cap : f32
    %1 = math.tanh %0 : f32
    // CHECK: arith.mulf %{{.*}} fastmath<contract> : f32
    // CHECK: arith.addf %{{.*}} fastmath<contract> : f32
    // CHECK: arith.subf %{{.*}} fastmath<contract> : f32
    %2 = arith.mulf %1, %cap : f32
    %3 = arith.addf %2, %cap : f32
    %4 = arith.subf %3, %s : f32
    attn.yield %4 : f32
  }
  // CHECK: attn.sink
  // CHECK: arith.divf %{{.*}}, %{{.*}} : f32
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    %cap = attn.get_param @cap : f32
    %0 = arith.divf %cap, %cap : f32
    attn.yield %0 : f32
  }
}
