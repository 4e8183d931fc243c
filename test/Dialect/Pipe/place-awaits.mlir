// Products of wgmma are started asynchronously and waited for before their
// first use, with those pending that were started since.
// RUN: attn-opt %s --attn-place-awaits | FileCheck %s

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!v = !tile.val<[k:32, v:64] x bf16, shared 2>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>
!row = !tile.val<[q:64] x f32>
!kc = !pipe.channel<!k, fed>
!vc = !pipe.channel<!v, fed>

gpu.module @m {
// CHECK-LABEL: gpu.func @overlapped
gpu.func @overlapped(%Q: !q, %kc: !kc, %vc: !vc, %ov: !tile.view<64 x f32>, %acc0: !o, %P0: !p, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, mma = wgmma>} {
  // CHECK: tile.for_keys full
  %r:2 = tile.for_keys full (%k0) in (%n, %n) step 32 iter(%acc = %acc0, %P = %P0) : (!o, !p) {
    %K = pipe.take %kc[%n] : !kc -> !k
    // CHECK: %[[S0:.*]] = tile.dot %{{.*}}, %{{.*}} over "d" async
    %S = tile.dot %Q, %K over "d" : !q, !k -> !s
    %V = pipe.take %vc[%n] : !vc -> !v
    // CHECK: %[[O0:.*]] = tile.dot %[[P:.*]], %{{.*}} init %{{.*}} over "k" async
    %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
    pipe.release %vc[%n] : !vc
    pipe.release %kc[%n] : !kc
    // The output may be under way while the softmax runs. K's slot is read until
    // its product is done; V's longer.
    // CHECK-NEXT: %[[S:.*]] = pipe.await %[[S0]] pending 1
    // CHECK-NEXT: pipe.release %{{.*}} : <<[k:32, d:64]
    // CHECK-NEXT: %[[NEW:.*]] = tile.reduce max %[[S]]
    %new = tile.reduce max %S over "k" : !s -> !row
    // CHECK-NEXT: %[[E0:.*]] = tile.map %[[S]]
    %e = tile.map %S : !s -> !s {
    ^bb0(%x: f32):
      %0 = math.exp2 %x : f32
      tile.yield %0 : f32
    }
    // The next weights pass through: their registers are the operand's.
    // CHECK: %[[O:.*]]:2 = pipe.await %[[O0]], %[[E0]] pending 0
    // CHECK-NEXT: pipe.release %{{.*}} : <<[k:32, v:64]
    // CHECK-NEXT: %[[SCALED:.*]] = tile.map %[[O]]#0, %[[NEW]]
    %scaled = tile.map %O, %new : !o, !row -> !o {
    ^bb0(%x: f32, %y: f32):
      %0 = arith.mulf %x, %y : f32
      tile.yield %0 : f32
    }
    // CHECK: %[[P1:.*]] = tile.cast %[[O]]#1
    // CHECK-NEXT: tile.yield %[[SCALED]], %[[P1]]
    %P1 = tile.cast %e : !s -> !p
    tile.yield %scaled, %P1 : !o, !p
  }
  tile.store %r#0, %ov[%n] : !o -> !tile.view<64 x f32>
  gpu.return
}

// A choice that passes the output on, or changes it: the arm that does waits for
// itself, everybody behind the choice, and what is in front of it runs meanwhile.
// CHECK-LABEL: gpu.func @choice
gpu.func @choice(%Q: !q, %kc: !kc, %vc: !vc, %ov: !tile.view<64 x f32>, %acc0: !o, %P0: !p, %n: i32, %grown: i1)
    kernel attributes {attn.schedule = #attn.schedule<fa3, mma = wgmma>} {
  %r:2 = tile.for_keys full (%k0) in (%n, %n) step 32 iter(%acc = %acc0, %P = %P0) : (!o, !p) {
    %K = pipe.take %kc[%n] : !kc -> !k
    %S = tile.dot %Q, %K over "d" : !q, !k -> !s
    %V = pipe.take %vc[%n] : !vc -> !v
    // CHECK: %[[O0:.*]] = tile.dot %{{.*}}, %{{.*}} init %{{.*}} over "k" async
    %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
    pipe.release %vc[%n] : !vc
    pipe.release %kc[%n] : !kc
    // CHECK: %[[E0:.*]] = tile.map
    %e = tile.map %S : !s -> !s {
    ^bb0(%x: f32):
      %0 = math.exp2 %x : f32
      tile.yield %0 : f32
    }
    // CHECK: %[[SCALED:.*]] = scf.if
    // CHECK-NEXT: %[[IN:.*]] = pipe.await %[[O0]] pending 0
    // CHECK-NEXT: %[[CHANGED:.*]] = tile.map %[[IN]] :
    // CHECK: scf.yield %[[CHANGED]]
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %[[O0]]
    // CHECK-NEXT: }
    // CHECK-NEXT: %[[O:.*]]:2 = pipe.await %[[SCALED]], %[[E0]] pending 0
    // CHECK-NEXT: pipe.release %{{.*}} : <<[k:32, v:64]
    %scaled = scf.if %grown -> (!o) {
      %changed = tile.map %O : !o -> !o {
      ^bb0(%x: f32):
        %0 = arith.negf %x : f32
        tile.yield %0 : f32
      }
      scf.yield %changed : !o
    } else {
      scf.yield %O : !o
    }
    // CHECK-NEXT: %[[P1:.*]] = tile.cast %[[O]]#1
    // CHECK-NEXT: tile.yield %[[O]]#0, %[[P1]]
    %P1 = tile.cast %e : !s -> !p
    tile.yield %scaled, %P1 : !o, !p
  }
  tile.store %r#0, %ov[%n] : !o -> !tile.view<64 x f32>
  gpu.return
}

// Without overlap each is waited for where it is used: the output at the end of
// the tile. Its weights are made in this tile, so nothing refills them.
// CHECK-LABEL: gpu.func @in_turn
gpu.func @in_turn(%Q: !q, %kc: !kc, %vc: !vc, %ov: !tile.view<64 x f32>, %acc0: !o, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, mma = wgmma>} {
  %r = tile.for_keys full (%k0) in (%n, %n) step 32 iter(%acc = %acc0) : (!o) {
    %K = pipe.take %kc[%n] : !kc -> !k
    %S = tile.dot %Q, %K over "d" : !q, !k -> !s
    pipe.release %kc[%n] : !kc
    // CHECK: %[[S:.*]] = pipe.await %{{.*}} pending 0 : !tile.val<[q:64, k:32] x f32>
    // CHECK-NEXT: pipe.release
    // CHECK-NEXT: tile.cast %[[S]]
    %P = tile.cast %S : !s -> !p
    %V = pipe.take %vc[%n] : !vc -> !v
    // CHECK: tile.dot {{.*}} async
    %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
    // CHECK-NEXT: %[[O:.*]] = pipe.await %{{.*}} pending 0 : !tile.val<[q:64, v:64] x f32>
    // CHECK-NEXT: pipe.release
    // CHECK-NEXT: tile.yield %[[O]]
    pipe.release %vc[%n] : !vc
    tile.yield %O : !o
  }
  tile.store %r, %ov[%n] : !o -> !tile.view<64 x f32>
  gpu.return
}

// mma.sync is done when it is issued.
// CHECK-LABEL: gpu.func @sync
gpu.func @sync(%Q: !q, %K: !k, %sv: !tile.view<32 x f32>, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa2, mma = sync>} {
  // CHECK-NOT: async
  // CHECK-NOT: pipe.await
  // CHECK: gpu.return
  %S = tile.dot %Q, %K over "d" : !q, !k -> !s
  tile.store %S, %sv[%n] : !s -> !tile.view<32 x f32>
  gpu.return
}
}
