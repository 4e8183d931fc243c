// RUN: attn-opt %s -attn-select-schedule -split-input-file -verify-diagnostics | FileCheck %s

// -----

module attributes {attn.target = "sm_80"} {
// CHECK-LABEL: attn.kernel @d64
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 128x80, warps = 4, stages = 2, max = exact>
// expected-remark @below {{schedule fa2, tile 128 x 80, 4 warps, 2 stages, shared memory 57344 of 166912 bytes on sm_80; mma sync, self-fed; loader cp_async: as in every fa2; table row: bench/results/2026-11-30-h200-fa2.md}}
attn.kernel @d64 attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @d128
// CHECK-SAME: attn.alternatives = [{name = "cp_async", schedule = #attn.schedule<fa3, tile = 128x128, warps = 8, stages = 2, consumers = 2, overlap = 1, turns = true, persistent = true, max = exact, mma = wgmma, loader = cp_async, producer = true>}]
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 128x128, warps = 8, stages = 2, consumers = 2, overlap = 1, turns = true, persistent = true, max = exact, mma = wgmma, loader = tma, producer = true>
// expected-remark @below {{schedule fa3, tile 128 x 128, 8 warps, 2 stages, overlap 1, turns, shared memory 163840 of 232448 bytes on sm_90a; mma wgmma, with a producer; loader tma: sm_90a has it; table row: bench}}
// expected-remark @below {{alternative cp_async for strides that no tensor map can express (2^40 bytes and up): schedule fa3, tile 128 x 128, 8 warps, 2 stages, overlap 1, turns, shared memory 163840 of 232448 bytes on sm_90a; mma wgmma, with a producer; loader cp_async: it needs no tensor map}}
attn.kernel @d128 attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o} {
}
}

// -----

// A rule takes registers.
module attributes {attn.target = "sm_89"} {
// CHECK-LABEL: attn.kernel @d128_mask
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 128x48, warps = 4, stages = 2, max = exact>
// expected-remark @below {{tile 128 x 48, 4 warps, 2 stages, shared memory 81920 of 101376 bytes on sm_89}}
attn.kernel @d128_mask attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
}
}

// -----

module attributes {attn.target = "sm_80"} {
// CHECK-LABEL: attn.kernel @d192_128
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 128x64, warps = 8, stages = 1, max = exact>
// expected-remark @below {{tile 128 x 64, 8 warps, 1 stage}}
attn.kernel @d192_128 attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 192 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o} {
}
}

// -----

module attributes {attn.target = "sm_120"} {
// CHECK-LABEL: attn.kernel @d256
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 64x64, warps = 4, stages = 1, max = exact>
// expected-remark @below {{tile 64 x 64, 4 warps, 1 stage, shared memory 98304 of 101376 bytes on sm_120}}
attn.kernel @d256 attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 256 : i64, head_dim_v = 256 : i64, align = #attn.align<bottom_right>, outputs_o} {
}
}

// -----

// Knobs of the specification win; warps follow the rows of the tile.
module attributes {attn.target = "sm_80"} {
// CHECK-LABEL: attn.kernel @knobs
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 32x128, warps = 2, stages = 2, max = exact>
// expected-remark @below {{tile 32 x 128, 2 warps, 2 stages}}
attn.kernel @knobs attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 32x128, stages = 2>} {
}
}

// -----

// What is selected stays.
// CHECK-LABEL: attn.kernel @selected
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 16x16, warps = 1, stages = 3>
attn.kernel @selected attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 16x16, warps = 1, stages = 3>} {
}

// -----

module attributes {attn.target = "sm_89"} {
// expected-error @below {{tile 128 x 128 needs 229376 bytes of shared memory (Q 32768 + 3 stages of K 32768 and V 32768), but sm_89 has 101376; take a smaller tile or fewer stages}}
attn.kernel @shared attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x128, stages = 3>} {
}
}

// -----

module attributes {attn.target = "sm_80"} {
// expected-error @below {{tile 64 x 72 does not fit the tensor cores: expected a multiple of 16 query rows and of 16 keys}}
attn.kernel @odd attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 64x72>} {
}
}

// -----

module attributes {attn.target = "sm_70"} {
// expected-error @below {{unknown target 'sm_70'; expected one of sm_80, sm_86}}
attn.kernel @target attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}
}

// -----

// expected-error @below {{the module has no 'attn.target'; expected one of sm_80}}
attn.kernel @none attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// 1008 rows leave one warp, whose accumulators no thread could hold.
module attributes {attn.target = "sm_80"} {
// expected-error @below {{tile 1008 x 16 needs 2520 accumulator registers in a thread of 1 warp (O 2016 + S 504), but a thread has 255; take a smaller tile}}
attn.kernel @registers attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 1008x16, stages = 1>} {
}
}

// -----

module attributes {attn.target = "sm_90"} {
// expected-error @below {{'mma' = wgmma, the default of schedule fa3, needs an instruction of sm_90a; choose mma = sync, or schedule fa2 (target sm_90)}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3>} {
}
}

// -----

// The knobs are independent of the family: warpgroups of mma.sync.
module attributes {attn.target = "sm_80"} {
// CHECK-LABEL: attn.kernel @sync_consumers
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 256x80, warps = 8, stages = 2, consumers = 2, overlap = 1, turns = true, persistent = false, max = exact, mma = sync, loader = cp_async, producer = false>
// expected-remark @below {{tile 256 x 80, 8 warps, 2 stages, overlap 1, turns, shared memory 73728 of 166912 bytes on sm_80; mma sync, self-fed; loader cp_async: as in every fa2}}
attn.kernel @sync_consumers attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, consumers = 2, overlap = 1, turns = true>} {
}
}

