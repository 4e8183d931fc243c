#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every combination of the knobs of a schedule through `attn-run --check`.

scripts/check_schedules.py --device sim build/tools/attn-run/attn-run
scripts/check_schedules.py --device sim --filter d256 ATTN_RUN

Four products. What multiplies x what loads x who loads x what stores x overlap x turns x
consumers, for each target (the table of docs/AddingASchedule.md); with what schedule fa3
takes for the first three, kernels (masks, a score, groups, head dims) x overlap x turns x
consumers x stages; outputs of every width and type that leave by tensor copies x who
multiplies, loads and overlaps; and maxima, of logits that grow, x what multiplies, loads and
overlaps. A combination that the compiler must refuse is expected to be refused, with its
message.

Tiles are small, so that few keys make several of them.
"""

import argparse
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TARGETS = ("sm_90a", "sm_80")  # with and without wgmma and TMA
OVERLAPS, TURNS, CONSUMERS, STAGES = (0, 1), (False, True), (1, 2, 3), (1, 2, 3)
MAXIMA = ("exact", "lazy", "stale")
MMAS, LOADERS, PRODUCERS = ("sync", "wgmma"), ("cp_async", "tma"), (False, True)
STORES = ("direct", "tma")

SPEC = """import "std"
attention {name} {{
  dtype {dtype}
  heads {heads}
  head_dim {dim}
  schedule {family} (tile = {rows} x {keys}, stages = {stages}, consumers = {consumers}, overlap = {overlap}, turns = {turns}, persistent = {persistent}, mma = {mma}, loader = {loader}, producer = {producer}, max = {max}, store = {store})
  {fields}
}}
"""
# Two blocks, then one, have several work items each: the counters go on between them.
LAUNCH = ["--batch=1", "--q-len=200", "--k-len=137", "--grid=2"]


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    fields: str = "mask true"
    dim: str = "64"
    heads: str = "2"
    dtype: str = "bf16"
    keys: int = 32  # of a tile
    persistent: bool = True
    stages: int = 2  # where they are no axis
    options: tuple = ()


KERNELS = [
    Kernel("full"),
    Kernel("causal", "mask causal", dim="128"),
    Kernel("prefix", "tensor prefix_len : i32[batch] mask (b, q, k) = prefix(q, k, prefix_len[b])", options=("--tensor=prefix_len=35",)),
    Kernel("window", "param left : i32 = 40 mask window(q, k, left, 0)"),
    Kernel("score", "score (s, q, k) = 8.0 * tanh(s / 8.0) - 0.25 * (q - k)", dtype="f16"),
    Kernel("gqa", "mask causal", heads="6 / 2"),
    Kernel("d72", "mask causal", dim="72"),
    Kernel("d192_128", "mask causal", dim="192 / 128"),
    Kernel("d256", "mask causal", dim="256", keys=16),
    Kernel("lse", "outputs lse mask causal"),
    # Every n-th item in place of the next one that is free.
    Kernel("striding", "mask causal", persistent=False),
]


# For every engine, loader and role. Slots of one tile and of two are different pipelines
# where a role feeds itself.
EVERYWHERE = [
    Kernel("causal_1", "mask causal", stages=1),
    Kernel("causal_2", "mask causal", heads="4 / 2"),
    Kernel(
        "rules", "param left : i32 = 40\n  score (s, q, k) = 8.0 * tanh(s / 8.0) - 0.25 * (q - k)\n"
        "  mask (h, q, k) = window(q, k, left, 0) || (h == 1 && k < 9)", dim="72 / 40", dtype="f16"),
]


# For `store = tma`: rows of every panel and element, past the end of q, of several batch
# entries and groups of heads.
STORED = [
    Kernel("stored_d8", "mask causal", dim="8"),
    Kernel("stored_d72", "mask causal", dim="72", heads="4 / 2", dtype="f16"),
    Kernel("stored_f32", "out f32  mask causal", dim="40 / 104"),
    Kernel("stored_d192_128", dim="192 / 128"),
    Kernel("stored_d256", dim="256", keys=16),
    Kernel("stored_no_keys", "mask (i, k) = i % 3 == 0 && k > 500"),
]


# For every `max`: tiles in which it grows, much or little, and hidden ones.
HELD = [
    Kernel("held", "score (s, q, k) = s - (k / 32 % 3) * 9.0  mask causal", heads="4 / 2", dtype="f16"),
    Kernel("held_1", "score (s, k) = s - (k / 32) * 100.0  mask (i, k) = k % 50 > i % 60", stages=1),
]


@dataclasses.dataclass(frozen=True)
class Schedule:
    overlap: int
    turns: bool
    consumers: int
    stages: int
    target: str = "sm_90a"
    mma: str = "wgmma"
    loader: str = "tma"
    producer: bool = True
    max: str = "exact"
    store: str = "direct"

    def __str__(self):
        turns = "turns" if self.turns else "no turns"
        loads = "producer" if self.producer else "self-fed"
        return (f"{self.target}, {self.mma}, {self.loader}, {loads}, overlap {self.overlap}, {turns}, "
                f"consumers {self.consumers}, stages {self.stages}, max {self.max}, store {self.store}")


def refusal(kernel, schedule):
    """What the compiler must say, or None: the table of docs/AddingASchedule.md."""
    if schedule.mma == "wgmma" and schedule.target != "sm_90a":
        return "'mma' = wgmma, the default of schedule fa3, needs an instruction of sm_90a"
    if schedule.loader == "tma" and schedule.target != "sm_90a":
        return "'loader' = tma needs the tensor copies of sm_90a"
    if schedule.store == "tma" and schedule.target != "sm_90a":
        return "'store' = tma needs the tensor copies of sm_90a"
    if schedule.turns and schedule.consumers == 1:
        return "'turns' needs two or three consumers"
    if kernel.dim == "256" and schedule.consumers == 3:
        return "one product of tile 192 x 16 needs 158 registers in a thread of 12 warps, which has 128 at launch"
    return None


def write_spec(folder, kernel, schedule):
    path = folder / (re.sub(r"\W+", "-", f"{kernel.name} {schedule}") + ".attn")
    word = lambda flag: "true" if flag else "false"
    knobs = {**dataclasses.asdict(kernel), **dataclasses.asdict(schedule)}
    knobs["turns"], knobs["producer"] = word(schedule.turns), word(schedule.producer)
    # Items are claimed by the role that loads.
    knobs["persistent"] = word(schedule.producer and kernel.persistent)
    knobs["family"] = "fa3" if schedule.producer else "fa2"
    path.write_text(SPEC.format(rows=64 * schedule.consumers, **knobs))
    return path


def run(options, folder, kernel, schedule):
    """(name, "passed" or what is wrong, whether it was refused)"""
    command = [options.tool, write_spec(folder, kernel, schedule), f"--target={schedule.target}", f"--device={options.device}", "--check"]
    done = subprocess.run([*command, *LAUNCH, *kernel.options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    name = f"{kernel.name}: {schedule}"
    expected = refusal(kernel, schedule)
    if expected is not None:
        refused = done.returncode == 2 and expected in done.stdout
        return name, "passed" if refused else f"expected a refusal: {expected}; found exit code {done.returncode}: {done.stdout}", True
    return name, "passed" if done.returncode == 0 else f"exit code {done.returncode}: {done.stdout}", False


def products():
    for knobs in itertools.product(KERNELS, OVERLAPS, TURNS, CONSUMERS, STAGES):
        yield knobs[0], Schedule(*knobs[1:])
    for kernel, *knobs, store in itertools.product(EVERYWHERE, OVERLAPS, TURNS, CONSUMERS, TARGETS, MMAS, LOADERS, PRODUCERS, STORES):
        yield kernel, Schedule(*knobs[:3], kernel.stages, *knobs[3:], store=store)
    for kernel, mma, loader, producer, overlap in itertools.product(STORED, MMAS, LOADERS, PRODUCERS, OVERLAPS):
        yield kernel, Schedule(overlap, overlap > 0, 1 + overlap, kernel.stages, "sm_90a", mma, loader, producer, store="tma")
    for kernel, most, mma, loader, producer, overlap in itertools.product(HELD, MAXIMA, MMAS, LOADERS, PRODUCERS, OVERLAPS):
        consumers = 1 + overlap  # with turns where there are two
        yield kernel, Schedule(overlap, consumers > 1, consumers, kernel.stages, "sm_90a", mma, loader, producer, most)


def combinations(options):
    for kernel, schedule in products():
        if re.search(options.filter, f"{kernel.name}: {schedule}"):
            yield kernel, schedule


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="attn-run")
    parser.add_argument("--device", choices=["gpu", "sim"], required=True)
    parser.add_argument("--filter", default="", help="regular expression on names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--json", type=pathlib.Path, help="write the results here too")
    return parser.parse_args()


def main():
    options = parse_arguments()
    chosen = list(combinations(options))
    if not chosen:
        sys.exit("no combination matches")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda pair: run(options, pathlib.Path(folder), *pair), chosen))
    for name, status, refused in results:
        print(f"{name}: {'refused, as expected' if refused and status == 'passed' else status}")
    if options.json:
        options.json.write_text(json.dumps([{"name": name, "status": status} for name, status, _ in results], indent=1))
    failed = sum(status != "passed" for _, status, _ in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
