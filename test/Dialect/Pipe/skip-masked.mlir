// In a partial range, what follows the row maxima is done only where one is left.
// RUN: attn-opt %s --attn-skip-masked | FileCheck %s

!s = !tile.val<[q:64, k:32] x f32>
!row = !tile.val<[q:64] x f32>
!v = !tile.val<[k:32, v:64] x bf16, shared 1>

gpu.module @m {
// CHECK-LABEL: gpu.func @partial
gpu.func @partial(%s: !s, %m: !row, %vc: !pipe.channel<!v>, %n: i32) kernel {
  // CHECK: tile.for_keys partial ({{.*}} iter(%[[M:.*]] = %
  %r = tile.for_keys partial (%k0) in (%n, %n) step 32 iter(%acc = %m) : (!row) {
    // CHECK: pipe.take
    %V = pipe.take %vc[%k0] : !pipe.channel<!v> -> !v
    // CHECK: %[[X:.*]] = tile.mask
    %x = tile.mask %s(%k0, %k0) : !s {
    ^bb0(%q: i32, %k: i32):
      %0 = arith.cmpi sle, %k, %q : i32
      tile.yield %0 : i1
    }
    // CHECK: %[[MAX:.*]] = tile.reduce max %[[X]]
    // CHECK-NEXT: %[[ANY:.*]] = tile.any %[[MAX]] ne 0xFF800000
    // CHECK-NEXT: %[[R:.*]] = scf.if %[[ANY]] -> (!tile.val<[q:64] x f32>) {
    // CHECK-NEXT: %[[NEW:.*]] = tile.map %[[MAX]]
    // CHECK: scf.yield %[[NEW]]
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %[[M]]
    // CHECK-NEXT: }
    %max = tile.reduce max %x over "k" : !s -> !row
    %new = tile.map %max : !row -> !row {
    ^bb0(%e: f32):
      %0 = arith.negf %e : f32
      tile.yield %0 : f32
    }
    // The slot is released by every warp.
    // CHECK-NEXT: pipe.release
    // CHECK-NEXT: tile.yield %[[R]]
    pipe.release %vc[%k0] : !pipe.channel<!v>
    tile.yield %new : !row
  }
  gpu.return
}

// A transfer after the mask is everybody's: nothing is skipped.
// CHECK-LABEL: gpu.func @transfer
// CHECK-NOT: scf.if
gpu.func @transfer(%s: !s, %m: !row, %vc: !pipe.channel<!v>, %n: i32) kernel {
  %r = tile.for_keys partial (%k0) in (%n, %n) step 32 iter(%acc = %m) : (!row) {
    %x = tile.mask %s(%k0, %k0) : !s {
    ^bb0(%q: i32, %k: i32):
      %0 = arith.cmpi sle, %k, %q : i32
      tile.yield %0 : i1
    }
    %V = pipe.take %vc[%k0] : !pipe.channel<!v> -> !v
    %max = tile.reduce max %x over "k" : !s -> !row
    tile.yield %max : !row
  }
  gpu.return
}

// What a tile before has left was changed already (attn-overlap-gemms: its product
// stands in front): a hidden tile does not leave that as it was.
// CHECK-LABEL: gpu.func @changed
// CHECK-NOT: scf.if
gpu.func @changed(%s: !s, %m: !row, %n: i32) kernel {
  %r = tile.for_keys partial (%k0) in (%n, %n) step 32 iter(%acc = %m) : (!row) {
    %done = tile.map %acc : !row -> !row {
    ^bb0(%e: f32):
      %0 = arith.negf %e : f32
      tile.yield %0 : f32
    }
    %x = tile.mask %s(%k0, %k0) : !s {
    ^bb0(%q: i32, %k: i32):
      %0 = arith.cmpi sle, %k, %q : i32
      tile.yield %0 : i1
    }
    %max = tile.reduce max %x over "k" : !s -> !row
    %new = tile.map %max, %done : !row, !row -> !row {
    ^bb0(%e: f32, %d: f32):
      %0 = arith.maximumf %e, %d : f32
      tile.yield %0 : f32
    }
    tile.yield %new : !row
  }
  gpu.return
}

// What is computed after the mask but needed outside stays outside.
// CHECK-LABEL: gpu.func @ordinal
// CHECK-NOT: scf.if
gpu.func @ordinal(%s: !s, %m: !row, %vc: !pipe.channel<!v>, %n: i32) kernel {
  %r = tile.for_keys partial (%k0) in (%n, %n) step 32 iter(%acc = %m) : (!row) {
    %x = tile.mask %s(%k0, %k0) : !s {
    ^bb0(%q: i32, %k: i32):
      %0 = arith.cmpi sle, %k, %q : i32
      tile.yield %0 : i1
    }
    %max = tile.reduce max %x over "k" : !s -> !row
    %t = arith.addi %k0, %n : i32
    pipe.release %vc[%t] : !pipe.channel<!v>
    tile.yield %max : !row
  }
  gpu.return
}

// Counters go on whether or not a row sees something: only tiles are chosen.
// CHECK-LABEL: gpu.func @counter
gpu.func @counter(%s: !s, %m: !row, %vc: !pipe.channel<!v, fed>, %n: i32) kernel {
  // CHECK: tile.for_keys partial ({{.*}} iter(%[[N:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}})
  %r:2 = tile.for_keys partial (%k0) in (%n, %n) step 32 iter(%number = %n, %acc = %m) : (i32, !row) {
    %V = pipe.take %vc[%number] : !pipe.channel<!v, fed> -> !v
    %x = tile.mask %s(%k0, %k0) : !s {
    ^bb0(%q: i32, %k: i32):
      %0 = arith.cmpi sle, %k, %q : i32
      tile.yield %0 : i1
    }
    // CHECK: %[[MAX:.*]] = tile.reduce max
    %max = tile.reduce max %x over "k" : !s -> !row
    // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[N]]
    // CHECK-NEXT: %[[ANY:.*]] = tile.any %[[MAX]]
    // CHECK-NEXT: %[[R:.*]] = scf.if %[[ANY]] -> (!tile.val<[q:64] x f32>) {
    // CHECK-NEXT: %[[NEW:.*]] = tile.map %[[MAX]]
    // CHECK: scf.yield %[[NEW]]
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %[[M]]
    // CHECK-NEXT: }
    %new = tile.map %max : !row -> !row {
    ^bb0(%e: f32):
      %0 = arith.negf %e : f32
      tile.yield %0 : f32
    }
    // CHECK-NEXT: pipe.release %{{.*}}[%[[N]]]
    pipe.release %vc[%number] : !pipe.channel<!v, fed>
    %next = arith.addi %number, %n : i32
    // CHECK-NEXT: tile.yield %[[NEXT]], %[[R]]
    tile.yield %next, %new : i32, !row
  }
  gpu.return
}

// Where products are under way, an await is everybody's.
// CHECK-LABEL: gpu.func @await
// CHECK-NOT: scf.if
gpu.func @await(%s: !s, %m: !row, %n: i32) kernel {
  %r = tile.for_keys partial (%k0) in (%n, %n) step 32 iter(%acc = %m) : (!row) {
    %x = tile.mask %s(%k0, %k0) : !s {
    ^bb0(%q: i32, %k: i32):
      %0 = arith.cmpi sle, %k, %q : i32
      tile.yield %0 : i1
    }
    %max = tile.reduce max %x over "k" : !s -> !row
    %new = pipe.await %max pending 0 : !row
    tile.yield %new : !row
  }
  gpu.return
}

// Every row sees every key of a full tile.
// CHECK-LABEL: gpu.func @full
// CHECK-NOT: scf.if
// CHECK: gpu.return
gpu.func @full(%s: !s, %m: !row, %n: i32) kernel {
  %r = tile.for_keys full (%k0) in (%n, %n) step 32 iter(%acc = %m) : (!row) {
    %max = tile.reduce max %s over "k" : !s -> !row
    tile.yield %max : !row
  }
  gpu.return
}
}
