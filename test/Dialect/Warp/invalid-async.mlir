// The verifiers of roles, mbarriers, TMA and wgmma, by the labels of their descriptions.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// BR1
// expected-error @below {{expected at least 1 slot, found 0}}
%0 = builtin.unrealized_conversion_cast to !warp.barriers<0>

// -----

gpu.module @m {
gpu.func @f() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  // RO1, block
  // expected-error @below {{expected warps below the block's 8, found 4 .. 11}}
  warp.role "compute" first 4 warps 8 {
  }
  gpu.return
}
}

// -----

warp.role "load" first 0 warps 4 {
}
// RO1, other roles
// expected-error @below {{expected warps of its own, found 3 .. 6, while role "load" has 0 .. 3}}
warp.role "compute" first 3 warps 4 {
}

// -----

warp.role "load" first 0 warps 4 {
  // RO2
  // expected-error @below {{expected outside any other role}}
  warp.role "compute" first 4 warps 4 {
  }
}

// -----

warp.role "load" first 0 warps 4 {
  // SR1
  // expected-error @below {{expected a count that is a multiple of 8 from 24 to 256, found 20}}
  warp.set_registers {count = 20 : i64}
}

// -----

warp.role "load" first 0 warps 4 {
  warp.single {
    // SR2, place
    // expected-error @below {{expected directly in a role}}
    warp.set_registers {count = 24 : i64}
  }
}

// -----

warp.role "load" first 0 warps 1 {
  // SR2, warpgroups
  // expected-error @below {{expected a role of whole warpgroups (4 warps), found first 0 warps 1}}
  warp.set_registers {count = 24 : i64}
}

// -----

// SI1
// expected-error @below {{expected in a role}}
warp.single {
}

// -----

warp.role "load" first 0 warps 4 {
  warp.single {
    // SI1, nested
    // expected-error @below {{expected outside any other warp.single}}
    warp.single {
    }
  }
}

// -----

%full, %slot = builtin.unrealized_conversion_cast to !warp.barriers<2>, i32
warp.role "load" first 0 warps 4 {
  warp.single {
    // CAA1
    // expected-error @below {{expected outside warp.single: every thread arrives for its own copies}}
    warp.cp_async_arrive %full[%slot] : !warp.barriers<2>
  }
}

// -----

// MB1
// expected-error @below {{expected an offset that is a multiple of 8, found 4}}
%0 = warp.mbar_alloc {offset = 4 : i64} : !warp.barriers<2>

// -----

%bars = builtin.unrealized_conversion_cast to !warp.barriers<2>
// MI1
// expected-error @below {{attribute 'arrivals' failed to satisfy constraint}}
warp.mbar_init %bars {arrivals = 0 : i64} : !warp.barriers<2>

// -----

%bars = builtin.unrealized_conversion_cast to !warp.barriers<2>
warp.role "load" first 0 warps 4 {
  // MI2
  // expected-error @below {{expected outside a role: the whole block takes part}}
  warp.mbar_init %bars {arrivals = 1 : i64} : !warp.barriers<2>
}

// -----

gpu.module @m {
gpu.func @f() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  // MP1
  // expected-error @below {{expected the block's 8 warps, found 4}}
  warp.mbar_publish {warps = 4 : i64}
  gpu.return
}
}

// -----

warp.role "load" first 0 warps 4 {
  // MP2
  // expected-error @below {{expected outside a role: the whole block takes part}}
  warp.mbar_publish {warps = 4 : i64}
}

// -----

%bars, %slot = builtin.unrealized_conversion_cast to !warp.barriers<2>, i32
warp.role "load" first 0 warps 4 {
  // ME1
  // expected-error @below {{expected inside warp.single: every thread that runs it counts}}
  warp.mbar_expect %bars[%slot], bytes = 1024 : !warp.barriers<2>
}

// -----

%bars, %slot = builtin.unrealized_conversion_cast to !warp.barriers<2>, i32
warp.role "load" first 0 warps 4 {
  // MS1
  // expected-error @below {{expected inside warp.single: every thread that runs it counts}}
  warp.mbar_signal %bars[%slot] : !warp.barriers<2>
}

// -----

// ML1
// expected-error @below {{expected an offset that is a multiple of 16, found 12}}
%mail = warp.mail_alloc {offset = 12 : i64} : !llvm.ptr<3>

// -----

