// Every op and type of the dialect parses, prints and parses back the same;
// the examples of the op descriptions stand here word for word.
// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s > %t.1 && attn-opt %t.1 > %t.2 && cmp %t.1 %t.2
// RUN: attn-opt %s -mlir-print-op-generic | attn-opt | cmp - %t.1

// CHECK-LABEL: gpu.func @loops
gpu.module @kernels {
gpu.func @loops(%starts: !llvm.ptr<1>, %batch: i32, %heads: i32, %rows: i32, %begin: i32, %end: i32, %fb: i32, %fe: i32, %zero: f32, %one: f32) kernel {
  // CHECK: tile.for_work (%[[B:.*]], %[[H:.*]], %[[M0:.*]]) in (%{{.*}}, %{{.*}}, %{{.*}}) step 128 {
  // CHECK-NEXT: arith.addi %[[M0]], %[[H]] : i32
  // CHECK-NEXT: }
  tile.for_work (%b, %h, %m0) in (%batch, %heads, %rows) step 128 {
    %0 = arith.addi %m0, %h : i32
  }
  // CHECK: tile.for_work (%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}, %{{.*}}) step 128 packed %{{.*}} together %{{.*}} {
  tile.for_work (%b, %h, %m0) in (%batch, %heads, %rows) step 128 packed %starts together %heads {
    %0 = arith.addi %m0, %h : i32
  }
  // CHECK: %[[SUM:.*]] = tile.for_keys mixed (%{{.*}}) in (%{{.*}}, %{{.*}}) full below %{{.*}} step 64 iter(%[[ACC:.*]] = %{{.*}}) : (f32) {
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[ACC]], %{{.*}} : f32
  // CHECK-NEXT: tile.yield %[[NEXT]] : f32
  %sum = tile.for_keys mixed (%place) in (%begin, %end) full below %fe step 64 iter(%acc = %zero) : (f32) {
    %next = arith.addf %acc, %one : f32
    tile.yield %next : f32
  }
  // CHECK: tile.for_keys full (%{{.*}}) in (%{{.*}}, %{{.*}}) step 32 {
  // CHECK-NEXT: tile.yield
  tile.for_keys full (%k0) in (%begin, %end) step 32 {
    tile.yield
  }
  // CHECK: tile.for_keys partial (%{{.*}}) in (%{{.*}}, %{{.*}}) step 32 iter(%{{.*}} = %[[SUM]], %{{.*}} = %{{.*}}) : (f32, i32) {
  // CHECK: } {note = "kept"}
  %two:2 = tile.for_keys partial (%k0) in (%begin, %end) step 32 iter(%a = %sum, %n = %begin) : (f32, i32) {
    tile.yield %a, %n : f32, i32
  } {note = "kept"}
  gpu.return
}

// CHECK-LABEL: gpu.func @key_at
// CHECK-SAME: (%[[P:.*]]: i32, %[[T:.*]]: i32, %[[S:.*]]: i32, %[[NONE:.*]]: i32)
gpu.func @key_at(%place: i32, %full_end: i32, %far: i32, %none: i32) -> (i32, i32) {
  // CHECK: tile.key_at %[[P]][%[[T]]] shifts[%[[S]], %[[NONE]]] partial 1 full 1
  %k0 = tile.key_at %place [%full_end] shifts [%far, %none] partial 1 full 1
  // CHECK: tile.key_at %[[P]][] shifts[%[[S]]] partial 0 full 1
  %k1 = tile.key_at %place [] shifts [%far] partial 0 full 1
  gpu.return %k0, %k1 : i32, i32
}

