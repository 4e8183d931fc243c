#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes one thing in a package's PTX and expects `attn-run --check` to notice.

scripts/mutate_package.py --device sim build/tools/attn-run/attn-run x.pkg

A mutant changes one comparison, constant or address offset. It is caught when
one of the runs fails in any way: numbers, bits, a fault, a refused load, no
result in time. Survivors are listed: some change nothing that can be observed,
which is why not all have to be caught. Those known to are not tried: see
`skipping_lines` and `UNOBSERVABLE`.

Every fragment register has compares and stores of its own, so a few lengths leave
most of them untried: the default runs sweep the edges of query and key tiles and
the place of the diagonal, with logits that no start value of a maximum hides. A
mask that lets rows see past the last key (`k <= q + 40`) makes them tell most.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

COMPARISON = re.compile(r"\bset(?:p)?\.(lt|le|gt|ge|eq|ne|ltu|leu|gtu|geu|equ|neu)\b")
OFFSET = re.compile(r"\[%\w+\+(-?\d+)\]")
FLOAT = re.compile(r"\b0f([0-9A-Fa-f]{8})\b")
# An immediate operand: after a comma or bracket, not part of a name.
INTEGER = re.compile(r"(?<=[,{] )(-?\d+)(?=[,;} ])")
NEIGHBOUR = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq"}
ACCESS_BYTES = 16  # a whole vector access: the next element
VOTE = re.compile(r"\bvote\.sync\.any\.pred\s+%\w+, (%p\d+),")
EITHER = re.compile(r"\bor\.pred\s+(%p\d+), (%p\d+), (%p\d+);")
TEST = re.compile(r"\bsetp\.\S+\s+(%p\d+),")
PREDICATE = re.compile(r"%p\d+\b")
# Instructions that a mutant may become without any effect.
UNOBSERVABLE = [
    # One byte more is copied of a row past the end, whose weight is 0.
    re.compile(r"\bselp\.b32\s+%r\d+, 16, 1, %p\d+;"),
    # What is subtracted from the logits of a row that has none above -inf, in place of -0.
    re.compile(r"\bselp\.f32\s+%r\d+, 0f3F800000, %r\d+, %p\d+;"),
    # No product of 16-bit numbers is exactly -1e30, from where on a logit is -inf.
    re.compile(r"\bsetp\.lt\.f32\s+%p\d+, %r\d+, 0fF149F2CA;"),
]


def default_runs():
    """Options of the sweep, the most telling first: a run costs each survivor.

    Lane l of a warp has rows 8 r + l / 4 and keys 8 c + 2 (l % 4) + {0, 1} in its
    registers, for all r and c of a tile. So a diagonal at each of four multiples of
    8, in a whole tile of rows, comes through every register; the end of the keys at
    1 and 2 past each multiple of 8 shows in each a key too many and a key too few;
    and the end of the rows at 0 and 1 past one, a row too many and a row too few.
    """
    runs = [
        "--q-len=137 --k-len=177",
        "--batch=1 --q-len=257 --k-len=449 --q-fill=normal:3",
        # Rows without a key in every row of a tile.
        "--batch=1 --q-len=160 --k-len=20",
        # All logits far below 0: o = 1 only if the maximum starts at -inf.
        "--batch=1 --q-len=130 --k-len=200 --q-fill=ones --k-fill=-60 --v-fill=ones",
        # Whole tiles without a finite logit, before or after one with logits far below 0.
        "--batch=1 --q-len=40 --k-len=384 --q-fill=ones --k-fill=-inf,5..10=-60 --v-fill=ones",
        "--batch=1 --q-len=40 --k-len=384 --q-fill=ones --k-fill=-inf,300..310=-60 --v-fill=ones",
        # Logits that count as -inf.
        "--batch=1 --q-len=130 --k-len=440 --q-fill=1e16 --k-fill=-3.75e13",
        # Whole tiles alone.
        "--batch=1 --q-len=40 --k-len=256 --q-fill=ones --k-fill=-60 --v-fill=ones",
        "--q-len=5 --k-len=2 --layout=bhsd",
        "--batch=1 --q-len=128 --k-len=256",
    ]
    for step in range(4):
        runs.append(f"--batch=1 --q-len=170 --k-len={170 + 121 + 8 * step}")
    for step in range(1, 17):
        # Fewer than 32 rows leave registers without one: a second tile has them.
        rows = 8 * step if step >= 4 else 128 + 8 * step
        keys = 8 * ((5 * step) % 16)
        layout = "bhsd" if step % 2 else "bshd"
        for past in (0, 1):
            runs.append(f"--batch=1 --q-len={rows + past} --k-len={keys + past + 1} --layout={layout}")
    return runs


@dataclasses.dataclass
class Mutant:
    kind: str
    line: int  # of the PTX, from 1
    before: str
    after: str


