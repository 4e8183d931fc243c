// RUN: attn-opt %s -split-input-file -verify-diagnostics
// Constraints of arithmetic on tiles, by number.

// -----

// T5
gpu.module @m {
gpu.func @f(%q: !tile.val<[q:128, d:128] x bf16>, %k: !tile.val<[k:64, d:128] x bf16>) {
  // expected-error @below {{T5: expected operands of two axes, one of them 'x' in the same size}}
  %0 = tile.dot %q, %k over "x" : !tile.val<[q:128, d:128] x bf16>, !tile.val<[k:64, d:128] x bf16> -> !tile.val<[q:128, k:64] x f32>
  gpu.return
}
}

// -----

// T5
gpu.module @m {
gpu.func @f(%q: !tile.val<[q:128, d:128] x bf16>, %k: !tile.val<[k:64, d:64] x bf16>) {
  // expected-error @below {{T5: expected operands of two axes, one of them 'd' in the same size}}
  %0 = tile.dot %q, %k over "d" : !tile.val<[q:128, d:128] x bf16>, !tile.val<[k:64, d:64] x bf16> -> !tile.val<[q:128, k:64] x f32>
  gpu.return
}
}

// -----

// T5
gpu.module @m {
gpu.func @f(%q: !tile.val<[d:128] x bf16>, %k: !tile.val<[k:64, d:128] x bf16>) {
  // expected-error @below {{T5: expected operands of two axes}}
  %0 = tile.dot %q, %k over "d" : !tile.val<[d:128] x bf16>, !tile.val<[k:64, d:128] x bf16> -> !tile.val<[q:128, k:64] x f32>
  gpu.return
}
}

// -----

// T6
gpu.module @m {
gpu.func @f(%q: !tile.val<[q:128, d:128] x bf16>, %k: !tile.val<[q:64, d:128] x bf16>) {
  // expected-error @below {{T6: expected the operands' other axes to differ, both are "q"}}
  %0 = tile.dot %q, %k over "d" : !tile.val<[q:128, d:128] x bf16>, !tile.val<[q:64, d:128] x bf16> -> !tile.val<[q:128, k:64] x f32>
  gpu.return
}
}

// -----

// T6
gpu.module @m {
gpu.func @f(%q: !tile.val<[q:128, d:128] x bf16>, %k: !tile.val<[k:64, d:128] x bf16>) {
  // expected-error @below {{T6: expected result '!tile.val<[q:128, k:64] x f32>', found '!tile.val<[k:64, q:128] x f32>'}}
  %0 = tile.dot %q, %k over "d" : !tile.val<[q:128, d:128] x bf16>, !tile.val<[k:64, d:128] x bf16> -> !tile.val<[k:64, q:128] x f32>
  gpu.return
}
}

// -----

// T6
gpu.module @m {
gpu.func @f(%q: !tile.val<[q:128, d:128] x bf16>, %k: !tile.val<[k:64, d:128] x bf16>) {
  // expected-error @below {{T6: expected result}}
  %0 = tile.dot %q, %k over "d" : !tile.val<[q:128, d:128] x bf16>, !tile.val<[k:64, d:128] x bf16> -> !tile.val<[q:128, k:64] x bf16>
  gpu.return
}
}

// -----

// T6
gpu.module @m {
gpu.func @f(%q: !tile.val<[q:128, d:128] x bf16>, %k: !tile.val<[k:64, d:128] x bf16>, %i: !tile.val<[q:128, k:32] x f32>) {
  // expected-error @below {{T6: expected init '!tile.val<[q:128, k:64] x f32>', found '!tile.val<[q:128, k:32] x f32>'}}
  %0 = tile.dot %q, %k init %i : !tile.val<[q:128, k:32] x f32> over "d" : !tile.val<[q:128, d:128] x bf16>, !tile.val<[k:64, d:128] x bf16> -> !tile.val<[q:128, k:64] x f32>
  gpu.return
}
}

// -----

// T7
gpu.module @m {
gpu.func @f(%q: !tile.val<[q:128, d:128] x bf16>, %k: !tile.val<[k:64, d:128] x f16>) {
  // expected-error @below {{T7: expected two bf16 or two f16 tiles, found 'bf16' and 'f16'}}
  %0 = tile.dot %q, %k over "d" : !tile.val<[q:128, d:128] x bf16>, !tile.val<[k:64, d:128] x f16> -> !tile.val<[q:128, k:64] x f32>
  gpu.return
}
}

// -----

// T7
gpu.module @m {
gpu.func @f(%q: !tile.val<[q:128, d:128] x f32>, %k: !tile.val<[k:64, d:128] x f32>) {
  // expected-error @below {{T7: expected two bf16 or two f16 tiles, found 'f32' and 'f32'}}
  %0 = tile.dot %q, %k over "d" : !tile.val<[q:128, d:128] x f32>, !tile.val<[k:64, d:128] x f32> -> !tile.val<[q:128, k:64] x f32>
  gpu.return
}
}

// -----

// T8
gpu.module @m {
gpu.func @f(%a: !tile.val<[q:128, v:128] x f32>) {
  // expected-error @below {{T8: input axis "v":128 is not an axis of the result}}
  %0 = tile.map %a : !tile.val<[q:128, v:128] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%x: f32):
    tile.yield %x : f32
  }
  gpu.return
}
}

// -----

