// RUN: attn-opt %s -split-input-file -verify-diagnostics
// Every constraint of the dialect, by its number.

// A1
// expected-error @below {{(A1) 'stages' must be at least 1; found 0}}
module attributes {x.y = #attn.schedule<fa2, stages = 0>} {
}

// -----

// A1
// expected-error @below {{(A1) 'overlap' must be at least 0; found -1}}
module attributes {x.y = #attn.schedule<fa2, overlap = -1>} {
}

// -----

// A2
// expected-error @below {{(A2) tile M must be a multiple of 16 and tile N a multiple of 8; found 100x64}}
module attributes {x.y = #attn.schedule<fa2, tile = 100x64>} {
}

// -----

// A2
// expected-error @below {{expected a tile such as 128x64, found 3 sizes}}
module attributes {x.y = #attn.schedule<fa2, tile = 128x64x2>} {
}

// -----

// A2
// expected-error @below {{expected a knob (tile, warps, stages, consumers, overlap, turns, persistent, max, mma, loader, producer, store), found 'width'}}
module attributes {x.y = #attn.schedule<fa2, width = 4>} {
}

// -----

// A2
// expected-error @below {{expected true or false, found 'maybe'}}
module attributes {x.y = #attn.schedule<fa2, turns = maybe>} {
}

// -----

// A2
// expected-error @below {{expected true or false, found 'tma'}}
module attributes {x.y = #attn.schedule<fa3, producer = tma>} {
}

// -----

// A2
// expected-error @below {{expected one of [sync, wgmma] for Instruction that multiplies tiles, got: tensor}}
module attributes {x.y = #attn.schedule<fa3, mma = tensor>} {
}

// -----

// A2
// expected-error @below {{expected one of [cp_async, tma] for What moves tiles into shared memory, got: st}}
module attributes {x.y = #attn.schedule<fa3, loader = st>} {
}

// -----

// kv
// expected-error @below {{a paged kv needs 'page', a positive number of keys; found 0}}
module attributes {x.y = #attn.kv<paged>} {
}

// -----

// kv
// expected-error @below {{a contiguous kv has no 'page' and no 'layout'}}
module attributes {x.y = #attn.kv<contiguous, page = 16>} {
}

// -----

// split
// expected-error @below {{split 'fixed' needs a positive 'value'; found 0}}
module attributes {x.y = #attn.split<fixed>} {
}

// -----

// split
// expected-error @below {{split 'none' has no 'value'; found 3}}
module attributes {x.y = #attn.split<none, value = 3>} {
}

// -----

// A3
// expected-error @below {{(A3) dtype must be bf16, f16 or f8E4M3FN; found 'f32'}}
attn.kernel @k attributes {dtype = f32, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// A3
// expected-error @below {{(A3) kv_dtype must be bf16, f16, f8E4M3FN or f8E5M2; found 'i8'}}
attn.kernel @k attributes {dtype = bf16, kv_dtype = i8, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// A3
// expected-error @below {{(A3) out must be bf16, f16 or f32; found 'f64'}}
attn.kernel @k attributes {dtype = bf16, out = f64, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// A4
// expected-error @below {{(A4) heads and kv_heads must be positive and heads a multiple of kv_heads; found 4 and 3}}
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 3 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// A4
// expected-error @below {{(A4) heads and kv_heads must be positive and heads a multiple of kv_heads; found 0 and 2}}
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 0 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// A5
// expected-error @below {{(A5) head dimensions must be positive multiples of 8; found 64 and 63}}
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 63 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// A6
// expected-error @below {{(A6) scale must be finite and greater than 0; found 0}}
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, scale = 0.0 : f64} {
}

// -----

// A6
// expected-error @below {{(A6) scale names @left, which is no f32 param}}
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, scale = @left} {
  attn.param @left : i32 = 1 : i32
}

// -----

// A6
// expected-error @below {{an f64 or the name of a param}}
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, scale = 1.0 : f32} {
}

// -----

// A7
// expected-error @below {{(A7) stores nothing: expected outputs_o, outputs_lse or both}}
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>} {
}

// -----

