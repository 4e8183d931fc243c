// Right orders pass; broken ones are caught, by number (V1 to V4 here, the rest
// in verify-pipe-memory.mlir and verify-pipe-positions.mlir).
// RUN: attn-opt %s --attn-verify-pipe -split-input-file -verify-diagnostics

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!o = !tile.val<[q:64, v:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!s = !tile.val<[q:64, k:32] x f32>
!view = !tile.view<64 x bf16>

// One slot: the next K once this one was released and all warps met.
gpu.module @m {
gpu.func @single(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %oc = pipe.open "o" via st alias %qc : !pipe.channel<!q> : !pipe.channel<!o>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      %c32 = arith.constant 32 : i32
      %first = arith.subi %n, %c32 : i32
      pipe.put %kc[%first], %view[%first] when %more : !pipe.channel<!k>, !view
      %Q = pipe.take %qc[%c0] pending 1 : !pipe.channel<!q> -> !q
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        %S = tile.dot %Q, %K over "d" : !q, !k -> !s
        pipe.release %kc[%k0] : !pipe.channel<!k>
        pipe.sync
        %k1 = arith.subi %k0, %c32 : i32
        pipe.put %kc[%k1], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        tile.yield
      }
      pipe.release %qc[%c0] : !pipe.channel<!q>
      pipe.drain %oc, %O, %view[%m0] : !pipe.channel<!o>, !tile.val<[q:64, v:64] x bf16> -> !view
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!o = !tile.val<[q:64, v:64] x bf16, shared 1>
!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!s = !tile.val<[q:64, k:32] x f32>
!view = !tile.view<64 x bf16>

// Two slots: the take is where all warps met.
gpu.module @m {
gpu.func @ring(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %oc = pipe.open "o" via st alias %qc : !pipe.channel<!q> : !pipe.channel<!o>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      %c32 = arith.constant 32 : i32
      %first = arith.subi %n, %c32 : i32
      pipe.put %kc[%first], %view[%first] when %more : !pipe.channel<!k>, !view
      %Q = pipe.take %qc[%c0] pending 1 : !pipe.channel<!q> -> !q
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        %k1 = arith.subi %k0, %c32 : i32
        pipe.put %kc[%k1], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        %S = tile.dot %Q, %K over "d" : !q, !k -> !s
        pipe.release %kc[%k0] : !pipe.channel<!k>
        tile.yield
      }
      pipe.release %qc[%c0] : !pipe.channel<!q>
      pipe.drain %oc, %O, %view[%m0] : !pipe.channel<!o>, !tile.val<[q:64, v:64] x bf16> -> !view
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>

// V1: a take without a put.
gpu.module @m {
gpu.func @never_put(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        // expected-error @below {{channel 'k': V1: taken before it was put}}
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        pipe.release %kc[%k0] : !pipe.channel<!k>
        tile.yield
      }
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V1: K runs one ahead, but nothing fetches the first tile.
gpu.module @m {
gpu.func @no_prologue(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        // expected-error @below {{channel 'k': V1: taken before it was put}}
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        pipe.release %kc[%k0] : !pipe.channel<!k>
        pipe.put %kc[%n], %view[%k0] when %more ahead 1 : !pipe.channel<!k>, !view
        tile.yield
      }
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V2: a missing release.
gpu.module @m {
gpu.func @no_release(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %kc[%n], %view[%n] when %more : !pipe.channel<!k>, !view
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        pipe.sync
        // expected-error @below {{channel 'k': V2: put into a slot that is still in use (depth 1)}}
        pipe.put %kc[%n], %view[%k0] when %more ahead 1 : !pipe.channel<!k>, !view
        tile.yield
      }
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!view = !tile.view<64 x bf16>

// V2: two ahead in two slots: put before the release.
gpu.module @m {
gpu.func @too_early(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %kc[%n], %view[%n] when %more : !pipe.channel<!k>, !view
      pipe.put %kc[%n], %view[%n] when %more ahead 1 : !pipe.channel<!k>, !view
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        // expected-error @below {{channel 'k': V2: put into a slot that is still in use (depth 2)}}
        pipe.put %kc[%n], %view[%k0] when %more ahead 2 : !pipe.channel<!k>, !view
        pipe.release %kc[%k0] : !pipe.channel<!k>
        tile.yield
      }
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V2: no point where all warps met.
gpu.module @m {
gpu.func @no_sync(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %kc[%n], %view[%n] when %more : !pipe.channel<!k>, !view
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        %K = pipe.take %kc[%k0] : !pipe.channel<!k> -> !k
        pipe.release %kc[%k0] : !pipe.channel<!k>
        // expected-error @below {{channel 'k': V2: put while another warp may still read the slot}}
        pipe.put %kc[%n], %view[%k0] when %more ahead 1 : !pipe.channel<!k>, !view
        tile.yield
      }
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V2: the next work item overwrites Q while it is in use.
gpu.module @m {
gpu.func @item_release(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // expected-error @below {{channel 'q': V2: its memory is still in use}}
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      // expected-note @below {{by the tile taken here, which was not released}}
      %Q = pipe.take %qc[%c0] : !pipe.channel<!q> -> !q
      pipe.sync
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V2: the next work item overwrites Q while another warp reads it.
gpu.module @m {
gpu.func @item_sync(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // expected-error @below {{channel 'q': V2: put while another warp may still read the slot}}
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      %Q = pipe.take %qc[%c0] : !pipe.channel<!q> -> !q
      pipe.release %qc[%c0] : !pipe.channel<!q>
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V3: released before it was taken.
gpu.module @m {
gpu.func @release_first(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      // expected-error @below {{channel 'q': V3: released before it was taken}}
      pipe.release %qc[%c0] : !pipe.channel<!q>
      %Q = pipe.take %qc[%c0] : !pipe.channel<!q> -> !q
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V4: put twice.
gpu.module @m {
gpu.func @put_twice(%view: !tile.view<64 x bf16>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32, %c0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // expected-note @below {{the channel is opened here}}
    %qc = pipe.open "q" via cp_async : !pipe.channel<!q>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      // expected-error @below {{channel 'q': V4: put twice}}
      pipe.put %qc[%c0], %view[%m0] : !pipe.channel<!q>, !view
      %Q = pipe.take %qc[%c0] : !pipe.channel<!q> -> !q
      pipe.release %qc[%c0] : !pipe.channel<!q>
    }
  }
  gpu.return
}
}
