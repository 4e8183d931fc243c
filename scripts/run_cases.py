#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a list of `attn-run --check` cases and prints which passed.

scripts/run_cases.py --device gpu|sim build/tools/attn-run/attn-run
scripts/run_cases.py --device sim --list test/Run/shipped.txt --specs specs ATTN_RUN

A line of a list, after which comes a comment from `#`:

  NAME [!sim] FILE[:BLOCK] [options of attn-run]
  $WORD = TEXT        $WORD stands for TEXT in the lines below

{a,b} expands: one case for every combination. !sim: too large for the simulator.

Every case is a process of its own with its own time limit, so that one hung kernel
costs one case.
"""

import argparse
import concurrent.futures
import dataclasses
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BRACES = re.compile(r"\{([^{}]*)\}")
DEFINITION = re.compile(r"\$(\w+)\s*=\s*(.+)")
DEFINED = re.compile(r"\$(\w+)")
BLOCK = re.compile(r"^attention\s+(\w+)", re.M)


@dataclasses.dataclass
class Case:
    name: str
    arguments: list


@dataclasses.dataclass
class Result:
    case: Case
    status: str  # "passed", or why not
    seconds: float
    output: str


def expand(text):
    """(values, text) for every combination of the {a,b} in text."""
    choices = [match.group(1).split(",") for match in BRACES.finditer(text)]
    for values in itertools.product(*choices):
        remaining = iter(values)
        yield values, BRACES.sub(lambda _: next(remaining), text)


def case_lines(path):
    """(number, name, rest) of the lines of a list, definitions filled in."""
    words = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if definition := DEFINITION.fullmatch(line):
            words[definition.group(1)] = definition.group(2)
            continue
        for name in DEFINED.findall(line):
            if name not in words:
                sys.exit(f"{path}:{number}: ${name} is not defined above")
        line = DEFINED.sub(lambda match: words[match.group(1)], line)
        name, _, rest = line.partition(" ")
        if name and not rest:
            sys.exit(f"{path}:{number}: expected NAME FILE[:BLOCK] [options]")
        if name:
            yield number, name, rest.strip()


def parse_list(path, specs, device):
    """The cases of a list that `device` can run."""
    cases = []
    for number, name, rest in case_lines(path):
        if rest.startswith("!sim"):
            if device == "sim":
                continue
            rest = rest[len("!sim") :].strip()
        for values, text in expand(rest):
            source, *options = shlex.split(text)
            file, _, block = source.partition(":")
            spec = specs / f"{file}.attn"
            if not spec.exists():
                sys.exit(f"{path}:{number}: no file {spec}")
            full_name = name + (f"[{','.join(values)}]" if values else "")
            selection = [f"--attention={block}"] if block else []
            cases.append(Case(full_name, [str(spec), *selection, *options]))
    return cases


def blocks_without_case(specs, cases):
    """FILE:BLOCK of every attention block under `specs` that no case runs."""
    used = {(case.arguments[0], option) for case in cases for option in case.arguments[1:2]}
    missing = []
    for file in sorted(specs.glob("*.attn")):
        blocks = BLOCK.findall(file.read_text())
        for block in blocks:
            whole = len(blocks) == 1 and any(path == str(file) for path, _ in used)
            if not whole and (str(file), f"--attention={block}") not in used:
                missing.append(f"{file.stem}:{block}")
    return missing


def run(case, tool, device, knobs, timeout):
    command = [tool, *case.arguments, "--check", f"--device={device}", *knobs]
    start = time.monotonic()
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout
        )
        output = done.stdout
        # A negative code is a signal: the tool itself crashed.
        meaning = {0: "passed", 1: "check failed", 2: "refused", 3: "no device"}
        status = meaning.get(done.returncode, f"exit code {done.returncode}")
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b"").decode(errors="replace")
        status = f"no result after {timeout} s"
    return Result(case, status, time.monotonic() - start, output)


def last_words(result):
    """The line of the output that says what is wrong."""
    lines = [line for line in result.output.splitlines() if line.strip()]
    for marker in ("error:", "failed"):
        for line in lines:
            if marker in line:
                return line[:240]
    return lines[-1][:240] if lines else "no output"


def print_table(results, verbose):
    width = max(len(result.case.name) for result in results)
    for result in results:
        if result.status == "passed" and not verbose:
            continue
        print(f"{result.case.name:{width}}  {result.seconds:7.2f} s  {result.status}")
        if result.status != "passed":
            print(f"    {last_words(result)}")
            print(f"    {shlex.join(result.case.arguments)}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="attn-run")
    parser.add_argument("--device", choices=["gpu", "sim"], required=True)
    parser.add_argument("--target", help="compile for this target, and so with its schedules (default: the device)")
    parser.add_argument("--alternative", help="the only schedule to compile, such as cp_async (default: the launch chooses)")
    parser.add_argument("--list", type=pathlib.Path, default=ROOT / "test" / "Run" / "cases.txt")
    parser.add_argument("--specs", type=pathlib.Path, help="folder of the FILEs (default: specs/ beside the list)")
    parser.add_argument("--jobs", type=int, default=0, help="processes at a time (default: cores, at most 8 on a GPU)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one case")
    parser.add_argument("--filter", default="", help="regular expression on names")
    parser.add_argument("--json", type=pathlib.Path, help="write the results here too")
    parser.add_argument("--verbose", action="store_true", help="list passed cases too")
    return parser.parse_args()


def main():
    options = parse_arguments()
    specs = options.specs or options.list.parent / "specs"
    cases = parse_list(options.list, specs, options.device)
    if missing := blocks_without_case(specs, parse_list(options.list, specs, "gpu")):
        sys.exit(f"{options.list}: no case for {', '.join(missing)}")
    cases = [c for c in cases if re.search(options.filter, c.name)]
    if not cases:
        sys.exit("no case matches")
    cores = os.cpu_count() or 1
    jobs = options.jobs or (min(cores, 8) if options.device == "gpu" else cores)
    knobs = [f"--{name}={value}" for name in ("target", "alternative") if (value := getattr(options, name))]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(lambda c: run(c, options.tool, options.device, knobs, options.timeout), cases))
    print_table(results, options.verbose)
    if options.json:
        options.json.write_text(
            json.dumps(
                [{"name": r.case.name, "status": r.status, "seconds": r.seconds, "output": r.output} for r in results],
                indent=1,
            )
        )
    failed = sum(result.status != "passed" for result in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
