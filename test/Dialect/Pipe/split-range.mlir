// One loop becomes up to two; the full one has no mask.
// RUN: attn-opt %s --attn-split-range | FileCheck %s

!s = !tile.val<[q:64, k:32] x f32>
!k = !tile.val<[k:32, d:64] x bf16, shared 1>
!view = !tile.view<64 x bf16>

gpu.module @m {
// CHECK-LABEL: gpu.func @both
// CHECK-SAME: (%[[S:.*]]: !tile.val<[q:64, k:32] x f32>, %{{.*}}, %{{.*}}, %[[BEGIN:[^:]*]]: i32, %[[FE:[^:]*]]: i32, %[[END:[^:]*]]: i32)
gpu.func @both(%s: !s, %kc: !pipe.channel<!k>, %kv: !view, %begin: i32, %fe: i32, %end: i32) kernel {
  // CHECK: %[[RIGHT:.*]] = tile.for_keys partial (%{{.*}}) in (%[[FE]], %[[END]]) step 32 iter(%{{.*}} = %[[S]])
  // CHECK: pipe.put
  // CHECK-NOT: whole
  // CHECK: tile.mask
  // CHECK: %[[LEFT:.*]] = tile.for_keys full (%{{.*}}) in (%[[BEGIN]], %[[FE]]) step 32 iter(%[[ACC:.*]] = %[[RIGHT]])
  // Every key of a full tile exists.
  // CHECK-NEXT: pipe.put {{.*}} whole :
  // CHECK-NEXT: tile.map %[[ACC]] :
  // CHECK-NOT: tile.mask
  // CHECK: tile.any %[[LEFT]]
  %r = tile.for_keys mixed (%k0) in (%begin, %end) full below %fe step 32 iter(%acc = %s) : (!s) {
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

// A loop knows the ranges in which its places lie, and those of what it fetches
// ahead: two partial ranges, then two full ones.
// CHECK-LABEL: gpu.func @ranges
// CHECK-SAME: %[[T0:[^:]*]]: i32, %[[FE:[^:]*]]: i32, %[[T2:[^:]*]]: i32, %[[S0:[^:]*]]: i32, %[[S1:[^:]*]]: i32, %[[S2:[^:]*]]: i32, %[[S3:[^:]*]]: i32)
gpu.func @ranges(%kc: !pipe.channel<!k>, %kv: !view, %begin: i32, %end: i32, %t0: i32, %fe: i32, %t2: i32, %s0: i32, %s1: i32, %s2: i32, %s3: i32) kernel {
  %c32 = arith.constant 32 : i32
  // CHECK: tile.for_keys partial (%[[P:.*]]) in
  // CHECK-NEXT: tile.key_at %[[P]][%[[T0]]] shifts[%[[S0]], %[[S1]]]
  // CHECK: %[[NEXT:.*]] = arith.subi %[[P]]
  // CHECK-NEXT: tile.key_at %[[NEXT]][%[[T0]], %[[FE]], %[[T2]]] shifts[%[[S0]], %[[S1]], %[[S2]], %[[S3]]]
  // CHECK: tile.for_keys full (%[[P:.*]]) in
  // CHECK-NEXT: tile.key_at %[[P]][%[[T2]]] shifts[%[[S2]], %[[S3]]]
  // CHECK: %[[NEXT:.*]] = arith.subi %[[P]]
  // CHECK-NEXT: tile.key_at %[[NEXT]][%[[T2]]] shifts[%[[S2]], %[[S3]]]
  // The tile to the right of a full one may be a partial one.
  // CHECK: %[[LAST:.*]] = arith.addi %[[P]]
  // CHECK-NEXT: tile.key_at %[[LAST]][%[[T0]], %[[FE]], %[[T2]]] shifts[%[[S0]], %[[S1]], %[[S2]], %[[S3]]]
  tile.for_keys mixed (%p) in (%begin, %end) full below %fe step 32 {
    %k0 = tile.key_at %p [%t0, %fe, %t2] shifts [%s0, %s1, %s2, %s3] partial 2 full 2
    pipe.put %kc[%p], %kv[%k0] : !pipe.channel<!k>, !view
    %next = arith.subi %p, %c32 : i32
    %k1 = tile.key_at %next [%t0, %fe, %t2] shifts [%s0, %s1, %s2, %s3] partial 2 full 2
    pipe.put %kc[%p], %kv[%k1] : !pipe.channel<!k>, !view
    %last = arith.addi %p, %c32 : i32
    %k2 = tile.key_at %last [%t0, %fe, %t2] shifts [%s0, %s1, %s2, %s3] partial 2 full 2
    pipe.put %kc[%p], %kv[%k2] : !pipe.channel<!k>, !view
    tile.yield
  }
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
  tile.for_keys mixed (%k0) in (%c0, %end) full below %fe step 32 {
    tile.yield
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @full_only
// CHECK-NOT: tile.for_keys partial
// CHECK: tile.for_keys full
// CHECK-NOT: tile.for_keys
gpu.func @full_only(%begin: i32, %end: i32) kernel {
  tile.for_keys mixed (%k0) in (%begin, %end) full below %end step 32 {
    tile.yield
  }
  gpu.return
}

// Without full tiles.
// CHECK-LABEL: gpu.func @opaque
// CHECK-SAME: (%[[BEGIN:.*]]: i32, %[[END:.*]]: i32)
// CHECK: tile.for_keys partial (%{{.*}}) in (%[[BEGIN]], %[[END]])
// CHECK-NOT: tile.for_keys
gpu.func @opaque(%begin: i32, %end: i32) kernel {
  tile.for_keys mixed (%k0) in (%begin, %end) full below %begin step 32 {
    tile.yield
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @empty
// CHECK-NOT: tile.for_keys
gpu.func @empty(%f: i32) kernel {
  tile.for_keys mixed (%k0) in (%f, %f) full below %f step 32 {
    tile.yield
  }
  gpu.return
}
}
