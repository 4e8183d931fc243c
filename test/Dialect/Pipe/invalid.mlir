// RUN: attn-opt %s -split-input-file -verify-diagnostics
// Every constraint of the dialect, by its number.

// -----

// P1
// expected-error @below {{P1: expected a shared tile of two axes, found '!tile.val<[k:64, d:128] x bf16>'}}
module attributes {x.y = !pipe.channel<!tile.val<[k:64, d:128] x bf16>>} {
}

// -----

// P1
// expected-error @below {{P1: expected a shared tile of two axes}}
module attributes {x.y = !pipe.channel<!tile.val<[k:64] x bf16, shared 2>>} {
}

// -----

// P2
gpu.module @m {
gpu.func @f() {
  // expected-error @below {{P2: expected 1 to 32 warps, found 0}}
  pipe.role "compute" warps 0 {
  }
  gpu.return
}
}

// -----

// P2
gpu.module @m {
gpu.func @f() {
  // expected-error @below {{P2: expected 1 to 32 warps, found 33}}
  pipe.role "compute" warps 33 {
  }
  gpu.return
}
}

// -----

// P3
gpu.module @m {
gpu.func @f(%c: !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, %v: !tile.view<128 x f16>, %i: i32) {
  // expected-error @below {{P3: expected a view of at most 128 columns of 'bf16', found '!tile.view<128 x f16>'}}
  pipe.put %c[%i], %v[%i] : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, !tile.view<128 x f16>
  gpu.return
}
}

// -----

// P3
gpu.module @m {
gpu.func @f(%c: !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, %v: !tile.view<192 x bf16>, %i: i32) {
  // expected-error @below {{P3: expected a view of at most 128 columns of 'bf16', found '!tile.view<192 x bf16>'}}
  pipe.put %c[%i], %v[%i] : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, !tile.view<192 x bf16>
  gpu.return
}
}

// -----

// P3
gpu.module @m {
gpu.func @f(%c: !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, %i: i32) {
  // expected-error @below {{P3: expected '!tile.val<[k:64, d:128] x bf16, shared 2>', found '!tile.val<[k:64, d:128] x bf16>'}}
  %0 = pipe.take %c[%i] : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>> -> !tile.val<[k:64, d:128] x bf16>
  gpu.return
}
}

// -----

// P4
gpu.module @m {
gpu.func @f() {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the first is here}}
    %0 = pipe.open "k" via cp_async : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>
    // expected-error @below {{P4: expected a name of its own, found a second channel 'k'}}
    %1 = pipe.open "k" via cp_async : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>
  }
  gpu.return
}
}

// -----

// P5
gpu.module @m {
gpu.func @f(%c: !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>, %t: !tile.val<[q:128, v:64] x f32>, %v: !tile.view<64 x bf16>, %i: i32) {
  // expected-error @below {{P5: expected '!tile.val<[q:128, v:64] x bf16>', found '!tile.val<[q:128, v:64] x f32>'}}
  pipe.drain %c, %t, %v[%i] : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>, !tile.val<[q:128, v:64] x f32> -> !tile.view<64 x bf16>
  gpu.return
}
}

// -----

// P5
gpu.module @m {
gpu.func @f(%c: !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>, %t: !tile.val<[q:128, v:64] x bf16>, %v: !tile.view<72 x bf16>, %i: i32) {
  // expected-error @below {{P5: expected a view of at most 64 columns of 'bf16', found '!tile.view<72 x bf16>'}}
  pipe.drain %c, %t, %v[%i] : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>, !tile.val<[q:128, v:64] x bf16> -> !tile.view<72 x bf16>
  gpu.return
}
}

// -----

// P6
gpu.module @m {
gpu.func @f(%map: !llvm.ptr) {
  %q = pipe.open "q" via tma map %map : !llvm.ptr : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>, fed>
  // expected-error @below {{P6: expected the aliased channel not to be fed by another role}}
  %0 = pipe.open "o" via st alias %q : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>, fed> : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
  gpu.return
}
}

// -----