// T8
gpu.module @m {
gpu.func @f(%a: !tile.val<[q:128, k:32] x f32>) {
  // expected-error @below {{T8: input axis "k":32 is not an axis of the result}}
  %0 = tile.map %a : !tile.val<[q:128, k:32] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%x: f32):
    tile.yield %x : f32
  }
  gpu.return
}
}

// -----

// T9
gpu.module @m {
gpu.func @f(%a: !tile.val<[q:128, k:64] x f32>, %i: i32) {
  // expected-error @below {{T9: expected block arguments ('f32', 'i32')}}
  %0 = tile.map %a index "k"(%i) : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  gpu.return
}
}

// -----

// T9
gpu.module @m {
gpu.func @f(%a: !tile.val<[q:128, k:64] x f32>, %i: i32) {
  // expected-error @below {{T9: index axis "v" is not an axis of the result}}
  %0 = tile.map %a index "v"(%i) : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%x: f32, %y: i32):
    tile.yield %x : f32
  }
  gpu.return
}
}

// -----

// T9
gpu.module @m {
gpu.func @f(%a: !tile.val<[q:128, k:64] x f32>, %i: i32) {
  // expected-error @below {{T9: index axis "k" appears twice}}
  %0 = tile.map %a index "k"(%i), "k"(%i) : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%x: f32, %y: i32, %z: i32):
    tile.yield %x : f32
  }
  gpu.return
}
}

// -----

// T9
gpu.module @m {
gpu.func @f(%a: !tile.val<[q:128, k:64] x f32>, %i: i32) {
  // expected-error @below {{T9: expected one base per index axis}}
  %0 = "tile.map"(%a) <{indexAxes = ["k"], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%x: f32):
    tile.yield %x : f32
  }) : (!tile.val<[q:128, k:64] x f32>) -> !tile.val<[q:128, k:64] x f32>
  gpu.return
}
}

// -----

// T9
gpu.module @m {
gpu.func @f(%s: !tile.val<[q:128, k:64] x f32>, %i: i32) {
  // expected-error @below {{T9: expected block arguments (i32, i32)}}
  %0 = tile.mask %s(%i, %i) : !tile.val<[q:128, k:64] x f32> {
  ^bb0(%q: i32, %k: i32, %x: f32):
    %c = arith.cmpi sle, %k, %q : i32
    tile.yield %c : i1
  }
  gpu.return
}
}

// -----

// T10
gpu.module @m {
gpu.func @f(%a: !tile.val<[q:128, k:64] x f32>, %c: i1) {
  // expected-error @below {{T10: expected the region to yield one 'f32'}}
  %0 = tile.map %a : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%x: f32):
    tile.yield %c : i1
  }
  gpu.return
}
}

// -----

// T10
gpu.module @m {
gpu.func @f(%s: !tile.val<[q:128, k:64] x f32>, %i: i32) {
  // expected-error @below {{T10: expected the region to yield one 'i1'}}
  %0 = tile.mask %s(%i, %i) : !tile.val<[q:128, k:64] x f32> {
  ^bb0(%q: i32, %k: i32):
    tile.yield %q : i32
  }
  gpu.return
}
}

// -----

// T16
gpu.module @m {
gpu.func @f(%s: !tile.val<[k:64, q:128] x f32>, %i: i32) {
  // expected-error @below {{T16: expected an f32 tile with the axes q and k}}
  %0 = tile.mask %s(%i, %i) : !tile.val<[k:64, q:128] x f32> {
  ^bb0(%q: i32, %k: i32):
    %c = arith.cmpi sle, %k, %q : i32
    tile.yield %c : i1
  }
  gpu.return
}
}

// -----

// T17
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>) {
  // expected-error @below {{T17: reduces an axis 'v' that the input has and the result lacks}}
  %0 = tile.reduce add %x over "v" : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128] x f32>
  gpu.return
}
}

// -----

// T17
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>) {
  // expected-error @below {{T17: reduces an axis 'k' that the input has and the result lacks}}
  %0 = tile.reduce add %x over "k" : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x f32>
  gpu.return
}
}

// -----

// T17
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>) {
  // expected-error @below {{T17: expected the result to keep axis "q"}}
  %0 = tile.reduce add %x over "k" : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:64] x f32>
  gpu.return
}
}

// -----

// T17
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>) {
  // expected-error @below {{T17: the result may only add the axis r, found "v"}}
  %0 = tile.reduce add %x over "k" : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, v:4] x f32>
  gpu.return
}
}

// -----

// T17
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>) {
  // expected-error @below {{T17: expected element type 'f32', found 'bf16'}}
  %0 = tile.reduce add %x over "k" : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128] x bf16>
  gpu.return
}
}

// -----

// T18
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>) {
  // expected-error @below {{T18: expected the axes of '!tile.val<[q:128, k:64] x f32>', found '!tile.val<[q:128, k:32] x bf16>'}}
  %0 = tile.cast %x : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:32] x bf16>
  gpu.return
}
}

// -----

// T9b
gpu.module @m {
gpu.func @f(%x: !tile.val<[q:128, k:64] x f32>, %q0: i32) {
  // expected-error @below {{T9b: expected in_class with an index along "k"}}
  %0 = tile.map %x index "q"(%q0) : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%e: f32, %q: i32):
    tile.yield %e : f32
  } {in_class}
  gpu.return
}
}
