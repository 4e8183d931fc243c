// A whole FlashAttention-2 kernel at the warp level: d128, 128 x 64 tiles, four
// warps, no mask. One stage of K and one of V, each loaded while the other is
// used; Q is read from shared memory again for every tile. k_len is a multiple of 64.
// RUN: attn-opt %s --attn-warp-to-nvvm-pipeline | FileCheck %s

!acc_s = !warp.frag<128x64xf32, acc, warps = 4>
!acc_p = !warp.frag<128x64xbf16, acc, warps = 4>
!acc_o = !warp.frag<128x128xf32, acc, warps = 4>
!out_o = !warp.frag<128x128xbf16, acc, warps = 4>
!row = !warp.frag<128x1xf32, row, warps = 4>
!a = !warp.frag<128x16xbf16, a, warps = 4>
!bk = !warp.frag<64x16xbf16, b, warps = 4>
!bv = !warp.frag<128x16xbf16, b, warps = 4>
!qbuf = !warp.buffer<1x128x128xbf16>
!kvbuf = !warp.buffer<1x64x128xbf16>

// CHECK-LABEL: llvm.func @full
// CHECK-SAME: gpu.kernel
// CHECK-NOT: unrealized_conversion_cast
gpu.module @kernels {
  gpu.func @full(%q: !llvm.ptr<1>, %k: !llvm.ptr<1>, %v: !llvm.ptr<1>, %o: !llvm.ptr<1>, %lse: !llvm.ptr<1>,
                 %row_stride: i64, %head_stride: i64, %batch_stride: i64, %heads: i32, %q_len: i32, %k_len: i32, %factor: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 2 : i32} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %ninf = arith.constant 0xff800000 : f32
    %ln2 = arith.constant 0.693147182 : f32

    // One work item: (batch, head, 128 queries).
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %bz = gpu.block_id z
    %tile = arith.index_cast %bx : index to i32
    %head = arith.index_cast %by : index to i64
    %batch = arith.index_cast %bz : index to i64
    %m0 = arith.muli %tile, %c128 : i32
    %m0_i64 = arith.extsi %m0 : i32 to i64
    %q_rows = arith.subi %q_len, %m0 : i32
    %head_offset = arith.muli %head, %head_stride : i64
    %batch_offset = arith.muli %batch, %batch_stride : i64
    %base = arith.addi %head_offset, %batch_offset : i64
    %row_offset = arith.muli %m0_i64, %row_stride : i64
    %q_offset = arith.addi %base, %row_offset : i64
    %q_ptr = llvm.getelementptr %q[%q_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %o_ptr = llvm.getelementptr %o[%q_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %k_base = llvm.getelementptr %k[%base] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %v_base = llvm.getelementptr %v[%base] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16

    %qb = warp.alloc {offset = 0 : i64} : !qbuf
    %kb = warp.alloc {offset = 32768 : i64} : !kvbuf
    %vb = warp.alloc {offset = 49152 : i64} : !kvbuf
    // The output takes Q's place.
    %ob = warp.alloc {offset = 0 : i64} : !qbuf

    // Key tiles from right to left.
    %tiles = arith.divui %k_len, %c64 : i32
    %last = arith.subi %tiles, %c1 : i32
    %k0_last = arith.muli %last, %c64 : i32
    %k0_i64 = arith.extsi %k0_last : i32 to i64
    %kv_offset = arith.muli %k0_i64, %row_stride : i64
    %k_ptr0 = llvm.getelementptr %k_base[%kv_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %v_ptr0 = llvm.getelementptr %v_base[%kv_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %c64_i64 = arith.extsi %c64 : i32 to i64
    %tile_stride = arith.muli %row_stride, %c64_i64 : i64
    %back = arith.subi %c0_i64, %tile_stride : i64

    warp.cp_async %qb[%c0], %q_ptr, %row_stride, %q_rows, cols = 128, warps = 4 : !qbuf
    warp.cp_async %kb[%c0], %k_ptr0, %row_stride, %c64, cols = 128, warps = 4 : !kvbuf
    warp.cp_async_commit

    %m_init = warp.fill %ninf : !row
    %l_init = warp.fill %zero : !row
    %o_init = warp.fill %zero : !acc_o
    %s_init = warp.fill %zero : !acc_s

    %k_next0 = llvm.getelementptr %k_ptr0[%back] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %r:5 = scf.for %j = %c0 to %tiles step %c1
        iter_args(%m = %m_init, %l = %l_init, %acc = %o_init, %k_next = %k_next0, %v_ptr = %v_ptr0) -> (!row, !row, !acc_o, !llvm.ptr<1>, !llvm.ptr<1>) : i32 {
      warp.cp_async_wait {groups = 0 : i64}
      warp.barrier {warps = 4 : i64}
      warp.cp_async %vb[%c0], %v_ptr, %row_stride, %c64, cols = 128, warps = 4 : !kvbuf
      warp.cp_async_commit

      // S = Q K^T
      %q0 = warp.ldmatrix %qb[%c0] {column = 0 : i64} : !qbuf -> !a
      %k0 = warp.ldmatrix %kb[%c0] {column = 0 : i64} : !kvbuf -> !bk
      %s0 = warp.mma %s_init, %q0, %k0 : !acc_s, !a, !bk
      %q1 = warp.ldmatrix %qb[%c0] {column = 16 : i64} : !qbuf -> !a
      %k1 = warp.ldmatrix %kb[%c0] {column = 16 : i64} : !kvbuf -> !bk
      %s1 = warp.mma %s0, %q1, %k1 : !acc_s, !a, !bk
      %q2 = warp.ldmatrix %qb[%c0] {column = 32 : i64} : !qbuf -> !a
      %k2 = warp.ldmatrix %kb[%c0] {column = 32 : i64} : !kvbuf -> !bk
      %s2 = warp.mma %s1, %q2, %k2 : !acc_s, !a, !bk
      %q3 = warp.ldmatrix %qb[%c0] {column = 48 : i64} : !qbuf -> !a
      %k3 = warp.ldmatrix %kb[%c0] {column = 48 : i64} : !kvbuf -> !bk
      %s3 = warp.mma %s2, %q3, %k3 : !acc_s, !a, !bk
      %q4 = warp.ldmatrix %qb[%c0] {column = 64 : i64} : !qbuf -> !a
      %k4 = warp.ldmatrix %kb[%c0] {column = 64 : i64} : !kvbuf -> !bk
      %s4 = warp.mma %s3, %q4, %k4 : !acc_s, !a, !bk
      %q5 = warp.ldmatrix %qb[%c0] {column = 80 : i64} : !qbuf -> !a
      %k5 = warp.ldmatrix %kb[%c0] {column = 80 : i64} : !kvbuf -> !bk
      %s5 = warp.mma %s4, %q5, %k5 : !acc_s, !a, !bk
      %q6 = warp.ldmatrix %qb[%c0] {column = 96 : i64} : !qbuf -> !a
      %k6 = warp.ldmatrix %kb[%c0] {column = 96 : i64} : !kvbuf -> !bk
      %s6 = warp.mma %s5, %q6, %k6 : !acc_s, !a, !bk
      %q7 = warp.ldmatrix %qb[%c0] {column = 112 : i64} : !qbuf -> !a
      %k7 = warp.ldmatrix %kb[%c0] {column = 112 : i64} : !kvbuf -> !bk
      %s7 = warp.mma %s6, %q7, %k7 : !acc_s, !a, !bk

      // The next K overwrites this one, which every warp has read.
      warp.cp_async_wait {groups = 0 : i64}
      warp.barrier {warps = 4 : i64}
      %j1 = arith.addi %j, %c1 : i32
      %more = arith.cmpi slt, %j1, %tiles : i32
      warp.cp_async %kb[%c0], %k_next, %row_stride, %c64, cols = 128, warps = 4 if %more : !kvbuf
      warp.cp_async_commit

      // Online softmax in base 2: P = exp2(factor * S - factor * m1).
      %tile_max = warp.reduce max %s7 : !acc_s -> !row
      %m1 = warp.map %m, %tile_max : !row, !row -> !row {
      ^bb0(%x: f32, %y: f32):
        %z = arith.maxnumf %x, %y : f32
        warp.yield %z : f32
      }
      %shift = warp.map %m1 : !row -> !row {
      ^bb0(%x: f32):
        %y = arith.mulf %x, %factor : f32
        %z = arith.negf %y : f32
        warp.yield %z : f32
      }
      %alpha = warp.map %m, %shift : !row, !row -> !row {
      ^bb0(%x: f32, %y: f32):
        %z = math.fma %x, %factor, %y : f32
        %w = math.exp2 %z : f32
        warp.yield %w : f32
      }
      %p = warp.map %s7, %shift : !acc_s, !row -> !acc_s {
      ^bb0(%x: f32, %y: f32):
        %z = math.fma %x, %factor, %y : f32
        %w = math.exp2 %z : f32
        warp.yield %w : f32
      }
      %tile_sum = warp.reduce add %p : !acc_s -> !row
      %l1 = warp.map %l, %alpha, %tile_sum : !row, !row, !row -> !row {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %w = math.fma %x, %y, %z : f32
        warp.yield %w : f32
      }
      %o0 = warp.map %acc, %alpha : !acc_o, !row -> !acc_o {
      ^bb0(%x: f32, %y: f32):
        %z = arith.mulf %x, %y : f32
        warp.yield %z : f32
      }
      %p16 = warp.cast %p : !acc_s -> !acc_p

      // O += P V
      %p0 = warp.as_operand %p16 {column = 0 : i64} : !acc_p -> !a
      %v0 = warp.ldmatrix %vb[%c0] {row = 0 : i64} : !kvbuf -> !bv
      %o1 = warp.mma %o0, %p0, %v0 : !acc_o, !a, !bv
      %p1 = warp.as_operand %p16 {column = 16 : i64} : !acc_p -> !a
      %v1 = warp.ldmatrix %vb[%c0] {row = 16 : i64} : !kvbuf -> !bv
      %o2 = warp.mma %o1, %p1, %v1 : !acc_o, !a, !bv
      %p2 = warp.as_operand %p16 {column = 32 : i64} : !acc_p -> !a
      %v2 = warp.ldmatrix %vb[%c0] {row = 32 : i64} : !kvbuf -> !bv
      %o3 = warp.mma %o2, %p2, %v2 : !acc_o, !a, !bv
      %p3 = warp.as_operand %p16 {column = 48 : i64} : !acc_p -> !a
      %v3 = warp.ldmatrix %vb[%c0] {row = 48 : i64} : !kvbuf -> !bv
      %o4 = warp.mma %o3, %p3, %v3 : !acc_o, !a, !bv

      %k_next1 = llvm.getelementptr %k_next[%back] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
      %v_next = llvm.getelementptr %v_ptr[%back] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
      scf.yield %m1, %l1, %o4, %k_next1, %v_next : !row, !row, !acc_o, !llvm.ptr<1>, !llvm.ptr<1>
    }

    // O / l and lse = m * factor * ln 2 + ln l.
    %inverse = warp.map %r#1 : !row -> !row {
    ^bb0(%x: f32):
      %y = arith.divf %one, %x fastmath<afn> : f32
      warp.yield %y : f32
    }
    %o_scaled = warp.map %r#2, %inverse : !acc_o, !row -> !acc_o {
    ^bb0(%x: f32, %y: f32):
      %z = arith.mulf %x, %y : f32
      warp.yield %z : f32
    }
    %log = warp.map %r#0, %r#1 : !row, !row -> !row {
    ^bb0(%x: f32, %y: f32):
      %a = arith.mulf %x, %factor : f32
      %b = arith.mulf %a, %ln2 : f32
      %c = math.log %y : f32
      %d = arith.addf %b, %c : f32
      warp.yield %d : f32
    }
    %o16 = warp.cast %o_scaled : !acc_o -> !out_o
    warp.barrier {warps = 4 : i64}
    warp.store_shared %o16, %ob[%c0] : !out_o, !qbuf
    warp.barrier {warps = 4 : i64}
    warp.copy_out %ob[%c0], %o_ptr, %row_stride, %q_rows, cols = 128, warps = 4 : !qbuf
    %heads_i64 = arith.extsi %heads : i32 to i64
    %lse_row = arith.muli %batch, %heads_i64 : i64
    %lse_row1 = arith.addi %lse_row, %head : i64
    %q_len_i64 = arith.extsi %q_len : i32 to i64
    %lse_row2 = arith.muli %lse_row1, %q_len_i64 : i64
    %lse_offset = arith.addi %lse_row2, %m0_i64 : i64
    %lse_ptr = llvm.getelementptr %lse[%lse_offset] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    warp.store_rows %log, %lse_ptr, %c1_i64, %q_rows : !row
    gpu.return
  }
}
