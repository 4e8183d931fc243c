// Claimed work items: the role that loads asks the counter and mails the item to
// the others; the last block leaves the counter as it was.
// RUN: attn-opt %s --convert-pipe-to-warp --canonicalize --cse | FileCheck %s

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k, fed>

gpu.module @m {
// CHECK-LABEL: gpu.func @claimed
// CHECK-SAME: %[[COUNTER:[^:]*]]: !llvm.ptr<1>
gpu.func @claimed(%map: !llvm.ptr, %counter: !llvm.ptr<1>, %at: i64, %n: i32, %together: i32)
    kernel attributes {attn.schedule = #attn.schedule<fa3, tile = 128x32, warps = 8, stages = 2, mma = wgmma, loader = tma, producer = true>} {
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  // CHECK: %[[MAIL:.*]] = warp.mail_alloc : <3>
  // CHECK-NEXT: %[[FULL:.*]] = warp.mbar_alloc : <1>
  // CHECK-NEXT: warp.mbar_init %[[FULL]] {arrivals = 1 : i64}
  // CHECK-NEXT: %[[EMPTY:.*]] = warp.mbar_alloc : <1>
  // CHECK-NEXT: warp.mbar_init %[[EMPTY]] {arrivals = 8 : i64}
  %mail = pipe.open_mail : !pipe.mail
  // CHECK: warp.role "load"
  // Batch entry, head, first row, mails, and what the loop carries.
  // CHECK: scf.while (%[[BATCH:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
  // CHECK-NEXT: arith.cmpi slt, %[[BATCH]], %{{.*}} : i32
  // CHECK: } do {
  // CHECK: %[[OLD:.*]] = llvm.atomicrmw add %[[COUNTER]], %{{.*}} syncscope("device") monotonic
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[OLD]], %{{.*}} : i32
  // CHECK: warp.tma_load
  // The last tile of every head of a section, then the one before. Past the end
  // there is no section, and no batch entry.
  // CHECK: arith.minsi
  // CHECK: arith.maxsi
  // CHECK: arith.cmpi ult, %[[NEXT]], %{{.*}} : i32
  // CHECK: %[[NEXTBATCH:.*]] = arith.select
  // The mail is free when everybody has read the one before.
  // CHECK: warp.mbar_wait %[[EMPTY]]
  // CHECK: llvm.store volatile %[[NEXTBATCH]], %[[MAIL]]
  // CHECK: llvm.store volatile %[[NEXTHEAD:.*]], %{{.*}}
  // CHECK: llvm.store volatile %[[NEXTROW:.*]], %{{.*}}
  // CHECK: warp.mbar_signal %[[FULL]]
  // CHECK: scf.yield %[[NEXTBATCH]], %[[NEXTHEAD]], %[[NEXTROW]]
  // The back end keeps no ordering of an atomicrmw.
  // CHECK: llvm.fence syncscope("device") release
  // CHECK: llvm.atomicrmw add %{{.*}} syncscope("device") monotonic
  // CHECK: scf.if
  // CHECK-NEXT: llvm.fence syncscope("device") acquire
  // CHECK-NEXT: llvm.store %{{.*}}, %[[COUNTER]]
  // CHECK-NEXT: llvm.store
  pipe.role "load" warps 4 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 together %together claim %counter
        through %mail : !pipe.mail iter(%c = %zero) : (i32) {
      %view = tile.make_view "k" %counter[%at] stride %at rows %n at(%h, %b) : !tile.view<64 x bf16>
      pipe.put %kc[%c], %view[%m0] : !kc, !tile.view<64 x bf16>
      %c1 = arith.addi %c, %one : i32
      tile.yield %c1 : i32
    }
  }
  // CHECK: warp.role "compute"
  // CHECK: scf.while
  // CHECK: } do {
  // Where the item is was worked out by the sender.
  // CHECK-NOT: arith.minsi
  // CHECK-NOT: llvm.atomicrmw
  // CHECK: warp.mbar_arrive
  // CHECK: warp.mbar_wait %[[FULL]]
  // CHECK: %[[BATCH:.*]] = llvm.load volatile %[[MAIL]]
  // CHECK: %[[HEAD:.*]] = llvm.load volatile
  // CHECK: %[[ROW:.*]] = llvm.load volatile
  // CHECK-NEXT: warp.sync_warp
  // CHECK-NEXT: warp.mbar_arrive %[[EMPTY]]
  // This body needs neither head nor row.
  // CHECK: scf.yield %[[BATCH]], %{{.*}}, %{{.*}} : i32, i32, i32
  pipe.role "compute" warps 8 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 together %together claim %counter
        through %mail : !pipe.mail iter(%c = %zero) : (i32) {
      %K = pipe.take %kc[%c] : !kc -> !k
      pipe.release %kc[%c] : !kc
      %c1 = arith.addi %c, %one : i32
      tile.yield %c1 : i32
    }
  }
  gpu.return
}
}
