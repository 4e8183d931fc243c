// A rule that would stand in the code more than 4096 times over is evaluated in a
// loop: the values of the elements move on, and what was made of them follows.
// RUN: attn-opt %s -pass-pipeline='builtin.module(gpu.module(convert-warp-to-nvvm))' | FileCheck %s

gpu.module @rules {
  // 64 registers x 69 operations: 8 elements are 552 operations, 16 more than 1024.
  // CHECK-LABEL: gpu.func @long
  // CHECK:         scf.for %[[STEP:.*]] = %{{.*}} to %[[STEPS:.*]] step
  // CHECK-SAME:        iter_args
  // CHECK-COUNT-552:   arith.{{mulf|addf}}
  // CHECK-NOT:         arith.{{mulf|addf}}
  // CHECK:           scf.yield
  // CHECK:         } {loop_annotation = #{{.*}}}
  gpu.func @long(%row: i32, %column: i32, %s: f32, %w: f32) kernel {
    %S = warp.fill %s : <64x128xf32, acc, warps = 4>
    %X = warp.map %S row(%row) column(%column) : !warp.frag<64x128xf32, acc, warps = 4> -> <64x128xf32, acc, warps = 4> {
    ^bb0(%x: f32, %q: i32, %k: i32):
        %m0 = arith.mulf %x, %w : f32
        %m1 = arith.mulf %m0, %w : f32
        %m2 = arith.mulf %m1, %w : f32
        %m3 = arith.mulf %m2, %w : f32
        %m4 = arith.mulf %m3, %w : f32
        %m5 = arith.mulf %m4, %w : f32
        %m6 = arith.mulf %m5, %w : f32
        %m7 = arith.mulf %m6, %w : f32
        %m8 = arith.mulf %m7, %w : f32
        %m9 = arith.mulf %m8, %w : f32
        %m10 = arith.mulf %m9, %w : f32
        %m11 = arith.mulf %m10, %w : f32
        %m12 = arith.mulf %m11, %w : f32
        %m13 = arith.mulf %m12, %w : f32
        %m14 = arith.mulf %m13, %w : f32
        %m15 = arith.mulf %m14, %w : f32
        %m16 = arith.mulf %m15, %w : f32
        %m17 = arith.mulf %m16, %w : f32
        %m18 = arith.mulf %m17, %w : f32
        %m19 = arith.mulf %m18, %w : f32
        %m20 = arith.mulf %m19, %w : f32
        %m21 = arith.mulf %m20, %w : f32
        %m22 = arith.mulf %m21, %w : f32
        %m23 = arith.mulf %m22, %w : f32
        %m24 = arith.mulf %m23, %w : f32
        %m25 = arith.mulf %m24, %w : f32
        %m26 = arith.mulf %m25, %w : f32
        %m27 = arith.mulf %m26, %w : f32
        %m28 = arith.mulf %m27, %w : f32
        %m29 = arith.mulf %m28, %w : f32
        %m30 = arith.mulf %m29, %w : f32
        %m31 = arith.mulf %m30, %w : f32
        %m32 = arith.mulf %m31, %w : f32
        %m33 = arith.mulf %m32, %w : f32
        %m34 = arith.mulf %m33, %w : f32
        %m35 = arith.mulf %m34, %w : f32
        %m36 = arith.mulf %m35, %w : f32
        %m37 = arith.mulf %m36, %w : f32
        %m38 = arith.mulf %m37, %w : f32
        %m39 = arith.mulf %m38, %w : f32
        %m40 = arith.mulf %m39, %w : f32
        %m41 = arith.mulf %m40, %w : f32
        %m42 = arith.mulf %m41, %w : f32
        %m43 = arith.mulf %m42, %w : f32
        %m44 = arith.mulf %m43, %w : f32
        %m45 = arith.mulf %m44, %w : f32
        %m46 = arith.mulf %m45, %w : f32
        %m47 = arith.mulf %m46, %w : f32
        %m48 = arith.mulf %m47, %w : f32
        %m49 = arith.mulf %m48, %w : f32
        %m50 = arith.mulf %m49, %w : f32
        %m51 = arith.mulf %m50, %w : f32
        %m52 = arith.mulf %m51, %w : f32
        %m53 = arith.mulf %m52, %w : f32
        %m54 = arith.mulf %m53, %w : f32
        %m55 = arith.mulf %m54, %w : f32
        %m56 = arith.mulf %m55, %w : f32
        %m57 = arith.mulf %m56, %w : f32
        %m58 = arith.mulf %m57, %w : f32
        %m59 = arith.mulf %m58, %w : f32
        %m60 = arith.mulf %m59, %w : f32
        %m61 = arith.mulf %m60, %w : f32
        %m62 = arith.mulf %m61, %w : f32
        %m63 = arith.mulf %m62, %w : f32
        %m64 = arith.mulf %m63, %w : f32
        %m65 = arith.mulf %m64, %w : f32
        %m66 = arith.mulf %m65, %w : f32
        %m67 = arith.mulf %m66, %w : f32
        %y = arith.addf %m67, %x : f32
        warp.yield %y : f32
    }
    gpu.return
  }

  // 24 registers x 180 operations fit; 48 x 100 do not. A value of a row is chosen by
  // the number of the element, of which 8 stand in a step.
  // CHECK-LABEL: gpu.func @rows
  // CHECK:         scf.for %[[STEP:.*]] = %{{.*}} iter_args
  // CHECK:           %[[FIRST:.*]] = arith.muli %[[STEP]], %c8
  // CHECK:           %[[AT:.*]] = arith.addi %[[FIRST]], %c0
  // CHECK:           %[[N8:.*]] = arith.remui %{{.*}}, %c12
  // CHECK:           %[[MT:.*]] = arith.divui %{{.*}}, %c12
  // CHECK:           %[[ROW:.*]] = arith.addi
  // CHECK:           arith.cmpi eq, %[[ROW]], %c1
  // CHECK-NEXT:      arith.select
  // CHECK-COUNT-792: arith.mulf
  // CHECK-NOT:       arith.mulf
  gpu.func @rows(%column: i32, %s: f32) kernel {
    %S = warp.fill %s : <64x96xf32, acc, warps = 4>
    %M = warp.fill %s : <64x1xf32, row, warps = 4>
    %X = warp.map %S, %M, %S column(%column) : !warp.frag<64x96xf32, acc, warps = 4>, !warp.frag<64x1xf32, row, warps = 4>, !warp.frag<64x96xf32, acc, warps = 4> -> <64x96xf32, acc, warps = 4> {
    ^bb0(%x: f32, %max: f32, %y: f32, %k: i32):
        %sum = arith.addf %x, %y : f32
        %m0 = arith.mulf %sum, %max : f32
        %m1 = arith.mulf %m0, %max : f32
        %m2 = arith.mulf %m1, %max : f32
        %m3 = arith.mulf %m2, %max : f32
        %m4 = arith.mulf %m3, %max : f32
        %m5 = arith.mulf %m4, %max : f32
        %m6 = arith.mulf %m5, %max : f32
        %m7 = arith.mulf %m6, %max : f32
        %m8 = arith.mulf %m7, %max : f32
        %m9 = arith.mulf %m8, %max : f32
        %m10 = arith.mulf %m9, %max : f32
        %m11 = arith.mulf %m10, %max : f32
        %m12 = arith.mulf %m11, %max : f32
        %m13 = arith.mulf %m12, %max : f32
        %m14 = arith.mulf %m13, %max : f32
        %m15 = arith.mulf %m14, %max : f32
        %m16 = arith.mulf %m15, %max : f32
        %m17 = arith.mulf %m16, %max : f32
        %m18 = arith.mulf %m17, %max : f32
        %m19 = arith.mulf %m18, %max : f32
        %m20 = arith.mulf %m19, %max : f32
        %m21 = arith.mulf %m20, %max : f32
        %m22 = arith.mulf %m21, %max : f32
        %m23 = arith.mulf %m22, %max : f32
        %m24 = arith.mulf %m23, %max : f32
        %m25 = arith.mulf %m24, %max : f32
        %m26 = arith.mulf %m25, %max : f32
        %m27 = arith.mulf %m26, %max : f32
        %m28 = arith.mulf %m27, %max : f32
        %m29 = arith.mulf %m28, %max : f32
        %m30 = arith.mulf %m29, %max : f32
        %m31 = arith.mulf %m30, %max : f32
        %m32 = arith.mulf %m31, %max : f32
        %m33 = arith.mulf %m32, %max : f32
        %m34 = arith.mulf %m33, %max : f32
        %m35 = arith.mulf %m34, %max : f32
        %m36 = arith.mulf %m35, %max : f32
        %m37 = arith.mulf %m36, %max : f32
        %m38 = arith.mulf %m37, %max : f32
        %m39 = arith.mulf %m38, %max : f32
        %m40 = arith.mulf %m39, %max : f32
        %m41 = arith.mulf %m40, %max : f32
        %m42 = arith.mulf %m41, %max : f32
        %m43 = arith.mulf %m42, %max : f32
        %m44 = arith.mulf %m43, %max : f32
        %m45 = arith.mulf %m44, %max : f32
        %m46 = arith.mulf %m45, %max : f32
        %m47 = arith.mulf %m46, %max : f32
        %m48 = arith.mulf %m47, %max : f32
        %m49 = arith.mulf %m48, %max : f32
        %m50 = arith.mulf %m49, %max : f32
        %m51 = arith.mulf %m50, %max : f32
        %m52 = arith.mulf %m51, %max : f32
        %m53 = arith.mulf %m52, %max : f32
        %m54 = arith.mulf %m53, %max : f32
        %m55 = arith.mulf %m54, %max : f32
        %m56 = arith.mulf %m55, %max : f32
        %m57 = arith.mulf %m56, %max : f32
        %m58 = arith.mulf %m57, %max : f32
        %m59 = arith.mulf %m58, %max : f32
        %m60 = arith.mulf %m59, %max : f32
        %m61 = arith.mulf %m60, %max : f32
        %m62 = arith.mulf %m61, %max : f32
        %m63 = arith.mulf %m62, %max : f32
        %m64 = arith.mulf %m63, %max : f32
        %m65 = arith.mulf %m64, %max : f32
        %m66 = arith.mulf %m65, %max : f32
        %m67 = arith.mulf %m66, %max : f32
        %m68 = arith.mulf %m67, %max : f32
        %m69 = arith.mulf %m68, %max : f32
        %m70 = arith.mulf %m69, %max : f32
        %m71 = arith.mulf %m70, %max : f32
        %m72 = arith.mulf %m71, %max : f32
        %m73 = arith.mulf %m72, %max : f32
        %m74 = arith.mulf %m73, %max : f32
        %m75 = arith.mulf %m74, %max : f32
        %m76 = arith.mulf %m75, %max : f32
        %m77 = arith.mulf %m76, %max : f32
        %m78 = arith.mulf %m77, %max : f32
        %m79 = arith.mulf %m78, %max : f32
        %m80 = arith.mulf %m79, %max : f32
        %m81 = arith.mulf %m80, %max : f32
        %m82 = arith.mulf %m81, %max : f32
        %m83 = arith.mulf %m82, %max : f32
        %m84 = arith.mulf %m83, %max : f32
        %m85 = arith.mulf %m84, %max : f32
        %m86 = arith.mulf %m85, %max : f32
        %m87 = arith.mulf %m86, %max : f32
        %m88 = arith.mulf %m87, %max : f32
        %m89 = arith.mulf %m88, %max : f32
        %m90 = arith.mulf %m89, %max : f32
        %m91 = arith.mulf %m90, %max : f32
        %m92 = arith.mulf %m91, %max : f32
        %m93 = arith.mulf %m92, %max : f32
        %m94 = arith.mulf %m93, %max : f32
        %m95 = arith.mulf %m94, %max : f32
        %m96 = arith.mulf %m95, %max : f32
        %m97 = arith.mulf %m96, %max : f32
        %m98 = arith.mulf %m97, %max : f32
        warp.yield %m98 : f32
    }
    gpu.return
  }
}
