// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What CUDA C++ makes of everyday features, for NvccTest. Every thread computes
// something in two ways and writes 1 to its place where they agree.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
using u32 = unsigned;
using u64 = unsigned long long;

__device__ int place() { return blockIdx.x * blockDim.x + threadIdx.x; }

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

extern "C" __global__ void integers(const u64 *in, u64 *out) {
  u64 x = in[place()], y = in[place() + 1];
  u32 a = x, b = x >> 32, c = y;
  bool ok = true;
  u32 bits = 0, reversed = 0;
  int dot = c;
  for (int i = 0; i < 32; ++i) {
    bits += a >> i & 1;
    reversed |= (a >> i & 1) << (31 - i);
  }
  for (int i = 0; i < 32; i += 8)
    dot += int((signed char)(a >> i)) * int((signed char)(b >> i));
  ok &= bits == __popc(a) && reversed == __brev(a);
  ok &= dot == __dp4a(int(a), int(b), int(c));
  ok &= __umulhi(a, b) == u32(u64(a) * b >> 32);
  ok &= __mulhi(int(a), int(b)) == int((long long)(int)a * (int)b >> 32);
  ok &= __funnelshift_l(a, b, c) == u32(((u64(b) << 32 | a) << (c & 31)) >> 32);
  ok &= x / (y | 1) * (y | 1) + x % (y | 1) == x;
  ok &= int(a) / (int(b) | 1) * (int(b) | 1) + int(a) % (int(b) | 1) == int(a);
  // Carries: the halves of a sum and of a product of 128 bits.
  unsigned __int128 sum = (unsigned __int128)x * y + ((u64)a << 32 | c);
  u64 low = x * y, added = low + ((u64)a << 32 | c);
  ok &= u64(sum) == added && u64(sum >> 64) == __umul64hi(x, y) + (added < low);
  out[place()] = ok;
}