// CHECK-LABEL: gpu.func @memory
gpu.func @memory(%k: !llvm.ptr<1>, %offset: i64, %stride: i64, %k_len: i32, %k0: i32, %m0: i32, %zero: f32,
                 %ov: !tile.view<128 x bf16>, %lv: !tile.view<1 x f32>) kernel {
  // CHECK: tile.make_view "k" %{{.*}}[%{{.*}}] stride %{{.*}} rows %{{.*}} : <72 x bf16>
  %kv = tile.make_view "k" %k[%offset] stride %stride rows %k_len : !tile.view<72 x bf16>
  // CHECK: tile.make_view "k" %{{.*}}[%{{.*}}] stride %{{.*}} rows %{{.*}} at(%{{.*}}, %{{.*}}) ragged : <72 x bf16>
  %rv = tile.make_view "k" %k[%offset] stride %stride rows %k_len at(%k0, %m0) ragged : !tile.view<72 x bf16>
  // CHECK: tile.load %{{.*}}[%{{.*}}] : <72 x bf16> -> <[k:64, d:80] x bf16>
  %K = tile.load %kv[%k0] : !tile.view<72 x bf16> -> !tile.val<[k:64, d:80] x bf16>
  // CHECK: tile.fill %{{.*}} : f32 -> <[q:128, r:4] x f32>
  %l = tile.fill %zero : f32 -> !tile.val<[q:128, r:4] x f32>
  %O = tile.fill %zero : f32 -> !tile.val<[q:128, v:128] x f32>
  %lse = tile.fill %zero : f32 -> !tile.val<[q:128] x f32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}] : <[q:128, v:128] x f32> -> <128 x bf16>
  tile.store %O, %ov[%m0] : !tile.val<[q:128, v:128] x f32> -> !tile.view<128 x bf16>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}] : <[q:128] x f32> -> <1 x f32>
  tile.store %lse, %lv[%m0] : !tile.val<[q:128] x f32> -> !tile.view<1 x f32>
  gpu.return
}

// CHECK-LABEL: gpu.func @arithmetic
gpu.func @arithmetic(%Q: !tile.val<[q:128, d:128] x bf16>, %K: !tile.val<[k:64, d:128] x bf16>,
                     %V: !tile.val<[k:64, v:128] x bf16, shared 2>, %O: !tile.val<[q:128, v:128] x f32>,
                     %rowMax: !tile.val<[q:128] x f32>, %q0: i32, %k0: i32) kernel {
  // CHECK: %[[S:.*]] = tile.dot %{{.*}}, %{{.*}} over "d" : <[q:128, d:128] x bf16>, <[k:64, d:128] x bf16> -> <[q:128, k:64] x f32>
  %S = tile.dot %Q, %K over "d" : !tile.val<[q:128, d:128] x bf16>, !tile.val<[k:64, d:128] x bf16> -> !tile.val<[q:128, k:64] x f32>
  // CHECK: %[[P:.*]] = tile.map %[[S]], %{{.*}} : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32> -> !tile.val<[q:128, k:64] x f32> {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[M:.*]]: f32):
  // CHECK-NEXT: %[[D:.*]] = arith.subf %[[X]], %[[M]] : f32
  // CHECK-NEXT: tile.yield %[[D]] : f32
  %P = tile.map %S, %rowMax : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%s: f32, %m: f32):
    %0 = arith.subf %s, %m : f32
    tile.yield %0 : f32
  }
  // CHECK: tile.map %[[S]] index "k"(%{{.*}}) : !tile.val
  %Y = tile.map %S index "k"(%k0) : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%s: f32, %k: i32):
    %0 = arith.sitofp %k : i32 to f32
    tile.yield %0 : f32
  }
  // CHECK: tile.map %[[S]] index "k"(%{{.*}}), "q"(%{{.*}}) : {{.*}} -> {{.*}} {
  // CHECK: } {note = "kept"}
  %Z = tile.map %S index "k"(%k0), "q"(%q0) : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x f32> {
  ^bb0(%s: f32, %k: i32, %q: i32):
    tile.yield %s : f32
  } {note = "kept"}
  // CHECK: tile.map index "q"(%{{.*}}) : -> !tile.val<[q:128] x f32> {
  %iota = tile.map index "q"(%q0) : -> !tile.val<[q:128] x f32> {
  ^bb0(%q: i32):
    %0 = arith.sitofp %q : i32 to f32
    tile.yield %0 : f32
  }
  // CHECK: %[[MASKED:.*]] = tile.mask %[[S]](%{{.*}}, %{{.*}}) : <[q:128, k:64] x f32> {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: i32, %[[KEY:.*]]: i32):
  // CHECK-NEXT: arith.cmpi sle, %[[KEY]], %[[I]] : i32
  // CHECK-NEXT: tile.yield %{{.*}} : i1
  %X = tile.mask %S(%q0, %k0) : !tile.val<[q:128, k:64] x f32> {
  ^bb0(%i: i32, %k: i32):
    %0 = arith.cmpi sle, %k, %i : i32
    tile.yield %0 : i1
  }
  // CHECK: tile.any %[[MASKED]] ne 0xFF800000 : <[q:128, k:64] x f32>
  %any = tile.any %X ne 0xFF800000 : !tile.val<[q:128, k:64] x f32>
  // CHECK: tile.reduce max %[[MASKED]] over "k" : <[q:128, k:64] x f32> -> <[q:128] x f32>
  %max = tile.reduce max %X over "k" : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128] x f32>
  // CHECK: %[[PART:.*]] = tile.reduce add %[[P]] over "k" : <[q:128, k:64] x f32> -> <[q:128, r:4] x f32>
  %part = tile.reduce add %P over "k" : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, r:4] x f32>
  // CHECK: tile.reduce add %[[PART]] over "r" : <[q:128, r:4] x f32> -> <[q:128] x f32>
  %sum = tile.reduce add %part over "r" : !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128] x f32>
  // CHECK: %[[P16:.*]] = tile.cast %[[P]] : <[q:128, k:64] x f32> -> <[q:128, k:64] x bf16>
  %P16 = tile.cast %P : !tile.val<[q:128, k:64] x f32> -> !tile.val<[q:128, k:64] x bf16>
  // CHECK: tile.dot %[[P16]], %{{.*}} init %{{.*}} : !tile.val<[q:128, v:128] x f32> over "k" : <[q:128, k:64] x bf16>, <[k:64, v:128] x bf16, shared 2> -> <[q:128, v:128] x f32>
  %O2 = tile.dot %P16, %V init %O : !tile.val<[q:128, v:128] x f32> over "k" : !tile.val<[q:128, k:64] x bf16>, !tile.val<[k:64, v:128] x bf16, shared 2> -> !tile.val<[q:128, v:128] x f32>
  gpu.return
}

