// RUN: attn-opt %s -split-input-file -verify-diagnostics
// Constraints of types, loops and memory, by number; see also
// invalid-arithmetic.mlir and invalid-softmax.mlir.

// -----

// T1
// expected-error @below {{T1: expected one or two axes, found 3}}
module attributes {x.y = !tile.val<[q:128, k:64, d:8] x f32>} {
}

// -----

// T1
// expected-error @below {{T1: expected one or two axes, found 0}}
module attributes {x.y = !tile.val<[] x f32>} {
}

// -----

// T2
// expected-error @below {{T2: axis "q" appears twice}}
module attributes {x.y = !tile.val<[q:128, q:64] x f32>} {
}

// -----

// T3
// expected-error @below {{T3: expected a positive axis size, found 0}}
module attributes {x.y = !tile.val<[q:128, k:0] x f32>} {
}

// -----

// T3
// expected-error @below {{T3: expected a positive number of slots, found 0}}
module attributes {x.y = !tile.val<[q:128, k:64] x bf16, shared 0>} {
}

// -----

// T3
// expected-error @below {{T3: expected a positive number of columns, found 0}}
module attributes {x.y = !tile.view<0 x bf16>} {
}

// -----

// T4
gpu.module @m {
gpu.func @f(%v: !tile.view<128 x bf16>, %i: i32) {
  // expected-error @below {{T4: expected element type 'bf16', found 'f16'}}
  %0 = tile.load %v[%i] : !tile.view<128 x bf16> -> !tile.val<[k:64, d:128] x f16>
  gpu.return
}
}

// -----

// T4
gpu.module @m {
gpu.func @f(%v: !tile.view<128 x bf16>, %i: i32) {
  // expected-error @below {{T4: a tile of 128 columns needs a second axis at least that long}}
  %0 = tile.load %v[%i] : !tile.view<128 x bf16> -> !tile.val<[k:64, d:64] x bf16>
  gpu.return
}
}

// -----

// T4
gpu.module @m {
gpu.func @f(%v: !tile.view<1 x bf16>, %i: i32) {
  // expected-error @below {{T4: a tile of 1 columns needs a second axis at least that long}}
  %0 = tile.load %v[%i] : !tile.view<1 x bf16> -> !tile.val<[k:64] x bf16>
  gpu.return
}
}

// -----

// T11
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T11: expected block arguments ('i32', 'i32', 'i32'), found ('i32', 'i32')}}
  tile.for_work (%b, %h) in (%n, %n, %n) step 128 {
  }
  gpu.return
}
}

// -----

// T11
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T11: expected a positive step, found 0}}
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 0 {
  }
  gpu.return
}
}

// -----

// T11
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T11: expected the body to yield ()}}
  tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
    tile.yield %b : i32
  }
  gpu.return
}
}

// -----

// T11
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T11: expected block arguments ('i32', 'i32', 'i32', 'i32'), found ('i32', 'i32', 'i32')}}
  %0 = "tile.for_work"(%n, %n, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>, step = 64 : i64}> ({
  ^bb0(%b: i32, %h: i32, %m0: i32):
    "tile.yield"(%n) : (i32) -> ()
  }) : (i32, i32, i32, i32) -> i32
  gpu.return
}
}

// -----

// T11
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T11: expected the body to yield ('i32')}}
  %0 = tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 iter(%c = %n) : (i32) {
    tile.yield
  }
  gpu.return
}
}

// -----

// T12
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T12: a mixed loop says where its full tiles end}}
  tile.for_keys mixed (%k0) in (%n, %n) step 64 {
    tile.yield
  }
  gpu.return
}
}

// -----

// T12
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T12: a full loop does not say where its full tiles end}}
  tile.for_keys full (%k0) in (%n, %n) full below %n step 64 {
    tile.yield
  }
  gpu.return
}
}

// -----

// T12
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T12: a partial loop does not say where its full tiles end}}
  "tile.for_keys"(%n, %n, %n) <{kind = 1 : i32, step = 64 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%k0: i32):
    tile.yield
  }) : (i32, i32, i32) -> ()
  gpu.return
}
}

// -----

// T12
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T12: expected a positive step, found -64}}
  tile.for_keys full (%k0) in (%n, %n) step -64 {
    tile.yield
  }
  gpu.return
}
}

// -----

// T12
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{expected mixed, partial or full, found 'all'}}
  tile.for_keys all (%k0) in (%n, %n) step 64 {
    tile.yield
  }
  gpu.return
}
}

// -----

// T13
gpu.module @m {
gpu.func @f(%n: i32, %z: f32) {
  // expected-error @below {{T13: expected block arguments ('i32', 'f32'), found ('i32')}}
  %0 = "tile.for_keys"(%n, %n, %z) <{kind = 2 : i32, step = 64 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%k0: i32):
    tile.yield %z : f32
  }) : (i32, i32, f32) -> f32
  gpu.return
}
}

