// What may be pending at each take, which takes wait together, where all warps
// must meet before a put.
// RUN: attn-opt %s --attn-place-waits -split-input-file | FileCheck %s

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!v = !tile.val<[k:32, v:64] x bf16, shared 1>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>
!view = !tile.view<64 x bf16>

// One slot each.
gpu.module @m {
// CHECK-LABEL: gpu.func @single
gpu.func @single(%view: !view, %n: i32, %more: i1, %init: !o) kernel {
  pipe.role "compute" warps 4 {
    // CHECK: %[[QC:.*]] = pipe.open "q"
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    // CHECK: %[[KC:.*]] = pipe.open "k"
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    // CHECK: %[[VC:.*]] = pipe.open "v"
    %vc = pipe.open "v" via cp_async : !pipe.channel<!v>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // Another warp may still read Q and V of the item before.
      // CHECK: tile.for_work
      // CHECK-NEXT: pipe.sync
      // CHECK-NEXT: pipe.put %[[QC]]
      pipe.put %qc[%n], %view[%m0] : !pipe.channel<!q>, !view
      // CHECK-NEXT: pipe.put %[[KC]]
      pipe.put %kc[%n], %view[%n] when %more : !pipe.channel<!k>, !view
      // K is under way.
      // CHECK-NEXT: pipe.take %[[QC]][%{{.*}}] pending 1 :
      %Q = pipe.take %qc[%n] : !pipe.channel<!q> -> !q
      %r = tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 iter(%acc = %init) : (!o) {
        // CHECK: tile.for_keys
        // CHECK-NEXT: pipe.take %[[KC]][%{{.*}}] pending 0 :
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        // The wait for K is where all warps have released V.
        // CHECK-NEXT: pipe.put %[[VC]]
        pipe.put %vc[%k0], %view[%k0] : !pipe.channel<!v>, !view
        %S = tile.dot %Q, %K over "d" : !q, !k -> !s
        pipe.release %kc[%k0] : !pipe.channel<!k>
        // CHECK: pipe.take %[[VC]][%{{.*}}] pending 0 :
        // CHECK-NEXT: pipe.put %[[KC]]
        %V = pipe.take %vc[%k0] : !pipe.channel<!v> -> !v
        pipe.put %kc[%n], %view[%n] when %more ahead 1 : !pipe.channel<!k>, !view
        %P = tile.cast %S : !s -> !p
        %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
        pipe.release %vc[%k0] : !pipe.channel<!v>
        tile.yield %O : !o
      }
      pipe.release %qc[%n] : !pipe.channel<!q>
      // CHECK-NOT: pipe.sync
      // CHECK: gpu.return
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!v = !tile.val<[k:32, v:64] x bf16, shared 2>
!view = !tile.view<64 x bf16>

// Rings: K and V wait once, for the later of their puts; a drain at the end
// of the item, in memory that is another channel's, is a meeting of its own.
gpu.module @m {
// CHECK-LABEL: gpu.func @ring
gpu.func @ring(%view: !view, %n: i32, %more: i1, %out: !tile.val<[q:64, v:64] x bf16>) kernel {
  pipe.role "compute" warps 4 {
    %qc = pipe.open "q" via cp_async : !pipe.channel<!tile.val<[q:64, d:64] x bf16, shared 1>>
    %oc = pipe.open "o" via st alias %qc : !pipe.channel<!tile.val<[q:64, d:64] x bf16, shared 1>> : !pipe.channel<!tile.val<[q:64, v:64] x bf16, shared 1>>
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %vc = pipe.open "v" via cp_async : !pipe.channel<!v>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // CHECK: tile.for_work
      // CHECK-NEXT: pipe.put
      pipe.put %kc[%n], %view[%n] when %more : !pipe.channel<!k>, !view
      // CHECK-NEXT: pipe.put
      pipe.put %vc[%n], %view[%n] when %more : !pipe.channel<!v>, !view
      // CHECK: tile.for_keys
      tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 {
        // CHECK-NEXT: pipe.take %{{.*}}[%{{.*}}] joined :
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        // CHECK-NEXT: arith.addi
        %0 = arith.addi %k0, %n : i32
        // CHECK-NEXT: pipe.take %{{.*}}[%{{.*}}] pending 0 :
        %V = pipe.take %vc[%0] : !pipe.channel<!v> -> !v
        // CHECK-NEXT: pipe.put
        pipe.put %kc[%n], %view[%n] when %more ahead 1 : !pipe.channel<!k>, !view
        // CHECK-NEXT: pipe.put
        pipe.put %vc[%n], %view[%n] when %more ahead 1 : !pipe.channel<!v>, !view
        pipe.release %kc[%k0] : !pipe.channel<!k>
        pipe.release %vc[%0] : !pipe.channel<!v>
        tile.yield
      }
      pipe.drain %oc, %out, %view[%m0] : !pipe.channel<!tile.val<[q:64, v:64] x bf16, shared 1>>, !tile.val<[q:64, v:64] x bf16> -> !view
      // CHECK-NOT: pipe.sync
      // CHECK: gpu.return
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!kc = !pipe.channel<!k>
!oc = !pipe.channel<!tile.val<[q:64, v:64] x bf16, shared 1>>
!view = !tile.view<64 x bf16>

// In memory of its own it is none.
gpu.module @m {
// CHECK-LABEL: gpu.func @apart
gpu.func @apart(%view: !view, %n: i32, %out: !tile.val<[q:64, v:64] x bf16>) kernel {
  %c0 = arith.constant 0 : i32
  pipe.role "compute" warps 4 {
    %oc = pipe.open "o" via st : !oc
    %kc = pipe.open "k" via cp_async : !kc
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // CHECK: pipe.sync
      // CHECK-NEXT: pipe.put
      pipe.put %kc[%c0], %view[%n] : !kc, !view
      %K = pipe.take %kc[%c0] : !kc -> !k
      pipe.release %kc[%c0] : !kc
      pipe.drain %oc, %out, %view[%m0] : !oc, !tile.val<[q:64, v:64] x bf16> -> !view
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 3>
!v = !tile.val<[k:32, v:64] x bf16, shared 3>
!s = !tile.val<[q:64, k:32] x f32>
!view = !tile.view<64 x bf16>

// Three slots: one tile of both may be under way. Where a tile is read between
// two takes, each waits for itself.
gpu.module @m {
// CHECK-LABEL: gpu.func @deep
gpu.func @deep(%view: !view, %n: i32, %more: i1, %Q: !q) kernel {
  pipe.role "compute" warps 4 {
    // CHECK: %[[KC:.*]] = pipe.open "k"
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    // CHECK: %[[VC:.*]] = pipe.open "v"
    %vc = pipe.open "v" via cp_async : !pipe.channel<!v>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %kc[%n], %view[%n] when %more : !pipe.channel<!k>, !view
      pipe.put %vc[%n], %view[%n] when %more : !pipe.channel<!v>, !view
      pipe.put %kc[%n], %view[%n] when %more ahead 1 : !pipe.channel<!k>, !view
      pipe.put %vc[%n], %view[%n] when %more ahead 1 : !pipe.channel<!v>, !view
      // CHECK: tile.for_keys
      tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 {
        // CHECK-NEXT: pipe.take %[[KC]][%{{.*}}] pending 3 :
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        %S = tile.dot %Q, %K over "d" : !q, !k -> !s
        // CHECK: pipe.take %[[VC]][%{{.*}}] pending 2 :
        %V = pipe.take %vc[%k0] : !pipe.channel<!v> -> !v
        pipe.put %kc[%n], %view[%n] when %more ahead 2 : !pipe.channel<!k>, !view
        pipe.put %vc[%n], %view[%n] when %more ahead 2 : !pipe.channel<!v>, !view
        pipe.release %kc[%k0] : !pipe.channel<!k>
        pipe.release %vc[%k0] : !pipe.channel<!v>
        tile.yield
      }
    }
  }
  gpu.return
}
}
