// The verifiers of the warp dialect, by the labels of its descriptions.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// F1
// expected-error @below {{expected at least 1 warp, found 0}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 0>

// -----

// F2, rows over warps
// expected-error @below {{expected the rows of kind acc to be a multiple of 64, found 96}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<96x64xf32, acc, warps = 4>

// -----

// F2, kind b is whole in every warp
// expected-error @below {{expected the rows of kind b to be a multiple of 8, found 60}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<60x16xbf16, b, warps = 4>

// -----

// F3, acc
// expected-error @below {{expected the columns of kind acc to be a multiple of 8, found 60}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<64x60xf32, acc, warps = 4>

// -----

// F3, operands
// expected-error @below {{expected 16 column(s) for kind a, found 32}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<64x32xbf16, a, warps = 4>

// -----

// F3, row
// expected-error @below {{expected 1 column(s) for kind row, found 4}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<64x4xf32, row, warps = 4>

// -----

// F3, row_partial
// expected-error @below {{expected 4 column(s) for kind row_partial, found 1}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<64x1xf32, row_partial, warps = 4>

// -----

// F4, operands
// expected-error @below {{expected an element type of bf16 or f16 for kind b, found 'f32'}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<64x16xf32, b, warps = 4>

// -----

// F4, row
// expected-error @below {{expected an element type of f32 for kind row, found 'bf16'}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<64x1xbf16, row, warps = 4>

// -----

// expected-error @below {{expected acc, a, b, row or row_partial, found 'c'}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, c, warps = 4>

// -----

// expected-error @below {{expected 2 dimensions, found 3}}
%0 = builtin.unrealized_conversion_cast to !warp.frag<1x64x64xf32, acc, warps = 4>

// -----

// B1
// expected-error @below {{expected at least 1 slot, found 0}}
%0 = builtin.unrealized_conversion_cast to !warp.buffer<0x64x64xbf16>

// -----

// B2
// expected-error @below {{expected rows and columns to be multiples of 8, found 64x60}}
%0 = builtin.unrealized_conversion_cast to !warp.buffer<1x64x60xbf16>

// -----

// B3
// expected-error @below {{expected an element type of bf16, f16 or f32, found 'i8'}}
%0 = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xi8>

// -----

// AL1
// expected-error @below {{expected an offset that is a multiple of 1024, found 512}}
%0 = warp.alloc {offset = 512 : i64} : !warp.buffer<1x64x64xbf16>

// -----

%buffer, %slot, %ptr, %stride, %rows = builtin.unrealized_conversion_cast to !warp.buffer<1x64x72xbf16>, i32, !llvm.ptr<1>, i64, i32
// CP1
// expected-error @below {{expected cols to be a multiple of 8 between 8 and 72, found 68}}
warp.cp_async %buffer[%slot], %ptr, %stride, %rows, cols = 68, warps = 4 : !warp.buffer<1x64x72xbf16>

// -----

%buffer, %slot, %ptr, %stride, %rows = builtin.unrealized_conversion_cast to !warp.buffer<1x64x72xf32>, i32, !llvm.ptr<1>, i64, i32
// CO1
// expected-error @below {{expected cols to be a multiple of 4 between 4 and 72, found 76}}
warp.copy_out %buffer[%slot], %ptr, %stride, %rows, cols = 76, warps = 4 : !warp.buffer<1x64x72xf32>

// -----

// BA1
// expected-error @below {{attribute 'id' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0 whose maximum value is 15}}
warp.barrier {warps = 4 : i64, id = 16 : i64}

// -----

%buffer, %slot = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, i32
// LD1
// expected-error @below {{expected either column or row}}
%0 = warp.ldmatrix %buffer[%slot] : !warp.buffer<1x64x64xbf16> -> !warp.frag<64x16xbf16, b, warps = 4>

// -----

%buffer, %slot = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, i32
// LD1, kind
// expected-error @below {{expected column for a result of kind a, found row}}
%0 = warp.ldmatrix %buffer[%slot] {row = 0 : i64} : !warp.buffer<1x64x64xbf16> -> !warp.frag<64x16xbf16, a, warps = 4>

// -----

%buffer, %slot = builtin.unrealized_conversion_cast to !warp.buffer<1x64x72xbf16>, i32
// LD2
// expected-error @below {{expected column to be a multiple of 16 between 0 and 56, found 64}}
%0 = warp.ldmatrix %buffer[%slot] {column = 64 : i64} : !warp.buffer<1x64x72xbf16> -> !warp.frag<64x16xbf16, b, warps = 4>

// -----

