// A kernel of two roles: fed channels are rings with two arrays of mbarriers,
// products are wgmma, turns are named barriers.
// RUN: attn-opt %s --convert-pipe-to-warp --canonicalize --cse | FileCheck %s

!q = !tile.val<[q:128, d:72] x bf16, shared 1>
!k = !tile.val<[k:32, d:72] x bf16, shared 2>
!v = !tile.val<[k:32, v:64] x bf16, shared 3>
!s = !tile.val<[q:128, k:32] x f32>
!p = !tile.val<[q:128, k:32] x bf16>
!o = !tile.val<[q:128, v:64] x f32>
!o16 = !tile.val<[q:128, v:64] x bf16>
!kc = !pipe.channel<!k, fed>
!vc = !pipe.channel<!v, fed>
!oc = !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>

gpu.module @m {
// CHECK-LABEL: gpu.func @two_roles
// CHECK-SAME: %[[MAP:[^:]*]]: !llvm.ptr, %[[PTR:[^:]*]]: !llvm.ptr<1>, %[[AT:[^:]*]]: i64, %[[N:[^:]*]]: i32, %[[HEAD:[^:]*]]: i32, %[[BATCH:[^:]*]]: i32
gpu.func @two_roles(%map: !llvm.ptr, %ptr: !llvm.ptr<1>, %at: i64, %n: i32, %head: i32, %batch: i32, %zero: f32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 128x32, warps = 8, stages = 2, mma = wgmma, loader = tma, producer = true>} {
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i32
  // Columns are padded to panels of 64; one thread fills a slot, eight warps say
  // that it is empty.
  // CHECK: %[[K:.*]] = warp.alloc {warp.group = "k"} : <2x32x128xbf16>
  // CHECK-NEXT: %[[KFULL:.*]] = warp.mbar_alloc : <2>
  // CHECK-NEXT: warp.mbar_init %[[KFULL]] {arrivals = 1 : i64}
  // CHECK-NEXT: %[[KEMPTY:.*]] = warp.mbar_alloc : <2>
  // CHECK-NEXT: warp.mbar_init %[[KEMPTY]] {arrivals = 8 : i64}
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  // CHECK-NEXT: %[[V:.*]] = warp.alloc {warp.group = "v"} : <3x32x64xbf16>
  // CHECK: warp.mbar_init %{{.*}} {arrivals = 1 : i64} : <3>
  // CHECK-NEXT: %[[VEMPTY:.*]] = warp.mbar_alloc : <3>
  %vc = pipe.open "v" via tma map %map : !llvm.ptr : !vc
  %oc = pipe.open "o" via st : !oc
  // Everybody knows the barriers before the roles part.
  // CHECK: warp.mbar_publish {warps = 12 : i64}
  // CHECK-NEXT: warp.role "load" first 0 warps 4 {
  // CHECK-NEXT: warp.single {
  pipe.role "load" warps 4 {
    %view = tile.make_view "k" %ptr[%at] stride %at rows %n at(%head, %batch) : !tile.view<72 x bf16>
    // The slot of tile n, and the phase before the one that fills it.
    // CHECK-NEXT: %[[SLOT:.*]] = arith.remui %[[N]], %[[TWO]]
    // CHECK-NEXT: %[[ROUND:.*]] = arith.divui %[[N]], %[[TWO]]
    // CHECK-NEXT: %[[PARITY:.*]] = arith.andi %[[ROUND]], %[[ONE]]
    // CHECK-NEXT: %[[BEFORE:.*]] = arith.xori %[[PARITY]], %[[ONE]]
    // CHECK-NEXT: warp.mbar_wait %[[KEMPTY]][%[[SLOT]]] parity %[[BEFORE]]
    // The padding counts: it is filled with zeros.
    // CHECK-NEXT: warp.mbar_expect %[[KFULL]][%[[SLOT]]], bytes = 8192
    // CHECK-NEXT: warp.tma_load %[[K]][%[[SLOT]]], %[[MAP]], (%[[N]], %[[HEAD]], %[[BATCH]]) signals %[[KFULL]][%[[SLOT]]]
    pipe.put %kc[%n], %view[%n] : !kc, !tile.view<72 x bf16>
  }
  // CHECK: warp.role "compute" first 4 warps 8 {
  // CHECK-NEXT: warp.turn_start {barrier = 1 : i64, groups = 2 : i64}
  pipe.role "compute" warps 8 {
    %S = tile.fill %zero : f32 -> !s
    %P = tile.cast %S : !s -> !p
    %O = tile.fill %zero : f32 -> !o
    %O16 = tile.cast %O : !o -> !o16
    // CHECK: %[[KSLOT:.*]] = arith.remui %[[N]], %[[TWO]]
    // CHECK-NEXT: %[[KROUND:.*]] = arith.divui %[[N]], %[[TWO]]
    // CHECK-NEXT: %[[KPARITY:.*]] = arith.andi %[[KROUND]], %[[ONE]]
    // CHECK-NEXT: warp.mbar_wait %[[KFULL]][%[[KSLOT]]] parity %[[KPARITY]]
    %K = pipe.take %kc[%n] : !kc -> !k
    // CHECK: %[[VSLOT:.*]] = arith.remui %[[N]], %[[THREE]]
    // CHECK: warp.mbar_wait
    %V = pipe.take %vc[%n] : !vc -> !v
    // CHECK-NEXT: warp.turn_wait {barrier = 1 : i64, groups = 2 : i64}
    pipe.turn_wait
    // A from registers, V's rows contracted.
    // CHECK-NEXT: %[[O1:.*]] = warp.wgmma %{{.*}}, %[[V]][%[[VSLOT]]] depth 32 acc %{{.*}} transposed : !warp.frag<128x32xbf16, acc, warps = 8>, <3x32x64xbf16> -> <128x64xf32, acc, warps = 8>
    %O1 = tile.dot %P, %V init %O : !o over "k" async : !p, !v -> !o
    // CHECK-NEXT: warp.turn_pass {barrier = 1 : i64, groups = 2 : i64}
    pipe.turn_pass
    // CHECK-NEXT: %[[O2:.*]] = warp.wgmma_wait %[[O1]] {pending = 0 : i64}
    %O2 = pipe.await %O1 pending 0 : !o
    // CHECK-NEXT: warp.mbar_arrive %[[VEMPTY]][%[[VSLOT]]]
    pipe.release %vc[%n] : !vc
    // CHECK-NEXT: warp.mbar_arrive %[[KEMPTY]][%[[KSLOT]]]
    pipe.release %kc[%n] : !kc
    %ov = tile.make_view "o" %ptr[%at] stride %at rows %n at(%head, %batch) : !tile.view<64 x f32>
    // CHECK: warp.store_global %[[O2]]
    tile.store %O2, %ov[%n] : !o -> !tile.view<64 x f32>
    // O has memory of its own and a warp has whole rows: nobody else is waited for.
    // CHECK-NOT: warp.barrier
    // CHECK: warp.sync_warp
    // CHECK-NEXT: warp.store_shared
    // CHECK-NEXT: warp.sync_warp
    // CHECK-NEXT: warp.copy_out {{.*}} {own_rows}
    // CHECK-NEXT: warp.sync_warp
    // CHECK-NOT: warp.fence_async
    // CHECK: gpu.return
    %o16v = tile.make_view "o" %ptr[%at] stride %at rows %n at(%head, %batch) : !tile.view<64 x bf16>
    pipe.drain %oc, %O16, %o16v[%n] : !oc, !o16 -> !tile.view<64 x bf16>
  }
  gpu.return
}

// Counters and tiles that a choice gives.
// CHECK-LABEL: gpu.func @carried
gpu.func @carried(%n: i32, %any: i1, %ptr: !llvm.ptr<1>, %at: i64, %zero: f32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 128x32, warps = 8, stages = 2, mma = wgmma>} {
  pipe.role "compute" warps 8 {
    %O = tile.fill %zero : f32 -> !o
    %sv = tile.make_view "o" %ptr[%at] stride %at rows %n : !tile.view<64 x f32>
    // CHECK: scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}}) -> (i32)
    %r = tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 iter(%c = %n) : (i32) {
      // CHECK: %[[IF:.*]]:2 = scf.if %{{.*}} -> (!warp.frag<128x64xf32, acc, warps = 8>, i32) {
      %i:2 = scf.if %any -> (!o, i32) {
        %x = tile.map %O : !o -> !o {
        ^bb0(%e: f32):
          %0 = arith.negf %e : f32
          tile.yield %0 : f32
        }
        %next = arith.addi %c, %n : i32
        scf.yield %x, %next : !o, i32
      } else {
        // CHECK: scf.yield %{{.*}}, %[[C]]
        scf.yield %O, %c : !o, i32
      }
      // CHECK: warp.store_global %[[IF]]#0
      tile.store %i#0, %sv[%m0] : !o -> !tile.view<64 x f32>
      // CHECK: scf.yield %[[IF]]#1 : i32
      tile.yield %i#1 : i32
    }
  }
  gpu.return
}
}