%bars, %slot = builtin.unrealized_conversion_cast to !warp.barriers<2>, i32
warp.role "load" first 0 warps 4 {
  warp.single {
    // MA1
    // expected-error @below {{expected outside warp.single: the warp's first lane arrives}}
    warp.mbar_arrive %bars[%slot] : !warp.barriers<2>
  }
}

// -----

%buffer, %map, %bars, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x264x64xbf16>, !llvm.ptr, !warp.barriers<2>, i32
warp.role "load" first 0 warps 4 {
  warp.single {
    // TL1
    // expected-error @below {{expected a buffer of at most 256 rows, found 264}}
    warp.tma_load %buffer[%i], %map, (%i, %i, %i) signals %bars[%i] : !warp.buffer<1x264x64xbf16>, !warp.barriers<2>
  }
}

// -----

%buffer, %map, %bars, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x72xbf16>, !llvm.ptr, !warp.barriers<2>, i32
warp.role "load" first 0 warps 4 {
  warp.single {
    // TL2
    // expected-error @below {{expected the columns of the buffer to be a multiple of 64 (whole panels of 128 bytes), found 72}}
    warp.tma_load %buffer[%i], %map, (%i, %i, %i) signals %bars[%i] : !warp.buffer<1x64x72xbf16>, !warp.barriers<2>
  }
}

// -----

%buffer, %map, %bars, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, !llvm.ptr, !warp.barriers<2>, i32
// TL3
// expected-error @below {{expected inside warp.single: every thread that runs it counts}}
warp.tma_load %buffer[%i], %map, (%i, %i, %i) signals %bars[%i] : !warp.buffer<1x64x64xbf16>, !warp.barriers<2>

// -----

%buffer, %map, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x192x64xbf16>, !llvm.ptr, i32
// TS1, whole rows of 16
// expected-error @below {{expected a multiple of 16 rows, at most 256, for each of 8 warp(s), found 192 rows}}
warp.tma_store %buffer[%i], %map, (%i, %i, %i), warps = 8 : !warp.buffer<1x192x64xbf16>

// -----

%buffer, %map, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x272x64xbf16>, !llvm.ptr, i32
// TS1, a box
// expected-error @below {{expected a multiple of 16 rows, at most 256, for each of 1 warp(s), found 272 rows}}
warp.tma_store %buffer[%i], %map, (%i, %i, %i), warps = 1 : !warp.buffer<1x272x64xbf16>

// -----

%buffer, %map, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x72xbf16>, !llvm.ptr, i32
// TS2
// expected-error @below {{expected the columns of the buffer to be a multiple of 64 (whole panels of 128 bytes), found 72}}
warp.tma_store %buffer[%i], %map, (%i, %i, %i), warps = 4 : !warp.buffer<1x64x72xbf16>

// -----

%buffer, %map, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, !llvm.ptr, i32
warp.role "compute" first 0 warps 4 {
  warp.single {
    // TS3
    // expected-error @below {{expected outside warp.single: each warp copies its own rows}}
    warp.tma_store %buffer[%i], %map, (%i, %i, %i), warps = 4 : !warp.buffer<1x64x64xbf16>
  }
}

// -----

warp.role "compute" first 0 warps 4 {
  warp.single {
    // TW1
    // expected-error @below {{expected outside warp.single: each warp waits for its own copies}}
    warp.tma_store_wait
  }
}

// -----

// TU1
// expected-error @below {{attribute 'groups' failed to satisfy constraint}}
warp.turn_start {groups = 4 : i64, barrier = 1 : i64}

// -----

warp.role "compute" first 0 warps 8 {
  // TU2
  // expected-error @below {{expected barriers among 1 .. 15, found 15 .. 16}}
  warp.turn_wait {groups = 2 : i64, barrier = 15 : i64}
}

// -----

// TU3, place
// expected-error @below {{expected in a role}}
warp.turn_pass {groups = 2 : i64, barrier = 1 : i64}

// -----

