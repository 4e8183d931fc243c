// V10: what the puts fetch is what `ahead` says.
// RUN: attn-opt %s --attn-verify-pipe -split-input-file -verify-diagnostics

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!view = !tile.view<64 x bf16>

// As it should be, over two loops.
gpu.module @m {
gpu.func @f(%view: !tile.view<64 x bf16>, %n: i32, %end: i32, %other: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.sync
      %first = arith.subi %end, %c32 : i32
      %o = arith.divui %first, %c32 : i32
      pipe.put %kc[%o], %view[%first] when %more : !pipe.channel<!k>, !view
      tile.for_keys partial (%k0) in (%n, %end) step 32 {
        %t = arith.divui %k0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %k1 = arith.subi %k0, %c32 : i32
        %p = arith.divui %k1, %c32 : i32
        pipe.put %kc[%p], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
        tile.yield
      }
      tile.for_keys full (%k0) in (%n, %n) step 32 {
        %t = arith.divui %k0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %k1 = arith.subi %k0, %c32 : i32
        %p = arith.divui %k1, %c32 : i32
        pipe.put %kc[%p], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
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

// The tile at hand again.
gpu.module @m {
gpu.func @f(%view: !tile.view<64 x bf16>, %n: i32, %end: i32, %other: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.sync
      %first = arith.subi %end, %c32 : i32
      %o = arith.divui %first, %c32 : i32
      pipe.put %kc[%o], %view[%first] when %more : !pipe.channel<!k>, !view
      tile.for_keys partial (%k0) in (%n, %end) step 32 {
        %t = arith.divui %k0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %k1 = arith.subi %k0, %c64 : i32
        %p = arith.divui %k1, %c32 : i32
        // expected-error @below {{V10: expected a put 1 tiles ahead to fetch the keys of the place 32 left of the loop's}}
        pipe.put %kc[%p], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
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

// Before the loop: the first tile is the one left of the end.
gpu.module @m {
gpu.func @f(%view: !tile.view<64 x bf16>, %n: i32, %end: i32, %other: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.sync
      %first = arith.subi %end, %c64 : i32
      %o = arith.divui %first, %c32 : i32
      // expected-error @below {{V10: expected a put 0 tiles ahead to fetch the keys of the place 32 left of its end}}
      pipe.put %kc[%o], %view[%first] when %more : !pipe.channel<!k>, !view
      tile.for_keys partial (%k0) in (%n, %end) step 32 {
        %t = arith.divui %k0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %k1 = arith.subi %k0, %c32 : i32
        %p = arith.divui %k1, %c32 : i32
        pipe.put %kc[%p], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
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

// The right keys, in the slot of others.
gpu.module @m {
gpu.func @f(%view: !tile.view<64 x bf16>, %n: i32, %end: i32, %other: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.sync
      %first = arith.subi %end, %c32 : i32
      %o = arith.divui %first, %c32 : i32
      pipe.put %kc[%o], %view[%first] when %more : !pipe.channel<!k>, !view
      tile.for_keys partial (%k0) in (%n, %end) step 32 {
        %t = arith.divui %k0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %k1 = arith.subi %k0, %c32 : i32
        %p = arith.divui %k1, %c64 : i32
        // expected-error @below {{V10: expected a put 1 tiles ahead under the ordinal that its take has for this place}}
        pipe.put %kc[%p], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
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

// A loop that does not go on where the one before ended.
gpu.module @m {
gpu.func @f(%view: !tile.view<64 x bf16>, %n: i32, %end: i32, %other: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.sync
      %first = arith.subi %end, %c32 : i32
      %o = arith.divui %first, %c32 : i32
      pipe.put %kc[%o], %view[%first] when %more : !pipe.channel<!k>, !view
      tile.for_keys partial (%k0) in (%n, %end) step 32 {
        %t = arith.divui %k0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %k1 = arith.subi %k0, %c32 : i32
        %p = arith.divui %k1, %c32 : i32
        pipe.put %kc[%p], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
        tile.yield
      }
      // expected-error @below {{V10: expected this key loop to end where the one before begins}}
      tile.for_keys full (%k0) in (%n, %other) step 32 {
        %t = arith.divui %k0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %k1 = arith.subi %k0, %c32 : i32
        %p = arith.divui %k1, %c32 : i32
        pipe.put %kc[%p], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
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

// Keys of several ranges: each loop knows those that it can meet.
gpu.module @m {
gpu.func @f(%view: !tile.view<64 x bf16>, %n: i32, %fe: i32, %end: i32, %far: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.sync
      %first = arith.subi %end, %c32 : i32
      %first_key = tile.key_at %first [%fe] shifts [%far, %c0] partial 1 full 1
      %o = arith.divui %first, %c32 : i32
      pipe.put %kc[%o], %view[%first_key] when %more : !pipe.channel<!k>, !view
      tile.for_keys partial (%p0) in (%fe, %end) step 32 {
        %t = arith.divui %p0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %p1 = arith.subi %p0, %c32 : i32
        %k1 = tile.key_at %p1 [%fe] shifts [%far, %c0] partial 1 full 1
        %p = arith.divui %p1, %c32 : i32
        pipe.put %kc[%p], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
        tile.yield
      }
      tile.for_keys full (%p0) in (%n, %fe) step 32 {
        %t = arith.divui %p0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %p1 = arith.subi %p0, %c32 : i32
        %p = arith.divui %p1, %c32 : i32
        pipe.put %kc[%p], %view[%p1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
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

// The right place, taken for a key of another range.
gpu.module @m {
gpu.func @f(%view: !tile.view<64 x bf16>, %n: i32, %end: i32, %far: i32, %near: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    %c32 = arith.constant 32 : i32
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.sync
      %first = arith.subi %end, %c32 : i32
      %first_key = tile.key_at %first [] shifts [%near] partial 1 full 0
      %o = arith.divui %first, %c32 : i32
      // expected-error @below {{V10: expected a put 0 tiles ahead to find its keys where the other puts do}}
      pipe.put %kc[%o], %view[%first_key] when %more : !pipe.channel<!k>, !view
      tile.for_keys partial (%p0) in (%n, %end) step 32 {
        %t = arith.divui %p0, %c32 : i32
        %K = pipe.take %kc[%t] : !pipe.channel<!k> -> !k
        %p1 = arith.subi %p0, %c32 : i32
        %k1 = tile.key_at %p1 [] shifts [%far] partial 1 full 0
        %p = arith.divui %p1, %c32 : i32
        pipe.put %kc[%p], %view[%k1] when %more ahead 1 : !pipe.channel<!k>, !view
        pipe.release %kc[%t] : !pipe.channel<!k>
        tile.yield
      }
    }
  }
  gpu.return
}
}
