// V13, and V9 of the wait: what a tensor copy takes is waited for.
// RUN: attn-opt %s --attn-verify-pipe -split-input-file -verify-diagnostics

!o = !tile.val<[q:128, v:64] x bf16, shared 1>
!oc = !pipe.channel<!o>
!O = !tile.val<[q:128, v:64] x bf16>
!view = !tile.view<64 x bf16>

// V13: the next work item's tile.
gpu.module @m {
gpu.func @again(%map: !llvm.ptr, %ov: !view, %O: !O, %n: i32) kernel {
  pipe.role "compute" warps 8 {
    // expected-note @below {{the channel is opened here}}
    %oc = pipe.open "o" via st map %map : !llvm.ptr : !oc
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
      // expected-error @below {{channel 'o': V13: expected pipe.drained before its memory is written}}
      // expected-note @below {{written here}}
      pipe.drain %oc, %O, %ov[%m0] : !oc, !O -> !view
    }
    pipe.drained %oc : !oc
  }
  gpu.return
}
}

// -----

!o = !tile.val<[q:128, v:64] x bf16, shared 1>
!oc = !pipe.channel<!o>
!O = !tile.val<[q:128, v:64] x bf16>
!view = !tile.view<64 x bf16>

// V13: the last one.
gpu.module @m {
gpu.func @end(%map: !llvm.ptr, %ov: !view, %O: !O, %n: i32) kernel {
  pipe.role "compute" warps 8 {
    // expected-note @below {{the channel is opened here}}
    %oc = pipe.open "o" via st map %map : !llvm.ptr : !oc
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
      pipe.drained %oc : !oc
      // expected-error @below {{channel 'o': V13: expected pipe.drained before the role ends}}
      pipe.drain %oc, %O, %ov[%m0] : !oc, !O -> !view
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:128, d:64] x bf16, shared 1>
!o = !tile.val<[q:128, v:64] x bf16, shared 1>
!qc = !pipe.channel<!q>
!oc = !pipe.channel<!o>
!O = !tile.val<[q:128, v:64] x bf16>
!view = !tile.view<64 x bf16>

// V13: the next Q, in the same memory.
gpu.module @m {
gpu.func @shared(%map: !llvm.ptr, %qv: !view, %ov: !view, %O: !O, %n: i32) kernel {
  %c0 = arith.constant 0 : i32
  pipe.role "compute" warps 8 {
    %qc = pipe.open "q" via cp_async : !qc
    // expected-note @below {{the channel is opened here}}
    %oc = pipe.open "o" via st map %map : !llvm.ptr alias %qc : !qc : !oc
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
      // expected-note @below {{written here}}
      pipe.put %qc[%c0], %qv[%m0] : !qc, !view
      %Q = pipe.take %qc[%c0] : !qc -> !q
      pipe.release %qc[%c0] : !qc
      // expected-error @below {{channel 'o': V13: expected pipe.drained before its memory is written}}
      pipe.drain %oc, %O, %ov[%m0] : !oc, !O -> !view
    }
    pipe.drained %oc : !oc
  }
  gpu.return
}
}

// -----

!o = !tile.val<[q:128, v:64] x bf16, shared 1>
!oc = !pipe.channel<!o>
!O = !tile.val<[q:128, v:64] x bf16>
!view = !tile.view<64 x bf16>

// V9: some warps would not wait.
gpu.module @m {
gpu.func @some(%map: !llvm.ptr, %ov: !view, %O: !O, %S: !tile.val<[q:128] x f32>, %n: i32) kernel {
  pipe.role "compute" warps 8 {
    %oc = pipe.open "o" via st map %map : !llvm.ptr : !oc
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 128 {
      %any = tile.any %S ne 0xFF800000 : !tile.val<[q:128] x f32>
      scf.if %any {
        // expected-error @below {{V9: expected 'pipe.drained' directly in the work loop of the role}}
        pipe.drained %oc : !oc
      }
      pipe.drain %oc, %O, %ov[%m0] : !oc, !O -> !view
    }
    pipe.drained %oc : !oc
  }
  gpu.return
}
}
