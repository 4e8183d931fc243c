// What weights are relative to (max), and the tiles that leave registers for it.
// RUN: attn-opt %s -attn-select-schedule -split-input-file -verify-diagnostics | FileCheck %s

// -----

// The table's 128 keys leave no room for weights beside their logits.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @stale
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 128x112, {{.*}} max = stale,
// expected-remark @below {{schedule fa3, tile 128 x 112, 8 warps, 2 stages, overlap 1, turns, max stale, shared memory}}
attn.kernel @stale attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, max = stale>} {
}
}

// -----

module attributes {attn.target = "sm_80"} {
// CHECK-LABEL: attn.kernel @lazy
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 128x80, warps = 4, stages = 2, max = lazy>
// expected-remark @below {{schedule fa2, tile 128 x 80, 4 warps, 2 stages, max lazy, shared memory}}
attn.kernel @lazy attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, max = lazy>} {
}
}

// -----

// A vote needs registers that full rows have none of.
module attributes {attn.target = "sm_80"} {
// CHECK-LABEL: attn.kernel @lazy128
// CHECK-SAME: schedule = #attn.schedule<fa2, tile = 128x32, warps = 4, stages = 2, max = lazy>
// expected-remark @below {{schedule fa2, tile 128 x 32, 4 warps, 2 stages, max lazy}}
attn.kernel @lazy128 attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa2, max = lazy>} {
}
}

// -----

// With wgmma it takes the place of what it makes unnecessary.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @lazy90
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 128x128, {{.*}} max = lazy,
// expected-remark @below {{schedule fa3, tile 128 x 128, 8 warps, 2 stages, overlap 1, turns, max lazy}}
attn.kernel @lazy90 attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 128 : i64, head_dim_v = 128 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, max = lazy>} {
}
}

// -----

module attributes {attn.target = "sm_90a"} {
// Early weights stand beside their logits.
// expected-error @below {{tile 192 x 96 needs 178 registers in a thread of 12 warps (O 32 + S 48 + P 24 + 48 of P beside its logits, max = stale + 26 others), but a thread has 160; take a smaller tile}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, tile = 192x96, max = stale>} {
}
}

// -----

// A row for long launches counts as it was measured, or not.
module attributes {attn.target = "sm_90a"} {
// CHECK-LABEL: attn.kernel @stale
// CHECK-NOT: attn.alternatives
// CHECK-SAME: schedule = #attn.schedule<fa3, tile = 128x128
// expected-remark @below {{schedule fa3, tile 128 x 128}}
// expected-remark @below {{no alternative m192 for q_len >= 4096: of the 128 keys of its row 80 fit}}
attn.kernel @stale attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa3, max = stale, loader = tma>} {
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = arith.cmpi sle, %k, %q : i32
    attn.yield %0 : i1
  }
}
}
