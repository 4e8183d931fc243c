#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times packages beside torch's attention in one process.

bench/side_by_side.py --library build/lib/Runtime/libattn_runtime.so --json out.json \\
    full_d128.pkg causal_d128.pkg

Peers are FA2 and cuDNN (torch's back ends) where the package computes plain full or
causal attention, and FlexAttention with the package's own mask and score elsewhere.

Correctness first: the product and every peer against fp64 on sampled rows, by the
package's own rules; what is wrong is not timed. Then rounds in which the product and a
peer take turns (A B A C, A B A C, ...), because the clock falls as the card heats: what
counts is the ratio of a peer's time to that of the product just before it, whose median
and quartiles are printed. --json keeps every sample. Data are random: zeros run far
faster than anything real.

Conventions: layout bshd; q_len = k_len = s; batch is tokens / s unless --batch says
otherwise; FLOP = 2 (dqk + dv) for each pair that the mask shows and each head.
"""

import argparse
import datetime
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

FEWEST_ROUNDS = 20


# --- Time -----------------------------------------------------------------------


class GpuClock:
    def __init__(self, torch):
        self.torch = torch

    def milliseconds(self, body):
        start, stop = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        body()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop)

    def captured(self, candidate, launches):
        """`launches` runs as one CUDA graph."""
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            for _ in range(launches):
                candidate.run()
        return graph.replay


class HostClock:
    def milliseconds(self, body):
        start = time.perf_counter()
        body()
        return (time.perf_counter() - start) * 1e3


class Timed:
    """A candidate with as many launches as make a sample of some milliseconds."""

    sample_ms, warm_up, most_launches = 8.0, 3, 200

    def __init__(self, candidate, clock, graphs):
        self.candidate, self.clock, self.samples = candidate, clock, []
        for _ in range(self.warm_up):
            candidate.run()
        once = max(clock.milliseconds(candidate.run), 1e-3)
        self.launches = max(1, min(self.most_launches, math.ceil(self.sample_ms / once)))
        self.body = self.loop
        if graphs:
            self.body = clock.captured(candidate, self.launches)
            self.body()

    def loop(self):
        for _ in range(self.launches):
            self.candidate.run()

    def sample(self):
        self.samples.append(self.clock.milliseconds(self.body) / self.launches)
        return self.samples[-1]


def quartiles(values):
    q1, median, q3 = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return {"q1": q1, "median": median, "q3": q3}


def alternate(product, peers, rounds):
    """Samples of the product and a peer in turns. For each peer its ratio to the
    product's sample just before."""
    pairs = {peer.candidate.name: [] for peer in peers}
    for _ in range(rounds):
        if not peers:
            product.sample()
        for peer in peers:
            pairs[peer.candidate.name].append((product.sample(), peer.sample()))
    return pairs


# --- One row of the table -------------------------------------------------------


def first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def tried(candidate, judge, place):
    """Runs a candidate once; why it cannot be timed, or nothing."""
    o = candidate.run()
    place.synchronize()
    lse = None
    if candidate.name == "attn":
        candidate.fetch()
        lse = candidate.lse if candidate.shape.problem["output_lse"] else None
    if not judge:
        return ""
    error = judge.worst_error(o, lse)
    return f"WRONG: error is {error:.3g} x the bound" if not error <= 1 else ""


class Cell:
    """A package at one length."""

    def __init__(self, bench, path, problem, length):
        self.bench, self.path, self.problem, self.length = bench, path, problem, length
        self.notes = []

    def note(self, text):
        self.notes.append(text)
        print(f"  {text}", flush=True)

    def peers(self, shape, variant, judge):
        from candidates import PEERS, Unsupported, default_peers

        right = []
        for name in self.bench.options.peers or default_peers(variant):
            try:
                peer = PEERS[name](shape, variant)
                fault = tried(peer, judge, shape.place)
            except Unsupported as error:
                fault = f"does not take part: {error}"
            except Exception as error:  # whatever a compiler of torch throws
                fault = f"cannot run: {first_line(error)}"
            if fault:
                self.note(f"{name}: {fault}")
            else:
                right.append(peer)
        return right

    def time_plan(self, product):
        """Size and time of what all launches read; None where nothing is."""
        if not product.plan_bytes:
            return None
        samples = sorted(self.bench.clock.milliseconds(product.build_plan) for _ in range(self.bench.options.rounds))
        plan = {"bytes": product.plan_bytes, "milliseconds": samples[len(samples) // 2]}
        self.note(f"plan: {plan['bytes']} bytes, built in {plan['milliseconds']:.4f} ms")
        return plan

    def save_tensors(self, shape):
        """The values of tensors as files, for those who look at the same problem."""
        folder = self.bench.options.save_tensors
        if not folder:
            return {}
        import numpy

        files = {}
        for name, tensor in shape.tensors.items():
            files[name] = str(folder / f"{self.path.stem}-{self.length}-{name}.npy")
            numpy.save(files[name], tensor.cpu().numpy())
        return files

    def measure(self):
        """The row, or None when the product is not right."""
        from candidates import Product, Shape
        from correctness import Judge, Visibility, variant_of

        bench, options = self.bench, self.bench.options
        batch = options.batch or max(1, options.tokens // self.length)
        shape = Shape(self.problem, bench.place, batch, self.length, options)
        visibility = Visibility(shape)
        variant = variant_of(self.problem, visibility)
        judge = Judge(shape) if self.problem["output_o"] else None
        product = Product(bench.runtime, self.path, shape)
        try:
            kernel = product.explain()
            print(f"{self.path.name} s = {self.length} batch = {batch}: {kernel}", flush=True)
            if not judge:
                self.note("attn: not checked here: it has no o")
            fault = tried(product, judge, bench.place)
            if fault:
                self.note(f"attn: {fault}")
                return None
            plan = self.time_plan(product)
            peers = self.peers(shape, variant, judge)
            before = machine_state()
            mine = Timed(product, bench.clock, options.graphs)
            theirs = [Timed(peer, bench.clock, options.graphs) for peer in peers]
            pairs = alternate(mine, theirs, options.rounds)
        finally:
            product.close()
        flop = 2 * (shape.dqk + shape.dv) * visibility.pairs
        times = {timed.candidate.name: quartiles(timed.samples) for timed in [mine] + theirs}
        tera = 1e-9  # FLOP per millisecond to TFLOP/s
        return {
            "package": self.path.name,
            "length": self.length,
            "batch": batch,
            "variant": variant,
            "heads": shape.heads,
            "params": shape.params,
            "tensors": self.save_tensors(shape),
            "kernel": kernel,
            "plan": plan,
            "notes": self.notes,
            "flop": flop,
            "milliseconds": times,
            "tflops": {name: flop / time["median"] * tera for name, time in times.items()},
            "ratio": {name: quartiles([b / a for a, b in both]) for name, both in pairs.items()},
            "launches_per_sample": {timed.candidate.name: timed.launches for timed in [mine] + theirs},
            "samples": {timed.candidate.name: timed.samples for timed in [mine] + theirs},
            "pairs": pairs,
            "machine": [before, machine_state()],
        }


def obstacle(problem):
    """Why this script cannot launch a package; empty when it can."""
    if problem["batch"] != "dense" or problem["kv"] != "contiguous":
        return "only dense batches and contiguous keys are launched here"
    if problem["dtype"] != problem["kv_dtype"] or problem["dtype"] not in ("bf16", "f16"):
        return f"dtype {problem['dtype']} / {problem['kv_dtype']}: expected bf16 or f16"
    if problem["out"] not in ("bf16", "f16", "f32"):
        return f"out {problem['out']}: expected bf16, f16 or f32"
    return ""


# --- The whole ------------------------------------------------------------------


def machine_state():
    """Clock, power and temperature, where the tool that tells them is installed."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.sm,power.draw,temperature.gpu", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, timeout=10, check=True).stdout.splitlines()[0].strip()
    except (OSError, subprocess.SubprocessError, IndexError):
        return "not known"


def without_folders(word):
    """A word of the command line, files by their names: folders are a machine's own."""
    return pathlib.PurePath(word).name if word.startswith("/") else word


class Bench:
    def __init__(self, options, torch):
        from candidates import OnGpu, OnSimulator, open_library

        self.options, self.rows, self.failures = options, [], []
        self.runtime = open_library(options.library)
        on_gpu = options.device == "gpu"
        self.place = (OnGpu if on_gpu else OnSimulator)(self.runtime)
        self.clock = GpuClock(torch) if on_gpu else HostClock()
        self.environment = {
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "command": [without_folders(word) for word in sys.argv],
            "device": torch.cuda.get_device_name() if on_gpu else "simulator",
            "torch": torch.__version__,
            "cudnn": torch.backends.cudnn.version(),
            "machine": machine_state(),
        }

    def run(self, problems):
        stop = time.monotonic() + (self.options.seconds or math.inf)
        for path, problem in problems:
            for length in self.options.lengths:
                if time.monotonic() > stop:
                    self.failures.append(f"{path.name} s = {length}: not started: --seconds are over")
                    continue
                cell = Cell(self, path, problem, length)
                try:
                    row = cell.measure()
                except Exception as error:  # one cell must not cost the others
                    row = None
                    cell.note(first_line(error))
                if row:
                    self.rows.append(row)
                else:
                    self.failures.append(f"{path.name} s = {length}: {'; '.join(cell.notes)}")
                self.save()

    def save(self):
        """After every cell, so that a run that is cut short keeps what it has."""
        if not self.options.json:
            return
        whole = {"environment": self.environment, "failures": self.failures, "rows": self.rows}
        draft = self.options.json.with_suffix(".part")
        draft.write_text(json.dumps(whole, indent=1))
        draft.replace(self.options.json)

    def print_table(self):
        print(f"\n{'package':28} {'s':>6} {'batch':>5} {'attn ms':>9} {'TFLOP/s':>8}  ratio to each peer: median (quartiles), its TFLOP/s")
        for row in self.rows:
            peers = "  ".join(
                f"{name} {ratio['median']:.3f} ({ratio['q1']:.3f} .. {ratio['q3']:.3f}) {row['tflops'][name]:.0f}"
                for name, ratio in row["ratio"].items()
            )
            print(
                f"{row['package']:28} {row['length']:>6} {row['batch']:>5} {row['milliseconds']['attn']['median']:>9.4f} "
                f"{row['tflops']['attn']:>8.0f}  {peers or '-'}"
            )
        for failure in self.failures:
            print(f"failed: {failure}")


def parse_pairs(option, texts):
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise SystemExit(f"--{option} {text}: expected NAME=VALUE")
        pairs[name] = value
    return pairs


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", nargs="+", type=pathlib.Path)
    parser.add_argument("--library", required=True, help="libattn_runtime.so")
    parser.add_argument("--lengths", default="1024,2048,4096,8192,16384", help="comma-separated")
    parser.add_argument("--tokens", type=int, default=16384, help="batch x length")
    parser.add_argument("--batch", type=int, help="instead of --tokens")
    parser.add_argument("--peers", help="comma-separated, of FA2, cuDNN, Flex; default: those of the variant")
    parser.add_argument("--rounds", type=int, default=25, help="alternations of a cell")
    parser.add_argument("--graphs", action="store_true", help="time CUDA graphs of launches, without the host")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--tensor", action="append", default=[], metavar="NAME=alibi|random|documents:N|starts:N|ends:N|blocks:N|NUMBER")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="start no cell later than this")
    parser.add_argument("--json", type=pathlib.Path, help="write rows and raw samples here")
    parser.add_argument("--save-tensors", type=pathlib.Path, metavar="FOLDER", help="write the tensors of each row there")
    parser.add_argument("--device", choices=["gpu", "sim"], default="gpu", help="sim: to try the script")
    options = parser.parse_args()
    try:
        options.lengths = [int(text) for text in options.lengths.split(",")]
    except ValueError:
        parser.error(f"--lengths {options.lengths}: expected numbers and commas")
    options.peers = options.peers.split(",") if options.peers else None
    for name in options.peers or []:
        if name not in ("FA2", "cuDNN", "Flex"):
            parser.error(f"--peers {name}: expected FA2, cuDNN or Flex")
    for name in ("rounds", "tokens", "batch"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            parser.error(f"--{name} {getattr(options, name)}: expected 1 or more")
    if min(options.lengths) < 1:
        parser.error("--lengths: expected 1 or more each")
    if options.graphs and options.device != "gpu":
        parser.error("--graphs: expected --device gpu")
    options.param, options.tensor = parse_pairs("param", options.param), parse_pairs("tensor", options.tensor)
    return options


def read_problems(options):
    """The packages that can be launched here, and whether there were others."""
    problems, others = [], []
    for path in options.packages:
        try:
            problem = json.loads(path.read_text())["problem"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SystemExit(f"{path}: not a package: {error}")
        why = obstacle(problem)
        if why:
            others.append(f"{path.name}: not timed: {why}")
        else:
            problems.append((path, problem))
    for kind in ("param", "tensor"):
        declared = {entry["name"] for _, problem in problems for entry in problem[f"{kind}s"]}
        for name in set(getattr(options, kind)) - declared:
            raise SystemExit(f"--{kind} {name}: no package declares it; they declare {', '.join(sorted(declared)) or 'none'}")
    return problems, others


def main():
    options = parse_arguments()
    problems, others = read_problems(options)
    try:
        import torch
    except ImportError as error:
        print(f"torch: {error}; the peers and the comparison need it", file=sys.stderr)
        return 3
    if options.device == "gpu" and not torch.cuda.is_available():
        print("no GPU: nothing measured (--device sim tries the script)", file=sys.stderr)
        return 3
    if options.rounds < FEWEST_ROUNDS:
        print(f"note: {options.rounds} rounds; expected {FEWEST_ROUNDS} or more for a result to be kept")
    bench = Bench(options, torch)
    bench.failures += others
    print(", ".join(f"{key} {value}" for key, value in bench.environment.items() if key != "command"))
    bench.run(problems)
    bench.print_table()
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
