// RUN: attn-opt %s --attn-overlap-loads -split-input-file -verify-diagnostics

gpu.module @m {
gpu.func @unordered(%n: i32) kernel {
  tile.for_keys full (%k0) in (%n, %n) step 32 {
    // expected-error @below {{expected #pipe.at on every operation of a key loop (attn-assign-stages)}}
    %0 = arith.addi %k0, %n : i32
    tile.yield
  }
  gpu.return
}
}