extern "C" __global__ void halves(const u64 *in, u64 *out) {
  float x = float(in[place()] & 1023) / 64 - 8;
  float y = float(in[place()] >> 10 & 1023) / 128;
  bool ok = true;
  __half2 h = __floats2half2_rn(x, y);
  ok &= __low2float(h) == x && __high2float(h) == y; // 10 bits fit
  ok &= __low2float(__hadd2(h, h)) == 2 * x;
  ok &= __high2float(__hfma2(h, h, h)) == __half2float(__float2half(y * y + y));
  ok &= __hgt(__low2half(h), __high2half(h)) == (x > y);
  ok &= fabsf(__half2float(hexp2(__low2half(h))) - exp2f(x)) <= exp2f(x) / 256;
  __nv_bfloat162 b = __floats2bfloat162_rn(x, y);
  ok &= fabsf(__low2float(b) - x) <= fabsf(x) / 256;
  ok &= __low2float(__hmul2(b, b)) ==
        __bfloat162float(__float2bfloat16(__low2float(b) * __low2float(b)));
  __nv_fp8x2_e4m3 small(make_float2(x, y));
  float2 back = float2(small);
  ok &= fabsf(back.x - x) <= fabsf(x) / 16 + 0x1p-10f;
  // The slow reduction of large angles goes through local memory.
  float angle = x * 1e6f, s = sinf(angle), c = cosf(angle);
  ok &= fabsf(s * s + c * c - 1) < 1e-5f;
  ok &= fabsf(expf(x) - exp2f(x * 1.44269504f)) <= expf(x) * 1e-5f;
  out[place()] = ok;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

extern "C" __global__ void collectives(const u64 *in, u64 *out) {
  __shared__ u32 all[128];
  u32 value = in[place()], lane = threadIdx.x & 31;
  all[threadIdx.x] = value;
  __syncthreads();
  const u32 *warp = all + (threadIdx.x & ~31u);
  u32 sum = 0, most = 0, alike = 0, odd = 0, eight = 0;
  for (u32 i = 0; i < 32; ++i) {
    sum += warp[i];
    most = max(most, warp[i]);
    alike |= u32((warp[i] & 3) == (value & 3)) << i;
    odd |= (warp[i] & 1) << i;
    eight += i / 8 == lane / 8 ? warp[i] : 0;
  }
  bool ok = true;
  ok &= __reduce_add_sync(~0u, value) == sum;
  ok &= __reduce_max_sync(~0u, value) == most;
  ok &= __match_any_sync(~0u, value & 3) == alike;
  ok &= __ballot_sync(~0u, value & 1) == odd;
  ok &= __shfl_xor_sync(~0u, value, 5) == warp[lane ^ 5];
  ok &= __shfl_sync(~0u, value, 7, 8) == warp[(lane & ~7u) + 7];
  // Four groups run each instruction together, with masks of their own.
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  ok &= cg::reduce(tile, value, cg::plus<u32>()) == eight;
  ok &= tile.shfl(value, 3) == warp[(lane & ~7u) + 3];
  ok &= tile.any(value & 1) == ((odd >> (lane & ~7u) & 255) != 0);
  if (value & 1) {
    auto group = cg::coalesced_threads();
    ok &= group.size() == __popc(odd);
    ok &= group.thread_rank() == __popc(odd & ((1u << lane) - 1));
  }
  out[place()] = ok;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

struct Mixed {
  int number;
  double fraction;
  char text[5];
};
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ Mixed mixed = {7, 2.25, {'a', 'b', 'c', 'd', 0}};
__device__ const char *word = "hello";

extern "C" __global__ void memories(const u64 *in, u64 *out) {
  u64 value = in[place()];
  bool ok = true;
  ok &= table[threadIdx.x & 7] == "31415926"[threadIdx.x & 7] - '0';
  ok &= mixed.number == 7 && mixed.fraction == 2.25 && mixed.text[1] == 'b';
  ok &= word[4] == 'o';
  u64 local[16];
  for (int i = 0; i < 16; ++i)
    local[(i * 5 + 3) & 15] = in[i];
  ok &= local[value & 15] == in[((value - 3) * 13) & 15]; // 5 * 13 = 1 mod 16
  ok &= __ldg(in + place()) == value && __ldcg(in + place()) == value;
  int4 wide = reinterpret_cast<const int4 *>(in)[place()];
  ok &= u32(wide.z) == u32(in[2 * place() + 1]);
  extern __shared__ u32 dynamic[];
  dynamic[threadIdx.x] = u32(value);
  __syncthreads();
  ok &= dynamic[threadIdx.x ^ 64] == u32(in[place() ^ 64]);
  u64 chosen = 0;
  switch (value % 7) { // a table of branches
  case 0:
    chosen = in[9] % 11;
    break;
  case 1:
    chosen = in[3] / 3;
    break;
  case 2:
    chosen = value * 5;
    break;
  case 3:
    chosen = in[1] ^ value;
    break;
  case 4:
    chosen = ~value;
    break;
  default:
    chosen = 1;
  }
  u64 wanted[] = {in[9] % 11, in[3] / 3, value * 5, in[1] ^ value,
                  ~value,     1,         1};
  ok &= chosen == wanted[value % 7];
  out[place()] = ok;
}

extern "C" __global__ void atomics(const u64 *in, u64 *out) {
  __shared__ u32 words[8];
  __shared__ u64 wide;
  __shared__ float sum;
  __shared__ __half2 pair;
  if (threadIdx.x < 8)
    words[threadIdx.x] = threadIdx.x == 2 ? ~0u : 0;
  if (threadIdx.x == 0) {
    wide = 0;
    sum = 0;
    pair = __float2half2_rn(0);
  }
  __syncthreads();
  u32 value = in[place()];
  atomicAdd(words, value);
  atomicMax(words + 1, value);
  atomicMin(words + 2, value);
  atomicXor(words + 3, value);
  atomicInc(words + 4, 6);
  atomicAdd(&wide, in[place()]);
  atomicAdd(&sum, 1.0f);
  atomicAdd(&pair, __float2half2_rn(1));
  for (u32 old = atomicAdd(words + 5, 0), seen;; old = seen)
    if ((seen = atomicCAS(words + 5, old, old + 3)) == old)
      break;
  __syncthreads();
  u32 add = 0, most = 0, least = ~0u, mixedBits = 0;
  u64 total = 0;
  for (u32 i = 0; i < blockDim.x; ++i) {
    u64 other = in[blockIdx.x * blockDim.x + i];
    add += u32(other);
    most = max(most, u32(other));
    least = min(least, u32(other));
    mixedBits ^= u32(other);
    total += other;
  }
  out[place()] = words[0] == add && words[1] == most && words[2] == least &&
                 words[3] == mixedBits && words[4] == blockDim.x % 7 &&
                 wide == total && sum == blockDim.x &&
                 __low2float(pair) == blockDim.x && words[5] == 3 * blockDim.x;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies, blocks, clusters
//===----------------------------------------------------------------------===//

extern "C" __global__ void pipelines(const u64 *in, u64 *out) {
  __shared__ u64 stages[2][128];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0)
    init(&barrier, blockDim.x);
  __syncthreads();
  bool ok = true;
  for (int step = 0; step < 5; ++step) {
    if (step < 4)
      __pipeline_memcpy_async(&stages[step & 1][threadIdx.x],
                              in + place() + 128 * step, sizeof(u64));
    __pipeline_commit();
    if (step == 0)
      continue;
    __pipeline_wait_prior(1);
    barrier.arrive_and_wait();
    int other = place() - threadIdx.x + 127 - threadIdx.x;
    ok &= stages[(step - 1) & 1][127 - threadIdx.x] ==
          in[other + 128 * (step - 1)];
    barrier.arrive_and_wait();
  }
  out[place()] = ok;
}

__device__ u32 ready;
__device__ u64 message[64];

extern "C" __global__ void messages(const u64 *in, u64 *out) {
  cuda::atomic_ref<u32, cuda::thread_scope_device> flag(ready);
  if (blockIdx.x == 0) {
    if (threadIdx.x < 64)
      message[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
      flag.store(1, cuda::memory_order_release);
    out[place()] = 1;
    return;
  }
  if (threadIdx.x == 0)
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
  __syncthreads();
  out[place()] = message[threadIdx.x & 63] == in[threadIdx.x & 63];
}

extern "C" __global__ void __cluster_dims__(2)
    clusters(const u64 *in, u64 *out) {
  __shared__ u64 mine[128];
  __shared__ u32 visits;
  auto cluster = cg::this_cluster();
  mine[threadIdx.x] = in[place()];
  if (threadIdx.x == 0)
    visits = 0;
  cluster.sync();
  u32 neighbour = cluster.block_rank() ^ 1;
  u64 theirs = cluster.map_shared_rank(mine, neighbour)[threadIdx.x];
  atomicAdd(cluster.map_shared_rank(&visits, 0), 1);
  cluster.sync();
  u32 all = *cluster.map_shared_rank(&visits, 0);
  cluster.sync();
  out[place()] =
      theirs == in[(blockIdx.x ^ 1) * 128 + threadIdx.x] && all == 256;
}