// -----

// Without TMA, fa3 loads by cp.async.
module attributes {attn.target = "sm_80"} {
// CHECK-LABEL: attn.kernel @fallback
// CHECK-SAME: mma = sync, loader = cp_async, producer = true>
// expected-remark @below {{mma sync, with a producer; loader cp_async: loader = tma needs the tensor copies of sm_90a; choose loader = cp_async; table row}}
attn.kernel @fallback attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, mma = sync>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @asked
// CHECK-SAME: mma = wgmma, loader = cp_async, producer = true>
// expected-remark @below {{mma wgmma, with a producer; loader cp_async: as asked; table row}}
attn.kernel @asked attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, loader = cp_async>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @self_fed
// CHECK-SAME: persistent = false, max = exact, mma = wgmma, loader = tma, producer = false>
// expected-remark @below {{mma wgmma, self-fed; loader tma: sm_90a has it}}
// expected-remark @below {{alternative cp_async for strides}}
attn.kernel @self_fed attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, producer = false>} {
}
}

// -----

module attributes {attn.target = "sm_80"} {
// expected-error @below {{'loader' = tma needs the tensor copies of sm_90a; choose loader = cp_async (target sm_80)}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, loader = tma>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{'loader' = tma copies boxes of at most 256 rows; choose a smaller tile, or loader = cp_async (target sm_90a)}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x272, stages = 1, loader = tma>} {
}
}

// -----

module attributes {attn.target = "sm_80"} {
// expected-error @below {{expected a multiple of 16 query rows for each of 8 warps, found tile M 64}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, tile = 64x64, consumers = 2>} {
}
}

// -----

module attributes {attn.target = "sm_80"} {
// expected-error @below {{'persistent' needs a role that claims work items for the others; choose producer = true, or persistent = false (target sm_80)}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, persistent = true>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{'overlap' is at most 1: one tile of weights is in flight}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, overlap = 2>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{'turns' needs two or three consumers that wait for each other; choose consumers = 2, or turns = false (target sm_90a)}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 64x128, turns = true>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{tile 96 x 128 does not fit the tensor cores: expected a multiple of 64 query rows and of 16 keys}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 96x128>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{expected 64 query rows for each of 1 to 3 consumers, found tile M 256 and 4 consumers}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 256x128>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{expected 64 query rows for each of 1 to 3 consumers, found tile M 128 and 3 consumers}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 128x128, consumers = 3>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{expected at most 256 keys in a tile of wgmma, found 272}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 128x272>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{tile 192 x 128 needs 186 registers in a thread of 12 warps (O 64 + S 64 + P 32 + 26 others), but a thread has 160; take a smaller tile}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 192x128>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// expected-error @below {{tile 128 x 128 needs 328704 bytes of shared memory (Q 65536 + 2 stages of K 65536 and V 65536), but sm_90a has 232448; take a smaller tile or fewer stages}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 256 : i64, head_dim_v = 256 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 128x128>} {
}
}

// -----

// Weights in the place of their logits take some too: 48 bytes would be spilled.
module attributes {attn.target = "sm_90a"} {
// expected-error @below {{tile 192 x 192 needs 178 registers in a thread of 12 warps (O 32 + S 96 + P 24 + 26 others), but a thread has 160; take a smaller tile}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 192x192, overlap = 0>} {
}
}

// -----

// A third consumer leaves 128 registers at launch, of which one product P . V with
// 256 columns has 128 accumulators.
module attributes {attn.target = "sm_90a"} {
// expected-error @below {{one product of tile 192 x 16 needs 158 registers in a thread of 12 warps, which has 128 at launch; take fewer consumers or a smaller tile}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 256 : i64, head_dim_v = 256 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 192x16, overlap = 0>} {
}
}

// -----

// 192 columns fit.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @three_consumers
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 192x16, warps = 12
// expected-remark @below {{tile 192 x 16, 12 warps}}
attn.kernel @three_consumers attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 192 : i64, head_dim_v = 192 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 192x16, overlap = 0>} {
}
}

// -----

// A second row of the table for long launches, where a row of the mask grows with them.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @long
// CHECK-SAME: attn.alternatives = [{min_q_len = 4096 : i64, name = "m192", schedule = #attn.schedule<fa3, tile = 192x128, warps = 12, {{[^>]*}}loader = tma{{[^>]*}}>}, {name = "cp_async", schedule = #attn.schedule<fa3, tile = 128x128, warps = 8, {{[^>]*}}loader = cp_async{{[^>]*}}>}]
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 128x128, {{[^>]*}}loader = tma
// expected-remark @below {{schedule fa3, tile 128 x 128, 8 warps, 2 stages, overlap 1, turns, shared memory 81920 of 232448 bytes on sm_90a; mma wgmma, with a producer; loader tma}}
// expected-remark @below {{alternative m192 for q_len >= 4096: schedule fa3, tile 192 x 128}}
// expected-remark @below {{alternative cp_async for strides}}
attn.kernel @long attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
}
}

// -----

// Rows of the specification's own: no others.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @rows
// CHECK-NOT: attn.alternatives
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 64x128
// expected-remark @below {{schedule fa3, tile 64 x 128}}
attn.kernel @rows attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, consumers = 1, loader = tma>} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
}
}

// -----

// A window's rows do not grow: long launches of it are many short ones.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @window
// CHECK-NOT: attn.alternatives
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 128x128
// expected-remark @below {{schedule fa3, tile 128 x 128}}
attn.kernel @window attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, loader = tma>} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
  attn.bounds visible 1 {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    attn.yield %q_first, %k_len, %k_len : i32, i32, i32
  }
}
}
