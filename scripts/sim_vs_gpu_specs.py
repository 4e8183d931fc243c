#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares o and lse of every shipped specification between the simulator and a GPU.

scripts/sim_vs_gpu_specs.py build-static/bin/attn-run --json specs.json --markdown specs.md
scripts/sim_vs_gpu_specs.py build/tools/attn-run/attn-run --devices sim sim   # without a GPU

Every case of test/Run/shipped.txt runs for each target on both devices, from the same
PTX, with two kinds of input:

  equal   q, biases, slopes and sinks are 0, so that all logits are; V holds integers.
          Every sum is exact, so o agrees in every bit. lse is a lg2.approx, which the
          PTX ISA gives an error of: it may differ in the last places.
  random  what the case says. Matrix units add in an order and with a precision of
          their own, so both may differ by what that changes.
"""

import argparse
import array
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field

from check_same_bits import Rows
from run_cases import ROOT, parse_list

# Equal logits: lg2.approx is off by at most 2^-22 between 0.5 and 2, elsewhere by as
# much of its result (PTX ISA, lg2); the numbers here are above.
LSE_ULPS_EQUAL = 4
# Random inputs. o is rounded to 16 bits, after P was: two units in the last place of
# bf16, relative to the row's largest value. lse is a sum in single precision.
O_RANDOM = 2.0**-7
LSE_RANDOM = 2.0**-15

FIXED = ("--q-fill", "--v-fill")


@dataclass
class Job:
    name: str
    spec: str
    target: str
    inputs: str  # equal or random
    arguments: list = field(repr=False)


@dataclass
class Outcome:
    spec: str
    target: str
    inputs: str
    name: str
    values: int = 0  # of o and lse
    o_differ: int = 0
    lse_differ: int = 0
    o_error: float = 0  # largest, relative to the row's largest value
    lse_error: float = 0  # largest, absolute (relative beyond 1)
    lse_ulps: int = 0
    problem: str = ""


# Their logits differ whatever the arguments are: a slope comes from the head's number.
NEVER_EQUAL = {"alibi_symmetric"}


def with_equal_logits(arguments):
    kept = [a for a in arguments if not a.startswith(FIXED)]
    kept = [re.sub(r"^(--tensor=\w+)=random$", r"\1=zeros", a) for a in kept]
    return [*kept, "--q-fill=zeros", "--v-fill=mod:61"]


def jobs_of(options):
    cases = parse_list(ROOT / "test" / "Run" / "shipped.txt", options.specs, "sim")
    for case in cases:
        if not re.search(options.filter, case.name):
            continue
        for target in options.targets:
            spec = pathlib.Path(case.arguments[0]).stem
            if spec not in NEVER_EQUAL:
                yield Job(case.name, spec, target, "equal", with_equal_logits(case.arguments))
            yield Job(case.name, spec, target, "random", case.arguments)


def run(options, job, device, folder):
    """(o, lse), or why there are none."""
    o, lse = folder / "o.npy", folder / "lse.npy"
    command = [options.tool, *job.arguments, f"--target={job.target}", f"--device={device}"]
    command += [f"--save-o={o}", f"--save-lse={lse}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return f"{device}: no result after {options.timeout:.0f} s"
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
        return f"{device}: exit code {done.returncode}: {words[0][:200]}"
    return Rows.read(o), Rows.read(lse)


def same(a, b):
    return a == b or (a != a and b != b)


def in_order(values):
    """f32 as integers that are in their order."""
    return [w if w < 1 << 31 else (1 << 31) - w for w in array.array("I", values.tobytes())]


def compare_o(ours, theirs, outcome):
    if ours.values.tobytes() == theirs.values.tobytes():
        return
    width = ours.shape[-1]
    for start in range(0, len(ours.values), width):
        a, b = ours.values[start : start + width], theirs.values[start : start + width]
        if a.tobytes() == b.tobytes():
            continue
        outcome.o_differ += sum(x != y for x, y in zip(array.array("I", a.tobytes()), array.array("I", b.tobytes())))
        largest = max((abs(y) for y in b if y == y), default=0)
        for x, y in zip(a, b):
            if same(x, y):
                continue
            error = abs(x - y) / largest if largest else float("inf")
            outcome.o_error = max(outcome.o_error, error if error == error else float("inf"))


def compare_lse(ours, theirs, outcome):
    if ours.values.tobytes() == theirs.values.tobytes():
        return
    a, b = in_order(ours.values), in_order(theirs.values)
    for i, (x, y) in enumerate(zip(ours.values, theirs.values)):
        if same(x, y):
            continue
        outcome.lse_differ += 1
        outcome.lse_ulps = max(outcome.lse_ulps, abs(a[i] - b[i]))
        error = abs(x - y) / max(1, abs(y))
        outcome.lse_error = max(outcome.lse_error, error if error == error else float("inf"))


def judge(outcome):
    if outcome.inputs == "equal":
        if outcome.o_differ:
            return f"{outcome.o_differ} values of o differ"
        if outcome.lse_ulps > LSE_ULPS_EQUAL:
            return f"lse is {outcome.lse_ulps} ulp off"
        return ""
    if outcome.o_error > O_RANDOM:
        return f"o is off by {outcome.o_error:.2g} of its row's largest value"
    if outcome.lse_error > LSE_RANDOM:
        return f"lse is off by {outcome.lse_error:.2g}"
    return ""


def compare(options, job):
    outcome = Outcome(job.spec, job.target, job.inputs, job.name)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for device in options.devices:
            result = run(options, job, device, pathlib.Path(folder))
            if isinstance(result, str):
                outcome.problem = result
                return outcome
            results.append(result)
    (o, lse), (other_o, other_lse) = results
    if o.shape != other_o.shape or lse.shape != other_lse.shape:
        outcome.problem = f"shapes {o.shape} and {other_o.shape}"
        return outcome
    outcome.values = len(o.values) + len(lse.values)
    compare_o(o, other_o, outcome)
    compare_lse(lse, other_lse, outcome)
    outcome.problem = judge(outcome)
    return outcome


def table(outcomes):
    """One line for each specification and target."""
    lines = [
        "| specification | target | cases | values | equal logits: o differs | lse differs (max ulp) "
        "| random: max error of o | of lse | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for spec, target in dict.fromkeys((o.spec, o.target) for o in outcomes):
        here = [o for o in outcomes if (o.spec, o.target) == (spec, target)]
        equal = [o for o in here if o.inputs == "equal"]
        drawn = [o for o in here if o.inputs == "random"]
        failed = [o for o in here if o.problem]
        lines.append(
            f"| {spec} | {target} | {len(here)} | {sum(o.values for o in here)} "
            f"| {sum(o.o_differ for o in equal)} "
            f"| {sum(o.lse_differ for o in equal)} ({max((o.lse_ulps for o in equal), default=0)}) "
            f"| {max((o.o_error for o in drawn), default=0):.2g} | {max((o.lse_error for o in drawn), default=0):.2g} "
            f"| {f'{len(failed)} FAILED' if failed else 'ok'} |"
        )
    return lines


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="attn-run")
    parser.add_argument("--devices", nargs=2, default=["sim", "gpu"], choices=["sim", "gpu"])
    parser.add_argument("--targets", nargs="+", default=["sm_80", "sm_90a"])
    parser.add_argument("--specs", type=pathlib.Path, default=ROOT / "specs")
    parser.add_argument("--filter", default="", help="regular expression on names of cases")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 12))
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    return parser.parse_args()


def main():
    options = parse_arguments()
    jobs = list(jobs_of(options))
    if not jobs:
        sys.exit("no case matches")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(lambda job: compare(options, job), jobs))
    lines = table(outcomes)
    print("\n".join(lines))
    failed = [o for o in outcomes if o.problem]
    for o in failed:
        print(f"FAILED: {o.name}, {o.target}, {o.inputs}: {o.problem}")
    summary = f"{len(outcomes)} comparisons, {sum(o.values for o in outcomes)} values, {len(failed)} failed"
    print(f"\n{summary}")
    if options.json:
        options.json.write_text(json.dumps([asdict(o) for o in outcomes], indent=1))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + f"\n\n{summary}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
