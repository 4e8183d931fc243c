// The online softmax as maps and reductions, in the order of its definition.
// RUN: attn-opt %s --attn-expand-softmax-step -split-input-file | FileCheck %s

!x = !tile.val<[q:128, k:64] x f32>
!row = !tile.val<[q:128] x f32>
!part = !tile.val<[q:128, r:4] x f32>
!acc = !tile.val<[q:128, v:96] x f32>

gpu.module @m {
// CHECK-LABEL: gpu.func @step
// CHECK-SAME: (%[[X:.*]]: !tile.val<[q:128, k:64] x f32>, %[[M:.*]]: !tile.val<[q:128] x f32>, %[[L:.*]]: !tile.val<[q:128, r:4] x f32>, %[[O:.*]]: !tile.val<[q:128, v:96] x f32>, %[[C:.*]]: f32)
gpu.func @step(%x: !x, %m: !row, %l: !part, %o: !acc, %c: f32) kernel {
  // CHECK: %[[TILEMAX:.*]] = tile.reduce max %[[X]] over "k"
  // CHECK: %[[ROWMAX:.*]] = tile.map %[[M]], %[[TILEMAX]] :
  // CHECK: %[[MAX:.*]] = arith.maximumf
  // -1e30 and less count as -inf.
  // CHECK: %[[BOUND:.*]] = arith.constant -1.000000e+30 : f32
  // CHECK: %[[HIDDEN:.*]] = arith.cmpf ole, %[[MAX]], %[[BOUND]]
  // CHECK: arith.select %[[HIDDEN]], %{{.*}}, %[[MAX]]
  // A row that has seen no key is shifted by 0, not by -inf.
  // CHECK: %[[SHIFT:.*]] = tile.map %[[ROWMAX]] :
  // CHECK-NEXT: ^bb0(%[[R:.*]]: f32):
  // CHECK-DAG: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG: %[[EMPTY:.*]] = arith.cmpf oeq, %[[R]], %[[LOWEST]]
  // CHECK: %[[SAFE:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[R]]
  // CHECK: %[[PROD:.*]] = arith.mulf %[[SAFE]], %[[C]]
  // CHECK: arith.negf %[[PROD]]
  // The difference of two rounded products: exactly 1 while the maximum stays.
  // CHECK: %[[ALPHA:.*]] = tile.map %[[M]], %[[SHIFT]] :
  // CHECK-NEXT: ^bb0(%[[OLD:.*]]: f32, %[[S:.*]]: f32):
  // CHECK-NEXT: %[[OLDPROD:.*]] = arith.mulf %[[OLD]], %[[C]]
  // CHECK-NEXT: %[[DIFF:.*]] = arith.addf %[[OLDPROD]], %[[S]]
  // CHECK-NEXT: math.exp2 %[[DIFF]]
  // CHECK: %[[P:.*]] = tile.map %[[X]], %[[SHIFT]] :
  // CHECK-NEXT: ^bb0(%[[XE:.*]]: f32, %[[SE:.*]]: f32):
  // CHECK-NEXT: %[[FMA:.*]] = math.fma %[[XE]], %[[C]], %[[SE]]
  // CHECK-NEXT: math.exp2 %[[FMA]]
  // Sums stay apart: no reduction over the quad in the loop.
  // CHECK: %[[SUMS:.*]] = tile.reduce add %[[P]] over "k" : <[q:128, k:64] x f32> -> <[q:128, r:4] x f32>
  // CHECK: tile.map %[[L]], %[[ALPHA]], %[[SUMS]] :
  // CHECK: math.fma
  // CHECK-NOT: tile.softmax_step
  %p, %m1, %l1, %alpha = tile.softmax_step %x, %m, %l factor %c : !x, !row, !part -> !x, !row, !part, !row
  // CHECK: tile.map %[[O]], %[[ALPHA]] : !tile.val<[q:128, v:96] x f32>, !tile.val<[q:128] x f32> -> !tile.val<[q:128, v:96] x f32>
  // CHECK: arith.mulf
  // CHECK-NOT: tile.rescale
  %o1 = tile.rescale %o, %alpha : !acc, !row
  gpu.return
}

// A term linear in the key: for each logit one multiply-add by a number that is
// known when registers are; all else once for each row and class of keys.
// CHECK-LABEL: gpu.func @ramp
// CHECK-SAME: (%[[X:.*]]: !tile.val<[q:128, k:64] x f32>, %[[M:.*]]: !tile.val<[q:128] x f32>, %{{.*}}, %[[B:.*]]: !tile.val<[q:128] x f32>, %[[C:.*]]: f32, %[[SLOPE:.*]]: f32)
gpu.func @ramp(%x: !x, %m: !row, %l: !part, %base: !row, %c: f32, %slope: f32) kernel {
  // CHECK: %[[Y:.*]] = tile.map %[[X]] index "k"(%{{.*}}) : {{.*}} {
  // CHECK-NEXT: ^bb0(%[[XE:.*]]: f32, %[[K:.*]]: i32):
  // CHECK-NEXT: %[[KF:.*]] = arith.sitofp %[[K]]
  // CHECK-NEXT: math.fma %[[SLOPE]], %[[KF]], %[[XE]]
  // CHECK: } {in_class}
  // CHECK: %[[BASE:.*]] = tile.map %[[B]] index "r"(%{{.*}}) : !tile.val<[q:128] x f32> -> !tile.val<[q:128, r:4] x f32>
  // CHECK: %[[LANE:.*]] = tile.reduce max %[[Y]] over "k" : {{.*}} -> <[q:128, r:4] x f32>
  // CHECK: %[[SUM:.*]] = tile.map %[[LANE]], %[[BASE]] :
  // CHECK: arith.addf
  // CHECK: %[[TILEMAX:.*]] = tile.reduce max %[[SUM]] over "r" :
  // CHECK: %[[ROWMAX:.*]] = tile.map %[[M]], %[[TILEMAX]] :
  // CHECK: %[[SHIFT:.*]] = tile.map %[[ROWMAX]] :
  // CHECK: %[[OFFSET:.*]] = tile.map %[[BASE]], %[[SHIFT]] :
  // CHECK: math.fma %{{.*}}, %[[C]], %{{.*}}
  // CHECK: tile.map %[[Y]], %[[OFFSET]] : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128, r:4] x f32>
  // CHECK: math.exp2
  %p, %m1, %l1, %alpha = tile.softmax_step %x, %m, %l factor %c ramp %slope base %base : !row : !x, !row, !part -> !x, !row, !part, !row
  gpu.return
}

// A maximum that is held: asked for is only whether the largest weight would
// exceed 2^15, by what is known in each class of keys. The rest is under a choice.
// CHECK-LABEL: gpu.func @held
// CHECK-SAME: (%[[X:.*]]: !tile.val<[q:128, k:64] x f32>, %[[M:.*]]: !tile.val<[q:128] x f32>, %[[L:.*]]: !tile.val<[q:128, r:4] x f32>, %[[O:.*]]: !tile.val<[q:128, v:96] x f32>, %[[C:.*]]: f32)
gpu.func @held(%x: !x, %m: !row, %l: !part, %o: !acc, %c: f32) kernel {
  // CHECK-NEXT: %[[LANE:.*]] = tile.reduce max %[[X]] over "k" : {{.*}} -> <[q:128, r:4] x f32>
  // The exponent of the largest weight, fused as that of every weight is.
  // CHECK-NEXT: %[[OLDSHIFT:.*]] = tile.map %[[M]] :
  // CHECK-NEXT: ^bb0(%[[ME:.*]]: f32):
  // CHECK-NEXT: %[[PROD:.*]] = arith.mulf %[[ME]], %[[C]]
  // CHECK-NEXT: arith.negf %[[PROD]]
  // CHECK: %[[EXCESS:.*]] = tile.map %[[LANE]], %[[OLDSHIFT]] :
  // CHECK-NEXT: ^bb0(%[[LE:.*]]: f32, %[[SE:.*]]: f32):
  // CHECK-NEXT: %[[LARGEST:.*]] = math.fma %[[LE]], %[[C]], %[[SE]]
  // CHECK-NEXT: %[[LIMIT:.*]] = arith.constant 1.500000e+01 : f32
  // CHECK-NEXT: arith.cmpf ogt, %[[LARGEST]], %[[LIMIT]]
  // CHECK: %[[GROWN:.*]] = tile.any %[[EXCESS]] ne 0.000000e+00
  // CHECK-NEXT: %[[NEW:.*]]:2 = scf.if %[[GROWN]]
  // CHECK-NEXT: %[[TILEMAX:.*]] = tile.reduce max %[[LANE]] over "r"
  // Each row for itself.
  // CHECK: %[[FOLLOWS:.*]] = tile.map %[[TILEMAX]], %{{[^ ]*}} :
  // CHECK: arith.cmpf ogt
  // CHECK: %[[NEWMAX:.*]] = tile.map %[[M]], %[[TILEMAX]] :
  // CHECK: %[[ROWMAX:.*]] = tile.map %[[M]], %[[NEWMAX]], %[[FOLLOWS]] :
  // CHECK: arith.select
  // CHECK: %[[NEWSHIFT:.*]] = tile.map %[[ROWMAX]] :
  // CHECK: %[[ALPHA:.*]] = tile.map %[[M]], %[[NEWSHIFT]] :
  // CHECK: scf.yield %[[ROWMAX]], %[[ALPHA]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK-NEXT: %[[ONES:.*]] = tile.fill %[[ONE]]
  // CHECK-NEXT: scf.yield %[[M]], %[[ONES]]
  // CHECK: %[[SHIFT:.*]] = tile.map %[[NEW]]#0 :
  // CHECK: %[[P:.*]] = tile.map %[[X]], %[[SHIFT]] :
  // CHECK: %[[SUMS:.*]] = tile.reduce add %[[P]] over "k"
  // CHECK-NEXT: tile.map %[[L]], %[[NEW]]#1, %[[SUMS]] :
  %p, %m1, %l1, %alpha = tile.softmax_step %x, %m, %l factor %c held 15 : !x, !row, !part -> !x, !row, !part, !row
  // CHECK: scf.if %[[GROWN]]
  // CHECK-NEXT: %[[O1:.*]] = tile.map %[[O]], %[[NEW]]#1 :
  // CHECK: scf.yield %[[O1]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[O]]
  // CHECK-NOT: math.exp2
  // CHECK-NOT: tile.rescale
  %o1 = tile.rescale %o, %alpha : !acc, !row
  gpu.return
}

// Early weights are relative to the old maximum, and made again from the logits
// where it is not held.
// CHECK-LABEL: gpu.func @early
// CHECK-SAME: (%[[X:.*]]: !tile.val<[q:128, k:64] x f32>, %[[M:.*]]: !tile.val<[q:128] x f32>, %[[L:[^ ]*]]: {{.*}}, %[[C:.*]]: f32)
gpu.func @early(%x: !x, %m: !row, %l: !part, %c: f32) kernel {
  // CHECK: %[[GROWN:.*]] = tile.any
  // CHECK-NEXT: %[[SHIFT:.*]] = tile.map %[[M]] :
  // CHECK: %[[EARLY:.*]] = tile.map %[[X]], %[[SHIFT]] :
  // CHECK: math.exp2
  // CHECK: %[[EARLYSUMS:.*]] = tile.reduce add %[[EARLY]]
  // CHECK-NEXT: %[[NEW:.*]]:4 = scf.if %[[GROWN]]
  // CHECK: %[[ROWMAX:.*]] = tile.map %[[M]], %{{[^ ,]*}}, %{{[^ ,]*}} :
  // CHECK: %[[NEWSHIFT:.*]] = tile.map %[[ROWMAX]] :
  // CHECK: %[[AGAIN:.*]] = tile.map %[[X]], %[[NEWSHIFT]] :
  // CHECK: %[[AGAINSUMS:.*]] = tile.reduce add %[[AGAIN]]
  // CHECK-NEXT: scf.yield %{{.*}}, %{{.*}}, %[[AGAIN]], %[[AGAINSUMS]]
  // CHECK: scf.yield %[[M]], %{{.*}}, %[[EARLY]], %[[EARLYSUMS]]
  // CHECK: tile.map %[[L]], %[[NEW]]#1, %[[NEW]]#3 :
  // CHECK-NOT: math.exp2
  // CHECK: gpu.return
  %p, %m1, %l1, %alpha = tile.softmax_step %x, %m, %l factor %c held 15 early : !x, !row, !part -> !x, !row, !part, !row
  gpu.return
}

// With a ramp too the test adds what the weights add, in the same order.
// CHECK-LABEL: gpu.func @held_ramp
// CHECK-SAME: %[[M:[^:]*]]: !tile.val<[q:128] x f32>, %{{[^:]*}}: !tile.val<[q:128, r:4] x f32>, %{{[^:]*}}: !tile.val<[q:128] x f32>, %[[C:[^:]*]]: f32
gpu.func @held_ramp(%x: !x, %m: !row, %l: !part, %base: !row, %c: f32, %slope: f32) kernel {
  // CHECK: %[[BASE:.*]] = tile.map %{{.*}} index "r"
  // CHECK: %[[LANE:.*]] = tile.reduce max
  // CHECK: %[[OLDSHIFT:.*]] = tile.map %[[M]] :
  // CHECK: %[[OFFSET:.*]] = tile.map %[[BASE]], %[[OLDSHIFT]] :
  // CHECK: math.fma
  // CHECK: %[[EXCESS:.*]] = tile.map %[[LANE]], %[[OFFSET]] :
  // CHECK: scf.if
  // CHECK-NEXT: %[[SUM:.*]] = tile.map %[[LANE]], %[[BASE]] :
  // CHECK: arith.addf
  // CHECK: tile.reduce max %[[SUM]] over "r"
  // CHECK: tile.reduce max %[[EXCESS]] over "r"
  %p, %m1, %l1, %alpha = tile.softmax_step %x, %m, %l factor %c ramp %slope base %base : !row held 15 : !x, !row, !part -> !x, !row, !part, !row
  gpu.return
}

// CHECK-LABEL: gpu.func @finalize
// CHECK-SAME: (%[[O:.*]]: !tile.val<[q:128, v:96] x f32>, %[[M:.*]]: !tile.val<[q:128] x f32>, %[[L:.*]]: !tile.val<[q:128, r:4] x f32>, %[[C:.*]]: f32)
gpu.func @finalize(%o: !acc, %m: !row, %l: !part, %c: f32) kernel {
  // CHECK: %[[SUM:.*]] = tile.reduce add %[[L]] over "r" : <[q:128, r:4] x f32> -> <[q:128] x f32>
  // A row without a visible key has sum 0 and gets the factor 0, not 1 / 0.
  // CHECK: %[[SCALE:.*]] = tile.map %[[M]], %[[SUM]] :
  // CHECK: arith.divf
  // CHECK: arith.cmpf oeq
  // CHECK: arith.select
  // CHECK: tile.yield
  // CHECK: tile.map %[[M]], %[[SUM]] :
  // CHECK: arith.mulf %{{.*}}, %[[C]]
  // CHECK: math.log2
  // CHECK: arith.addf
  // CHECK: tile.map %[[O]], %[[SCALE]] :
  // CHECK: arith.mulf
  // CHECK-NOT: math.exp2
  // CHECK-NOT: tile.finalize
  // CHECK: gpu.return
  %lse, %out = tile.finalize %m, %l factor %c acc %o : !row, !part, !acc -> !row, !acc
  gpu.return
}

// CHECK-LABEL: gpu.func @sink
// CHECK-SAME: %[[C:[^:]*]]: f32, %[[SINK:[^:]*]]: f32)
gpu.func @sink(%o: !acc, %m: !row, %l: !part, %c: f32, %sink: f32) kernel {
  // The sink is a natural logit; it joins the base-2 domain once, outside.
  // One of -1e30 or less is none (C2).
  // CHECK: arith.cmpf ole, %[[SINK]]
  // CHECK: %[[LOGIT:.*]] = arith.select
  // CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
  // CHECK: %[[SINK2:.*]] = arith.mulf %[[LOGIT]], %[[LOG2E]]
  // CHECK: tile.map
  // CHECK: arith.mulf %{{.*}}, %[[C]]
  // CHECK: %[[BASE:.*]] = arith.maxnumf %{{.*}}, %[[SINK2]]
  // CHECK: math.exp2
  // CHECK: math.exp2
  // CHECK: math.fma
  // CHECK: arith.divf
  // CHECK: tile.yield
  // CHECK: tile.map
  // CHECK: arith.maxnumf %{{.*}}, %[[SINK2]]
  // CHECK: math.log2
  // CHECK: gpu.return
  %lse, %out = tile.finalize %m, %l factor %c sink %sink acc %o : !row, !part, !acc -> !row, !acc
  gpu.return
}
}
