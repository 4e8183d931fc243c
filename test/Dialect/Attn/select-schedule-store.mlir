// What moves the output to memory (store): the tiles that leave room for it, the
// alternatives that need no map, what is refused.
// RUN: attn-opt %s -attn-select-schedule -split-input-file -verify-diagnostics | FileCheck %s

// -----

// Beside Q and the rings of the table's 80 keys there is no room for O.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @d256
// CHECK-SAME: attn.alternatives = [{name = "cp_async", schedule = #attn.schedule<fa3, tile = 128x80, {{[^>]*}} loader = cp_async, producer = true>}]
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 128x48, {{[^>]*}} loader = tma, producer = true, store = tma>
// expected-remark @below {{schedule fa3, tile 128 x 48, 8 warps, 2 stages, overlap 1, turns, shared memory 229376 of 232448 bytes on sm_90a; mma wgmma, with a producer; loader tma: sm_90a has it; store tma: as asked; table row}}
// expected-remark @below {{alternative cp_async for strides that no tensor map can express (2^40 bytes and up): schedule fa3, tile 128 x 80, 8 warps, 2 stages, overlap 1, turns, shared memory 229376 of 232448 bytes on sm_90a; mma wgmma, with a producer; loader cp_async: it needs no tensor map; table row}}
attn.kernel @d256 attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 256 : i64, head_dim_v = 256 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, store = tma>} {
}
}

// -----

// Where the specification says what loads, the alternative keeps to it.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @direct
// CHECK-SAME: attn.alternatives = [{name = "direct", schedule = #attn.schedule<fa3, tile = 128x128, {{[^>]*}} loader = tma, producer = true>}]
// expected-remark @below {{loader tma: as asked; store tma: as asked}}
// expected-remark @below {{alternative direct for strides that no tensor map can express (2^40 bytes and up): schedule fa3, tile 128 x 128, 8 warps, 2 stages, overlap 1, turns, shared memory 163840 of 232448 bytes on sm_90a; mma wgmma, with a producer; loader tma: as asked; table row}}
attn.kernel @direct attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, loader = tma, store = tma>} {
}
}

// -----

// A role that feeds itself stages O in Q's memory, here of 4 bytes an element.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @self_fed
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 128x64, {{[^>]*}} loader = cp_async, producer = false, store = tma>
// expected-remark @below {{tile 128 x 64, 4 warps, 1 stage, shared memory 98304 of 232448 bytes on sm_90a; mma sync, self-fed; loader cp_async: as asked; store tma: as asked}}
// expected-remark @below {{alternative direct for strides}}
attn.kernel @self_fed attributes {dtype = bf16, out = f32, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, loader = cp_async, store = tma>} {
}
}

// -----

// The threads' own stores are no choice that would be told.
module attributes {attn.target = "sm_80"} {
// CHECK-LABEL: attn.kernel @asked_direct
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 128x80, warps = 4, stages = 2, max = exact>
// expected-remark @below {{schedule fa2, tile 128 x 80}}
attn.kernel @asked_direct attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, store = direct>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// A tile that is asked for is not made smaller.
// expected-error @below {{tile 128 x 80 needs 295936 bytes of shared memory (Q 65536 + O 65536, store = tma, + 2 stages of K 40960 and V 40960), but sm_90a has 232448; take a smaller tile or fewer stages, or store = direct}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 256 : i64, head_dim_v = 256 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 128x80, store = tma>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// Nor are keys given up for what would not fit without O either.
// expected-error @below {{tile 128 x 128 needs 328704 bytes of shared memory (Q 32768 + O 32768, store = tma, + 4 stages of K 32768 and V 32768), but sm_90a has 232448; take a smaller tile or fewer stages, or store = direct}}
attn.kernel @stages attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, stages = 4, store = tma>} {
}
}

// -----

module attributes {attn.target = "sm_80"} {
// expected-error @below {{'store' = tma needs the tensor copies of sm_90a; choose store = direct (target sm_80)}}
attn.kernel @target attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, store = tma>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{'store' = tma says how o leaves, and there is none; choose store = direct, or outputs with o (target sm_90a)}}
attn.kernel @lse attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_lse, schedule = #attn.schedule<fa3, store = tma>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// 272 rows are 17 times 16: one warp's.
// expected-error @below {{'store' = tma copies a box of at most 256 rows for each warp; choose a smaller tile, or store = direct (target sm_90a)}}
attn.kernel @box attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 8 : i64, head_dim_v = 8 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 272x16, store = tma>} {
}
}