// -----

// T13
gpu.module @m {
gpu.func @f(%n: i32, %z: f32) {
  // expected-error @below {{T13: expected initial values ('f32'), yielded values ('i32') and results ('f32') of the same types}}
  %0 = tile.for_keys full (%k0) in (%n, %n) step 64 iter(%a = %z) : (f32) {
    tile.yield %k0 : i32
  }
  gpu.return
}
}

// -----

// T13
gpu.module @m {
gpu.func @f(%n: i32, %z: f32) {
  // expected-error @below {{expected 2 types, found 1}}
  %0:2 = tile.for_keys full (%k0) in (%n, %n) step 64 iter(%a = %z, %b = %z) : (f32) {
    tile.yield %a, %b : f32, f32
  }
  gpu.return
}
}

// -----

// T14
gpu.module @m {
gpu.func @f(%o: !tile.val<[q:128, v:128] x f32>, %v: !tile.view<256 x bf16>, %i: i32) {
  // expected-error @below {{T14: expected at least 256 columns, found 128}}
  tile.store %o, %v[%i] : !tile.val<[q:128, v:128] x f32> -> !tile.view<256 x bf16>
  gpu.return
}
}

// -----

// T14
gpu.module @m {
gpu.func @f(%o: !tile.val<[q:128] x f32>, %v: !tile.view<2 x f32>, %i: i32) {
  // expected-error @below {{T14: expected at least 2 columns, found 1}}
  tile.store %o, %v[%i] : !tile.val<[q:128] x f32> -> !tile.view<2 x f32>
  gpu.return
}
}

// -----

// T14
gpu.module @m {
gpu.func @f(%o: !tile.val<[q:128, v:128] x bf16>, %v: !tile.view<128 x f16>, %i: i32) {
  // expected-error @below {{T14: expected a tile of f32 or 'f16', found '!tile.val<[q:128, v:128] x bf16>'}}
  tile.store %o, %v[%i] : !tile.val<[q:128, v:128] x bf16> -> !tile.view<128 x f16>
  gpu.return
}
}

// -----

// T15
gpu.module @m {
gpu.func @f(%z: f32) {
  // expected-error @below {{T15: expected a tile of 'f32' in registers, found '!tile.val<[q:128] x bf16>'}}
  %0 = tile.fill %z : f32 -> !tile.val<[q:128] x bf16>
  gpu.return
}
}

// -----

// T15
gpu.module @m {
gpu.func @f(%z: f32) {
  // expected-error @below {{T15: expected a tile of 'f32' in registers}}
  %0 = tile.fill %z : f32 -> !tile.val<[q:128, k:64] x f32, shared 1>
  gpu.return
}
}

// -----

// T23
gpu.module @m {
gpu.func @f(%p: !llvm.ptr<1>, %i: i64, %n: i32) {
  // expected-error @below {{T23: expected a head and a batch entry, found 1 indices}}
  %0 = tile.make_view "k" %p[%i] stride %i rows %n at(%n) : !tile.view<64 x bf16>
  gpu.return
}
}

// -----

// T23
gpu.module @m {
gpu.func @f(%p: !llvm.ptr<1>, %i: i64, %n: i32) {
  // expected-error @below {{T23: expected a head and a first row, found 0 indices}}
  %0 = tile.make_view "k" %p[%i] stride %i rows %n ragged : !tile.view<64 x bf16>
  gpu.return
}
}

// -----

// T22
// expected-error @below {{T22: expected a float element type, found 'i32'}}
module attributes {x.y = !tile.val<[q:128] x i32>} {
}

// -----

// T22
// expected-error @below {{T22: expected a float element type, found 'index'}}
module attributes {x.y = !tile.view<128 x index>} {
}

// -----

// T24
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T24: expected one shift more than thresholds, found 2 and 2}}
  %0 = tile.key_at %n [%n, %n] shifts [%n, %n] partial 1 full 1
  gpu.return
}
}

// -----

// T24
gpu.module @m {
gpu.func @f(%n: i32) {
  // expected-error @below {{T24: expected partial and full tiles in the 2 ranges that there are, found 1 and 3}}
  %0 = tile.key_at %n [%n] shifts [%n, %n] partial 1 full 3
  gpu.return
}
}

// -----

// T24
gpu.module @m {
gpu.func @f(%n: i32, %list: !llvm.ptr<1>) {
  // expected-error @below {{T24: expected a list and a positive step, or none of both}}
  %0 = tile.key_at %n [] shifts [%n] in %list step 0 partial 1 full 1
  gpu.return
}
}
