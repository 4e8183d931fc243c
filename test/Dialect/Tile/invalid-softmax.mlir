// RUN: attn-opt %s -split-input-file -verify-diagnostics
// Constraints of the online softmax, by number.

// -----

// T19
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128] x f32>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T19: expected logits of two axes in f32}}
  %0:4 = tile.softmax_step %x, %m, %l factor %c : !tile.val<[q:128] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128] x f32>
  gpu.return
}
}

// -----

// T19
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x bf16>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T19: expected logits of two axes in f32}}
  %0:4 = tile.softmax_step %x, %m, %l factor %c : !tile.val<[q:128, k:64] x bf16>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128, k:64] x bf16>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128] x f32>
  gpu.return
}
}

// -----

// T19
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>, %m: !tile.val<[k:64] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T19: expected row maxima '!tile.val<[q:128] x f32>', found '!tile.val<[k:64] x f32>'}}
  %0:4 = tile.softmax_step %x, %m, %l factor %c : !tile.val<[q:128, k:64] x f32>, !tile.val<[k:64] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128, k:64] x f32>, !tile.val<[k:64] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[k:64] x f32>
  gpu.return
}
}

// -----

// T19
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128] x f32>, %c: f32) {
  // expected-error @below {{T19: expected partial row sums 'r' for the rows of}}
  %0:4 = tile.softmax_step %x, %m, %l factor %c : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128] x f32> -> !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128] x f32>
  gpu.return
}
}

// -----

// T19
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:64, r:4] x f32>, %c: f32) {
  // expected-error @below {{T19: expected partial row sums 'r' for the rows of}}
  %0:4 = tile.softmax_step %x, %m, %l factor %c : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:64, r:4] x f32> -> !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:64, r:4] x f32>, !tile.val<[q:128] x f32>
  gpu.return
}
}

// -----

// T19
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T19: expected results of types}}
  %0:4 = tile.softmax_step %x, %m, %l factor %c : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128, r:4] x f32>
  gpu.return
}
}

// -----

// T20
gpu.module @m {
gpu.func @f(%o: !tile.val<[q:128, v:128] x f32>, %a: !tile.val<[v:128] x f32>) {
  // expected-error @below {{T20: expected an f32 tile of two axes and one f32 per row}}
  %0 = tile.rescale %o, %a : !tile.val<[q:128, v:128] x f32>, !tile.val<[v:128] x f32>
  gpu.return
}
}

// -----

// T20
gpu.module @m {
gpu.func @f(%o: !tile.val<[q:128] x f32>, %a: !tile.val<[q:128] x f32>) {
  // expected-error @below {{T20: expected an f32 tile of two axes and one f32 per row}}
  %0 = tile.rescale %o, %a : !tile.val<[q:128] x f32>, !tile.val<[q:128] x f32>
  gpu.return
}
}

// -----

// T21
gpu.module @m {
gpu.func @f(%o: !tile.val<[q:128, v:128] x bf16>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T21: expected an accumulator of two axes in f32}}
  %0:2 = tile.finalize %m, %l factor %c acc %o : !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128, v:128] x bf16> -> !tile.val<[q:128] x f32>, !tile.val<[q:128, v:128] x bf16>
  gpu.return
}
}

// -----

// T21
gpu.module @m {
gpu.func @f(%o: !tile.val<[q:128, v:128] x f32>, %m: !tile.val<[q:64] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T21: expected partial row sums 'r' for the rows of '!tile.val<[q:64] x f32>'}}
  %0:2 = tile.finalize %m, %l factor %c acc %o : !tile.val<[q:64] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128, v:128] x f32> -> !tile.val<[q:64] x f32>, !tile.val<[q:128, v:128] x f32>
  gpu.return
}
}

// -----

// T21
gpu.module @m {
gpu.func @f(%o: !tile.val<[q:128, v:128] x f32>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, v:128] x f32>, %c: f32) {
  // expected-error @below {{T21: expected partial row sums 'r' for the rows of}}
  %0:2 = tile.finalize %m, %l factor %c acc %o : !tile.val<[q:128] x f32>, !tile.val<[q:128, v:128] x f32>, !tile.val<[q:128, v:128] x f32> -> !tile.val<[q:128] x f32>, !tile.val<[q:128, v:128] x f32>
  gpu.return
}
}

// -----

// T21
gpu.module @m {
gpu.func @f(%o: !tile.val<[q:128, v:128] x f32>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T21: expected results of types}}
  %0:2 = tile.finalize %m, %l factor %c acc %o : !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128, v:128] x f32> -> !tile.val<[q:128, v:128] x f32>, !tile.val<[q:128, v:128] x f32>
  gpu.return
}
}

// -----

// T21
gpu.module @m {
gpu.func @f(%m: !tile.val<[q:128, v:4] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T21: expected row maxima of one axis in f32}}
  %0 = tile.finalize %m, %l factor %c : !tile.val<[q:128, v:4] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128, v:4] x f32>
  gpu.return
}
}

// -----

// T21
gpu.module @m {
gpu.func @f(%m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T21: expected results of types}}
  %0:2 = tile.finalize %m, %l factor %c : !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128] x f32>, !tile.val<[q:128, v:128] x f32>
  gpu.return
}
}

// -----

// T19
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T19: expected a ramp's slope with a base}}
  %0:4 = tile.softmax_step %x, %m, %l factor %c ramp %c base %l : !tile.val<[q:128, r:4] x f32> : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128] x f32>
  gpu.return
}
}

// -----

// T19
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T19: expected to be held up to a power of two from 1 to 126, found 127}}
  %0:4 = tile.softmax_step %x, %m, %l factor %c held 127 : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128] x f32>
  gpu.return
}
}

// -----

// T19
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>, %m: !tile.val<[q:128] x f32>, %l: !tile.val<[q:128, r:4] x f32>, %c: f32) {
  // expected-error @below {{T19: expected early weights in a held step only}}
  %0:4 = tile.softmax_step %x, %m, %l factor %c early : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128] x f32>
  gpu.return
}
}
