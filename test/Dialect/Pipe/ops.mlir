// Every op, type and attribute of the dialect parses, prints and parses back
// the same; the examples of the descriptions stand here word for word.
// RUN: attn-opt %s | FileCheck %s
// RUN: attn-opt %s > %t.1 && attn-opt %t.1 > %t.2 && cmp %t.1 %t.2
// RUN: attn-opt %s -mlir-print-op-generic | attn-opt | cmp - %t.1

gpu.module @kernels {
// CHECK-LABEL: gpu.func @role
gpu.func @role() kernel {
  // CHECK: pipe.role "compute" warps 4 {
  // CHECK-NEXT: pipe.open "k" via cp_async : <<[k:64, d:128] x bf16, shared 2>>
  // CHECK-NEXT: }
  pipe.role "compute" warps 4 {
    %kc = pipe.open "k" via cp_async : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>
  }
  // CHECK: pipe.role "other" warps 1 attributes {note = "kept"} {
  pipe.role "other" warps 1 attributes {note = "kept"} {
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @channels
gpu.func @channels(%kv: !tile.view<128 x bf16>, %vv: !tile.view<128 x bf16>, %ov: !tile.view<64 x bf16>,
                   %O16: !tile.val<[q:128, v:64] x bf16>, %n: i32, %k0: i32, %m0: i32, %more: i1) kernel {
  pipe.role "compute" warps 4 {
    // CHECK: %[[Q:.*]] = pipe.open "q" via cp_async : <<[q:128, d:128] x bf16, shared 1>>
    %qc = pipe.open "q" via cp_async : !pipe.channel<!tile.val<[q:128, d:128] x bf16, shared 1>>
    // CHECK: %[[O:.*]] = pipe.open "o" via st alias %[[Q]] : !pipe.channel<<[q:128, d:128] x bf16, shared 1>> : <<[q:128, v:64] x bf16, shared 1>>
    %oc = pipe.open "o" via st alias %qc : !pipe.channel<!tile.val<[q:128, d:128] x bf16, shared 1>> : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
    // CHECK: %[[K:.*]] = pipe.open "k"
    %kc = pipe.open "k" via cp_async : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>
    // CHECK: %[[V:.*]] = pipe.open "v"
    %vc = pipe.open "v" via cp_async : !pipe.channel<!tile.val<[k:64, v:128] x bf16, shared 2>>
    // CHECK: pipe.put %[[K]][%{{.*}}], %{{.*}}[%{{.*}}] when %{{.*}} ahead 1 whole : <<[k:64, d:128] x bf16, shared 2>>, <128 x bf16>
    pipe.put %kc[%n], %kv[%k0] when %more ahead 1 whole : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>, !tile.view<128 x bf16>
    // CHECK: pipe.put %[[V]][%{{.*}}], %{{.*}}[%{{.*}}] : <<[k:64, v:128] x bf16, shared 2>>, <128 x bf16>
    pipe.put %vc[%n], %vv[%k0] : !pipe.channel<!tile.val<[k:64, v:128] x bf16, shared 2>>, !tile.view<128 x bf16>
    // CHECK: pipe.take %[[K]][%{{.*}}] joined : <<[k:64, d:128] x bf16, shared 2>> -> <[k:64, d:128] x bf16, shared 2>
    %K = pipe.take %kc[%n] joined : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>> -> !tile.val<[k:64, d:128] x bf16, shared 2>
    // CHECK: pipe.take %[[V]][%{{.*}}] pending 0 : <<[k:64, v:128] x bf16, shared 2>> -> <[k:64, v:128] x bf16, shared 2>
    %V = pipe.take %vc[%n] pending 0 : !pipe.channel<!tile.val<[k:64, v:128] x bf16, shared 2>> -> !tile.val<[k:64, v:128] x bf16, shared 2>
    // CHECK: pipe.take %[[V]][%{{.*}}] : <<[k:64, v:128] x bf16, shared 2>>
    %V1 = pipe.take %vc[%k0] : !pipe.channel<!tile.val<[k:64, v:128] x bf16, shared 2>> -> !tile.val<[k:64, v:128] x bf16, shared 2>
    // CHECK: pipe.release %[[K]][%{{.*}}] : <<[k:64, d:128] x bf16, shared 2>>
    pipe.release %kc[%n] : !pipe.channel<!tile.val<[k:64, d:128] x bf16, shared 2>>
    // CHECK: pipe.sync
    pipe.sync
    // CHECK: pipe.drain %[[O]], %{{.*}}, %{{.*}}[%{{.*}}] : <<[q:128, v:64] x bf16, shared 1>>, <[q:128, v:64] x bf16> -> <64 x bf16>
    pipe.drain %oc, %O16, %ov[%m0] : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>, !tile.val<[q:128, v:64] x bf16> -> !tile.view<64 x bf16>
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @fed
gpu.func @fed(%k_map: !llvm.ptr, %o_map: !llvm.ptr, %S: !tile.val<[q:128, k:128] x f32>) kernel {
  pipe.role "compute" warps 8 {
    // CHECK: %[[Q:.*]] = pipe.open "q" via cp_async
    %qc = pipe.open "q" via cp_async : !pipe.channel<!tile.val<[q:128, d:128] x bf16, shared 1>>
    // CHECK: pipe.open "k" via tma map %{{.*}} : !llvm.ptr : <<[k:128, d:128] x bf16, shared 2>, fed>
    %kc = pipe.open "k" via tma map %k_map : !llvm.ptr : !pipe.channel<!tile.val<[k:128, d:128] x bf16, shared 2>, fed>
    // CHECK: pipe.open "o" via st alias %[[Q]]
    %oc = pipe.open "o" via st alias %qc : !pipe.channel<!tile.val<[q:128, d:128] x bf16, shared 1>> : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
    // CHECK: %[[OUT:.*]] = pipe.open "out" via st map %{{.*}} : !llvm.ptr : <<[q:128, v:64] x bf16, shared 1>>
    %out = pipe.open "out" via st map %o_map : !llvm.ptr : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
    // CHECK: pipe.drained %[[OUT]] : <<[q:128, v:64] x bf16, shared 1>>
    pipe.drained %out : !pipe.channel<!tile.val<[q:128, v:64] x bf16, shared 1>>
    // CHECK: pipe.open_mail : !pipe.mail
    %mail = pipe.open_mail : !pipe.mail
    // CHECK: pipe.turn_wait
    pipe.turn_wait
    // CHECK: pipe.turn_pass
    pipe.turn_pass
    // CHECK: pipe.await %{{.*}} pending 1 : !tile.val<[q:128, k:128] x f32>
    %S1 = pipe.await %S pending 1 : !tile.val<[q:128, k:128] x f32>
  }
  gpu.return
}

// CHECK-LABEL: gpu.func @attribute
gpu.func @attribute(%a: i32) kernel {
  // CHECK: arith.addi %{{.*}} {pipe.at = #pipe.at<ahead = 1, order = 5>} : i32
  %0 = arith.addi %a, %a {pipe.at = #pipe.at<ahead = 1, order = 5>} : i32
  gpu.return
}
}