%buffer, %slot = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, i32
// LD3
// expected-error @below {{expected a result of 'bf16', found 'f16'}}
%0 = warp.ldmatrix %buffer[%slot] {column = 0 : i64} : !warp.buffer<1x64x64xbf16> -> !warp.frag<64x16xf16, b, warps = 4>

// -----

%buffer, %slot = builtin.unrealized_conversion_cast to !warp.buffer<1x64x128xbf16>, i32
// LD4
// expected-error @below {{expected a result of at most 128 rows, found 136}}
%0 = warp.ldmatrix %buffer[%slot] {row = 0 : i64} : !warp.buffer<1x64x128xbf16> -> !warp.frag<136x16xbf16, b, warps = 4>

// -----

%value, %buffer, %slot = builtin.unrealized_conversion_cast to !warp.frag<64x80xbf16, acc, warps = 4>, !warp.buffer<1x64x72xbf16>, i32
// ST1
// expected-error @below {{expected a buffer of 64 rows, at least 80 columns and 'bf16', found 64x72x'bf16'}}
warp.store_shared %value, %buffer[%slot] : !warp.frag<64x80xbf16, acc, warps = 4>, !warp.buffer<1x64x72xbf16>

// -----

%acc, %a, %b = builtin.unrealized_conversion_cast to !warp.frag<64x64xbf16, acc, warps = 4>, !warp.frag<64x16xbf16, a, warps = 4>, !warp.frag<64x16xbf16, b, warps = 4>
// MM1
// expected-error @below {{operand #0 must be f32 acc fragment}}
%0 = warp.mma %acc, %a, %b : !warp.frag<64x64xbf16, acc, warps = 4>, !warp.frag<64x16xbf16, a, warps = 4>, !warp.frag<64x16xbf16, b, warps = 4>

// -----

%acc, %a, %b = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>, !warp.frag<64x16xbf16, a, warps = 4>, !warp.frag<72x16xbf16, b, warps = 4>
// MM2
// expected-error @below {{expected a of 64 rows and b of 64 rows, found 64 and 72}}
%0 = warp.mma %acc, %a, %b : !warp.frag<64x64xf32, acc, warps = 4>, !warp.frag<64x16xbf16, a, warps = 4>, !warp.frag<72x16xbf16, b, warps = 4>

// -----

%acc, %a, %b = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>, !warp.frag<64x16xbf16, a, warps = 4>, !warp.frag<64x16xf16, b, warps = 4>
// MM3
// expected-error @below {{expected a and b of one element type, found 'bf16' and 'f16'}}
%0 = warp.mma %acc, %a, %b : !warp.frag<64x64xf32, acc, warps = 4>, !warp.frag<64x16xbf16, a, warps = 4>, !warp.frag<64x16xf16, b, warps = 4>

// -----

%acc, %a, %b = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>, !warp.frag<64x16xbf16, a, warps = 2>, !warp.frag<64x16xbf16, b, warps = 4>
// MM4
// expected-error @below {{expected 4 warp(s) for a and b, found 2 and 4}}
%0 = warp.mma %acc, %a, %b : !warp.frag<64x64xf32, acc, warps = 4>, !warp.frag<64x16xbf16, a, warps = 2>, !warp.frag<64x16xbf16, b, warps = 4>

// -----

%value = builtin.unrealized_conversion_cast to f32
// FI1
// expected-error @below {{result #0 must be f32 fragment}}
%0 = warp.fill %value : !warp.frag<64x64xbf16, acc, warps = 4>

// -----

%source = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>
// CA1
// expected-error @below {{expected 64 columns, found 72}}
%0 = warp.cast %source : !warp.frag<64x64xf32, acc, warps = 4> -> !warp.frag<64x72xbf16, acc, warps = 4>

// -----

%source = builtin.unrealized_conversion_cast to !warp.frag<64x64xbf16, acc, warps = 4>
// AO1
// expected-error @below {{expected column to be a multiple of 16 between 0 and 48, found 8}}
%0 = warp.as_operand %source {column = 8 : i64} : !warp.frag<64x64xbf16, acc, warps = 4> -> !warp.frag<64x16xbf16, a, warps = 4>

// -----

%source = builtin.unrealized_conversion_cast to !warp.frag<64x64xbf16, acc, warps = 4>
// AO2
// expected-error @below {{expected 64 rows over 4 warp(s), found 128 over 4}}
%0 = warp.as_operand %source {column = 0 : i64} : !warp.frag<64x64xbf16, acc, warps = 4> -> !warp.frag<128x16xbf16, a, warps = 4>

// -----

// MA1
// expected-error @below {{expected at least one input, found none}}
%0 = "warp.map"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  %zero = arith.constant 0.0 : f32
  warp.yield %zero : f32
}) : () -> !warp.frag<64x64xf32, acc, warps = 4>

// -----

