// Rings one after the other from offset 0; a group shares its place.
// RUN: attn-opt %s --attn-allocate-shared | FileCheck %s

gpu.module @m {
// CHECK-LABEL: gpu.func @sequence
// CHECK-SAME: attn.shared_bytes = 98304 : i64
gpu.func @sequence() kernel {
  // CHECK-NEXT: warp.alloc {offset = 0 : i64} : <1x128x128xbf16>
  %q = warp.alloc {warp.group = "q"} : !warp.buffer<1x128x128xbf16>
  // CHECK-NEXT: warp.alloc {offset = 32768 : i64} : <2x64x128xbf16>
  %k = warp.alloc {warp.group = "k"} : !warp.buffer<2x64x128xbf16>
  // CHECK-NEXT: warp.alloc {offset = 65536 : i64} : <2x64x128xbf16>
  %v = warp.alloc : !warp.buffer<2x64x128xbf16>
  gpu.return
}

// The larger of a group decides; the next ring begins at a multiple of 1024.
// CHECK-LABEL: gpu.func @groups
// CHECK-SAME: attn.shared_bytes = 25600 : i64
gpu.func @groups() kernel {
  // CHECK-NEXT: warp.alloc {offset = 0 : i64} : <1x64x64xbf16>
  %q = warp.alloc {warp.group = "q"} : !warp.buffer<1x64x64xbf16>
  // CHECK-NEXT: warp.alloc {offset = 24576 : i64} : <1x8x8xbf16>
  %k = warp.alloc {warp.group = "k"} : !warp.buffer<1x8x8xbf16>
  // CHECK-NEXT: warp.alloc {offset = 0 : i64} : <1x64x192xbf16>
  %o = warp.alloc {warp.group = "q"} : !warp.buffer<1x64x192xbf16>
  gpu.return
}

// Barriers, 8 bytes each, stand behind the rings, wherever they are made.
// CHECK-LABEL: gpu.func @barriers
// CHECK-SAME: attn.shared_bytes = 17440 : i64
gpu.func @barriers() kernel {
  // CHECK-NEXT: warp.mbar_alloc {offset = 17408 : i64} : <3>
  %full = warp.mbar_alloc : !warp.barriers<3>
  // CHECK-NEXT: warp.alloc {offset = 0 : i64} : <1x128x64xbf16>
  %q = warp.alloc : !warp.buffer<1x128x64xbf16>
  // CHECK-NEXT: warp.mbar_alloc {offset = 17432 : i64} : <1>
  %empty = warp.mbar_alloc : !warp.barriers<1>
  // CHECK-NEXT: warp.alloc {offset = 16384 : i64} : <1x8x64xbf16>
  %k = warp.alloc : !warp.buffer<1x8x64xbf16>
  gpu.return
}

// Every kernel counts for itself.
// CHECK-LABEL: gpu.func @none
// CHECK-SAME: attn.shared_bytes = 0 : i64
gpu.func @none() kernel {
  gpu.return
}
}
