#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the PTX of every shipped specification.

scripts/check_ptx.py full-tiles build/tools/attn-opt/attn-opt
scripts/check_ptx.py ptxas build/tools/attn-opt/attn-opt

full-tiles: some key loop computes tiles that every row sees whole, and it holds no
mask arithmetic. Masks that never show a whole tile, or of which the compiler cannot tell,
stand in test/Pipelines/no-full-tiles.txt, which has to be exact. Prints how long the compiler took, which is never a failure.

Checked for mma.sync (sm_90) and for wgmma (sm_90a).

ptxas: the text of each kernel of the package assembles for every target, without an advisory (C75xx: ptxas makes
asynchronous products wait for each other, or leaves setmaxnreg out), and does not spill
registers. Exit code 77: there is no ptxas.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import ptx_loops

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGETS = ["sm_80", "sm_89", "sm_90", "sm_90a", "sm_120"]
TARGETS_OF_LOOPS = ["sm_90", "sm_90a"]  # one for each engine
NO_ASSEMBLER = 77
WITHOUT_FULL_TILES = ROOT / "test" / "Pipelines" / "no-full-tiles.txt"

MATRIX = re.compile(r"\b(wgmma\.mma_async|mma\.sync)\b")
COMPARISON = re.compile(r"^setp\.")
SELECTION = re.compile(r"^selp\.(f32|b32)\b.*0fFF800000")
EXPONENTIAL = re.compile(r"^ex2\.")
ADVISORY = re.compile(r"\bC75\d\d\b")
SPILLED = re.compile(r"(\d+) bytes spill (?:stores|loads)")


@dataclasses.dataclass
class Result:
    name: str
    passed: bool
    text: str


def compile_spec(tool, spec, target):
    """(PTX, seconds). Exits when the specification does not compile."""
    start = time.monotonic()
    done = subprocess.run([tool, spec, "--emit=ptx", f"--target={target}"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{spec.stem} {target}: {done.stderr}")
    return done.stdout, time.monotonic() - start


def count(pattern, instructions):
    return sum(bool(pattern.search(text)) for text in instructions)


def is_unmasked(loop):
    """Whether a key loop decides nothing element by element.

    It has an exponential for each element of the tile that a thread holds. What
    remains are a few decisions per row (a maximum of -inf), the loop's own, and
    those of copies.
    """
    few = count(EXPONENTIAL, loop) / 2
    return 0 < count(EXPONENTIAL, loop) and count(COMPARISON, loop) < few and count(SELECTION, loop) < few


def names_without_full_tiles():
    lines = (line.split("#", 1)[0].strip() for line in WITHOUT_FULL_TILES.read_text().splitlines())
    return {line for line in lines if line}


def check_loops(tool, spec, target):
    name = f"{spec.stem} {target}"
    ptx, seconds = compile_spec(tool, spec, target)
    loops = [loop for loop in ptx_loops.innermost_loops(ptx) if count(MATRIX, loop)]
    unmasked = [loop for loop in loops if is_unmasked(loop)]
    figures = ", ".join(f"{count(COMPARISON, loop)} + {count(SELECTION, loop)}" for loop in loops)
    text = f"{name}: comparisons + selections of -inf in its key loops: {figures}; compiled in {seconds:.2f} s"
    if spec.stem in names_without_full_tiles():
        where = WITHOUT_FULL_TILES.relative_to(ROOT)
        return Result(name, not unmasked, text if not unmasked else f"{text}: remove its line from {where}")
    # A tail of keys needs a mask whatever the rule is.
    if len(unmasked) != 1 or len(loops) != 2:
        return Result(
            name, False, f"{text}: expected a loop without a mask and one with, found {len(unmasked)} of {len(loops)}"
        )
    return Result(name, True, text)


def check_full_tiles(tool, spec):
    return [check_loops(tool, spec, target) for target in TARGETS_OF_LOOPS]


def kernels_of(tool, spec, target):
    """Every kernel of the package: (name, PTX)."""
    command = [tool, spec, "--emit=package", f"--target={target}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{spec.stem} {target}: {done.stderr}")
    return [(kernel["name"], kernel["ptx"]) for kernel in json.loads(done.stdout)["kernels"]]


def assemble(ptxas, kernel, ptx, target):
    name = f"{kernel} {target}"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "kernel.ptx"
        source.write_text(ptx)
        command = [ptxas, "-v", f"-arch={target}", source, "-o", os.devnull]
        done = subprocess.run(command, capture_output=True, text=True)
    report = done.stdout + done.stderr
    if done.returncode:
        return Result(name, False, f"{name}: {report.strip()}")
    if advice := [line.strip() for line in report.splitlines() if ADVISORY.search(line)]:
        return Result(name, False, f"{name}: expected no advisory of ptxas, found: {advice[0]}")
    spilled = max((int(size) for size in SPILLED.findall(report)), default=None)
    if spilled is None:
        return Result(name, False, f"{name}: ptxas -v did not say what it spilled: {report.strip()}")
    text = f"{name}: {spilled} bytes spilled"
    if spilled:
        return Result(name, False, f"{text}: expected none")
    return Result(name, True, text)


def check_assembly(ptxas, tool, spec):
    return [assemble(ptxas, *kernel, target) for target in TARGETS for kernel in kernels_of(tool, spec, target)]


def find_assembler():
    return shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["full-tiles", "ptxas"])
    parser.add_argument("tool", help="attn-opt")
    parser.add_argument("--json", type=pathlib.Path, help="write the results here too")
    return parser.parse_args()


def main():
    options = parse_arguments()
    specs = [p for p in sorted((ROOT / "specs").glob("*.attn")) if re.search(r"^attention\b", p.read_text(), re.M)]
    if unknown := names_without_full_tiles() - {spec.stem for spec in specs}:
        sys.exit(f"{WITHOUT_FULL_TILES}: no such specification: {', '.join(sorted(unknown))}")
    check = lambda spec: check_full_tiles(options.tool, spec)
    if options.what == "ptxas":
        ptxas = find_assembler()
        if not ptxas:
            print("skipped: there is no ptxas in PATH or /usr/local/cuda/bin")
            return NO_ASSEMBLER
        check = lambda spec: check_assembly(ptxas, options.tool, spec)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = [result for results in pool.map(check, specs) for result in results]
    for result in results:
        print(result.text if result.passed else f"FAILED {result.text}")
    failed = sum(not result.passed for result in results)
    if options.json:
        statuses = [{"name": r.name, "status": "passed" if r.passed else r.text} for r in results]
        options.json.write_text(json.dumps(statuses, indent=1))
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
