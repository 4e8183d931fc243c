// What the role's warps cannot hold is refused with its place.
// RUN: attn-opt %s --convert-pipe-to-warp -split-input-file -verify-diagnostics

gpu.module @m {
gpu.func @rows(%zero: f32) kernel {
  pipe.role "compute" warps 8 {
    // expected-error @below {{rows}}
    %0 = tile.fill %zero : f32 -> !tile.val<[q:64, k:32] x f32>
  }
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @columns(%zero: f32) kernel {
  pipe.role "compute" warps 4 {
    // expected-error @below {{columns}}
    %0 = tile.fill %zero : f32 -> !tile.val<[q:64, k:20] x f32>
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:40] x bf16, shared 1>
!k = !tile.val<[k:32, d:40] x bf16, shared 1>
gpu.module @m {
gpu.func @depth(%n: i32) kernel {
  pipe.role "compute" warps 4 {
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %Q = pipe.take %qc[%n] : !pipe.channel<!q> -> !q
    %K = pipe.take %kc[%n] : !pipe.channel<!k> -> !k
    // expected-error @below {{expected a contraction over a multiple of 16, found 40}}
    %S = tile.dot %Q, %K over "d" : !q, !k -> !tile.val<[q:64, k:32] x f32>
  }
  gpu.return
}
}

// -----

!q = !tile.val<[d:32, q:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:32] x bf16, shared 1>
gpu.module @m {
gpu.func @transposed(%n: i32) kernel {
  pipe.role "compute" warps 4 {
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %Q = pipe.take %qc[%n] : !pipe.channel<!q> -> !q
    %K = pipe.take %kc[%n] : !pipe.channel<!k> -> !k
    // expected-error @below {{expected the contracted axis 'd' to be the second of '!tile.val<[d:32, q:64] x bf16, shared 1>'}}
    %S = tile.dot %Q, %K over "d" : !q, !k -> !tile.val<[q:64, k:32] x f32>
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:32] x f32>
gpu.module @m {
gpu.func @registers(%zero: f32) kernel {
  pipe.role "compute" warps 4 {
    %S = tile.fill %zero : f32 -> !q
    %P = tile.cast %S : !q -> !p
    %W = tile.fill %zero : f32 -> !tile.val<[k:64, v:32] x f32>
    %V = tile.cast %W : !tile.val<[k:64, v:32] x f32> -> !tile.val<[k:64, v:32] x bf16>
    %X = tile.fill %zero : f32 -> !tile.val<[q:64, k:64] x f32>
    %Y = tile.cast %X : !tile.val<[q:64, k:64] x f32> -> !tile.val<[q:64, k:64] x bf16>
    // expected-error @below {{expected the second operand in shared memory, found '!tile.val<[k:64, v:32] x bf16>'}}
    %O = tile.dot %Y, %V over "k" : !tile.val<[q:64, k:64] x bf16>, !tile.val<[k:64, v:32] x bf16> -> !o
  }
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @softmax(%x: f32) kernel {
  pipe.role "compute" warps 4 {
    %O = tile.fill %x : f32 -> !tile.val<[q:64, v:32] x f32>
    %m = tile.fill %x : f32 -> !tile.val<[q:64] x f32>
    // The softmax is opened before (attn-expand-softmax-step).
    // expected-error @below {{failed to legalize operation 'tile.rescale' that was explicitly marked illegal}}
    %0 = tile.rescale %O, %m : !tile.val<[q:64, v:32] x f32>, !tile.val<[q:64] x f32>
  }
  gpu.return
}
}
