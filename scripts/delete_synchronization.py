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

A mutant of a statement that no run comes to would live whatever it is. So each
survivor's statement becomes a trap, once: where that is silent, the runs are too few.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from copy_groups import commits_to_spare
from equivalent_mutants import TO_SPARE, Equivalents, contexts_of
from wgmma_fences import fences_to_spare

# A statement: guard, opcode, operands.
STATEMENT = re.compile(r"(?P<guard>@!?[%\w]+\s+)?(?P<opcode>[a-z][\w.:]*)(?P<operands>[^;{}]*(\{[^;}]*\}[^;{}]*)*);")
SYNCHRONIZATION = re.compile(
    r"(bar(rier)?\.|cp\.async\.(commit_group|wait_group|wait_all|mbarrier)|cp\.async\.bulk\.(commit|wait)_group"
    r"|fence\.|membar\.|mbarrier\.|wgmma\.(fence|commit_group|wait_group)|griddepcontrol\.)"
)
# "  shared-race: line 12: `...`: block ..." in the output of either tool.
FINDING = re.compile(r"\s([a-z][a-z-]+): line (\d+): `")
TRANSACTION_STEP = 16


@dataclass
class Mutant:
    line: int
    opcode: str
    change: str
    places: tuple  # names of the place in equivalent_mutants.py, its context first
    statement: str
    text: str  # of the whole kernel
    trapped: str  # the same with a trap in place of the statement


@dataclass
class Verdict:
    mutant: Mutant
    kind: str  # found, equivalent, missed, unreached or stale
    words: str


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


def statements_of(ptx):
    """Every statement of the kernel's body."""
    body = ptx.index("{", ptx.index(".entry"))
    # Comments are blanked, so that what they say is not code.
    bare = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), ptx)
    return list(STATEMENT.finditer(bare, body + 1))


def mutants_of(ptx):
    count = {}
    statements = statements_of(ptx)
    contexts = contexts_of([match["opcode"] for match in statements])
    spare = {"cp.async.commit_group": commits_to_spare(ptx), "wgmma.fence.sync.aligned": fences_to_spare(ptx)}
    for match, context in zip(statements, contexts):
        opcode = match["opcode"]
        if not SYNCHRONIZATION.match(opcode):
            continue
        count[opcode] = count.get(opcode, 0) + 1
        statement = match.group()
        line = ptx.count("\n", 0, match.start()) + 1
        shown = re.sub(r"\s+", " ", statement)

        def replaced(replacement):
            replacement += "\n" * (statement.count("\n") - replacement.count("\n"))
            return ptx[: match.start()] + replacement + ptx[match.end() :]

        places = [context, f"#{count[opcode]}"]
        if count[opcode] in spare.get(opcode, ()):
            places.append(TO_SPARE)
        trapped = replaced(f"{match['guard'] or ''}trap;")
        for change, replacement in changes_of(statement, opcode, match["operands"]):
            yield Mutant(line, opcode, change, tuple(places), shown, replaced(replacement), trapped)