// P6
gpu.module @m {
gpu.func @f(%c: !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>) {
  // expected-error @below {{P6: expected the aliased channel to be opened by pipe.open}}
  %0 = pipe.open "o" via st alias %c : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>> : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
  gpu.return
}
}

// -----

// P7
gpu.module @m {
gpu.func @f(%c: !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, %i: i32) {
  // expected-error @below {{P7: a joined take leaves pending to the take that waits}}
  %0 = pipe.take %c[%i] pending 1 joined : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>> -> !tile.val<[k:64, d:128] x bf16, shared 2>
  gpu.return
}
}

// -----

// P8
gpu.module @m {
gpu.func @f(%c: !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, %i: i32) {
  // expected-error @below {{P8: expected pending of at least 0, found -1}}
  %0 = pipe.take %c[%i] pending -1 : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>> -> !tile.val<[k:64, d:128] x bf16, shared 2>
  gpu.return
}
}

// -----

// P8
gpu.module @m {
gpu.func @f(%c: !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, %v: !tile.view<128 x bf16>, %i: i32) {
  // expected-error @below {{P8: expected ahead of at least 0, found -1}}
  pipe.put %c[%i], %v[%i] ahead -1 : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, !tile.view<128 x bf16>
  gpu.return
}
}

// -----

// P8
// expected-error @below {{P8: expected ahead and order of at least 0, found -1 and 0}}
module attributes {x.y = #pipe.at<ahead = -1, order = 0>} {
}

// -----

// P10
gpu.module @m {
gpu.func @f() {
  // expected-error @below {{P10: a channel via tma needs a map}}
  %0 = pipe.open "k" via tma : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>
  gpu.return
}
}

// -----

// P10
gpu.module @m {
gpu.func @f(%map: !llvm.ptr) {
  // expected-error @below {{P10: a channel via cp_async has no map}}
  %0 = pipe.open "k" via cp_async map %map : !llvm.ptr : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>
  gpu.return
}
}

// -----

// P12
gpu.module @m {
gpu.func @f() {
  %o = pipe.open "o" via st : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
  // expected-error @below {{P12: expected a channel via st with a map, through which pipe.drain starts copies}}
  pipe.drained %o : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
  gpu.return
}
}

// -----

// P12
gpu.module @m {
gpu.func @f(%map: !llvm.ptr) {
  %k = pipe.open "k" via tma map %map : !llvm.ptr : !pipe.channel<!tile.val<[k:128, d:64] x bf16, shared 1>>
  // expected-error @below {{P12: expected a channel via st with a map}}
  pipe.drained %k : !pipe.channel<!tile.val<[k:128, d:64] x bf16, shared 1>>
  gpu.return
}
}

// -----

// P11
gpu.module @m {
gpu.func @f(%S: !tile.val<[q:128, k:128] x f32>) {
  // expected-error @below {{P11: expected a value and pending of at least 0, found 1 values and pending -1}}
  %0 = pipe.await %S pending -1 : !tile.val<[q:128, k:128] x f32>
  gpu.return
}
}

// -----

// P11
gpu.module @m {
gpu.func @f() {
  // expected-error @below {{P11: expected a value and pending of at least 0, found 0 values and pending 1}}
  "pipe.await"() <{pending = 1 : i64}> : () -> ()
  gpu.return
}
}

// -----

// A channel is fed or says nothing.
gpu.module @m {
// expected-error @below {{expected 'fed'}}
gpu.func @f(%c: !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>, hungry>) {
  gpu.return
}
}

// -----

gpu.module @m {
// expected-error @below {{expected '>'}}
gpu.func @f(%c: !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>, fed, fed>) {
  gpu.return
}
}

// -----

// P1 holds of a fed channel too.
gpu.module @m {
// expected-error @below {{P1: expected a shared tile of two axes, found '!tile.val<[k:64, d:128] x bf16>'}}
gpu.func @f(%c: !pipe.channel<!tile.val<[k:64, d:128] x bf16>, fed>) {
  gpu.return
}
}
