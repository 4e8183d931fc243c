// Each role counts the tiles of a channel that it puts or takes; the counter is
// carried through loops and choices.
// RUN: attn-opt %s --attn-number-tiles --canonicalize --cse -split-input-file -verify-diagnostics | FileCheck %s

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!s = !tile.val<[q:64, k:32] x f32>
!view = !tile.view<64 x bf16>
!qc = !pipe.channel<!q, fed>
!kc = !pipe.channel<!k, fed>

gpu.module @m {
// CHECK-LABEL: gpu.func @counted
gpu.func @counted(%map: !llvm.ptr, %view: !view, %sv: !tile.view<32 x f32>, %zero: !s, %n: i32, %any: i1) kernel {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: %[[QC:.*]] = pipe.open "q"
  %qc = pipe.open "q" via tma map %map : !llvm.ptr : !qc
  // CHECK: %[[KC:.*]] = pipe.open "k"
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  // CHECK: pipe.role "load"
  pipe.role "load" warps 4 {
    // CHECK-NEXT: tile.for_work (%{{.*}}) in {{.*}} iter(%[[NQ:.*]] = %[[ZERO]], %[[NK:.*]] = %[[ZERO]]) : (i32, i32) {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // CHECK-NEXT: %[[IF:.*]]:2 = scf.if
      scf.if %any {
        // CHECK-NEXT: pipe.put %[[QC]][%[[NQ]]]
        // CHECK-NEXT: %[[NQ1:.*]] = arith.addi %[[NQ]], %[[ONE]]
        pipe.put %qc[%n], %view[%m0] : !qc, !view
        // CHECK-NEXT: %[[NK1:.*]] = tile.for_keys partial (%{{.*}}) in {{.*}} iter(%[[C:.*]] = %[[NK]]) : (i32) {
        // CHECK-NEXT: pipe.put %[[KC]][%[[C]]]
        // CHECK-NEXT: %[[C1:.*]] = arith.addi %[[C]], %[[ONE]]
        // CHECK-NEXT: tile.yield %[[C1]] : i32
        tile.for_keys partial (%k0) in (%n, %n) step 32 {
          pipe.put %kc[%k0], %view[%k0] : !kc, !view
          tile.yield
        }
        // CHECK: scf.yield %[[NQ1]], %[[NK1]] : i32, i32
      // Without tiles the counters stay.
      // CHECK-NEXT: } else {
      // CHECK-NEXT: scf.yield %[[NQ]], %[[NK]] : i32, i32
      }
      // CHECK: tile.yield %[[IF]]#0, %[[IF]]#1 : i32, i32
    }
  }
  // CHECK: pipe.role "compute"
  pipe.role "compute" warps 4 {
    // CHECK-NEXT: tile.for_work (%{{.*}}) in {{.*}} iter(%[[NQ:.*]] = %[[ZERO]], %[[NK:.*]] = %[[ZERO]]) : (i32, i32) {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // What a choice gave is kept before the counters.
      // CHECK-NEXT: %[[IF:.*]]:3 = scf.if %{{.*}} -> (!tile.val<[q:64, k:32] x f32>, i32, i32) {
      %r = scf.if %any -> (!s) {
        // CHECK-NEXT: %[[Q:.*]] = pipe.take %[[QC]][%[[NQ]]]
        // CHECK-NEXT: %[[NQ1:.*]] = arith.addi %[[NQ]], %[[ONE]]
        %Q = pipe.take %qc[%n] : !qc -> !q
        // CHECK-NEXT: %[[L:.*]]:2 = tile.for_keys full (%{{.*}}) in {{.*}} iter(%[[ACC:.*]] = %{{.*}}, %[[C:.*]] = %[[NK]])
        // CHECK-NEXT: %[[K:.*]] = pipe.take %[[KC]][%[[C]]]
        // CHECK-NEXT: %[[C1:.*]] = arith.addi %[[C]], %[[ONE]]
        // CHECK-NEXT: %[[S:.*]] = tile.dot %[[Q]], %[[K]] init %[[ACC]]
        // A release is of the tile taken last.
        // CHECK-NEXT: pipe.release %[[KC]][%[[C]]]
        // CHECK-NEXT: tile.yield %[[S]], %[[C1]]
        %l = tile.for_keys full (%k0) in (%n, %n) step 32 iter(%acc = %zero) : (!s) {
          %K = pipe.take %kc[%k0] : !kc -> !k
          %S = tile.dot %Q, %K init %acc : !s over "d" : !q, !k -> !s
          pipe.release %kc[%k0] : !kc
          tile.yield %S : !s
        }
        // CHECK: pipe.release %[[QC]][%[[NQ]]]
        pipe.release %qc[%n] : !qc
        // CHECK-NEXT: scf.yield %[[L]]#0, %[[NQ1]], %[[L]]#1
        scf.yield %l : !s
      } else {
        scf.yield %zero : !s
      }
      // CHECK: tile.store %[[IF]]#0
      tile.store %r, %sv[%m0] : !s -> !tile.view<32 x f32>
      // CHECK-NEXT: tile.yield %[[IF]]#1, %[[IF]]#2
    }
  }
  gpu.return
}

// Taken in an inner block, released behind it: the one before the counter.
// CHECK-LABEL: gpu.func @behind
gpu.func @behind(%map: !llvm.ptr, %n: i32) kernel {
  // CHECK: %[[KC:.*]] = pipe.open
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  // CHECK: pipe.role
  pipe.role "compute" warps 4 {
    // CHECK-NEXT: %[[N:.*]] = tile.for_keys full (%{{.*}}) in {{.*}} iter(%[[C:.*]] = %{{.*}}) : (i32) {
    tile.for_keys full (%k0) in (%n, %n) step 32 {
      // CHECK-NEXT: pipe.take %[[KC]][%[[C]]]
      %K = pipe.take %kc[%n] : !kc -> !k
      tile.yield
    }
    // CHECK: %[[LAST:.*]] = arith.addi %[[N]], %c-1_i32
    // CHECK-NEXT: pipe.release %[[KC]][%[[LAST]]]
    pipe.release %kc[%n] : !kc
  }
  gpu.return
}

// A channel that its role feeds itself keeps its ordinals.
// CHECK-LABEL: gpu.func @own
// CHECK-SAME: (%{{.*}}: !tile.view<64 x bf16>, %[[N:.*]]: i32)
gpu.func @own(%view: !view, %n: i32) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    // CHECK: tile.for_work (%{{.*}}, %{{.*}}, %{{.*}}) in (%[[N]], %[[N]], %[[N]]) step 64 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // CHECK-NEXT: pipe.put %{{.*}}[%[[N]]]
      pipe.put %kc[%n], %view[%m0] : !pipe.channel<!k>, !view
      // CHECK-NEXT: pipe.take %{{.*}}[%[[N]]]
      %K = pipe.take %kc[%n] : !pipe.channel<!k> -> !k
      // CHECK-NEXT: pipe.release %{{.*}}[%[[N]]]
      pipe.release %kc[%n] : !pipe.channel<!k>
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k, fed>

gpu.module @m {
gpu.func @both(%map: !llvm.ptr, %view: !tile.view<64 x bf16>, %n: i32) kernel {
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  // expected-error @below {{role 'compute' puts into and takes from channel 'k'; expected a fed channel to be filled by another role (attn-partition-roles)}}
  pipe.role "compute" warps 4 {
    pipe.put %kc[%n], %view[%n] : !kc, !tile.view<64 x bf16>
    %K = pipe.take %kc[%n] : !kc -> !k
    pipe.release %kc[%n] : !kc
  }
  gpu.return
}
}