%x = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>
// MA2
// expected-error @below {{expected inputs of kind row_partial or row, found acc}}
%0 = warp.map %x : !warp.frag<64x64xf32, acc, warps = 4> -> !warp.frag<64x4xf32, row_partial, warps = 4> {
^bb0(%e: f32):
  warp.yield %e : f32
}

// -----

%x = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>
// MA3
// expected-error @below {{expected a region of 1 f32 and 0 i32 argument(s), found ('f32', 'i32')}}
%0 = warp.map %x : !warp.frag<64x64xf32, acc, warps = 4> -> !warp.frag<64x64xf32, acc, warps = 4> {
^bb0(%e: f32, %k: i32):
  warp.yield %e : f32
}

// -----

%x, %k0 = builtin.unrealized_conversion_cast to !warp.frag<64x1xf32, row, warps = 4>, i32
// MA4
// expected-error @below {{expected column only for a result of kind acc or row_partial, found row}}
%0 = warp.map %x column(%k0) : !warp.frag<64x1xf32, row, warps = 4> -> !warp.frag<64x1xf32, row, warps = 4> {
^bb0(%e: f32, %k: i32):
  warp.yield %e : f32
}

// -----

%x = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>
// MA4
// expected-error @below {{expected in_class only with column, for a result of kind acc}}
%0 = warp.map %x in_class : !warp.frag<64x64xf32, acc, warps = 4> -> !warp.frag<64x64xf32, acc, warps = 4> {
^bb0(%e: f32):
  warp.yield %e : f32
}

// -----

%x = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>
%0 = warp.map %x : !warp.frag<64x64xf32, acc, warps = 4> -> !warp.frag<64x64xf32, acc, warps = 4> {
^bb0(%e: f32):
  %c = arith.cmpf olt, %e, %e : f32
  // MA5
  // expected-error @below {{expected a value of 'f32', found 'i1'}}
  warp.yield %c : i1
}

// -----

%x, %y = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>, !warp.frag<64x72xf32, acc, warps = 4>
// AN1
// expected-error @below {{expected all inputs that are not of kind row to be '!warp.frag<64x64xf32, acc, warps = 4>', found '!warp.frag<64x72xf32, acc, warps = 4>'}}
%0 = warp.any %x, %y : !warp.frag<64x64xf32, acc, warps = 4>, !warp.frag<64x72xf32, acc, warps = 4> {
^bb0(%e: f32, %f: f32):
  %c = arith.cmpf olt, %e, %f : f32
  warp.yield %c : i1
}

// -----

%x, %r0 = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>, i32
// AN2
// expected-error @below {{expected a region of 1 f32 and 1 i32 argument(s), found ('f32')}}
%0 = warp.any %x row(%r0) : !warp.frag<64x64xf32, acc, warps = 4> {
^bb0(%e: f32):
  %c = arith.cmpf olt, %e, %e : f32
  warp.yield %c : i1
}

// -----

%x, %k0 = builtin.unrealized_conversion_cast to !warp.frag<64x1xf32, row, warps = 4>, i32
// AN3
// expected-error @below {{expected column only with an input of kind acc}}
%0 = warp.any %x column(%k0) : !warp.frag<64x1xf32, row, warps = 4> {
^bb0(%e: f32, %k: i32):
  %c = arith.cmpf olt, %e, %e : f32
  warp.yield %c : i1
}

// -----

%x = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>
%0 = warp.any %x : !warp.frag<64x64xf32, acc, warps = 4> {
^bb0(%e: f32):
  // AN4
  // expected-error @below {{expected a value of 'i1', found 'f32'}}
  warp.yield %e : f32
}

// -----

%source = builtin.unrealized_conversion_cast to !warp.frag<64x1xf32, row, warps = 4>
// RE1
// expected-error @below {{expected acc -> row, acc -> row_partial or row_partial -> row, found row -> row}}
%0 = warp.reduce max %source : !warp.frag<64x1xf32, row, warps = 4> -> !warp.frag<64x1xf32, row, warps = 4>

// -----

%source = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>
// RE2
// expected-error @below {{expected 64 rows over 4 warp(s), found 64 over 2}}
%0 = warp.reduce max %source : !warp.frag<64x64xf32, acc, warps = 4> -> !warp.frag<64x1xf32, row, warps = 2>

// -----

%value, %ptr, %stride, %rows = builtin.unrealized_conversion_cast to !warp.frag<64x64xf32, acc, warps = 4>, !llvm.ptr<1>, i64, i32
// SG1
// expected-error @below {{expected cols to be a multiple of 8 between 8 and 64, found 72}}
warp.store_global %value, %ptr, %stride, %rows, cols = 72 : !warp.frag<64x64xf32, acc, warps = 4>
