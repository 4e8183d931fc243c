//===- flash.cu - A small attention kernel --------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FlashAttention-2 in CUDA C++, written for the simulator's tests: cp.async
// rings, ldmatrix, mma.sync and barriers, compiled by another compiler than
// ours. flash.ptx comes from
//   nvcc -ptx -arch=sm_80 flash.cu
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cuda_bf16.h>

namespace {

constexpr int headDim = 128, rowsM = 64, keysN = 64, threads = 128;
constexpr int chunkBytes = 16, rowChunks = headDim * 2 / chunkBytes;
constexpr int tileBytes = keysN * headDim * 2;

__device__ uint32_t place(int row, int chunk) {
  return row * headDim * 2 + ((chunk ^ (row & 7)) * chunkBytes);
}

__device__ void copyTile(uint32_t to, const __nv_bfloat16 *from, int first,
                         int rows) {
  for (int i = threadIdx.x; i < keysN * rowChunks; i += threads) {
    int row = i / rowChunks, chunk = i % rowChunks;
    int size = first + row < rows ? chunkBytes : 0;
    const __nv_bfloat16 *at =
        from + (int64_t)(size ? first + row : 0) * headDim + chunk * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(to + place(row, chunk)), "l"(at), "r"(size));
  }
}

__device__ void loadMatrix(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ void loadMatrixTransposed(uint32_t (&r)[4], uint32_t address) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
      : "r"(address));
}

__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                         uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ uint32_t pack(float low, float high) {
  uint32_t d;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
  return d;
}

__device__ float exp2Approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

} // namespace

extern "C" __global__ void __launch_bounds__(threads)
    flash(const __nv_bfloat16 *Q, const __nv_bfloat16 *K,
          const __nv_bfloat16 *V, __nv_bfloat16 *O, float *lse, int queryRows,
          int keyRows, float scaleLog2, int causal) {
  extern __shared__ __align__(128) unsigned char shared[];
  uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
  uint32_t sQ = base, sK = base + tileBytes, sV = sK + 2 * tileBytes;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int first = blockIdx.x * rowsM;
  int64_t head = blockIdx.y;
  Q += head * queryRows * headDim;
  O += head * queryRows * headDim;
  K += head * keyRows * headDim;
  V += head * keyRows * headDim;
  lse += head * queryRows;
  int shift = keyRows - queryRows;

  int end = keyRows;
  if (causal)
    end = min(end, first + rowsM + shift);
  int tiles = (end + keysN - 1) / keysN;

  copyTile(sQ, Q, first, queryRows);
  if (tiles > 0) {
    copyTile(sK, K, 0, keyRows);
    copyTile(sV, V, 0, keyRows);
  }
  asm volatile("cp.async.commit_group;");

  float o[headDim / 8][4] = {};
  float rowMax[2] = {-INFINITY, -INFINITY}, rowSum[2] = {0, 0};
  uint32_t q[headDim / 16][4];
  int g = lane / 4, t = lane % 4;
  for (int tile = 0; tile < tiles; ++tile) {
    int stage = tile & 1;
    if (tile + 1 < tiles) {
      copyTile(sK + (stage ^ 1) * tileBytes, K, (tile + 1) * keysN, keyRows);
      copyTile(sV + (stage ^ 1) * tileBytes, V, (tile + 1) * keysN, keyRows);
    }
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    if (tile == 0)
      for (int i = 0; i < headDim / 16; ++i)
        loadMatrix(q[i], sQ + place(warp * 16 + lane % 16, 2 * i + lane / 16));

    float s[keysN / 8][4] = {};
    uint32_t k = sK + stage * tileBytes, v = sV + stage * tileBytes;
#pragma unroll
    for (int n = 0; n < keysN / 16; ++n)
#pragma unroll
      for (int i = 0; i < headDim / 16; ++i) {
        uint32_t b[4];
        loadMatrix(b, k + place(16 * n + lane % 8 + (lane / 16) * 8,
                                2 * i + lane / 8 % 2));
        multiply(s[2 * n], q[i], b[0], b[1]);
        multiply(s[2 * n + 1], q[i], b[2], b[3]);
      }

    int row = first + warp * 16 + g;
    float m[2] = {rowMax[0], rowMax[1]};
#pragma unroll
    for (int n = 0; n < keysN / 8; ++n)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        int key = tile * keysN + 8 * n + 2 * t + j % 2;
        int limit = causal ? row + 8 * (j / 2) + shift : keyRows;
        if (key > limit || key >= keyRows)
          s[n][j] = -INFINITY;
        m[j / 2] = fmaxf(m[j / 2], s[n][j]);
      }
    float sum[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      m[r] = fmaxf(m[r], __shfl_xor_sync(~0u, m[r], 1));
      m[r] = fmaxf(m[r], __shfl_xor_sync(~0u, m[r], 2));
      float used = m[r] == -INFINITY ? 0.0f : m[r] * scaleLog2;
      float factor = exp2Approx(rowMax[r] * scaleLog2 - used);
      rowMax[r] = m[r];
      rowSum[r] *= factor;
#pragma unroll
      for (int n = 0; n < keysN / 8; ++n)
        for (int j = 2 * r; j < 2 * r + 2; ++j) {
          s[n][j] = exp2Approx(fmaf(s[n][j], scaleLog2, -used));
          sum[r] += s[n][j];
        }
      rowSum[r] += sum[r];
#pragma unroll
      for (int n = 0; n < headDim / 8; ++n)
        for (int j = 2 * r; j < 2 * r + 2; ++j)
          o[n][j] *= factor;
    }
#pragma unroll
    for (int i = 0; i < keysN / 16; ++i) {
      uint32_t p[4] = {pack(s[2 * i][0], s[2 * i][1]),
                       pack(s[2 * i][2], s[2 * i][3]),
                       pack(s[2 * i + 1][0], s[2 * i + 1][1]),
                       pack(s[2 * i + 1][2], s[2 * i + 1][3])};
#pragma unroll
      for (int n = 0; n < headDim / 16; ++n) {
        uint32_t b[4];
        loadMatrixTransposed(
            b, v + place(16 * i + lane % 16, 2 * n + lane / 16));
        multiply(o[2 * n], p, b[0], b[1]);
        multiply(o[2 * n + 1], p, b[2], b[3]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float sum = rowSum[r];
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    float inverse = sum > 0 ? 1.0f / sum : 0.0f;
    int row = first + warp * 16 + g + 8 * r;
    if (row >= queryRows)
      continue;
#pragma unroll
    for (int n = 0; n < headDim / 8; ++n)
      *(uint32_t *)(O + (int64_t)row * headDim + 8 * n + 2 * t) =
          pack(o[n][2 * r] * inverse, o[n][2 * r + 1] * inverse);
    if (t == 0)
      lse[row] = sum > 0 ? (rowMax[r] * scaleLog2 + log2f(sum)) * 0.69314718f
                         : -INFINITY;
  }
}
