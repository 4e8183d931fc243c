// Approximate bounds that are listed: the key loop reads a list, which a kernel of
// its own writes.
// RUN: attn-opt %s --convert-attn-to-tile --canonicalize --cse --attn-verify-tile | FileCheck %s

// CHECK-LABEL: gpu.func @documents(
// CHECK-SAME: %[[LIST:[^:]*]]: !llvm.ptr<1> {attn.arg = "block_list"}
// CHECK: tile.for_work (%[[B:.*]], %{{.*}}, %[[M:.*]]) in
// The list of this batch entry and query tile: two counts and the first keys.
// CHECK: %[[ROW:.*]] = llvm.getelementptr %[[LIST]]
// CHECK: %[[FULL:.*]] = llvm.load %{{.*}} invariant : !llvm.ptr<1> -> i32
// CHECK: %[[PARTIAL:.*]] = llvm.load %{{.*}} invariant : !llvm.ptr<1> -> i32
// CHECK: %[[FULL_END:.*]] = arith.muli %[[FULL]], %[[STEP:.*]] : i32
// CHECK: tile.for_keys mixed (%[[PLACE:.*]]) in (%{{.*}}, %{{.*}}) full below %[[FULL_END]] step 64
// CHECK-NEXT: %[[K0:.*]] = tile.key_at %[[PLACE]][%[[FULL_END]]] shifts[%{{.*}}, %{{.*}}] in %{{.*}} step 64 partial 1 full 1
// CHECK: tile.load %{{.*}}[%[[K0]]]

// Takes what the lists depend on, and nothing else.
// CHECK-LABEL: gpu.func @documents_block_list(
// CHECK-SAME: {attn.arg = "block_list"}, %{{[^:]*}}: i32 {attn.arg = "batch"}, %{{[^:]*}}: i32 {attn.arg = "q_len"}, %{{[^:]*}}: i32 {attn.arg = "k_len"}, %{{[^:]*}}: !llvm.ptr<1> {attn.arg = "tensor:doc"})
// CHECK-SAME: attn.block_list = #attn.block_list<[#attn.dim<batch>], rows = 128, keys = 64>
// The ids of the rows, once for the query tile; those of the keys for each tile.
// CHECK: nvvm.redux.sync min
// CHECK: nvvm.redux.sync max
// CHECK: scf.for
// CHECK: nvvm.redux.sync min
// CHECK: nvvm.redux.sync max
// Pair by pair where that leaves it open.
// CHECK: scf.while
// CHECK: nvvm.vote.sync ballot
// CHECK: gpu.barrier
// One warp writes.
// CHECK: llvm.store
// CHECK: gpu.barrier
module {
attn.kernel @documents attributes {dtype = bf16, out = bf16, heads = 8 : i64, kv_heads = 2 : i64, head_dim_qk = 64 : i64, head_dim_v = 64 : i64, align = #attn.align<top_left>, outputs_o, schedule = #attn.schedule<fa2, tile = 128x64, warps = 4, stages = 1>} {
  attn.param @unused : i32 = 0 : i32
  attn.tensor @doc : i32 [batch, k_len]
  attn.mask {
  ^bb0(%b: i32, %h: i32, %g: i32, %i: i32, %q: i32, %k: i32, %q_len: i32, %k_len: i32):
    %0 = attn.read @doc[%b, %q] : i32
    %1 = attn.read @doc[%b, %k] : i32
    %2 = arith.cmpi eq, %0, %1 : i32
    attn.yield %2 : i1
  }
  attn.bounds visible 1 approximate listed [batch] {
  ^bb0(%b: i32, %h: i32, %g: i32, %q_first: i32, %q_last: i32, %q_len: i32, %k_len: i32):
    %zero = arith.constant 0 : i32
    attn.yield %zero, %k_len, %zero : i32, i32, i32
  }
  attn.factor {
    %c = arith.constant 1.44269504 : f32
    attn.yield %c : f32
  }
}
}
