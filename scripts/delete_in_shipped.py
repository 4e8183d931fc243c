#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""delete_synchronization.py for every shipped specification and target, as one table.

scripts/delete_in_shipped.py build
scripts/delete_in_shipped.py build --targets sm_90a --filter causal --logs logs
scripts/delete_in_shipped.py build --all-kernels --filter d64

Specifications have few heads here: the synchronisation is the same. The runs are those
of test/Run/synchronization.txt, which reach every path (or of shipped.txt). A specification
takes 2 to 5 seconds of CPU time for sm_80 and 10 to 20 for sm_90a; --quick and --sample take
less. A package's main kernel is tried, or with --all-kernels each that may take a launch.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from delete_synchronization import Runner, counts_of, try_all
from equivalent_mutants import Equivalents
from run_cases import ROOT, parse_list

# Groups of query heads for each kv head stay groups.
HEADS = re.compile(r"^(\s*heads\s+)(\d+)(?:\s*/\s*(\d+))?\s*$", re.M)


def with_few_heads(text):
    def fewer(match):
        heads, kv_heads = int(match[2]), int(match[3] or match[2])
        if heads == kv_heads:
            return f"{match[1]}3"
        group = min(heads // kv_heads, 4 if kv_heads == 1 else 8)
        groups = 1 if kv_heads == 1 or group > 4 else 2
        return f"{match[1]}{group * groups} / {groups}"

    return HEADS.sub(fewer, text)


def runs_by_spec(specs):
    """{stem: options of each run}, the cheap ones first.

    Those of shipped.txt for a specification that synchronization.txt does not have.
    """
    runs = {}
    for name, more in (("synchronization.txt", []), ("shipped.txt", ["--grid=2"])):
        done = set(runs)
        for case in parse_list(ROOT / "test" / "Run" / name, specs, "sim"):
            spec = pathlib.Path(case.arguments[0]).stem
            if spec not in done:
                runs.setdefault(spec, []).append(shlex.join([*case.arguments[1:], *more]))
    return runs


def compile_spec(options, spec, target, folder, into):
    package = into / f"{spec}.{target}.pkg"
    command = [options.build / "tools" / "attn-opt" / "attn-opt", folder / f"{spec}.attn", "--emit=package"]
    done = subprocess.run([*command, f"--target={target}", "-o", package], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{spec}, {target}: {done.stderr.strip()}")
    return package


def kernels_to_try(package, all_kernels):
    """(index, name) of the main kernel, of those that fill what it reads, and of its alternatives if wanted."""
    kernels = json.loads(package.read_text())["kernels"]
    return [
        (index, kernel["name"])
        for index, kernel in enumerate(kernels)
        if index == 0 or all_kernels or kernel["role"] != "attention"
    ]


def try_kernel(options, package, runs, target, kernel, name):
    """(line of the table, how many mutants are unexplained)"""
    tool = options.build / "tools" / "attn-run" / "attn-run"
    runner = Runner(tool, package, runs, kernel, timeout=options.timeout, quick=options.quick)
    log = []
    equivalents = Equivalents(f"{target}:{name}", f"{target}:{package.name.split('.')[0]}")
    verdicts = try_all(runner, equivalents, options.sample, options.jobs, log.append)
    counts = counts_of(verdicts)
    unexplained = counts["missed"] + counts["unreached"] + counts["stale"]
    line = f"| {name} | {target} | {len(verdicts)} | {counts['found']} | {counts['equivalent']} | {unexplained} |"
    print(line, flush=True)
    for entry in log:
        if re.search("NOT FOUND|NOT REACHED|LISTED AS", entry):
            print(f"    {entry}", flush=True)
    if options.logs:
        options.logs.mkdir(parents=True, exist_ok=True)
        (options.logs / f"{name}.{target}.log").write_text("\n".join(log) + "\n")
    return line, unexplained


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="build folder")
    parser.add_argument("--targets", nargs="+", default=["sm_80", "sm_90a"])
    parser.add_argument("--filter", default="", help="regular expression on names of specifications")
    parser.add_argument("--packages", type=pathlib.Path, help="folder of SPEC.TARGET.pkg, compiled before (see --compile)")
    parser.add_argument("--compile", type=pathlib.Path, help="only fill such a folder")
    parser.add_argument("--all-kernels", action="store_true", help="the alternatives to the main kernel too")
    parser.add_argument("--sample", type=int, help="only so many mutants of each, evenly spread")
    parser.add_argument("--quick", action="store_true", help="only the first run for those listed as equivalent")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--logs", type=pathlib.Path, help="folder for a line on every mutant")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table here too")
    return parser.parse_args()


def main():
    options = parse_arguments()
    runs = runs_by_spec(ROOT / "specs")
    lines = ["| kernel | target | mutants | found | equivalent | unexplained |", "| --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        for file in (ROOT / "specs").glob("*.attn"):
            (folder / file.name).write_text(with_few_heads(file.read_text()))
        for target in options.targets:
            for spec in sorted(runs):
                if not re.search(options.filter, spec):
                    continue
                package = options.packages and options.packages / f"{spec}.{target}.pkg"
                package = package or compile_spec(options, spec, target, folder, options.compile or folder)
                if options.compile:
                    continue
                for kernel, name in kernels_to_try(package, options.all_kernels):
                    line, unexplained = try_kernel(options, package, runs[spec], target, kernel, name)
                    lines.append(line)
                    bad += unexplained
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")
    print(f"{bad} unexplained")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
