// RUN: attn-opt %s --attn-verify-warp -split-input-file -verify-diagnostics

// A copy committed, waited for, and read behind a barrier.
module attributes {attn.target = "sm_80"} {
gpu.module @m {
gpu.func @right(%ptr: !llvm.ptr<1>, %stride: i64, %rows: i32, %slot: i32) kernel {
  %k = warp.alloc {offset = 0 : i64} : !warp.buffer<1x64x64xbf16>
  warp.cp_async %k[%slot], %ptr, %stride, %rows, cols = 64, warps = 4 : !warp.buffer<1x64x64xbf16>
  warp.cp_async_commit
  warp.cp_async_wait {groups = 0 : i64}
  warp.barrier {warps = 4 : i64}
  %b = warp.ldmatrix %k[%slot] {column = 0 : i64} : !warp.buffer<1x64x64xbf16> -> !warp.frag<64x16xbf16, b, warps = 4>
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_80"} {
gpu.module @m {
gpu.func @w1() kernel {
  // expected-error @below {{W1: expected an offset at the warp level (attn-allocate-shared)}}
  %k = warp.alloc : !warp.buffer<1x64x64xbf16>
  gpu.return
}
}
}

// -----

// sm_80 has 163 KiB per block, sm_90a 227: the same kernel fits there.
module attributes {attn.target = "sm_80"} {
gpu.module @m {
// expected-error @below {{W2: kernel 'w2' needs 196608 bytes of shared memory, sm_80 has 166912 per block; choose a smaller tile or fewer stages}}
gpu.func @w2() kernel {
  // expected-note @below {{65536 bytes at 0 for '!warp.buffer<1x128x256xbf16>'}}
  %q = warp.alloc {offset = 0 : i64} : !warp.buffer<1x128x256xbf16>
  // expected-note @below {{131072 bytes at 65536 for '!warp.buffer<4x64x256xbf16>'}}
  %k = warp.alloc {offset = 65536 : i64} : !warp.buffer<4x64x256xbf16>
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_90a"} {
gpu.module @m {
gpu.func @fits() kernel {
  %q = warp.alloc {offset = 0 : i64} : !warp.buffer<1x128x256xbf16>
  %k = warp.alloc {offset = 65536 : i64} : !warp.buffer<4x64x256xbf16>
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_12"} {
gpu.module @m {
// expected-error @below {{W2: expected a supported attn.target, found 'sm_12'; supported: sm_80}}
gpu.func @w2() kernel {
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_80"} {
gpu.module @m {
gpu.func @w3(%ptr: !llvm.ptr<1>, %stride: i64, %rows: i32, %slot: i32) kernel {
  %k = warp.alloc {offset = 0 : i64} : !warp.buffer<1x64x64xbf16>
  // expected-error @below {{W3: expected warp.cp_async_commit or warp.cp_async_arrive after this copy}}
  warp.cp_async %k[%slot], %ptr, %stride, %rows, cols = 64, warps = 4 : !warp.buffer<1x64x64xbf16>
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_80"} {
gpu.module @m {
gpu.func @w4(%slot: i32) kernel {
  %k = warp.alloc {offset = 0 : i64} : !warp.buffer<1x64x64xbf16>
  warp.cp_async_wait {groups = 0 : i64}
  // expected-error @below {{W4: expected a barrier between the wait for a copy and this read}}
  %b = warp.ldmatrix %k[%slot] {column = 0 : i64} : !warp.buffer<1x64x64xbf16> -> !warp.frag<64x16xbf16, b, warps = 4>
  gpu.return
}
}
}

// -----

module attributes {attn.target = "sm_80"} {
gpu.module @m {
gpu.func @higher(%z: f32) kernel {
  // expected-error @below {{expected no operation of a higher level at the warp level, found 'tile.fill'}}
  %0 = tile.fill %z : f32 -> !tile.val<[q:16] x f32>
  gpu.return
}
}
}