def other_comparison(word):
    unordered = word.endswith("u")
    return NEIGHBOUR[word.removesuffix("u")] + ("u" if unordered else "")


def other_float(bits):
    value = int(bits, 16)
    # Twice the number; 1 for 0, 0 for infinities.
    if value & 0x7FFFFFFF == 0:
        value = 0x3F800000
    elif value & 0x7F800000 == 0x7F800000:
        value = 0
    else:
        value += 0x00800000
    return f"{value:08X}"


def other_integer(value):
    """One nearer to 0, where that is another shift, mask or bound: one more often is the same."""
    return value - 1 if value > 1 else value + 1


def mutants_of_line(number, line):
    rules = [
        ("comparison", COMPARISON, other_comparison),
        ("offset", OFFSET, lambda n: str(int(n) + ACCESS_BYTES)),
        ("float", FLOAT, other_float),
        ("integer", INTEGER, lambda n: str(other_integer(int(n)))),
    ]
    for kind, pattern, change in rules:
        for match in pattern.finditer(line):
            start, end = match.span(1)
            yield Mutant(kind, number, line, line[:start] + change(match.group(1)) + line[end:])


def skipping_lines(lines):
    """Numbers of the comparisons that only decide whether a warp leaves out a tile.

    A tile in which a warp's rows see nothing leaves them as they are, so that going
    through it is the same, only slower; and each of the warp's elements is asked, so
    that an answer of one counts where the rows see that single key alone. They are
    what feeds a vote through disjunctions, and nothing else.
    """
    uses = collections.Counter(name for line in lines for name in PREDICATE.findall(line))
    either = {m.group(1): m.groups()[1:] for line in lines if (m := EITHER.search(line))}
    tests = {m.group(1): number for number, line in enumerate(lines, 1) if (m := TEST.search(line))}
    found, work = set(), [m.group(1) for line in lines if (m := VOTE.search(line))]
    while work:
        name = work.pop()
        if uses[name] == 2:  # where it is made, and this use
            work += either.get(name, ())
            found.update({tests[name]} if name in tests else ())
    return found


def all_mutants(ptx):
    """Of instructions only: directives and labels declare."""
    lines = ptx.splitlines()
    skipping = skipping_lines(lines)
    for number, line in enumerate(lines, 1):
        text = line.split("//", 1)[0]
        if ";" in text and not text.lstrip().startswith(".") and number not in skipping:
            for mutant in mutants_of_line(number, text):
                if not any(pattern.search(mutant.after) for pattern in UNOBSERVABLE):
                    yield mutant


def caught(mutant, package, options):
    """The first run that fails and how, or None."""
    lines = package["kernels"][0]["ptx"].splitlines()
    lines[mutant.line - 1] = mutant.after
    changed = json.loads(json.dumps(package))
    changed["kernels"][0]["ptx"] = "\n".join(lines) + "\n"
    with tempfile.NamedTemporaryFile("w", suffix=".pkg") as file:
        json.dump(changed, file)
        file.flush()
        for run in options.run:
            command = [options.tool, file.name, "--check", f"--device={options.device}", *shlex.split(run)]
            try:
                done = subprocess.run(command, capture_output=True, timeout=options.timeout)
            except subprocess.TimeoutExpired:
                return "no result in time"
            if done.returncode:
                return f"exit code {done.returncode}"
    return None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="attn-run")
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("--device", choices=["gpu", "sim"], required=True)
    parser.add_argument("--run", action="append", help="options of one attn-run, in place of the sweep")
    parser.add_argument("--sample", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--least", type=float, default=0.95, help="share that must be caught")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main():
    options = parse_arguments()
    options.run = options.run or default_runs()
    package = json.loads(options.package.read_text())
    mutants = list(all_mutants(package["kernels"][0]["ptx"]))
    # The unchanged text must pass, or everything would count as caught.
    same = Mutant("none", 1, "", package["kernels"][0]["ptx"].splitlines()[0])
    if how := caught(same, package, options):
        sys.exit(f"the unchanged package fails: {how}")
    sample = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda mutant: caught(mutant, package, options), sample))
    for mutant, how in zip(sample, results):
        if how is None:
            print(f"survived: line {mutant.line}, {mutant.kind}: {mutant.before.strip()}  ->  {mutant.after.strip()}")
    tried, killed = collections.Counter(), collections.Counter()
    for mutant, how in zip(sample, results):
        tried[mutant.kind] += 1
        killed[mutant.kind] += how is not None
    for kind in sorted(tried):
        print(f"{kind}: {killed[kind]} of {tried[kind]} caught")
    alive = sum(how is None for how in results)
    share = 1 - alive / len(sample) if sample else 0
    print(f"{len(mutants)} mutants possible, {len(sample)} tried, {len(sample) - alive} caught ({share:.0%})")
    return 0 if share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
