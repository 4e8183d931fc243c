// RUN: attn-opt %s --attn-assign-stages -split-input-file -verify-diagnostics

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
gpu.module @m {
gpu.func @put(%kc: !pipe.channel<!k>, %n: i32) kernel {
  tile.for_keys full (%k0) in (%n, %n) step 32 {
    // expected-error @below {{expected a put into the channel in the same key loop}}
    %K = pipe.take %kc[%n] : !pipe.channel<!k> -> !k
    tile.yield
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
gpu.module @m {
gpu.func @release(%kc: !pipe.channel<!k>, %kv: !tile.view<64 x bf16>, %n: i32) kernel {
  tile.for_keys full (%k0) in (%n, %n) step 32 {
    pipe.put %kc[%n], %kv[%k0] : !pipe.channel<!k>, !tile.view<64 x bf16>
    // expected-error @below {{expected a release of the channel in the same key loop}}
    %K = pipe.take %kc[%n] : !pipe.channel<!k> -> !k
    tile.yield
  }
  gpu.return
}
}
