// RUN: attn-opt %s -attn-verify-input -split-input-file -verify-diagnostics

// What can be lowered passes.
attn.kernel @fine attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, split = #attn.split<auto>, schedule = #attn.schedule<fa2, tile = 64x64, stages = 2>} {
}

// -----

// expected-error @below {{'dtype' is e4m3, which cannot be lowered yet; legal now: bf16, f16}}
attn.kernel @refused attributes {dtype = f8E4M3FN, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// expected-error @below {{'kv_dtype' is e5m2, which cannot be lowered yet; legal now: the dtype}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, kv_dtype = f8E5M2} {
}

// -----

// expected-error @below {{'head_dim' is 264 / 64, which cannot be lowered yet; legal now: multiples of 8 up to 256}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 264 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}

// -----

// expected-error @below {{'kv' is paged, which cannot be lowered yet; legal now: contiguous}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, kv = #attn.kv<paged, page = 16>} {
}

// -----

// expected-error @below {{'split' is 4 pieces, which cannot be lowered yet; legal now: none, auto}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, split = #attn.split<count, value = 4>} {
}

// -----

// expected-error @below {{'split' is fixed, which cannot be lowered yet; legal now: none, auto}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, split = #attn.split<fixed, value = 512>} {
}

// -----

// expected-error @below {{'schedule' is decode, which cannot be lowered yet; legal now: auto, fa2, fa3}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<decode>} {
}

// -----

// expected-error @below {{'schedule' is fa1, which cannot be lowered yet; legal now: auto, fa2, fa3}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<fa1>} {
}

// -----

// expected-error @below {{'schedule' is standard, which cannot be lowered yet; legal now: auto, fa2, fa3}}
attn.kernel @refused attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, schedule = #attn.schedule<standard>} {
}

// -----

// Each field is reported.
// expected-error @below {{'kv' is paged}}
// expected-error @below {{'split' is fixed}}
attn.kernel @two attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o, kv = #attn.kv<paged, page = 16>, split = #attn.split<fixed, value = 512>} {
}