warp.role "compute" first 0 warps 8 {
  // TU3, warps
  // expected-error @below {{expected a role of 12 warps, found 8}}
  warp.turn_pass {groups = 3 : i64, barrier = 1 : i64}
}

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x32x64xbf16>, !warp.buffer<1x64x64xbf16>, i32
// WG1, warpgroups
// expected-error @below {{expected warps that are a multiple of 4, found 2}}
%0 = warp.wgmma %a[%i], %b[%i] depth 64 : !warp.buffer<1x32x64xbf16>, !warp.buffer<1x64x64xbf16> -> !warp.frag<32x64xf32, acc, warps = 2>

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x128x64xbf16>, !warp.buffer<1x64x64xbf16>, i32
// WG1, rows
// expected-error @below {{expected a result of 64 rows, found 128}}
%0 = warp.wgmma %a[%i], %b[%i] depth 64 : !warp.buffer<1x128x64xbf16>, !warp.buffer<1x64x64xbf16> -> !warp.frag<128x64xf32, acc, warps = 4>

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xbf16>, i32
warp.role "compute" first 4 warps 8 {
  // WG1, role
  // expected-error @below {{expected the role's 8 warps, found 4}}
  %0 = warp.wgmma %a[%i], %b[%i] depth 64 : !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xbf16> -> !warp.frag<64x64xf32, acc, warps = 4>
}

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xbf16>, i32
warp.role "compute" first 1 warps 4 {
  // WG1, alignment
  // expected-error @below {{expected a role whose first warp is a multiple of 4, found 1}}
  %0 = warp.wgmma %a[%i], %b[%i] depth 64 : !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xbf16> -> !warp.frag<64x64xf32, acc, warps = 4>
}

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x128x64xbf16>, !warp.buffer<1x64x64xbf16>, i32
// WG2
// expected-error @below {{expected an a of 64 rows, found 128}}
%0 = warp.wgmma %a[%i], %b[%i] depth 64 : !warp.buffer<1x128x64xbf16>, !warp.buffer<1x64x64xbf16> -> !warp.frag<64x64xf32, acc, warps = 4>

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xbf16>, i32
// WG3
// expected-error @below {{expected a result of at most 64 columns, found 72}}
%0 = warp.wgmma %a[%i], %b[%i] depth 64 : !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xbf16> -> !warp.frag<64x72xf32, acc, warps = 4>

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, !warp.buffer<1x320x64xbf16>, i32
// WG3, the instruction
// expected-error @below {{expected a result of at most 256 columns, found 320}}
%0 = warp.wgmma %a[%i], %b[%i] depth 64 : !warp.buffer<1x64x64xbf16>, !warp.buffer<1x320x64xbf16> -> !warp.frag<64x320xf32, acc, warps = 4>

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.frag<64x64xbf16, acc, warps = 4>, !warp.buffer<1x48x64xbf16>, i32
// WG4
// expected-error @below {{expected a depth that is a multiple of 16 from 16 to 48, found 64}}
%0 = warp.wgmma %a, %b[%i] depth 64 transposed : !warp.frag<64x64xbf16, acc, warps = 4>, !warp.buffer<1x48x64xbf16> -> !warp.frag<64x64xf32, acc, warps = 4>

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x72xbf16>, i32
// WG5
// expected-error @below {{expected the columns of b to be a multiple of 64 (whole panels of 128 bytes), found 72}}
%0 = warp.wgmma %a[%i], %b[%i] depth 64 : !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x72xbf16> -> !warp.frag<64x64xf32, acc, warps = 4>

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xf16>, i32
// WG6
// expected-error @below {{expected a and b of one type, bf16 or f16, found 'bf16' and 'f16'}}
%0 = warp.wgmma %a[%i], %b[%i] depth 64 : !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xf16> -> !warp.frag<64x64xf32, acc, warps = 4>

// -----

%a, %b, %i = builtin.unrealized_conversion_cast to !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xbf16>, i32
// WG7
// expected-error @below {{expected a slot for an a in shared memory, and none for one in registers}}
%0 = warp.wgmma %a, %b[%i] depth 64 : !warp.buffer<1x64x64xbf16>, !warp.buffer<1x64x64xbf16> -> !warp.frag<64x64xf32, acc, warps = 4>

// -----

// WW1
// expected-error @below {{expected the values of the products waited for, found none}}
"warp.wgmma_wait"() <{pending = 0 : i64}> : () -> ()

// -----

%buffer, %slot, %ptr, %stride, %rows = builtin.unrealized_conversion_cast to !warp.buffer<1x96x64xbf16>, i32, !llvm.ptr<1>, i64, i32
// CO2
// expected-error @below {{expected a buffer whose rows are a multiple of 64 for own_rows, found 96}}
warp.copy_out %buffer[%slot], %ptr, %stride, %rows, cols = 64, warps = 4 {own_rows} : !warp.buffer<1x96x64xbf16>
