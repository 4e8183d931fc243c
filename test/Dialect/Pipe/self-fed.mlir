// A role that fills slots itself which barriers in memory say are full: its puts
// and its takes are counted apart, no take is a meeting, and all warps meet before
// a slot is put again.
// RUN: attn-opt %s --attn-number-tiles --attn-place-waits --attn-verify-pipe --canonicalize --cse -split-input-file | FileCheck %s

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k>
!view = !tile.view<64 x bf16>

gpu.module @m {
// CHECK-LABEL: gpu.func @tma
gpu.func @tma(%map: !llvm.ptr, %view: !view, %n: i32, %begin: i32, %end: i32) kernel {
  %c32 = arith.constant 32 : i32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  pipe.role "compute" warps 4 {
    // CHECK: %[[KC:.*]] = pipe.open "k" via tma
    %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
    // CHECK: tile.for_work {{.*}} iter(%[[PUT:.*]] = %[[ZERO]], %[[TAKEN:.*]] = %[[ZERO]])
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      %first = arith.subi %end, %c32 : i32
      // A put that is switched off is no tile.
      // CHECK: %[[ANY:.*]] = arith.cmpi sge
      // CHECK: pipe.sync
      // CHECK-NEXT: pipe.put %[[KC]][%[[PUT]]], %{{.*}} when %[[ANY]]
      // CHECK-NEXT: %[[DID:.*]] = arith.extui %[[ANY]] : i1 to i32
      // CHECK-NEXT: %[[PUT1:.*]] = arith.addi %[[PUT]], %[[DID]]
      %any = arith.cmpi sge, %first, %begin : i32
      pipe.put %kc[%first], %view[%first] when %any : !kc, !view
      // CHECK: tile.for_keys {{.*}} iter(%[[P:.*]] = %[[PUT1]], %[[T:.*]] = %[[TAKEN]])
      tile.for_keys mixed (%k0) in (%begin, %end) full below %end step 32 {
        // CHECK-NEXT: pipe.take %[[KC]][%[[T]]] :
        // CHECK-NEXT: arith.addi %[[T]], %[[ONE]]
        %K = pipe.take %kc[%k0] : !kc -> !k
        %next = arith.subi %k0, %c32 : i32
        %more = arith.cmpi sge, %next, %begin : i32
        // CHECK: pipe.sync
        // CHECK-NEXT: pipe.put %[[KC]][%[[P]]], %{{.*}} ahead 1
        pipe.put %kc[%next], %view[%next] when %more ahead 1 : !kc, !view
        // CHECK: pipe.release %[[KC]][%[[T]]]
        pipe.release %kc[%k0] : !kc
        tile.yield
      }
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!v = !tile.val<[k:32, v:64] x bf16, shared 1>
!kc = !pipe.channel<!k>
!vc = !pipe.channel<!v>
!view = !tile.view<64 x bf16>

// Groups under a choice count for takes under it alone: V's own may be all that
// is under way.
gpu.module @m {
// CHECK-LABEL: gpu.func @choice
gpu.func @choice(%view: !view, %n: i32, %any: i1) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !kc
    %vc = pipe.open "v" via cp_async : !vc
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %vc[%n], %view[%m0] : !vc, !view
      scf.if %any {
        pipe.put %kc[%n], %view[%m0] : !kc, !view
        // CHECK: pipe.take %{{.*}}[%{{.*}}] pending 0 : {{.*}}d:64
        %K = pipe.take %kc[%n] : !kc -> !k
        pipe.release %kc[%n] : !kc
      }
      // CHECK: pipe.take %{{.*}}[%{{.*}}] pending 0 : {{.*}}v:64
      %V = pipe.take %vc[%n] : !vc -> !v
      pipe.release %vc[%n] : !vc
    }
  }
  gpu.return
}
}
