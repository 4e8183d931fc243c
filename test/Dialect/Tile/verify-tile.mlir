// RUN: attn-opt %s --attn-verify-tile -split-input-file -verify-diagnostics

// What the level is made of.
gpu.module @m {
gpu.func @right(%n: i32) kernel {
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
    tile.for_keys mixed (%k0) in (%n, %n) full below %n step 64 {
      tile.yield
    }
  }
  gpu.return
}
}

// -----

gpu.module @m {
// expected-error @below {{expected one work loop in kernel 'none', found 0}}
gpu.func @none() kernel {
  gpu.return
}
}

// -----

gpu.module @m {
// expected-error @below {{expected one work loop in kernel 'two', found 2}}
gpu.func @two(%n: i32) kernel {
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
  }
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
  }
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @outside(%n: i32) kernel {
  // expected-error @below {{expected a mixed key loop inside a work loop}}
  tile.for_keys mixed (%k0) in (%n, %n) full below %n step 64 {
    tile.yield
  }
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @split(%n: i32) kernel {
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
    // expected-error @below {{expected a mixed key loop inside a work loop}}
    tile.for_keys full (%k0) in (%n, %n) step 64 {
      tile.yield
    }
  }
  gpu.return
}
}

// -----

// expected-error @below {{expected no operation of the problem level at the tile level, found 'attn.kernel'}}
attn.kernel @k attributes {dtype = bf16, out = bf16, heads = 4 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<bottom_right>, outputs_o} {
}