class Runner:
    """Runs a kernel's text by the tool that its file belongs to."""

    def __init__(self, tool, file, runs, kernel=0, timeout=120, quick=False):
        self.tool, self.file, self.runs, self.kernel, self.timeout = tool, file, runs, kernel, timeout
        self.quick = quick
        self.package = None
        if file.suffix == ".ptx":
            self.ptx = file.read_text()
        else:
            self.package = json.loads(file.read_text())
            self.ptx = self.package["kernels"][kernel]["ptx"]

    def command(self, file, run):
        extra = ["--device=sim"] if self.package else [f"--variant={self.file.stem}"]
        return [self.tool, file, *extra, *shlex.split(run)]

    def with_mutant(self, ptx):
        """The package in which one attention kernel takes every launch: the mutant, or the main one that reads
        what the mutant fills."""
        kernels = [dict(kernel) for kernel in self.package["kernels"]]
        mutant = kernels[self.kernel]
        mutant["ptx"] = ptx
        reader = mutant if mutant["role"] == "attention" else kernels[0]
        reader["guards"] = []
        kernels = [reader] + [kernel for kernel in kernels if kernel["role"] != "attention"]
        return dict(self.package, kernels=kernels, chooser=[reader["name"]])

    def first_finding(self, ptx, runs=None):
        """(check, line) of the first finding of the first run that has one; None when all are silent."""
        contents = ptx
        if self.package:
            contents = json.dumps(self.with_mutant(ptx))
        with tempfile.NamedTemporaryFile("w", suffix=self.file.suffix) as file:
            file.write(contents)
            file.flush()
            for run in runs or self.runs:
                command = self.command(file.name, run)
                try:
                    done = subprocess.run(command, capture_output=True, text=True, timeout=self.timeout)
                except subprocess.TimeoutExpired:
                    continue
                output = done.stdout + done.stderr
                if found := FINDING.search(output):
                    return found.groups()
                if "PTX line" in output or done.returncode < 0:
                    sys.exit(f"the mutant does not run: {output.strip()[:300]}")
                if done.returncode not in (0, 1):  # sim_spike looks at the numbers too
                    sys.exit(f"{shlex.join(command)}: {output.strip()[:300]}")
        return None

    def judge(self, mutant, equivalents):
        reason = equivalents.reason(mutant)
        found = self.first_finding(mutant.text, self.runs[:1] if reason and self.quick else None)
        if found:
            words = f"{found[0]} in line {found[1]}"
            return Verdict(mutant, "stale" if reason else "found", words)
        # Of several traps that a block comes to, each is reported.
        trap = self.first_finding(mutant.trapped)
        if not trap:
            reason = equivalents.reason(mutant, change="unreached")
            return Verdict(mutant, "equivalent" if reason else "unreached", reason or "no run comes to it")
        if reason:
            return Verdict(mutant, "equivalent", reason)
        return Verdict(mutant, "missed", " | ".join([mutant.opcode, mutant.change, *mutant.places]))


WORDS = {
    "found": "",
    "equivalent": "equivalent: ",
    "missed": "NOT FOUND: ",
    "unreached": "NOT REACHED: ",
    "stale": "LISTED AS EQUIVALENT, but ",
}


def try_all(runner, equivalents, sample=None, jobs=1, print_line=print, only=""):
    """The verdicts of all mutants of opcodes that `only` finds, or of `sample` of them, evenly spread."""
    if found := runner.first_finding(runner.ptx):
        sys.exit(f"{runner.file.stem}: the unchanged kernel has a finding: {found[0]} in line {found[1]}")
    mutants = [mutant for mutant in mutants_of(runner.ptx) if re.search(only, mutant.opcode)]
    if not mutants:
        sys.exit(f"{runner.file.stem}: no instruction matches '{only}'")
    if sample and sample < len(mutants):
        mutants = [mutants[i * len(mutants) // sample] for i in range(sample)]
    verdicts = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for verdict in pool.map(lambda mutant: runner.judge(mutant, equivalents), mutants):
            mutant = verdict.mutant
            print_line(
                f"line {mutant.line}: {mutant.statement} {mutant.change}: {WORDS[verdict.kind]}{verdict.words}"
            )
            verdicts.append(verdict)
    return verdicts


def counts_of(verdicts):
    return {kind: sum(verdict.kind == kind for verdict in verdicts) for kind in WORDS}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", help="attn-run, or sim_spike for a .ptx")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--run", action="append", required=True, help="options of one run")
    parser.add_argument("--kernel", type=int, default=0, help="of the package")
    parser.add_argument("--group", default="", help="of equivalent_mutants.txt (default: the file's name)")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sample", type=int, help="only so many mutants, evenly spread")
    parser.add_argument("--only", default="", help="regular expression on opcodes")
    parser.add_argument("--quick", action="store_true", help="only the first run for those listed as equivalent")
    options = parser.parse_args()

    runner = Runner(options.tool, options.file, options.run, options.kernel, options.timeout, options.quick)
    equivalents = Equivalents(options.group or options.file.stem)
    print_line = lambda line: print(line, flush=True)
    verdicts = try_all(runner, equivalents, options.sample, options.jobs, print_line, options.only)
    counts = counts_of(verdicts)
    print(f"{options.file.stem}: {len(verdicts)} mutants, " + ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    return 1 if counts["missed"] or counts["unreached"] or counts["stale"] else 0


if __name__ == "__main__":
    sys.exit(main())
