#!/usr/bin/env python3
# Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks each synchronising instruction of a kernel in turn and expects the simulator's sanitizer to say so.

scripts/delete_synchronization.py build/tools/attn-run/attn-run x.pkg \\
    --run "--batch=1 --q-len=130 --k-len=200 --grid=3"
scripts/delete_synchronization.py build/test/Spike/sim_spike a128.ptx --run "--seq=300"

A package runs by attn-run, a .ptx file by sim_spike. A mutant lacks one barrier,
fence, mbarrier operation, commit or wait (a wait with a result always succeeds), or
has a transaction count 16 bytes or an arrival count 1 too large or too small. Wrong
numbers are not enough: it counts as found only when a run prints a finding. Mutants
that equivalent_mutants.txt lists with a reason are allowed to live, and only those.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass

# A statement: guard, opcode, operands.
STATEMENT = re.compile(r"(?P<guard>@!?[%\w]+\s+)?(?P<opcode>[a-z][\w.:]*)(?P<operands>[^;{}]*(\{[^;}]*\}[^;{}]*)*);")
SYNCHRONIZATION = re.compile(
    r"(bar(rier)?\.|cp\.async\.(commit_group|wait_group|wait_all|mbarrier)|cp\.async\.bulk\.(commit|wait)_group"
    r"|fence\.|membar\.|mbarrier\.|wgmma\.(fence|commit_group|wait_group)|griddepcontrol\.)"
)
# "  shared-race: line 12: `...`: block ..." in the output of either tool.
FINDING = re.compile(r"\s([a-z][a-z-]+): line (\d+): `")
TRANSACTION_STEP = 16
EQUIVALENT = pathlib.Path(__file__).parent / "equivalent_mutants.txt"


@dataclass
class Mutant:
    line: int
    opcode: str
    index: int  # among the kernel's statements with this opcode
    change: str
    statement: str
    text: str  # of the whole kernel

    def key(self):
        return self.opcode, str(self.index), self.change


def last_operand_plus(statement, opcode, operands, step):
    """The statement with a number added to its last operand."""
    head, last = operands.rsplit(",", 1)
    guard = statement[: statement.index(opcode)]
    return (
        f"{{ .reg .b32 mutated; add.s32 mutated, {last.strip()}, {step}; {guard}{opcode}{head}, mutated; }}"
    )


def changes_of(statement, opcode, operands):
    """(name, replacement) of every mutation of one statement."""
    if re.match(r"mbarrier\.(try|test)_wait", opcode):
        predicate = operands.split(",")[0].strip()
        guard = statement[: statement.index(opcode)]
        yield "passes", f"{guard}setp.eq.u32 {predicate}, 0, 0;"
        return
    yield "deleted", ""
    if "expect_tx" in opcode:
        for step in (TRANSACTION_STEP, -TRANSACTION_STEP):
            yield f"{step:+d} bytes", last_operand_plus(statement, opcode, operands, step)
    if opcode.startswith("mbarrier.init"):
        for step in (1, -1):
            yield f"{step:+d} arrivals", last_operand_plus(statement, opcode, operands, step)


def mutants_of(ptx):
    count = {}
    body = ptx.index("{", ptx.index(".entry"))
    # Comments are blanked, so that what they say is not code.
    bare = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), ptx)
    for match in STATEMENT.finditer(bare, body + 1):
        opcode = match["opcode"]
        if not SYNCHRONIZATION.match(opcode):
            continue
        count[opcode] = count.get(opcode, 0) + 1
        statement = match.group()
        line = ptx.count("\n", 0, match.start()) + 1
        for change, replacement in changes_of(statement, opcode, match["operands"]):
            replacement += "\n" * (statement.count("\n") - replacement.count("\n"))
            text = ptx[: match.start()] + replacement + ptx[match.end() :]
            shown = re.sub(r"\s+", " ", statement)
            yield Mutant(line, opcode, count[opcode], change, shown, text)


class Runner:
    """Runs a kernel's text by the tool that its file belongs to."""

    def __init__(self, options):
        self.options = options
        self.package = None
        if options.file.suffix == ".ptx":
            self.ptx = options.file.read_text()
        else:
            self.package = json.loads(options.file.read_text())
            self.ptx = self.package["kernels"][options.kernel]["ptx"]

    def command(self, file, run):
        extra = ["--device=sim", "--check", "--rows=1"] if self.package else [f"--variant={self.options.file.stem}"]
        return [self.options.tool, file, *extra, *shlex.split(run)]

    def first_finding(self, ptx):
        """(check, line) of the first finding of the first run that has one; None when all are silent."""
        contents = ptx
        if self.package:
            kernels = list(self.package["kernels"])
            kernels[self.options.kernel] = dict(kernels[self.options.kernel], ptx=ptx)
            contents = json.dumps(dict(self.package, kernels=kernels))
        with tempfile.NamedTemporaryFile("w", suffix=self.options.file.suffix) as file:
            file.write(contents)
            file.flush()
            for run in self.options.run:
                command = self.command(file.name, run)
                try:
                    done = subprocess.run(command, capture_output=True, text=True, timeout=self.options.timeout)
                except subprocess.TimeoutExpired:
                    continue
                output = done.stdout + done.stderr
                if found := FINDING.search(output):
                    return found.groups()
                if "PTX line" in output or done.returncode < 0:
                    sys.exit(f"the mutant does not run: {output.strip()[:300]}")
        return None


def read_equivalent(stem):
    """{key: reason} of the mutants of this kernel that may live."""
    reasons = {}
    for line in EQUIVALENT.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kernels, opcode, index, change, reason = (field.strip() for field in line.split("|", 4))
        if any(fnmatch.fnmatch(stem, kernel.strip()) for kernel in kernels.split(",")):
            reasons[opcode, index, change] = reason
    return reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="attn-run, or sim_spike for a .ptx")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--run", action="append", required=True, help="options of one run")
    parser.add_argument("--kernel", type=int, default=0, help="of the package")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sample", type=int, help="only so many mutants, evenly spread")
    options = parser.parse_args()

    runner = Runner(options)
    if found := runner.first_finding(runner.ptx):
        sys.exit(f"the unchanged kernel has a finding: {found[0]} in line {found[1]}")
    mutants = list(mutants_of(runner.ptx))
    if options.sample and options.sample < len(mutants):
        mutants = [mutants[i * len(mutants) // options.sample] for i in range(options.sample)]
    equivalent = read_equivalent(options.file.stem)
    found_count = allowed = missed = stale = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(runner.first_finding, (mutant.text for mutant in mutants))
        for mutant, found in zip(mutants, results):
            reason = equivalent.get(mutant.key())
            if found:
                found_count += 1
                verdict = f"{found[0]} in line {found[1]}"
                if reason:
                    stale += 1
                    verdict += " (LISTED AS EQUIVALENT)"
            elif reason:
                allowed += 1
                verdict = f"equivalent: {reason}"
            else:
                missed += 1
                verdict = f"NOT FOUND ({mutant.opcode} | {mutant.index} | {mutant.change})"
            print(f"line {mutant.line}: {mutant.statement} {mutant.change}: {verdict}", flush=True)
    print(f"{options.file.stem}: {len(mutants)} mutants, {found_count} found, {allowed} equivalent, {missed} missed")
    return 1 if missed or stale else 0


if __name__ == "__main__":
    sys.exit(main())
