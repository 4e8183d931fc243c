#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed sequences on the GPU: right beside torch, and their time beside a dense batch.

bench/varlen.py --library libattn_runtime.so [--dense causal.pkg] varlen.pkg ...

Packages are causal ones or, with --full, full ones of `batch varlen`. Every mixture of
lengths is compared sequence by sequence with torch in f32, outputs poisoned before, and
then launched again from a captured graph after the lengths have changed. --dense names
a package of the same kernel with `batch dense`, timed in turns at equal lengths.
"""

import argparse
import ctypes
import statistics
import sys

import torch
from attn_runtime import BF16, F16, F32, LaunchArgs, Problem, Runtime, View

DTYPES = {BF16: torch.bfloat16, F16: torch.float16, F32: torch.float32}
MIXTURES = [
    ([0, 7, 130, 1, 0, 300, 65, 0], [5, 9, 200, 257, 0, 300, 40, 3]),
    ([1] * 56 + [1024] * 8, [4096] * 56 + [4096] * 8),
    ([1, 1, 1, 513], [1, 64, 129, 2048]),
    ([4096], [4096]),
]
# Absolute, for values of variance 1 and P in bf16.
TOLERANCE, LSE_TOLERANCE = 3e-2, 1e-3


def starts(lengths):
    return torch.tensor([0, *lengths], device="cuda").cumsum(0).to(torch.int32)


class Launch:
    """A package with operands for q_lens and k_lens, packed, or dense where they are equal."""

    def __init__(self, runtime, path, q_lens, k_lens, packed=True):
        self.runtime, self.package = runtime, ctypes.c_void_p()
        runtime.call("attn_package_load", path.encode(), ctypes.byref(self.package))
        problem = Problem(struct_bytes=ctypes.sizeof(Problem))
        runtime.call("attn_query_problem", self.package, ctypes.byref(problem))
        self.problem, self.q_lens, self.k_lens = problem, q_lens, k_lens
        dtype, out = DTYPES[problem.q_type], DTYPES[problem.o_type]
        total_q, total_k = sum(q_lens), sum(k_lens)
        heads, kv_heads = problem.heads, problem.kv_heads
        self.q = torch.randn(total_q, heads, problem.head_dim_qk, device="cuda").to(dtype)
        self.k = torch.randn(total_k, kv_heads, problem.head_dim_qk, device="cuda").to(dtype)
        self.v = torch.randn(total_k, kv_heads, problem.head_dim_v, device="cuda").to(dtype)
        self.o = torch.full((total_q, heads, problem.head_dim_v), float("nan"), device="cuda", dtype=out)
        self.lse = torch.full((heads, total_q), float("nan"), device="cuda")
        self.cu_q, self.cu_k = starts(q_lens), starts(k_lens)
        args = self.args = LaunchArgs()
        args.struct_bytes, args.batch = ctypes.sizeof(LaunchArgs), len(q_lens)
        args.q_len, args.k_len = max(q_lens), max(k_lens)
        for name in "qkvo":
            tensor = getattr(self, name)
            rows = (args.q_len if name in "qo" else args.k_len) * tensor.stride(0)
            setattr(args, name, View(tensor.data_ptr(), rows, tensor.stride(1), tensor.stride(0)))
        lse_batch, lse_head = (0, total_q) if packed else (heads * args.q_len, args.q_len)
        args.lse = View(self.lse.data_ptr(), lse_batch, lse_head, 1)
        if packed:
            args.cu_seqlens_q, args.cu_seqlens_k = self.cu_q.data_ptr(), self.cu_k.data_ptr()
            args.total_q, args.total_k = total_q, total_k
        size = ctypes.c_int64()
        runtime.call("attn_query_workspace", self.package, ctypes.byref(args), ctypes.byref(size))
        self.workspace = torch.zeros(max(size.value, 16), device="cuda", dtype=torch.uint8)
        args.workspace, args.workspace_bytes = self.workspace.data_ptr(), self.workspace.numel()
        runtime.call("attn_prepare", self.package, ctypes.byref(args))

    def run(self):
        stream = torch.cuda.current_stream().cuda_stream
        self.runtime.call("attn_launch", self.package, ctypes.byref(self.args), stream)

    def set_lengths(self, q_lens, k_lens):
        """Other sequences in the same rows, as a captured graph will find them."""
        self.q_lens, self.k_lens = q_lens, k_lens
        self.cu_q.copy_(starts(q_lens))
        self.cu_k.copy_(starts(k_lens))

    def worst(self, causal):
        """The largest error over its tolerance, of o and lse of all sequences."""
        worst, q0, k0 = 0.0, 0, 0
        group = self.problem.heads // self.problem.kv_heads
        for q_len, k_len in zip(self.q_lens, self.k_lens):
            q, k, v = (x.float().transpose(0, 1) for x in (self.q[q0 : q0 + q_len], self.k[k0 : k0 + k_len], self.v[k0 : k0 + k_len]))
            s = q @ k.repeat_interleave(group, 0).transpose(1, 2) / self.problem.head_dim_qk**0.5
            if causal:
                seen = torch.ones(q_len, k_len, device="cuda", dtype=torch.bool).tril(k_len - q_len)
                s = s.masked_fill(~seen, float("-inf"))
            o = (s.softmax(-1).nan_to_num(0) @ v.repeat_interleave(group, 0)).transpose(0, 1)
            lse = s.logsumexp(-1) if k_len else torch.full((self.problem.heads, q_len), float("-inf"), device="cuda")
            for got, wanted, bound in (
                (self.o[q0 : q0 + q_len], o, TOLERANCE),
                (self.lse[:, q0 : q0 + q_len], lse, LSE_TOLERANCE),
            ):
                error = torch.where(got.float() == wanted, 0, (got.float() - wanted).abs())
                if error.numel():
                    worst = max(worst, float(error.nan_to_num(float("inf")).max()) / bound)
            q0, k0 = q0 + q_len, k0 + k_len
        return worst


def capture(launch, launches):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(launches):
            launch.run()
    return graph


def check(runtime, path, causal):
    worst = 0.0
    for q_lens, k_lens in MIXTURES:
        launch = Launch(runtime, path, q_lens, k_lens)
        launch.run()
        torch.cuda.synchronize()
        errors = [launch.worst(causal)]
        graph = capture(launch, 1)
        # The longest come first now.
        order = sorted(range(len(q_lens)), key=lambda b: -q_lens[b])
        launch.set_lengths([q_lens[b] for b in order], [k_lens[b] for b in order])
        launch.o.fill_(float("nan"))
        launch.lse.fill_(float("nan"))
        graph.replay()
        torch.cuda.synchronize()
        errors.append(launch.worst(causal))
        worst = max([worst, *errors])
        print(f"{path} {len(q_lens)} sequences: {errors[0]:.3f}, replayed {errors[1]:.3f} x the bound", flush=True)
    return worst <= 1


def milliseconds(graph, launches):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / launches


def compare(runtime, path, dense_path, rounds, launches):
    for batch, length in ((32, 512), (8, 2048), (2, 8192)):
        lengths = [length] * batch
        pair = [Launch(runtime, p, lengths, lengths, packed=p is path) for p in (path, dense_path)]
        graphs = [capture(launch, launches) for launch in pair]
        samples = [[milliseconds(graph, launches) for graph in graphs] for _ in range(rounds)]
        ratios = statistics.quantiles([dense / packed for packed, dense in samples], n=4)
        packed, dense = (statistics.median(column) for column in zip(*samples))
        print(f"{path} {batch} x {length}: packed {packed:.4f} ms, dense {dense:.4f} ms, dense / packed {ratios[1]:.3f} ({ratios[0]:.3f} .. {ratios[2]:.3f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--library", required=True)
    parser.add_argument("--dense")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    runtime = Runtime(options.library)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    right = [check(runtime, path, not options.full) for path in options.packages]
    if all(right) and options.dense:
        compare(runtime, options.packages[0], options.dense, options.rounds, launches=10)
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
