// RUN: attn-opt %s --attn-place-waits -split-input-file -verify-diagnostics

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
gpu.module @m {
gpu.func @never(%n: i32) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // expected-error @below {{nothing was put into the channel for this take}}
      %K = pipe.take %kc[%n] : !pipe.channel<!k> -> !k
    }
  }
  gpu.return
}
}