// A8
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A8) is no param, tensor or rule; a kernel holds only these}}
  %0 = arith.constant 0 : i32
}

// -----

// A8
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-note @below {{the first is here}}
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
  // expected-error @below {{(A8) is the second of its kind in this kernel}}
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
}

// -----

// A9
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A9) type must be i1, i32, i64 or f32; found 'f64'}}
  attn.param @p : f64 = 1.0 : f64
}

// -----

// A9
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A9) default must have type 'i32'; found 1 : i64}}
  attn.param @p : i32 = 1 : i64
}

// -----

// A10
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A10) element type must be i8, ui8, i32, i64, i1, f16, bf16 or f32; found 'f64'}}
  attn.tensor @t : f64 [heads]
}

// -----

// A10
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A10) element type must be i8, ui8, i32, i64, i1, f16, bf16 or f32; found 'ui32'}}
  attn.tensor @t : ui32 [heads]
}

// -----

// A11
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A11) must have at least one dimension}}
  attn.tensor @t : f32 []
}

// -----

// A11
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A11) a literal dimension must be positive; found 0}}
  attn.tensor @t : f32 [heads, 0]
}

// -----

// A12
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    // expected-error @below {{(A12) names @p, which is no param of the kernel}}
    %0 = attn.get_param @p : f32
    attn.yield %0 : f32
  }
}

// -----

// A12
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-note @below {{the param is here}}
  attn.param @p : i32 = 1 : i32
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    // expected-error @below {{(A12) has type 'f32', but the param has 'i32'}}
    %0 = attn.get_param @p : f32
    attn.yield %0 : f32
  }
}

// -----

// A13
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    // expected-error @below {{(A13) names @t, which is no tensor of the kernel}}
    %0 = attn.read @t[%h] : f32
    attn.yield %0 : f32
  }
}

// -----

// A13
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-note @below {{the tensor is here}}
  attn.tensor @t : bf16 [heads]
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    // expected-error @below {{(A13) has 2 indices, but the tensor has 1 dimensions}}
    %0 = attn.read @t[%b, %h] : f32
    attn.yield %0 : f32
  }
}

// -----

// A13
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-note @below {{the tensor is here}}
  attn.tensor @t : bf16 [heads]
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    // expected-error @below {{(A13) must have the tensor's element type, widened}}
    %0 = attn.read @t[%h] : i32
    %x = arith.sitofp %0 : i32 to f32
    attn.yield %x : f32
  }
}

// -----

// A14
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A14) must have 3 block arguments; found 1}}
  attn.sink {
  ^bb0(%b: i32):
    %x = arith.constant 0.0 : f32
    attn.yield %x : f32
  }
}

// -----

// A14
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  // expected-error @below {{(A14) block argument #1 (h) must be 'i32'; found 'i64'}}
  attn.sink {
  ^bb0(%b: i32, %h: i64, %g: i32):
    %x = arith.constant 0.0 : f32
    attn.yield %x : f32
  }
}

// -----

// A14
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    // expected-error @below {{(A14) must be an attn.yield of 'f32'}}
    attn.yield %b : i32
  }
}

// -----

// A15
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.sink {
  ^bb0(%b: i32, %h: i32, %g: i32):
    // expected-error @below {{(A15) has side effects or a region; a rule is scalar code without}}
    gpu.barrier
    %x = arith.constant 0.0 : f32
    attn.yield %x : f32
  }
}

// -----

// Module attributes
// expected-error @below {{'attn.level' must be an #attn.level<...>, found "tile"}}
module attributes {attn.level = "tile"} {
}

// -----

// expected-error @below {{'attn.target' must be a string such as "sm_80", found 80 : i64}}
module attributes {attn.target = 80} {
}

// -----

// expected-error @below {{'attn.target' is an attribute of builtin.module, found it here}}
gpu.module @m attributes {attn.target = "sm_80"} {
}

// -----

attn.kernel @f attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.ramp {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %q_len: i32, %k_len: i32):
    // expected-error @below {{(A14) must be an attn.yield of 'f32', 'i32'}}
    attn.yield %q, %q : i32, i32
  }
}
