// Broken orders are caught, by number: V5 to V9, and what is no pipe level.
// RUN: attn-opt %s --attn-verify-pipe -split-input-file -verify-diagnostics

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!s = !tile.val<[q:64, k:32] x f32>
!view = !tile.view<64 x bf16>

// V5: read after its release, here inside a later operation.
gpu.module @m {
gpu.func @read_late(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      pipe.put %kc[%n], %view[%n] when %more : !pipe.channel<!k>, !view
      %Q = pipe.take %qc[%c0] pending 1 : !pipe.channel<!q> -> !q
      // expected-note @below {{released here}}
      pipe.release %qc[%c0] : !pipe.channel<!q>
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        // expected-error @below {{channel 'q': V5: read after its release}}
        %S = tile.dot %Q, %K over "d" : !q, !k -> !s
        pipe.release %kc[%k0] : !pipe.channel<!k>
        pipe.sync
        pipe.put %kc[%n], %view[%k0] when %more ahead 1 : !pipe.channel<!k>, !view
        tile.yield
      }
      pipe.sync
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V6: the wait lets its own put be pending.
gpu.module @m {
gpu.func @wait_less(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        pipe.put %kc[%n], %view[%k0] : !pipe.channel<!k>, !view
        // expected-error @below {{channel 'k': V6: waits with 1 pending, but only 0 puts follow its own}}
        %K = pipe.take %kc[%k0] pending 1 : !pipe.channel<!k> -> !k
        pipe.release %kc[%k0] : !pipe.channel<!k>
        pipe.sync
        tile.yield
      }
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V7: a joined take is read before anything waits.
gpu.module @m {
gpu.func @joined_read(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    // expected-note @below {{the channel is opened here}}
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        pipe.put %kc[%n], %view[%k0] : !pipe.channel<!k>, !view
        // expected-error @below {{channel 'k': V7: expected another take to follow this joined one before a tile is read}}
        %K = pipe.take %kc[%k0] joined : !pipe.channel<!k> -> !k
        %S = tile.reduce max %K over "k" : !k -> !tile.val<[d:64] x bf16>
        %Q = pipe.take %qc[%c0] : !pipe.channel<!q> -> !q
        pipe.release %kc[%k0] : !pipe.channel<!k>
        pipe.sync
        tile.yield
      }
      pipe.release %qc[%c0] : !pipe.channel<!q>
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V7: nothing waits for a joined take.
gpu.module @m {
gpu.func @joined_last(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        pipe.put %kc[%n], %view[%k0] : !pipe.channel<!k>, !view
        // expected-error @below {{channel 'k': V7: expected another take to follow this joined one before a tile is read}}
        %K = pipe.take %kc[%k0] joined : !pipe.channel<!k> -> !k
        tile.yield
      }
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!o = !tile.val<[q:64, v:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V8: O is staged in Q's memory while Q is in use.
gpu.module @m {
gpu.func @alias(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    // expected-note @below {{the channel is opened here}}
    %oc = pipe.open "o" via st alias %qc : !pipe.channel<!q> : !pipe.channel<!o>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      // expected-note @below {{by the tile taken here, which was not released}}
      %Q = pipe.take %qc[%c0] : !pipe.channel<!q> -> !q
      // expected-error @below {{channel 'o': V8: its memory is still in use}}
      pipe.drain %oc, %O, %view[%m0] : !pipe.channel<!o>, !tile.val<[q:64, v:64] x bf16> -> !view
      pipe.release %qc[%c0] : !pipe.channel<!q>
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V9: a put whose place in the order depends on data.
gpu.module @m {
gpu.func @conditional(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      scf.if %more {
        pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      }
      // expected-error @below {{channel 'q': V9: a choice is around its put that is not around this take}}
      %Q = pipe.take %qc[%c0] : !pipe.channel<!q> -> !q
      pipe.release %qc[%c0] : !pipe.channel<!q>
    }
  }
  gpu.return
}
}

// -----

gpu.module @m {
// expected-error @below {{expected a role in kernel 'no_role' at the pipe level}}
gpu.func @no_role() kernel {
  gpu.return
}
}

// -----

gpu.module @m {
gpu.func @load(%view: !tile.view<64 x bf16>, %n: i32) kernel {
  pipe.role "compute" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // expected-error @below {{expected every load to go through a channel at the pipe level}}
      %Q = tile.load %view[%m0] : !tile.view<64 x bf16> -> !tile.val<[q:64, d:64] x bf16>
    }
  }
  gpu.return
}
}
