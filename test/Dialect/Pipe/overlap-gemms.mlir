// With overlap = 1 the logits of the next tile are started before the output of
// this one: a first front, a loop of backs and fronts, a last back.
// RUN: attn-opt %s --attn-overlap-gemms --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!v = !tile.val<[k:32, v:64] x bf16, shared 2>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>
!row = !tile.val<[q:64] x f32>
!view = !tile.view<64 x bf16>
!qc = !pipe.channel<!q, fed>
!kc = !pipe.channel<!k, fed>
!vc = !pipe.channel<!v, fed>

gpu.module @m {
// CHECK-LABEL: gpu.func @rotated
gpu.func @rotated(%map: !llvm.ptr, %view: !view, %ov: !tile.view<64 x f32>, %lv: !tile.view<1 x f32>, %m: !row, %zero: !o,
                  %n: i32, %begin: i32, %fb: i32, %fe: i32, %end: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, overlap = 1>} {
  // CHECK-DAG: %[[LESS:.*]] = arith.constant -32 : i32
  // CHECK-DAG: %[[STEP:.*]] = arith.constant 32 : i32
  pipe.role "compute" warps 4 {
    // CHECK: %[[QC:.*]] = pipe.open "q"
    %qc = pipe.open "q" via tma map %map : !llvm.ptr : !qc
    // CHECK: %[[KC:.*]] = pipe.open "k"
    %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
    // CHECK: %[[VC:.*]] = pipe.open "v"
    %vc = pipe.open "v" via tma map %map : !llvm.ptr : !vc
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    // CHECK: tile.for_work (%{{.*}}, %{{.*}}, %[[M0:.*]]) in
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // Whether there is a tile: only then is Q loaded.
      // CHECK-NOT: pipe.put
      // CHECK: %[[LAST:.*]] = arith.addi %[[END:.*]], %[[LESS]]
      // CHECK: %[[ANY:.*]] = arith.cmpi sge, %[[LAST]], %[[BEGIN:.*]] : i32
      // CHECK: %[[R:.*]]:2 = scf.if %[[ANY]]
      pipe.put %qc[%c0], %view[%m0] : !qc, !view
      %Q = pipe.take %qc[%c0] : !qc -> !q

      // The front of the last tile; K is on its way before Q.
      // CHECK: %[[T:.*]] = arith.divui %[[LAST]], %[[STEP]]
      // CHECK-NEXT: pipe.put %[[KC]][%[[T]]], %{{.*}}[%[[LAST]]]
      // CHECK-NEXT: %[[K:.*]] = pipe.take %[[KC]][%[[T]]]
      // CHECK-NEXT: pipe.put %[[QC]][%{{.*}}], %{{.*}}[%[[M0]]]
      // CHECK-NEXT: %[[Q:.*]] = pipe.take %[[QC]]
      // CHECK-NEXT: %[[S0:.*]] = tile.dot %[[Q]], %[[K]] over "d"
      // CHECK-NEXT: pipe.release %[[KC]][%[[T]]]
      // CHECK-NEXT: %[[MAX0:.*]] = tile.reduce max %[[S0]]
      // CHECK-NEXT: %[[ACC0:.*]] = tile.map %[[ZERO:.*]], %[[MAX0]]
      // CHECK: %[[P0:.*]] = tile.cast %[[S0]]
      // CHECK-NOT: tile.dot

      // The loop ends one tile earlier, with the full tiles clipped to that, and
      // carries the weights.
      // CHECK: %[[FE:.*]] = arith.minsi %{{.*}}, %[[LAST]]
      // CHECK-NEXT: %[[L:.*]]:3 = tile.for_keys mixed (%[[K0:.*]]) in (%[[BEGIN]], %[[LAST]]) full below %[[FE]] step 32 iter(%[[MAX:.*]] = %[[MAX0]], %[[ACC:.*]] = %[[ACC0]], %[[P:.*]] = %[[P0]])
      %r:2 = tile.for_keys mixed (%k0) in (%begin, %end) full below %fe step 32 iter(%max = %m, %acc = %zero) : (!row, !o) {
        // CHECK: %[[N:.*]] = arith.divui %[[K0]], %[[STEP]]
        // CHECK-NEXT: pipe.put %[[KC]][%[[N]]], %{{.*}}[%[[K0]]]
        // CHECK-NEXT: pipe.take %[[KC]][%[[N]]]
        // CHECK-NEXT: %[[S:.*]] = tile.dot %[[Q]]
        %t = arith.divui %k0, %c32 : i32
        pipe.put %kc[%t], %view[%k0] : !kc, !view
        %K = pipe.take %kc[%t] : !kc -> !k
        %S = tile.dot %Q, %K over "d" : !q, !k -> !s

        // V is that of the tile before, which lies to the right.
        // CHECK-NEXT: %[[RIGHT:.*]] = arith.addi %[[K0]], %[[STEP]]
        // CHECK-NEXT: %[[NV:.*]] = arith.divui %[[RIGHT]], %[[STEP]]
        // CHECK-NEXT: pipe.put %[[VC]][%[[NV]]], %{{.*}}[%[[RIGHT]]]
        // CHECK-NEXT: %[[V:.*]] = pipe.take %[[VC]][%[[NV]]]
        // CHECK-NEXT: %[[O:.*]] = tile.dot %[[P]], %[[V]] init %[[ACC]]
        // CHECK-NEXT: pipe.release %[[VC]][%[[NV]]]
        // CHECK-NEXT: pipe.release %[[KC]][%[[N]]]
        // CHECK-NEXT: %[[NEW:.*]] = tile.reduce max %[[S]]
        // Rescaled is what includes the tile before.
        // CHECK-NEXT: %[[SCALED:.*]] = tile.map %[[O]], %[[NEW]]
        // CHECK: %[[P1:.*]] = tile.cast %[[S]]
        // CHECK-NEXT: tile.yield %[[NEW]], %[[SCALED]], %[[P1]]
        pipe.release %kc[%t] : !kc
        %new = tile.reduce max %S over "k" : !s -> !row
        %scaled = tile.map %acc, %new : !o, !row -> !o {
        ^bb0(%e: f32, %f: f32):
          %0 = arith.mulf %e, %f : f32
          tile.yield %0 : f32
        }
        %P = tile.cast %S : !s -> !p
        pipe.put %vc[%t], %view[%k0] : !vc, !view
        %V = pipe.take %vc[%t] : !vc -> !v
        %O = tile.dot %P, %V init %scaled : !o over "k" : !p, !v -> !o
        pipe.release %vc[%t] : !vc
        tile.yield %new, %O : !row, !o
      }
      // Q's slot is free before the last back.
      // CHECK: pipe.release %[[QC]]
      // CHECK: %[[FIRST:.*]] = arith.divui %[[BEGIN]], %[[STEP]]
      // CHECK-NEXT: pipe.put %[[VC]][%[[FIRST]]], %{{.*}}[%[[BEGIN]]]
      // CHECK-NEXT: %[[V1:.*]] = pipe.take %[[VC]][%[[FIRST]]]
      // CHECK-NEXT: %[[O1:.*]] = tile.dot %[[L]]#2, %[[V1]] init %[[L]]#1
      // CHECK-NEXT: pipe.release %[[VC]][%[[FIRST]]]
      // CHECK-NEXT: scf.yield %[[L]]#0, %[[O1]]
      // CHECK-NEXT: } else {
      // CHECK-NEXT: scf.yield %{{.*}}, %[[ZERO]]
      // CHECK-NEXT: }
      pipe.release %qc[%c0] : !qc
      tile.store %r#1, %ov[%m0] : !o -> !tile.view<64 x f32>
      tile.store %r#0, %lv[%m0] : !row -> !tile.view<1 x f32>
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!v = !tile.val<[k:32, v:64] x bf16, shared 2>
!s = !tile.val<[q:64, k:32] x f32>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>
!view = !tile.view<64 x bf16>
!qc = !pipe.channel<!q, fed>
!kc = !pipe.channel<!k, fed>
!vc = !pipe.channel<!v, fed>

// Q is released when the last product has read it, before O is written out.
gpu.module @m {
// CHECK-LABEL: gpu.func @staged
gpu.func @staged(%map: !llvm.ptr, %view: !view, %zero: !o, %n: i32, %begin: i32, %fe: i32, %end: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, overlap = 1>} {
  pipe.role "compute" warps 4 {
    %qc = pipe.open "q" via tma map %map : !llvm.ptr : !qc
    %oc = pipe.open "o" via st : !pipe.channel<!tile.val<[q:64, v:64] x bf16, shared 1>>
    %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
    %vc = pipe.open "v" via tma map %map : !llvm.ptr : !vc
    %c0 = arith.constant 0 : i32
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // CHECK: scf.if
      // CHECK: pipe.put %[[QC:.*]][%{{.*}}], %{{.*}} : <<[q:64
      // CHECK-NEXT: pipe.take %[[QC]]
      pipe.put %qc[%c0], %view[%m0] : !qc, !view
      %Q = pipe.take %qc[%c0] : !qc -> !q
      // The first front takes a tile away, of the full ones if there is no other.
      // CHECK: tile.for_keys mixed (%{{.*}}) in (%[[BEGIN:.*]], %[[LAST:.*]]) full below %{{.*}} step
      %O = tile.for_keys mixed (%k0) in (%begin, %end) full below %fe step 32 iter(%acc = %zero) : (!o) {
        pipe.put %kc[%k0], %view[%k0] : !kc, !view
        %K = pipe.take %kc[%k0] : !kc -> !k
        %S = tile.dot %Q, %K over "d" : !q, !k -> !s
        pipe.release %kc[%k0] : !kc
        %P = tile.cast %S : !s -> !p
        pipe.put %vc[%k0], %view[%k0] : !vc, !view
        %V = pipe.take %vc[%k0] : !vc -> !v
        %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
        pipe.release %vc[%k0] : !vc
        tile.yield %O : !o
      }
      // CHECK: pipe.release %[[QC]]
      // CHECK: } else {
      // CHECK: pipe.drain
      // CHECK-NOT: pipe.release
      %O16 = tile.cast %O : !o -> !tile.val<[q:64, v:64] x bf16>
      pipe.drain %oc, %O16, %view[%m0] : !pipe.channel<!tile.val<[q:64, v:64] x bf16, shared 1>>, !tile.val<[q:64, v:64] x bf16> -> !view
      pipe.release %qc[%c0] : !qc
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!s = !tile.val<[q:64, k:32] x f32>
!row = !tile.val<[q:64] x f32>
!kc = !pipe.channel<!k, fed>

// Where only the log-sum-exp is asked for there is no second product to overlap.
gpu.module @m {
// CHECK-LABEL: gpu.func @one_product
// CHECK-NOT: scf.if
// CHECK: tile.for_keys mixed
gpu.func @one_product(%Q: !q, %kc: !kc, %view: !tile.view<64 x bf16>, %lv: !tile.view<1 x f32>, %m: !row, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, overlap = 1>} {
  %r = tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 iter(%max = %m) : (!row) {
    pipe.put %kc[%k0], %view[%k0] : !kc, !tile.view<64 x bf16>
    %K = pipe.take %kc[%k0] : !kc -> !k
    %S = tile.dot %Q, %K over "d" : !q, !k -> !s
    pipe.release %kc[%k0] : !kc
    %new = tile.reduce max %S over "k" : !s -> !row
    tile.yield %new : !row
  }
  tile.store %r, %lv[%n] : !row -> !tile.view<1 x f32>
  gpu.return
}
}

// -----

!v = !tile.val<[k:32, v:64] x bf16, shared 2>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>
!vc = !pipe.channel<!v, fed>

// The knob decides.
gpu.module @m {
// CHECK-LABEL: gpu.func @no_overlap
// CHECK-NOT: scf.if
// CHECK: tile.for_keys mixed
gpu.func @no_overlap(%P: !p, %vc: !vc, %view: !tile.view<64 x bf16>, %ov: !tile.view<64 x f32>, %zero: !o, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, overlap = 0>} {
  %r = tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 iter(%acc = %zero) : (!o) {
    pipe.put %vc[%k0], %view[%k0] : !vc, !tile.view<64 x bf16>
    %V = pipe.take %vc[%k0] : !vc -> !v
    %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
    pipe.release %vc[%k0] : !vc
    tile.yield %O : !o
  }
  tile.store %r, %ov[%n] : !o -> !tile.view<64 x f32>
  gpu.return
}
}

// -----

!v = !tile.val<[k:32, v:64] x bf16, shared 2>
!p = !tile.val<[q:64, k:32] x bf16>
!o = !tile.val<[q:64, v:64] x f32>

gpu.module @m {
gpu.func @no_channel(%P: !p, %V: !v, %zero: !o, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, overlap = 1>} {
  %r = tile.for_keys mixed (%k0) in (%n, %n) full below %n step 32 iter(%acc = %zero) : (!o) {
    // expected-error @below {{expected its second operand from a channel}}
    %O = tile.dot %P, %V init %acc : !o over "k" : !p, !v -> !o
    tile.yield %O : !o
  }
  gpu.return
}
}