// CHECK-LABEL: gpu.func @softmax
gpu.func @softmax(%X: !tile.val<[q:128, k:64] x f32>, %m: !tile.val<[q:128] x f32>,
                  %l: !tile.val<[q:128, r:4] x f32>, %O: !tile.val<[q:128, v:128] x f32>, %c: f32, %s: f32) kernel {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = tile.softmax_step %{{.*}}, %{{.*}}, %{{.*}} factor %{{.*}} : <[q:128, k:64] x f32>, <[q:128] x f32>, <[q:128, r:4] x f32> -> <[q:128, k:64] x f32>, <[q:128] x f32>, <[q:128, r:4] x f32>, <[q:128] x f32>
  %P0, %m0, %l0, %a0 = tile.softmax_step %X, %m, %l factor %c
      : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>
      -> !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128] x f32>
  // CHECK: %{{.*}}, %[[NM:.*]], %[[NS:.*]], %[[ALPHA:.*]] = tile.softmax_step %{{.*}}, %{{.*}}, %{{.*}} factor %{{.*}} held 15 early :
  %P, %m1, %l1, %alpha = tile.softmax_step %X, %m, %l factor %c held 15 early
      : !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>
      -> !tile.val<[q:128, k:64] x f32>, !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128] x f32>
  // CHECK: tile.rescale %{{.*}}, %[[ALPHA]] : <[q:128, v:128] x f32>, <[q:128] x f32>
  %O1 = tile.rescale %O, %alpha : !tile.val<[q:128, v:128] x f32>, !tile.val<[q:128] x f32>
  // CHECK: tile.finalize %{{.*}}, %{{.*}} factor %{{.*}} sink %{{.*}} acc %{{.*}} : <[q:128] x f32>, <[q:128, r:4] x f32>, !tile.val<[q:128, v:128] x f32> -> <[q:128] x f32>, !tile.val<[q:128, v:128] x f32>
  %lse, %o = tile.finalize %m, %l factor %c sink %s acc %O
      : !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32>, !tile.val<[q:128, v:128] x f32>
      -> !tile.val<[q:128] x f32>, !tile.val<[q:128, v:128] x f32>
  // CHECK: tile.finalize %[[NM]], %[[NS]] factor %{{.*}} : <[q:128] x f32>, <[q:128, r:4] x f32> -> <[q:128] x f32>
  %lse1 = tile.finalize %m1, %l1 factor %c
      : !tile.val<[q:128] x f32>, !tile.val<[q:128, r:4] x f32> -> !tile.val<[q:128] x f32>
  gpu.return
}

// The types alone.
// CHECK-LABEL: gpu.func @types
// CHECK-SAME: %{{.*}}: !tile.val<[q:128, k:64] x f32>, %{{.*}}: !tile.val<[k:64, d:128] x bf16, shared 2>, %{{.*}}: !tile.view<128 x bf16>, %{{.*}}: !tile.view<1 x f32>
gpu.func @types(%a: !tile.val<[q:128, k:64] x f32>, %b: !tile.val<[k:64, d:128] x bf16, shared 2>,
                %c: !tile.view<128 x bf16>, %d: !tile.view<1 x f32>) kernel {
  gpu.return
}
}
