// What leaves by tensor copies is waited for: before the next tile takes its
// place and at the end, or at once where the memory is another channel's.
// RUN: attn-opt %s --attn-place-waits --attn-verify-pipe | FileCheck %s

!q = !tile.val<[q:128, d:64] x bf16, shared 1>
!o = !tile.val<[q:128, v:64] x bf16, shared 1>
!qc = !pipe.channel<!q>
!oc = !pipe.channel<!o>
!O = !tile.val<[q:128, v:64] x bf16>
!view = !tile.view<64 x bf16>

gpu.module @m {
// CHECK-LABEL: gpu.func @own
gpu.func @own(%map: !llvm.ptr, %ov: !view, %O: !O, %n: i32) kernel {
  pipe.role "compute" warps 8 {
    // CHECK: %[[OC:.*]] = pipe.open "o"
    %oc = pipe.open "o" via st map %map : !llvm.ptr : !oc
    // CHECK: tile.for_work
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
      // CHECK-NEXT: pipe.drained %[[OC]]
      // CHECK-NEXT: pipe.drain %[[OC]]
      pipe.drain %oc, %O, %ov[%m0] : !oc, !O -> !view
      // CHECK-NEXT: }
    }
    // CHECK-NEXT: pipe.drained %[[OC]]
    // CHECK-NEXT: }
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @shared
gpu.func @shared(%map: !llvm.ptr, %qv: !view, %ov: !view, %O: !O, %n: i32) kernel {
  %c0 = arith.constant 0 : i32
  pipe.role "compute" warps 8 {
    %qc = pipe.open "q" via cp_async : !qc
    // CHECK: %[[OC:.*]] = pipe.open "o"
    %oc = pipe.open "o" via st map %map : !llvm.ptr alias %qc : !qc : !oc
    // CHECK: tile.for_work
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
      // CHECK-NEXT: pipe.put
      pipe.put %qc[%c0], %qv[%m0] : !qc, !view
      %Q = pipe.take %qc[%c0] : !qc -> !q
      pipe.release %qc[%c0] : !qc
      // CHECK: pipe.drain %[[OC]]
      // CHECK-NEXT: pipe.drained %[[OC]]
      // CHECK-NEXT: }
      pipe.drain %oc, %O, %ov[%m0] : !oc, !O -> !view
    }
    // CHECK-NEXT: }
  }
  gpu.return
}

// The threads' own copies are done when they are made.
// CHECK-LABEL: gpu.func @direct
gpu.func @direct(%ov: !view, %O: !O, %n: i32) kernel {
  pipe.role "compute" warps 8 {
    %oc = pipe.open "o" via st : !oc
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
      // CHECK-NOT: pipe.drained
      pipe.drain %oc, %O, %ov[%m0] : !oc, !O -> !view
    }
  }
  gpu.return
}
}
