#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every combination of the knobs of `schedule fa3` through `attn-run --check`.

scripts/check_schedules.py --device sim build/tools/attn-run/attn-run
scripts/check_schedules.py --device sim --filter d256 ATTN_RUN

Kernels (masks, a score, groups, head dims) x overlap x turns x consumers x stages.
A combination that the compiler must refuse is expected to be refused, with its message.

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

TARGET = "sm_90a"
OVERLAPS, TURNS, CONSUMERS, STAGES = (0, 1), (False, True), (1, 2, 3), (1, 2, 3)

SPEC = """import "std"
attention {name} {{
  dtype {dtype}
  heads {heads}
  head_dim {dim}
  schedule fa3 (tile = {rows} x {keys}, stages = {stages}, consumers = {consumers}, overlap = {overlap}, turns = {turns}, persistent = {persistent})
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
    persistent: str = "true"
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
    Kernel("striding", "mask causal", persistent="false"),
]


@dataclasses.dataclass(frozen=True)
class Schedule:
    overlap: int
    turns: bool
    consumers: int
    stages: int

    def __str__(self):
        turns = "turns" if self.turns else "no turns"
        return f"overlap {self.overlap}, {turns}, consumers {self.consumers}, stages {self.stages}"


def refusal(kernel, schedule):
    """What the compiler must say, or None."""
    if kernel.dim == "256" and schedule.consumers == 3:
        return "one product of tile 192 x 16 needs 158 registers in a thread of 12 warps, which has 128 at launch"
    if schedule.turns and schedule.consumers == 1:
        return "'turns' needs at least two consumers"
    return None


def write_spec(folder, kernel, schedule):
    path = folder / f"{kernel.name}-{schedule.overlap}-{schedule.turns}-{schedule.consumers}-{schedule.stages}.attn"
    knobs = {**dataclasses.asdict(kernel), **dataclasses.asdict(schedule)}
    knobs["turns"] = "true" if schedule.turns else "false"
    path.write_text(SPEC.format(rows=64 * schedule.consumers, **knobs))
    return path


def run(options, folder, kernel, schedule):
    """(name, "passed" or what is wrong, whether it was refused)"""
    command = [options.tool, write_spec(folder, kernel, schedule), f"--target={TARGET}", f"--device={options.device}", "--check"]
    done = subprocess.run([*command, *LAUNCH, *kernel.options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    name = f"{kernel.name}: {schedule}"
    expected = refusal(kernel, schedule)
    if expected is not None:
        refused = done.returncode == 2 and expected in done.stdout
        return name, "passed" if refused else f"expected a refusal: {expected}; found exit code {done.returncode}: {done.stdout}", True
    return name, "passed" if done.returncode == 0 else f"exit code {done.returncode}: {done.stdout}", False


def combinations(options):
    schedules = [Schedule(*knobs) for knobs in itertools.product(OVERLAPS, TURNS, CONSUMERS, STAGES)]
    for kernel, schedule in itertools.product(KERNELS, schedules):
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
