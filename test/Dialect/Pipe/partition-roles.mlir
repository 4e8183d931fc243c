// With a producer, puts get a role of their own: the loops around them, what
// they are computed from, and nothing else.
// RUN: attn-opt %s --attn-partition-roles --cse | FileCheck %s

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!s = !tile.val<[q:64, k:32] x f32>
!view = !tile.view<64 x bf16>
!qc = !pipe.channel<!q, fed>
!kc = !pipe.channel<!k, fed>

gpu.module @m {
// CHECK-LABEL: gpu.func @parted
gpu.func @parted(%map: !llvm.ptr, %view: !view, %ptr: !llvm.ptr<1>, %sv: !tile.view<32 x f32>, %zero: !s, %n: i32, %any: i1)
    kernel attributes {attn.schedule = #attn.schedule<fa3, producer = true>} {
  // The channels belong to both roles.
  // CHECK-NEXT: %[[QC:.*]] = pipe.open "q"
  // CHECK-NEXT: %[[KC:.*]] = pipe.open "k"
  // CHECK-NEXT: pipe.role "load" warps 4 {
  // CHECK-NOT: tile.dot
  // CHECK-NOT: pipe.take
  // CHECK-NOT: pipe.release
  // CHECK-NOT: tile.store
  // CHECK: tile.for_work (%{{.*}}, %{{.*}}, %[[M0:.*]]) in (%{{.*}}, %{{.*}}, %{{.*}}) step 64 {
  // What a bound is read from is read here too.
  // CHECK-NEXT: %[[LENGTH:.*]] = llvm.load
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: pipe.put %[[QC]][%{{.*}}], %{{.*}}[%[[M0]]]
  // Nothing is masked here: one loop over the whole range.
  // CHECK-NEXT: tile.for_keys partial (%[[K0:.*]]) in (%{{.*}}, %[[LENGTH]]) step 32 {
  // CHECK-NEXT: %[[N:.*]] = arith.addi %[[K0]], %[[K0]]
  // CHECK-NEXT: pipe.put %[[KC]][%[[N]]], %{{.*}}[%[[K0]]]
  // CHECK-NEXT: tile.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: }
  // CHECK-NEXT: pipe.role "compute" warps 8 {
  // CHECK-NOT: pipe.put
  pipe.role "compute" warps 8 {
    %qc = pipe.open "q" via tma map %map : !llvm.ptr : !qc
    %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
    // CHECK: tile.for_work
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // CHECK-NEXT: llvm.load
      %length = llvm.load %ptr : !llvm.ptr<1> -> i32
      // CHECK-NEXT: %[[R:.*]] = scf.if
      %r = scf.if %any -> (!s) {
        // CHECK-NEXT: pipe.take %[[QC]]
        pipe.put %qc[%n], %view[%m0] : !qc, !view
        %Q = pipe.take %qc[%n] : !qc -> !q
        // CHECK-NEXT: tile.for_keys mixed (%{{.*}}) in {{.*}} full {{.*}} step 32 iter(
        %l = tile.for_keys mixed (%k0) in (%n, %length) full below %n step 32 iter(%acc = %zero) : (!s) {
          %t = arith.addi %k0, %k0 : i32
          pipe.put %kc[%t], %view[%k0] : !kc, !view
          %K = pipe.take %kc[%t] : !kc -> !k
          %S = tile.dot %Q, %K init %acc : !s over "d" : !q, !k -> !s
          pipe.release %kc[%t] : !kc
          tile.yield %S : !s
        }
        pipe.release %qc[%n] : !qc
        scf.yield %l : !s
      } else {
        scf.yield %zero : !s
      }
      // CHECK: tile.store %[[R]]
      tile.store %r, %sv[%m0] : !s -> !tile.view<32 x f32>
    }
  }
  gpu.return
}

// Without a producer the role feeds itself.
// CHECK-LABEL: gpu.func @whole
// CHECK-NEXT: pipe.role "compute" warps 4 {
// CHECK-NEXT: pipe.open
// CHECK-NOT: pipe.role
gpu.func @whole(%view: !view, %n: i32) kernel attributes {attn.schedule = #attn.schedule<fa2, producer = false>} {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %kc[%n], %view[%m0] : !pipe.channel<!k>, !view
    }
  }
  gpu.return
}
// Claimed items are passed on by mail.
// CHECK-LABEL: gpu.func @claimed
gpu.func @claimed(%map: !llvm.ptr, %view: !view, %counter: !llvm.ptr<1>, %n: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, producer = true>} {
  // CHECK: %[[MAIL:.*]] = pipe.open_mail : !pipe.mail
  // CHECK: pipe.role "load"
  // CHECK: tile.for_work {{.*}} claim %{{.*}} through %[[MAIL]] : !pipe.mail
  // CHECK: pipe.role "compute"
  // CHECK: tile.for_work {{.*}} claim %{{.*}} through %[[MAIL]] : !pipe.mail
  pipe.role "compute" warps 8 {
    %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 claim %counter {
      pipe.put %kc[%n], %view[%m0] : !kc, !view
      %K = pipe.take %kc[%n] : !kc -> !k
      pipe.release %kc[%n] : !kc
    }
  }
  gpu.return
}
}
