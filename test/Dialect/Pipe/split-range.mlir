// One loop becomes up to three, right to left; the full one has no mask.
// RUN: attn-opt %s --attn-split-range | FileCheck %s

!s = !tile.val<[q:64, k:32] x f32>
!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

gpu.module @m {
// CHECK-LABEL: gpu.func @three
// CHECK-SAME: (%[[S:.*]]: !tile.val<[q:64, k:32] x f32>, %{{.*}}, %{{.*}}, %[[BEGIN:[^:]*]]: i32, %[[FB:[^:]*]]: i32, %[[FE:[^:]*]]: i32, %[[END:[^:]*]]: i32)
gpu.func @three(%s: !s, %kc: !pipe.channel<!k>, %kv: !view, %begin: i32, %fb: i32, %fe: i32, %end: i32) kernel {
  // CHECK: %[[RIGHT:.*]] = tile.for_keys partial (%{{.*}}) in (%[[FE]], %[[END]]) step 32 iter(%{{.*}} = %[[S]])
  // CHECK: pipe.put
  // CHECK-NOT: whole
  // CHECK: tile.mask
  // CHECK: %[[MIDDLE:.*]] = tile.for_keys full (%{{.*}}) in (%[[FB]], %[[FE]]) step 32 iter(%[[ACC:.*]] = %[[RIGHT]])
  // Every key of a full tile exists.
  // CHECK-NEXT: pipe.put {{.*}} whole :
  // CHECK-NEXT: tile.map %[[ACC]] :
  // CHECK-NOT: tile.mask
  // CHECK: %[[LEFT:.*]] = tile.for_keys partial (%{{.*}}) in (%[[BEGIN]], %[[FB]]) step 32 iter(%{{.*}} = %[[MIDDLE]])
  // CHECK: tile.mask
  // CHECK: tile.any %[[LEFT]]
  %r = tile.for_keys mixed (%k0) in (%begin, %end) full (%fb, %fe) step 32 iter(%acc = %s) : (!s) {
    pipe.put %kc[%k0], %kv[%k0] : !pipe.channel<!k>, !view
    %x = tile.mask %acc(%k0, %k0) : !s {
    ^bb0(%q: i32, %k: i32):
      %0 = arith.cmpi sle, %k, %q : i32
      tile.yield %0 : i1
    }
    %y = tile.map %x : !s -> !s {
    ^bb0(%e: f32):
      %0 = arith.negf %e : f32
      tile.yield %0 : f32
    }
    tile.yield %y : !s
  }
  %any = tile.any %r ne 0xFF800000 : !s
  gpu.return
}

// Equal bounds are one value or one constant.
// CHECK-LABEL: gpu.func @two
// CHECK: tile.for_keys partial
// CHECK: tile.for_keys full
// CHECK-NOT: tile.for_keys
gpu.func @two(%fe: i32, %end: i32) kernel {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant 0 : i32
  tile.for_keys mixed (%k0) in (%c0, %end) full (%zero, %fe) step 32 {
    tile.yield
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @full_only
// CHECK-NOT: tile.for_keys partial
// CHECK: tile.for_keys full
// CHECK-NOT: tile.for_keys
gpu.func @full_only(%begin: i32, %end: i32) kernel {
  tile.for_keys mixed (%k0) in (%begin, %end) full (%begin, %end) step 32 {
    tile.yield
  }
  gpu.return
}

// Without a full range one loop is enough.
// CHECK-LABEL: gpu.func @opaque
// CHECK-SAME: (%[[BEGIN:.*]]: i32, %[[F:.*]]: i32, %[[END:.*]]: i32)
// CHECK: tile.for_keys partial (%{{.*}}) in (%[[BEGIN]], %[[END]])
// CHECK-NOT: tile.for_keys
gpu.func @opaque(%begin: i32, %f: i32, %end: i32) kernel {
  tile.for_keys mixed (%k0) in (%begin, %end) full (%f, %f) step 32 {
    tile.yield
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @empty
// CHECK-NOT: tile.for_keys
gpu.func @empty(%f: i32) kernel {
  tile.for_keys mixed (%k0) in (%f, %f) full (%f, %f) step 32 {
    tile.yield
  }
  gpu.return
}
}
