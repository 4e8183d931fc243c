// With turns, a warpgroup starts the products of a tile while no other does.
// RUN: attn-opt %s --attn-insert-turns | FileCheck %s

!q = !tile.val<[q:128, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!v = !tile.val<[k:32, v:64] x bf16, shared 2>
!s = !tile.val<[q:128, k:32] x f32>
!p = !tile.val<[q:128, k:32] x bf16>
!o = !tile.val<[q:128, v:64] x f32>

gpu.module @m {
// Both products are started in one turn, which ends where one is waited for.
// CHECK-LABEL: gpu.func @two
gpu.func @two(%Q: !q, %K: !k, %V: !v, %ov: !tile.view<64 x f32>, %acc0: !o, %P0: !p, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, turns = true>} {
  // Outside of the key loops nobody takes turns.
  // CHECK-NOT: pipe.turn_wait
  // CHECK: tile.for_keys partial
  %first = tile.dot %Q, %K over "d" async : !q, !k -> !s
  %r:2 = tile.for_keys partial (%k0) in (%n, %n) step 32 iter(%acc = %acc0, %P = %P0) : (!o, !p) {
    // CHECK-NEXT: pipe.turn_wait
    // CHECK-NEXT: %[[S:.*]] = tile.dot
    // CHECK-NEXT: %[[O:.*]] = tile.dot
    // CHECK-NEXT: pipe.turn_pass
    // CHECK-NEXT: pipe.await %[[S]]
    // CHECK-NOT: pipe.turn
    // CHECK: tile.yield
    %S = tile.dot %Q, %K over "d" async : !q, !k -> !s
    %O = tile.dot %P, %V init %acc : !o over "k" async : !p, !v -> !o
    %S1 = pipe.await %S pending 1 : !s
    %P1 = tile.cast %S1 : !s -> !p
    %O1 = pipe.await %O pending 0 : !o
    tile.yield %O1, %P1 : !o, !p
  }
  // CHECK-NOT: pipe.turn
  // CHECK: gpu.return
  tile.store %r#0, %ov[%n] : !o -> !tile.view<64 x f32>
  gpu.return
}

// Without overlap the turn is for the first product: the second needs the softmax.
// CHECK-LABEL: gpu.func @one
gpu.func @one(%Q: !q, %K: !k, %V: !v, %ov: !tile.view<64 x f32>, %acc0: !o, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, turns = true>} {
  %r = tile.for_keys full (%k0) in (%n, %n) step 32 iter(%acc = %acc0) : (!o) {
    // CHECK: pipe.turn_wait
    // CHECK-NEXT: %[[S:.*]] = tile.dot
    // CHECK-NEXT: pipe.turn_pass
    // CHECK-NEXT: pipe.await %[[S]]
    // CHECK-NOT: pipe.turn
    // CHECK: tile.yield
    %S = tile.dot %Q, %K over "d" async : !q, !k -> !s
    %S1 = pipe.await %S pending 0 : !s
    %P = tile.cast %S1 : !s -> !p
    %O = tile.dot %P, %V init %acc : !o over "k" async : !p, !v -> !o
    %O1 = pipe.await %O pending 0 : !o
    tile.yield %O1 : !o
  }
  tile.store %r, %ov[%n] : !o -> !tile.view<64 x f32>
  gpu.return
}

// A loop without products has no turns, and neither has a schedule without.
// CHECK-LABEL: gpu.func @none
// CHECK-NOT: pipe.turn
gpu.func @none(%n: i32) kernel attributes {attn.schedule = #attn.schedule<fa3, turns = true>} {
  tile.for_keys full (%k0) in (%n, %n) step 32 {
    tile.yield
  }
  gpu.return
}
// CHECK-LABEL: gpu.func @off
// CHECK-NOT: pipe.turn
// CHECK: gpu.return
gpu.func @off(%Q: !q, %K: !k, %n: i32) kernel attributes {attn.schedule = #attn.schedule<fa3, turns = false>} {
  tile.for_keys full (%k0) in (%n, %n) step 32 {
    %S = tile.dot %Q, %K over "d" async : !q, !k -> !s
    %S1 = pipe.await %S pending 0 : !s
    tile.yield
  }
  gpu.return
}
}
