// V11, V12 and V9 for channels that another role feeds: the roles are run
// against each other.
// RUN: attn-opt %s --attn-verify-pipe -split-input-file -verify-diagnostics

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k, fed>
!view = !tile.view<64 x bf16>

// Every tile that is put is taken and released; whether there are any depends
// on the work item, for both roles.
gpu.module @m {
gpu.func @right(%map: !llvm.ptr, %view: !view, %n: i32, %any: i1) kernel {
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  pipe.role "load" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      scf.if %any {
        tile.for_keys partial (%k0) in (%n, %n) step 32 {
          pipe.put %kc[%n], %view[%k0] : !kc, !view
          tile.yield
        }
      }
    }
  }
  pipe.role "compute" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      scf.if %any {
        tile.for_keys full (%k0) in (%n, %n) step 32 {
          %K = pipe.take %kc[%n] : !kc -> !k
          pipe.release %kc[%n] : !kc
          tile.yield
        }
      }
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k, fed>
!view = !tile.view<64 x bf16>

// V11: one tile of an item is put and never taken; two slots hold the two.
gpu.module @m {
gpu.func @put_more(%map: !llvm.ptr, %view: !view, %n: i32) kernel {
  // expected-error @below {{V11: expected as many takes and releases as puts, found 2 puts, 0 takes and 0 releases}}
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  pipe.role "load" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %kc[%n], %view[%m0] : !kc, !view
    }
  }
  pipe.role "compute" warps 4 {
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k, fed>
!view = !tile.view<64 x bf16>

// V11: taken, never released. The channel comes from elsewhere.
gpu.module @m {
// expected-error @below {{V11: expected as many takes and releases as puts, found 2 puts, 2 takes and 0 releases}}
gpu.func @keep(%kc: !kc, %view: !view, %n: i32) kernel {
  pipe.role "load" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %kc[%n], %view[%m0] : !kc, !view
    }
  }
  pipe.role "compute" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      %K = pipe.take %kc[%n] : !kc -> !k
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k, fed>

// V12: a take that nothing is put for.
gpu.module @m {
gpu.func @take_more(%map: !llvm.ptr, %n: i32) kernel {
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  pipe.role "load" warps 4 {
  }
  pipe.role "compute" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      // expected-error @below {{V12: expected the roles to pass every tile on, found all that are left waiting for each other}}
      %K = pipe.take %kc[%n] : !kc -> !k
      pipe.release %kc[%n] : !kc
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!v = !tile.val<[k:32, v:64] x bf16, shared 1>
!kc = !pipe.channel<!k, fed>
!vc = !pipe.channel<!v, fed>
!view = !tile.view<64 x bf16>

// V12: K of the next tile is put before V of this one, and taken after it: one
// slot is too few.
gpu.module @m {
gpu.func @depth(%map: !llvm.ptr, %view: !view, %n: i32) kernel {
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  %vc = pipe.open "v" via tma map %map : !llvm.ptr : !vc
  pipe.role "load" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %kc[%n], %view[%m0] : !kc, !view
      // expected-error @below {{V12: expected the roles to pass every tile on}}
      pipe.put %kc[%n], %view[%m0] : !kc, !view
      pipe.put %vc[%n], %view[%m0] : !vc, !view
    }
  }
  pipe.role "compute" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      %K = pipe.take %kc[%n] : !kc -> !k
      // expected-note @below {{another role waits here}}
      %V = pipe.take %vc[%n] : !vc -> !v
      pipe.release %kc[%n] : !kc
      %K1 = pipe.take %kc[%n] : !kc -> !k
      pipe.release %kc[%n] : !kc
      pipe.release %vc[%n] : !vc
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!v = !tile.val<[k:32, v:64] x bf16, shared 1>
!kc = !pipe.channel<!k, fed>
!vc = !pipe.channel<!v, fed>
!view = !tile.view<64 x bf16>

// The same with two slots.
gpu.module @m {
gpu.func @depth_two(%map: !llvm.ptr, %view: !view, %n: i32) kernel {
  %kc = pipe.open "k" via tma map %map : !llvm.ptr : !kc
  %vc = pipe.open "v" via tma map %map : !llvm.ptr : !vc
  pipe.role "load" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      pipe.put %kc[%n], %view[%m0] : !kc, !view
      pipe.put %kc[%n], %view[%m0] : !kc, !view
      pipe.put %vc[%n], %view[%m0] : !vc, !view
    }
  }
  pipe.role "compute" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      %K = pipe.take %kc[%n] : !kc -> !k
      %V = pipe.take %vc[%n] : !vc -> !v
      pipe.release %kc[%n] : !kc
      %K1 = pipe.take %kc[%n] : !kc -> !k
      pipe.release %kc[%n] : !kc
      pipe.release %vc[%n] : !vc
    }
  }
  gpu.return
}
}

// -----

!q = !tile.val<[q:64, d:64] x bf16, shared 1>
!o = !tile.val<[q:64, v:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V9: all warps of the role meet in a drain, but each looks at its own rows.
gpu.module @m {
gpu.func @drain(%view: !view, %S: !tile.val<[q:64, v:64] x f32>, %O: !tile.val<[q:64, v:64] x bf16>, %n: i32) kernel {
  pipe.role "compute" warps 4 {
    %any = tile.any %S ne 0xFF800000 : !tile.val<[q:64, v:64] x f32>
    %oc = pipe.open "o" via st : !pipe.channel<!o>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      scf.if %any {
        // expected-error @below {{V9: expected 'pipe.drain' directly in the work loop of the role or in a key loop of it}}
        pipe.drain %oc, %O, %view[%m0] : !pipe.channel<!o>, !tile.val<[q:64, v:64] x bf16> -> !view
      }
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

// V9: the groups of cp.async are counted, so no warp may leave out a put that
// others make.
gpu.module @m {
gpu.func @own(%view: !view, %S: !tile.val<[q:64, v:64] x f32>, %n: i32, %visible: i1) kernel {
  pipe.role "compute" warps 4 {
    %some = tile.any %S ne 0xFF800000 : !tile.val<[q:64, v:64] x f32>
    %any = arith.andi %some, %visible : i1
    %kc = pipe.open "k" via cp_async : !pipe.channel<!k>
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      scf.if %any {
        // expected-error @below {{V9: expected 'pipe.put' directly in the work loop}}
        pipe.put %kc[%n], %view[%m0] : !pipe.channel<!k>, !view
      }
    }
  }
  gpu.return
}
}

// -----

!k = !tile.val<[k:32, d:64] x bf16, shared 2>
!kc = !pipe.channel<!k, fed>

// V9: the other way is not traced.
gpu.module @m {
gpu.func @otherwise(%kc: !kc, %n: i32, %any: i1) kernel {
  pipe.role "compute" warps 4 {
    tile.for_work (%b, %h, %m0) in (%n, %n, %n) step 64 {
      scf.if %any {
      } else {
        // expected-error @below {{V9: expected 'pipe.take' directly in the work loop}}
        %K = pipe.take %kc[%n] : !kc -> !k
      }
    }
  }
  gpu.return
}
}
