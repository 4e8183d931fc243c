#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times packages beside torch's attention back ends in one process.

bench/side_by_side.py --library build/lib/Runtime/libattn_runtime.so \\
    full_d128.pkg causal_d128.pkg

Needs a GPU and torch. Correctness first: the product and every peer against
fp64 on sampled rows; what fails is not timed. Then rounds in which the product
and the peers take turns (A B C A B C ...), because the clock falls as the card
heats: medians, and the ratio of the medians, are what to read. Data are random:
zeros run far faster than anything real.

Conventions: layout bshd; FLOP = 2 (dqk + dv) per visible pair and head; q_len =
k_len = s; batch is tokens / s. Only specs that torch can express are compared:
no score rule and either no mask or `k <= q`; others are timed alone, and checked
by `attn-run --check` only.
"""

import argparse
import ctypes
import json
import math
import pathlib
import statistics
import sys

import torch
from attn_runtime import LaunchArgs, Runtime, View
from torch.nn.attention import SDPBackend, sdpa_kernel

DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
TOLERANCE = {"bf16": 4e-3, "f16": 1e-3}
SAMPLED_ROWS = 64


def view(tensor):
    """[batch, position, head, dim] as the library sees it."""
    stride_b, stride_s, stride_h, inner = tensor.stride()
    assert inner == 1
    return View(tensor.data_ptr(), stride_b, stride_h, stride_s)


# --- The product and its peers --------------------------------------------------


class Shape:
    """A package's problem at one length, with its random inputs."""

    def __init__(self, problem, tokens, length, seed):
        self.problem = problem
        self.batch, self.length = max(1, tokens // length), length
        self.heads, self.kv_heads = problem["heads"], problem["kv_heads"]
        self.dqk, self.dv = problem["head_dim_qk"], problem["head_dim_v"]
        self.dtype = DTYPES[problem["dtype"]]
        generator = torch.Generator(device="cuda").manual_seed(seed)

        def random(heads, dim):
            return torch.randn(
                self.batch, length, heads, dim, device="cuda", dtype=self.dtype, generator=generator
            )

        self.q = random(self.heads, self.dqk)
        self.k = random(self.kv_heads, self.dqk)
        self.v = random(self.kv_heads, self.dv)

    def scale(self):
        for param in self.problem["params"]:
            if param["name"] == self.problem["scale_param"]:
                return float(param["default"])
        return self.problem["scale"] or 1 / math.sqrt(self.dqk)

    def flop(self, causal):
        pairs = self.length * (self.length + 1) / 2 if causal else self.length**2
        return 2 * (self.dqk + self.dv) * pairs * self.heads * self.batch


class Product:
    name = "attn"

    def __init__(self, runtime, path, shape):
        self.runtime, self.shape = runtime, shape
        self.package = ctypes.c_void_p()
        runtime.call("attn_package_load", str(path).encode(), ctypes.byref(self.package))
        out = DTYPES[shape.problem["out"]]
        self.o = torch.full((shape.batch, shape.length, shape.heads, shape.dv), float("nan"), device="cuda", dtype=out)
        self.lse = torch.full((shape.batch, shape.heads, shape.length), float("nan"), device="cuda")
        self.args = self.arguments()
        try:
            needed = ctypes.c_int64()
            runtime.call("attn_query_workspace", self.package, ctypes.byref(self.args), ctypes.byref(needed))
            self.workspace = torch.empty(max(needed.value, 1), device="cuda", dtype=torch.uint8)
            if needed.value:
                self.args.workspace = self.workspace.data_ptr()
                self.args.workspace_bytes = needed.value
            runtime.call("attn_prepare", self.package, ctypes.byref(self.args))
        except RuntimeError:
            self.close()
            raise

    def arguments(self):
        shape, args = self.shape, LaunchArgs()
        args.struct_bytes = ctypes.sizeof(LaunchArgs)
        args.batch, args.q_len, args.k_len = shape.batch, shape.length, shape.length
        args.q, args.k, args.v = view(shape.q), view(shape.k), view(shape.v)
        if shape.problem["output_o"]:
            args.o = view(self.o)
        if shape.problem["output_lse"]:
            args.lse = View(self.lse.data_ptr(), *self.lse.stride())
        return args

    def explain(self):
        text = ctypes.create_string_buffer(512)
        self.runtime.call("attn_explain", self.package, ctypes.byref(self.args), text, len(text))
        return text.value.decode(errors="replace")

    def run(self):
        stream = torch.cuda.current_stream().cuda_stream
        self.runtime.call("attn_launch", self.package, ctypes.byref(self.args), ctypes.c_void_p(stream))
        return self.o

    def close(self):
        torch.cuda.synchronize()
        self.runtime.library.attn_package_free(self.package)


class Peer:
    def __init__(self, name, backend, shape, causal):
        self.name, self.backend, self.causal, self.scale = name, backend, causal, shape.scale()
        # The same memory; torch names the axes [batch, head, position, dim].
        self.q, self.k, self.v = (x.transpose(1, 2) for x in (shape.q, shape.k, shape.v))
        self.grouped = shape.heads != shape.kv_heads

    def run(self):
        with sdpa_kernel(self.backend):
            o = torch.nn.functional.scaled_dot_product_attention(
                self.q, self.k, self.v, is_causal=self.causal, scale=self.scale, enable_gqa=self.grouped
            )
        return o.transpose(1, 2)

    def close(self):
        pass


# --- What a package computes ----------------------------------------------------


def is_causal_rule(mask):
    """True for `k <= q` or `q >= k`: two indices and the comparison, in the
    manifest's order (operands before their users, the root last)."""
    if len(mask) != 3 or any(node["op"] != "index" for node in mask[:2]):
        return False
    left, right = (mask[at]["name"] for at in mask[2].get("args", [0, 0]))
    return (mask[2]["op"], left, right) in {("le", "k", "q"), ("ge", "q", "k")}


def comparable(problem):
    """"full" or "causal" when torch has the same variant, else None."""
    if problem["score"] or problem["sink"] or not problem["output_o"]:
        return None
    mask = problem["mask"]
    if not mask or (len(mask) == 1 and mask[0]["op"] == "bool" and mask[0]["value"]):
        return "full"
    return "causal" if is_causal_rule(mask) else None


def obstacle(problem):
    """Why this script cannot launch a package; empty when it can."""
    if problem["tensors"]:
        return "it has tensors: time it with attn-run --bench"
    if problem["batch"] != "dense" or problem["kv"] != "contiguous":
        return "only dense batches and contiguous keys are launched here"
    if problem["dtype"] != problem["kv_dtype"] or problem["dtype"] not in TOLERANCE:
        return f"dtype {problem['dtype']} / {problem['kv_dtype']}: expected bf16 or f16"
    return ""


# --- Correctness, then time -----------------------------------------------------


def worst_error(o, shape, causal):
    """Largest |error| over its bound on sampled rows, against fp64."""
    rows = torch.linspace(0, shape.length - 1, SAMPLED_ROWS, device="cuda").long().unique()
    group = shape.heads // shape.kv_heads
    worst = 0.0
    for b in {0, shape.batch - 1}:
        for h in {0, shape.heads // 2, shape.heads - 1}:
            q = shape.q[b, rows, h].double()
            k = shape.k[b, :, h // group].double()
            v = shape.v[b, :, h // group].double()
            logits = q @ k.T * shape.scale()
            if causal:
                logits.masked_fill_(torch.arange(shape.length, device="cuda")[None] > rows[:, None], -math.inf)
            reference = torch.softmax(logits, -1) @ v
            # docs/Numerics.md: half an ulp of the output, and tol * max|V|.
            half_ulp = torch.finfo(o.dtype).eps / 2 * reference.abs()
            bound = half_ulp + TOLERANCE[shape.problem["dtype"]] * v.abs().max()
            got = o[b, rows, h].double()
            error = ((got - reference).abs() / bound).max().item()
            worst = max(worst, math.inf if math.isnan(error) else error)
    return worst


def time_once(candidate, launches):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(launches):
        candidate.run()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / launches


def alternate(candidates, rounds):
    """Median milliseconds of each, timed in turns."""
    sample_ms, warm_up = 8.0, 3
    launches = {}
    for candidate in candidates:
        for _ in range(warm_up):
            candidate.run()
        once = max(time_once(candidate, 1), 1e-3)
        launches[candidate.name] = max(1, min(200, math.ceil(sample_ms / once)))
    samples = {candidate.name: [] for candidate in candidates}
    for _ in range(rounds):
        for candidate in candidates:
            samples[candidate.name].append(time_once(candidate, launches[candidate.name]))
    return {name: statistics.median(times) for name, times in samples.items()}


def usable(candidate, shape, variant):
    """Runs a candidate once; False, with a line, when it cannot or is wrong."""
    try:
        o = candidate.run()
        torch.cuda.synchronize()
    except RuntimeError as error:
        print(f"  {candidate.name}: cannot run: {str(error).splitlines()[0]}")
        return False
    if variant is None:
        print(f"  {candidate.name}: not checked here: torch has no such variant")
        return True
    error = worst_error(o, shape, variant == "causal")
    if error > 1:
        print(f"  {candidate.name}: WRONG: error is {error:.3g} x the bound")
        return False
    return True


def measure(runtime, path, problem, length, options):
    """One row of the table, or None when the product is not right."""
    shape = Shape(problem, options.tokens, length, options.seed)
    variant = comparable(problem)
    causal = variant == "causal"
    try:
        product = Product(runtime, path, shape)
    except RuntimeError as error:
        print(f"  {path.name} s = {length}: {error}")
        return None
    try:
        print(f"{path.name} s = {length} batch = {shape.batch}: {product.explain()}")
        if not usable(product, shape, variant):
            return None
        candidates = [product]
        if variant:
            peers = [
                Peer("FA2", SDPBackend.FLASH_ATTENTION, shape, causal),
                Peer("cuDNN", SDPBackend.CUDNN_ATTENTION, shape, causal),
            ]
            candidates += [peer for peer in peers if usable(peer, shape, variant)]
        times = alternate(candidates, options.rounds)
    finally:
        product.close()
    tera = 1e-9  # FLOP per millisecond to TFLOP/s
    return {
        "package": path.name,
        "length": length,
        "batch": shape.batch,
        "variant": variant or "own",
        "milliseconds": times,
        "tflops": {name: shape.flop(causal) / ms * tera for name, ms in times.items()} if variant else {},
        "ratio": {name: ms / times["attn"] for name, ms in times.items() if name != "attn"},
    }


def print_table(rows):
    print(f"\n{'package':28} {'s':>6} {'batch':>5} {'attn ms':>9} {'TFLOP/s':>8} {'FA2':>7} {'x FA2':>6} {'cuDNN':>7} {'x cuDNN':>8}")
    for row in rows:
        number = lambda group, name, digits: f"{row[group][name]:.{digits}f}" if name in row[group] else "-"
        print(
            f"{row['package']:28} {row['length']:>6} {row['batch']:>5} {number('milliseconds', 'attn', 4):>9} "
            f"{number('tflops', 'attn', 0):>8} {number('tflops', 'FA2', 0):>7} {number('ratio', 'FA2', 2):>6} "
            f"{number('tflops', 'cuDNN', 0):>7} {number('ratio', 'cuDNN', 2):>8}"
        )


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", type=pathlib.Path)
    parser.add_argument("--library", required=True, help="libattn_runtime.so")
    parser.add_argument("--lengths", default="1024,2048,4096,8192,16384")
    parser.add_argument("--tokens", type=int, default=16384, help="batch x length")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=pathlib.Path, help="write the rows here too")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if not torch.cuda.is_available():
        print("no GPU: nothing measured", file=sys.stderr)
        return 3
    torch.cuda.init()
    torch.zeros(1, device="cuda")  # makes the primary context current
    runtime = Runtime(options.library)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    rows, wrong = [], False
    for path in options.packages:
        problem = json.loads(path.read_text())["problem"]
        if obstacle(problem):
            print(f"{path.name}: not timed: {obstacle(problem)}")
            wrong = True
            continue
        for length in (int(text) for text in options.lengths.split(",")):
            row = measure(runtime, path, problem, length, options)
            wrong |= row is None
            if row:
                rows.append(row)
    print_table(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
